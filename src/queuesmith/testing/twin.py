"""A slow, obvious twin of the engine in plain Python: the meaning of every backfill, spelled out.

The engine must give the same starts, job for job. Read this file to know what orders and backfills
do, and ``twin_choosing.py`` for the policies that choose; the compiled kernels only do it faster.

At one instant, completions release cores first, then arrivals join the queue, then one scheduling
pass runs. Jobs of equal score stand in the order of submission, then id.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from queuesmith.cluster import Cluster
from queuesmith.engine.asked import visible_columns
from queuesmith.policy import Keep, Policy
from queuesmith.policy.order import USAGE_FIELDS, Order
from queuesmith.policy.view import Job, Machine, job_view
from queuesmith.schedule.reservations import Request, RequestAnswer
from queuesmith.workload import Workload
from queuesmith.workload.requests import partition_column

LOG_2 = 0.6931471805599453


@dataclass(eq=False)
class Task:
    """One job on its way through the machine."""

    place: int
    id: int
    submit: int
    runtime: int
    walltime: int
    cores: int
    user: int
    group: int
    factors: tuple[float, float] = (0.0, 0.0)  # of its partition and its quality of service
    asked: tuple[int, ...] = (1, 0, 0, -1, -1, -1)  # nodes, memory, GPUs, partition, QOS, account
    own: Mapping[str, float] = field(default_factory=dict)  # of the log's own columns
    start: int | None = None
    reserved: int | None = None

    @property
    def due(self) -> int:
        """When the job must be over, as far as a scheduler can know."""
        assert self.start is not None
        return self.start + self.walltime

    @property
    def end(self) -> int:
        """When the job is over in truth."""
        assert self.start is not None
        return self.start + self.runtime


class Twin(ABC):
    """The machine, its queue, and the clock."""

    def __init__(
        self, cluster: Cluster, tasks: Sequence[Task], requests: Sequence[Request] = ()
    ) -> None:
        self.cluster = cluster
        self.tasks = list(tasks)
        self.users = len({task.user for task in tasks})
        self.coming = list(tasks)
        self.now = 0
        self.waiting: list[Task] = []
        self.running: list[Task] = []
        self.requests = sorted(requests, key=lambda request: (request.submit, request.id))
        self.answers: list[RequestAnswer] = []
        self.keep: Keep | None = None  # what a job must leave free in the pass that runs
        self.depth: float = math.inf  # how many jobs that do not start now are planned
        self.booked: list[Request] = []  # advance reservations that were accepted

    @abstractmethod
    def pass_over(self, ended: list[Task], newcomers: list[Task]) -> None:
        """Run one scheduling pass, given who has just ended and who has just come."""

    @property
    def free(self) -> int:
        """Cores that no job and no reservation holds."""
        held = sum(r.cores for r in self.booked if r.begin <= self.now < r.end)
        return self.cluster.cores - held - sum(task.cores for task in self.running)

    def run(self) -> list[int]:
        """Replay everything; return the start of each task."""
        while instants := list(self.instants()):
            self.now = min(instants)
            ended = [task for task in self.running if task.end == self.now]
            self.running = [task for task in self.running if task not in ended]
            self.answer_requests()
            newcomers = [task for task in self.coming if task.submit == self.now]
            self.coming = self.coming[len(newcomers) :]
            self.waiting += newcomers
            self.pass_over(ended, newcomers)
        return [task.start for task in self.tasks if task.start is not None]

    def instants(self) -> Iterable[int]:
        """Yield the instants at which something is going to happen."""
        yield from (task.end for task in self.running)
        yield from (task.submit for task in self.coming)
        yield from (task.reserved for task in self.waiting if task.reserved is not None)
        yield from (request.submit for request in self.requests)
        for request in self.booked:
            yield from (t for t in (request.begin, request.end) if t > self.now)

    def answer_requests(self) -> None:
        """Answer those who ask now for a reservation, in the order of their numbers."""
        asking = [request for request in self.requests if request.submit == self.now]
        self.requests = self.requests[len(asking) :]
        for request in asking:
            begin = self.room(request.begin, request.end - request.begin, request.cores)
            accepted = begin == request.begin
            self.answers.append(RequestAnswer(request, accepted, None if accepted else begin, 0.0))
            if accepted:
                self.booked.append(request)

    # -- the order of the queue ------------------------------------------------------------

    def sort(self, order: Order) -> None:
        """Sort the queue, the highest score first, equals as they came."""
        machine = Machine(self.cluster.cores, self.free, len(self.waiting))
        used = self._usage(order) if order.reads & USAGE_FIELDS else {}
        keys = {}
        for task in self.waiting:
            views = (self._view(task, used, order), self.now, machine)[: order.views]
            keys[task] = (-float(order.function(*views, **order.parameters)), task.place)
        self.waiting.sort(key=keys.__getitem__)

    def _usage(self, order: Order) -> dict[int, float]:
        """Core-seconds of each user so far, decayed."""
        half_life = order.parameters.get("PriorityDecayHalfLife", 0.0)
        used: dict[int, float] = {}
        for task in self.tasks:
            if task.start is not None:
                end = min(task.end, self.now)
                worth = task.cores * _decayed(task.start, end, self.now, half_life)
                used[task.user] = used.get(task.user, 0.0) + worth
        return used

    def _view(self, task: Task, used: dict[int, float], order: Order) -> Job:
        total = sum(used.values())
        usage_share = used.get(task.user, 0.0) / total if total > 0 else 0.0
        user_share = 1 / self.users
        dampening = order.parameters.get("FairShareDampeningFactor", 1.0)
        return job_view(tuple(task.own))(
            task.id,
            task.submit,
            task.walltime,
            task.cores,
            float(np.log(task.walltime)),
            float(np.log(task.cores)),
            task.user,
            task.group,
            *task.factors,
            usage_share,
            user_share,
            float(np.exp(-LOG_2 * (usage_share * (1.0 / (user_share * dampening))))),
            *task.asked,
            *task.own.values(),
        )

    # -- one scheduling pass, for each backfill --------------------------------------------

    def play(self, policy: Policy, ended: list[Task], newcomers: list[Task]) -> None:
        """Run one scheduling pass by an order and a backfill.

        Where cores are kept free, the favoured are scheduled as if there were no others; these have
        their turn when no favoured job waits, each as if it needed the kept cores, too. Whose
        patience is over is favoured.
        """
        self.sort(policy.order)
        self.depth = math.inf if policy.depth is None else policy.depth
        backfill: Callable[[bool, list[Task]], None] = getattr(self, f"_{policy.backfill}")
        if policy.keep is None:
            backfill(bool(ended), newcomers)
            return
        others = [task for task in self.waiting if not self.is_favoured(task, policy.keep)]
        self.waiting = [task for task in self.waiting if task not in others]
        backfill(bool(ended), newcomers)
        if not self.somebody_is_held_up():
            favoured, self.waiting, others = self.waiting, others, []
            self.keep = policy.keep
            backfill(bool(ended), newcomers)
            self.keep = None
            self.waiting = favoured + self.waiting
        self.waiting += others

    def is_favoured(self, task: Task, keep: Keep) -> bool:
        """Tell whether a job is favoured by now."""
        return keep.favours(task.group) or keep.is_over(self.now - task.submit)

    def somebody_is_held_up(self) -> bool:
        """Tell whether one of those whom a pass looked at waits for cores."""
        return bool(self.waiting)

    def room_for_start(self, task: Task) -> int:
        """Return how many cores must be free for a job to start."""
        machine = self.cluster.cores
        return min(task.cores + (self.keep.cores(machine) if self.keep else 0), machine)

    def start(self, task: Task) -> None:
        """Let a job run from now on."""
        task.start, task.reserved = self.now, None
        self.waiting.remove(task)
        self.running.append(task)

    def _none(self, released: bool, newcomers: list[Task]) -> None:
        while self.waiting and self.room_for_start(self.waiting[0]) <= self.free:
            self.start(self.waiting[0])

    def _list(self, released: bool, newcomers: list[Task]) -> None:
        for task in list(self.waiting):
            if self.room_for_start(task) <= self.free:
                self.start(task)

    def _easy(self, released: bool, newcomers: list[Task]) -> None:
        self._none(released, newcomers)
        if not self.waiting:
            return
        first, *others = self.waiting
        ends = sorted({task.due for task in self.running})
        shadow = next(end for end in ends if self._free_at(end) >= self.room_for_start(first))
        extra = self._free_at(shadow) - self.room_for_start(first)
        for task in others:
            if self.room_for_start(task) > self.free:
                continue
            if self.now + task.walltime <= shadow:
                self.start(task)
            elif task.cores <= extra:
                extra -= task.cores
                self.start(task)

    def _conservative(self, released: bool, newcomers: list[Task]) -> None:
        if released:
            for task in self.waiting:
                if task.reserved is not None:
                    self.reserve(task)
        later = 0  # jobs so far that have a reservation and do not start now
        for task in self.waiting:
            if task.reserved is None and later < self.depth:
                self.reserve(task)
            later += task.reserved not in (None, self.now)
        for task in list(self.waiting):
            if task.reserved == self.now:
                self.start(task)

    def _plan(self, released: bool, newcomers: list[Task]) -> None:
        for task, begin in self.planned().items():
            if begin == self.now:
                self.start(task)

    def planned(self) -> dict[Task, int]:
        """Plan all jobs afresh, in queue order; nothing is promised, the next pass plans anew.

        With a depth, planning ends when so many jobs are planned that do not start now.
        """
        for task in self.waiting:
            task.reserved = None
        plan: dict[Task, int] = {}
        for task in self.waiting:
            if sum(begin > self.now for begin in plan.values()) >= self.depth:
                break
            self.reserve(task)
            assert task.reserved is not None
            plan[task] = task.reserved
        for task in self.waiting:
            task.reserved = None
        return plan

    # -- the future, as far as walltimes tell ----------------------------------------------

    def _free_at(self, time: int, without: Task | None = None) -> int:
        """Cores free at an instant, if jobs run to their walltimes and reservations are kept."""
        busy = sum(t.cores for t in self.running if t.due > time)
        busy += sum(r.cores for r in self.booked if r.begin <= time < r.end)
        for task in self.waiting:
            begin = None if task is without else task.reserved
            if begin is not None and begin <= time < begin + task.walltime:
                busy += task.cores
        return self.cluster.cores - busy

    def reserve(self, task: Task) -> None:
        """Give a job the earliest room that disturbs no other reservation."""
        task.reserved = self.room(self.now, task.walltime, task.cores, without=task)

    def room(self, first: int, duration: int, cores: int, without: Task | None = None) -> int:
        """Return the earliest instant, not before the first, with so many cores for so long."""
        changes = [t.due for t in self.running]
        for r in self.booked:
            changes += [r.begin, r.end]
        for t in self.waiting:
            if t is not without and t.reserved is not None:
                changes += [t.reserved, t.reserved + t.walltime]
        for begin in sorted({first, *(t for t in changes if t > first)}):
            inside = [begin, *(t for t in changes if begin < t < begin + duration)]
            if all(self._free_at(t, without) >= cores for t in inside):
                return begin
        raise AssertionError("in the end all cores are free")


class OrderedTwin(Twin):
    """The twin of an order with a backfill."""

    def __init__(self, cluster: Cluster, tasks: Sequence[Task], policy: Policy) -> None:
        super().__init__(cluster, tasks)
        self.policy = policy

    def pass_over(self, ended: list[Task], newcomers: list[Task]) -> None:
        """Sort the queue and start whom the backfill allows."""
        self.play(self.policy, ended, newcomers)


def _decayed(start: int, end: int, now: int, half_life: float) -> float:
    """Seconds from start to end, each halved for every half-life that has passed since."""
    if half_life <= 0:
        return end - start
    settled = half_life / LOG_2
    return float(settled * (2 ** (-(now - end) / half_life) - 2 ** (-(now - start) / half_life)))


def tasks_of(workload: Workload, cluster: Cluster) -> list[Task]:
    """Return the jobs of a workload, ready to be replayed."""
    own = visible_columns(workload)
    return [
        Task(
            place=place,
            id=job["id"],
            submit=job["submit"],
            runtime=job["runtime"],
            walltime=max(job["walltime"], 1),
            cores=job["cores"],
            user=job["user"],
            group=job["group"],
            factors=_factors(workload, cluster, place),
            asked=_asked(workload, place),
            own={name: float(workload.extra[name][place]) for name in own},
        )
        for place, job in enumerate(workload)
    ]


def _asked(workload: Workload, place: int) -> tuple[int, ...]:
    """Return what a job asks for where the log tells; see ``policy.view.Job``."""

    def told(*columns: str) -> int:
        values = [int(workload.extra[c][place]) for c in columns if c in workload.extra]
        return next((value for value in values if value >= 0), -1)

    nodes = max(told("requested_nodes", "nodes"), 1)
    amounts = []
    for what in ("memory", "gpus"):
        by_core = told(f"{what}_per_core") * int(workload.cores[place])
        by_node = told(f"{what}_per_node") * nodes
        whole = told(what)
        amounts.append(max(whole if whole > 0 else by_node if by_node > 0 else by_core, 0))
    return nodes, *amounts, told(partition_column(workload)), told("qos"), told("account")


def _factors(workload: Workload, cluster: Cluster, place: int) -> tuple[float, float]:
    found = []
    for column, priority in (
        ("partition", cluster.partition_priority),
        ("qos", cluster.qos_priority),
    ):
        highest = max(priority.values(), default=0)
        if column not in workload.extra or highest <= 0:
            found.append(0.0)
        else:
            label = workload.label(column, int(workload.extra[column][place]))
            found.append(priority.get(label, 0) / highest)
    return found[0], found[1]
