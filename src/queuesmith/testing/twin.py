"""A slow, obvious twin of the engine in plain Python: the meaning of every backfill, spelled out.

The engine must give the same starts, job for job. Read this file to know what a policy does; the
compiled kernels only do it faster.

At one instant, completions release cores first, then arrivals join the queue, then one scheduling
pass runs. Jobs of equal score stand in the order of submission, then id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from queuesmith.cluster import Cluster
from queuesmith.policy.policy import Policy
from queuesmith.policy.view import Job, Machine
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload


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
    start: int | None = None
    reserved: int | None = None

    @property
    def due(self) -> int:
        """When the job must be over, as far as a scheduler can know."""
        assert self.start is not None
        return self.start + self.walltime


@dataclass
class Twin:
    """The machine, its queue, and the clock."""

    cluster: Cluster
    policy: Policy
    tasks: list[Task]
    now: int = 0
    waiting: list[Task] = field(default_factory=list)
    running: list[Task] = field(default_factory=list)

    @property
    def free(self) -> int:
        """Cores that no job holds."""
        return self.cluster.cores - sum(task.cores for task in self.running)

    def run(self) -> list[int]:
        """Replay everything; return the start of each task."""
        backfill: Callable[[bool, list[Task]], None] = getattr(self, f"_{self.policy.backfill}")
        coming = list(self.tasks)
        while coming or self.running or self.waiting:
            self.now = min(self._instants(coming))
            ended = [t for t in self.running if t.start + t.runtime == self.now]  # type: ignore[operator]
            self.running = [t for t in self.running if t not in ended]
            newcomers = [t for t in coming if t.submit == self.now]
            coming = coming[len(newcomers) :]
            self.waiting = self.waiting + newcomers
            self.waiting.sort(key=self._keys().__getitem__)
            backfill(bool(ended), newcomers)
        return [task.start for task in self.tasks if task.start is not None]

    def _instants(self, coming: list[Task]) -> list[int]:
        ends = [t.start + t.runtime for t in self.running if t.start is not None]
        reserved = [t.reserved for t in self.waiting if t.reserved is not None]
        return [*ends, *reserved, *(t.submit for t in coming[:1])]

    # -- the order of the queue ------------------------------------------------------------

    def _keys(self) -> dict[Task, tuple[float, int]]:
        order = self.policy.order
        machine = Machine(self.cluster.cores, self.free, len(self.waiting))
        used = self._usage() if "usage_share" in order.reads else {}
        keys = {}
        for task in self.waiting:
            views = (self._view(task, used), self.now, machine)[: order.views]
            keys[task] = (-float(order.function(*views, **order.parameters)), task.place)
        return keys

    def _usage(self) -> dict[int, float]:
        """Core-seconds of each user so far, decayed."""
        half_life = self.policy.order.parameters.get("PriorityDecayHalfLife", 0.0)
        used: dict[int, float] = {}
        for task in self.tasks:
            if task.start is not None:
                end = min(task.start + task.runtime, self.now)
                worth = task.cores * _decayed(task.start, end, self.now, half_life)
                used[task.user] = used.get(task.user, 0.0) + worth
        return used

    def _view(self, task: Task, used: dict[int, float]) -> Job:
        total = sum(used.values())
        return Job(
            task.id,
            task.submit,
            task.walltime,
            task.cores,
            float(np.log(task.walltime)),
            float(np.log(task.cores)),
            task.user,
            task.group,
            *task.factors,
            used.get(task.user, 0.0) / total if total > 0 else 0.0,
            1 / len({other.user for other in self.tasks}),
        )

    # -- one scheduling pass, for each backfill --------------------------------------------

    def _start(self, task: Task) -> None:
        task.start, task.reserved = self.now, None
        self.waiting.remove(task)
        self.running.append(task)

    def _none(self, released: bool, newcomers: list[Task]) -> None:
        while self.waiting and self.waiting[0].cores <= self.free:
            self._start(self.waiting[0])

    def _list(self, released: bool, newcomers: list[Task]) -> None:
        for task in list(self.waiting):
            if task.cores <= self.free:
                self._start(task)

    def _easy(self, released: bool, newcomers: list[Task]) -> None:
        self._none(released, newcomers)
        if not self.waiting:
            return
        first, *others = self.waiting
        ends = sorted({task.due for task in self.running})
        shadow = next(end for end in ends if self._free_at(end) >= first.cores)
        extra = self._free_at(shadow) - first.cores
        for task in others:
            if task.cores > self.free:
                continue
            if self.now + task.walltime <= shadow:
                self._start(task)
            elif task.cores <= extra:
                extra -= task.cores
                self._start(task)

    def _conservative(self, released: bool, newcomers: list[Task]) -> None:
        if released:
            for task in self.waiting:
                if task not in newcomers:
                    self._reserve(task)
        for task in self.waiting:
            if task in newcomers:
                self._reserve(task)
        for task in list(self.waiting):
            if task.reserved == self.now:
                self._start(task)

    def _plan(self, released: bool, newcomers: list[Task]) -> None:
        for task in self.waiting:
            task.reserved = None
        for task in self.waiting:
            self._reserve(task)
        for task in list(self.waiting):
            if task.reserved == self.now:
                self._start(task)
            # Nothing is promised: the next pass plans afresh.
            task.reserved = None

    # -- the future, as far as walltimes tell ----------------------------------------------

    def _free_at(self, time: int, without: Task | None = None) -> int:
        """Cores free at an instant, if jobs run to their walltimes and reservations are kept."""
        busy = sum(t.cores for t in self.running if t.due > time)
        for task in self.waiting:
            begin = None if task is without else task.reserved
            if begin is not None and begin <= time < begin + task.walltime:
                busy += task.cores
        return self.cluster.cores - busy

    def _reserve(self, task: Task) -> None:
        """Give a job the earliest room that disturbs no other reservation."""
        others = [t for t in self.waiting if t is not task and t.reserved is not None]
        starts = [t.reserved for t in others if t.reserved is not None]
        ends = [t.reserved + t.walltime for t in others if t.reserved is not None]
        instants = sorted({self.now, *(t.due for t in self.running), *starts, *ends})
        for begin in (t for t in instants if t >= self.now):
            end = begin + task.walltime
            inside = [begin, *(t for t in instants if begin < t < end)]
            if all(self._free_at(t, without=task) >= task.cores for t in inside):
                task.reserved = begin
                return


def _decayed(start: int, end: int, now: int, half_life: float) -> float:
    """Seconds from start to end, each halved for every half-life that has passed since."""
    if half_life <= 0:
        return end - start
    settled = half_life / 0.6931471805599453
    return float(settled * (2 ** (-(now - end) / half_life) - 2 ** (-(now - start) / half_life)))


def simulate_slowly(workload: Workload, cluster: Cluster, policy: Policy | str) -> Schedule:
    """Replay a workload with the twin; for hundreds of jobs, not for thousands."""
    policy = Policy.parse(policy) if isinstance(policy, str) else policy
    fitting = workload.fitting(cluster.cores)
    tasks = [
        Task(
            place=place,
            id=job["id"],
            submit=job["submit"],
            runtime=job["runtime"],
            walltime=max(job["walltime"], 1),
            cores=job["cores"],
            user=job["user"],
            group=job["group"],
            factors=_factors(fitting, cluster, place),
        )
        for place, job in enumerate(fitting)
    ]
    return Schedule(fitting, cluster, Twin(cluster, policy, tasks).run(), str(policy))  # type: ignore[arg-type]


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
