"""The twins of replays on nodes: what orders, backfills and policies that choose do there.

Like ``twin.py`` they are slow and follow the rules word for word: what is free on a node is counted
afresh, from the jobs, at every instant that anybody asks about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from queuesmith.base.errors import PolicyError
from queuesmith.cluster import NodeCluster
from queuesmith.cluster.limit_table import LimitTable
from queuesmith.cluster.requests import job_requests, node_arrays
from queuesmith.policy import AnyPolicy, Policy, SelfTuning
from queuesmith.policy.order import Order
from queuesmith.policy.rulebase import RuleBased
from queuesmith.testing.twin import OrderedTwin, Task, Twin, tasks_of
from queuesmith.testing.twin_choosing import RuleBasedTwin, SelfTuningTwin
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import predecessors

NEVER = 2**62


class Part(NamedTuple):
    """A part of a job on one node."""

    node: int
    cores: int
    gpus: tuple[int, ...]


@dataclass(eq=False)
class NodeTask(Task):
    """One job on its way through the nodes."""

    eligible: int = 0
    after: NodeTask | None = None
    think: int = 0
    parts: list[Part] = field(default_factory=list)

    def holds_at(self, time: int) -> bool:
        """Tell whether it holds its nodes at an instant, as far as a scheduler can know."""
        begin = self.start if self.start is not None else self.reserved
        return begin is not None and begin <= time < begin + self.walltime


class Nodes:
    """The machine as arrays, what its jobs ask for, and what is left of it."""

    def __init__(self, workload: Workload, machine: NodeCluster) -> None:
        self.machine = machine
        self.arrays = node_arrays(machine)
        self.asks = job_requests(workload, machine)
        self.limits = LimitTable(workload, machine, self.asks)
        self.user = workload.user
        epoch = workload.epoch or 0
        self.outages = [
            (
                {machine.node_index[n] for n in outage.nodes or machine.node_names},
                -NEVER if outage.begin is None else outage.begin - epoch,
                NEVER if outage.end is None else outage.end - epoch,
                outage.planned,
            )
            for outage in machine.outages
        ]

    def held_cores(self, task: NodeTask, part: Part) -> int:
        """Return the cores of a node that a job holds, those it did not ask for included."""
        if self.asks.exclusive[task.place] == 1:
            return int(self.arrays.cores[part.node])
        return part.cores + -part.cores % int(self.arrays.threads_per_core[part.node])

    def held_memory(self, task: NodeTask, part: Part) -> int:
        """Return the memory of a node that a job holds."""
        job = task.place
        if self.asks.whole_memory[job]:
            return int(self.arrays.memory[part.node])
        per_core = int(self.asks.memory_per_core[job])
        return per_core * part.cores if per_core > 0 else int(self.asks.memory_per_node[job])

    def per_node(self, task: NodeTask) -> int:
        """Return the cores that a job must have on each of its nodes, 0 where it does not care."""
        asks, job = self.asks, task.place
        only_one = asks.most_nodes[job] == 1 and asks.least_nodes[job] <= 1
        return task.cores if only_one else int(self.asks.cores_per_node[task.place])

    def least(self, task: NodeTask) -> int:
        """Return the least number of nodes of a job."""
        part = self.per_node(task)
        least = min(int(self.asks.least_nodes[task.place]), task.cores)
        return max(least, -(-task.cores // part) if part else 1)

    def most(self, task: NodeTask) -> int:
        """Return the greatest number of nodes of a job."""
        most = int(self.asks.most_nodes[task.place])
        return max(most, self.least(task)) if most else len(self.arrays.cores)

    def is_there(self, node: int, now: int, begin: int, end: int) -> bool:
        """Tell whether a node is there for so long, as far as one knows by now."""
        return not any(
            node in nodes and first < end and last > begin and (planned or first <= now)
            for nodes, first, last, planned in self.outages
        )

    def room(
        self, task: NodeTask, node: int, instants: Iterable[int], others: Sequence[NodeTask]
    ) -> int:
        """Return the cores of a node that a job could have at all those instants."""
        job, asks = task.place, self.asks
        cores, memory = int(self.arrays.cores[node]), int(self.arrays.memory[node])
        gpus = [int(count) for count in self.arrays.gpus[node]]
        for time in instants:
            there = [(t, p) for t in others if t.holds_at(time) for p in t.parts if p.node == node]
            if not self._may_share(task, [t for t, _ in there]):
                return 0
            held = sum(self.held_cores(t, p) for t, p in there)
            cores = min(cores, int(self.arrays.cores[node]) - held)
            taken = sum(self.held_memory(t, p) for t, p in there)
            memory = min(memory, int(self.arrays.memory[node]) - taken)
            for kind, has in enumerate(self.arrays.gpus[node]):
                gpus[kind] = min(gpus[kind], int(has) - sum(p.gpus[kind] for _, p in there))
        wanted = asks.gpu_type[job]
        fitting = sum(n for kind, n in enumerate(gpus) if wanted in (-1, kind))
        if memory < asks.memory_per_node[job] or fitting < asks.gpus_per_node[job]:
            return 0
        if asks.whole_memory[job] and memory < self.arrays.memory[node]:
            return 0
        cores -= cores % int(self.arrays.threads_per_core[node])
        if asks.memory_per_core[job] > 0:
            cores = min(cores, memory // int(asks.memory_per_core[job]))
        cores -= cores % int(asks.cores_per_task[job])
        part = self.per_node(task)
        if part:
            return part if cores >= part else 0
        return max(cores, 0)

    def _may_share(self, task: NodeTask, others: Sequence[NodeTask]) -> bool:
        exclusive, user = self.asks.exclusive, self.user
        if exclusive[task.place] == 1:
            return not others
        owners = {int(user[t.place]) for t in others if exclusive[t.place] == 2}
        if owners - {int(user[task.place])}:
            return False
        return exclusive[task.place] != 2 or not others or bool(owners)


class NodeTwin(Twin):
    """What all twins on nodes have in common; the kind of policy is a class beside it."""

    nodes: Nodes
    easy_head: NodeTask | None = None  # who has EASY's reservation in the pass that runs
    shadow: int = NEVER

    # -- events ----------------------------------------------------------------------------

    def run(self) -> list[int]:
        """Replay everything; return the start of each task."""
        while instants := [t for t in self.instants() if t < NEVER]:
            self.now = min(instants)
            ended = [task for task in self.running if task.end == self.now]
            self.running = [task for task in self.running if task not in ended]
            back = any(end == self.now for _, _, end, _ in self.nodes.outages)
            newcomers = [task for task in self.coming if self.arrival(task) == self.now]
            self.coming = [task for task in self.coming if task not in newcomers]
            self.waiting += newcomers
            if self.waiting:
                self.released = bool(ended) or back
                self.pass_over(ended, newcomers)
            else:
                self.note_ended(ended)
        return [task.start for task in self.tasks if task.start is not None]

    def note_ended(self, ended: list[Task]) -> None:
        """Take note of jobs that ended while nobody waits."""

    def arrival(self, task: Task) -> int:
        """Return when a job can start; NEVER while the job that it waits for has not ended."""
        assert isinstance(task, NodeTask)
        if task.after is None:
            return task.eligible
        if task.after.start is None or task.after.end > self.now or task.after in self.running:
            return NEVER
        return max(task.eligible, task.after.end + task.think)

    def instants(self) -> Iterable[int]:
        """Yield the instants at which something is going to happen."""
        yield from (task.end for task in self.running)
        for task in self.coming:
            arrival = self.arrival(task)
            yield max(arrival, self.now) if arrival < NEVER else NEVER
        yield from (task.reserved for task in self.waiting if task.reserved is not None)
        if self.waiting:
            yield from (end for _, _, end, _ in self.nodes.outages if end > self.now)

    @property
    def free(self) -> int:
        """Cores that no job holds."""
        held = sum(
            self.nodes.held_cores(task, part) for task in self._placed(False) for part in task.parts
        )
        return self.cluster.cores - held

    def _placed(self, future: bool, without: Task | None = None) -> list[NodeTask]:
        """Return the jobs that hold nodes: those that run, and those with a reservation."""
        found = [task for task in self.running if isinstance(task, NodeTask)]
        if future:
            reserved = [t for t in self.waiting if t.reserved is not None and t is not without]
            found += [task for task in reserved if isinstance(task, NodeTask)]
        return found

    def over_limit(self, task: Task) -> bool:
        """Tell whether a limit of its QOS or association keeps a job from starting."""
        table = self.nodes.limits
        for row in table.of_jobs[table.first[task.place] : table.first[task.place + 1]]:
            together = [
                t
                for t in self.running
                if row in table.of_jobs[table.first[t.place] : table.first[t.place + 1]]
            ]
            used = sum((table.amounts[t.place] for t in together), np.zeros(5, np.int64))
            own = table.amounts[task.place]
            if ((own > 0) & (used + own > table.most[row])).any():
                return True
        return False

    # -- which nodes -----------------------------------------------------------------------

    def rooms(
        self, task: NodeTask, instants: Sequence[int], end: int, others: Sequence[NodeTask]
    ) -> dict[int, int]:
        """Return the nodes on which a job has room at all those instants, and how much."""
        nodes = self.nodes
        may = np.flatnonzero(nodes.asks.node_sets[nodes.asks.node_set[task.place]])
        there = [int(n) for n in may if nodes.is_there(int(n), self.now, instants[0], end)]
        found = {node: nodes.room(task, node, instants, others) for node in there}
        return {node: room for node, room in found.items() if room > 0}

    def cores_left(self, node: int, instants: Sequence[int], others: Sequence[NodeTask]) -> int:
        """Return the cores of a node that are free at all those instants."""
        held = [
            sum(
                self.nodes.held_cores(t, part)
                for t in others
                if t.holds_at(time)
                for part in t.parts
                if part.node == node
            )
            for time in instants
        ]
        return int(self.nodes.arrays.cores[node]) - max(held)

    def nodes_for(
        self,
        task: NodeTask,
        instants: Sequence[int],
        end: int,
        others: Sequence[NodeTask],
        busiest: bool = False,
    ) -> list[Part]:
        """Choose nodes for a job at all those instants; nothing where it cannot run."""
        nodes, rooms = self.nodes, self.rooms(task, instants, end, others)
        weight, least = nodes.arrays.weight, nodes.least(task)

        def fullest(node: int) -> tuple[int, bool]:
            if busiest:
                return self.cores_left(node, [self.now], self._placed(False)), False
            return self.cores_left(node, instants, others), not self._is_reserved(node, instants)

        def emptiest(node: int) -> tuple[int, bool]:
            return -rooms[node], not self._is_reserved(node, instants)

        alone = [node for node in rooms if rooms[node] >= task.cores] if least <= 1 else []
        if alone:
            best = min(alone, key=lambda node: (weight[node], fullest(node), node))
            return self._dealt(task, [best], rooms, instants, others)
        tight = busiest or nodes.per_node(task) > 0
        key = fullest if tight else emptiest
        taken = self._enough(
            task, sorted(rooms, key=lambda n: (weight[n], key(n), n)), rooms, least
        )
        if len(taken) > nodes.most(task):
            in_order = sorted(rooms, key=lambda n: (emptiest(n), weight[n], n))
            taken = self._enough(task, in_order, rooms, least)
        if not taken or len(taken) > nodes.most(task):
            return []
        taken.sort(key=lambda node: (weight[node], node))
        return self._dealt(task, taken, rooms, instants, others)

    def _is_reserved(self, node: int, instants: Sequence[int]) -> bool:
        """Tell whether EASY's reservation takes a node from jobs that run beyond its begin."""
        head = self.easy_head
        if head is None or list(instants) != [self.now]:
            return False
        now = self.cores_left(node, [self.now], self._placed(False))
        both = self.cores_left(node, [self.now, self.shadow], [*self._placed(False), head])
        return any(part.node == node for part in head.parts) and both < now

    def _enough(
        self, task: NodeTask, in_order: Sequence[int], rooms: dict[int, int], least: int
    ) -> list[int]:
        taken: list[int] = []
        for node in in_order:
            if len(taken) >= least and sum(rooms[n] for n in taken) >= task.cores:
                break
            taken.append(node)
        suffices = len(taken) >= least and sum(rooms[n] for n in taken) >= task.cores
        return taken if suffices else []

    def _dealt(
        self,
        task: NodeTask,
        taken: Sequence[int],
        rooms: dict[int, int],
        instants: Sequence[int],
        others: Sequence[NodeTask],
    ) -> list[Part]:
        parts, left = [], task.cores
        for i, node in enumerate(taken):
            cores = max(min(rooms[node], left - (len(taken) - 1 - i)), 1)
            left -= cores
            parts.append(Part(node, cores, self._gpus(task, node, instants, others)))
        return parts

    def _gpus(
        self, task: NodeTask, node: int, instants: Sequence[int], others: Sequence[NodeTask]
    ) -> tuple[int, ...]:
        missing, taken = int(self.nodes.asks.gpus_per_node[task.place]), []
        wanted = self.nodes.asks.gpu_type[task.place]
        for kind, has in enumerate(self.nodes.arrays.gpus[node]):
            free = min(
                int(has)
                - sum(
                    part.gpus[kind]
                    for t in others
                    if t.holds_at(time)
                    for part in t.parts
                    if part.node == node
                )
                for time in instants
            )
            taken.append(min(missing, free) if wanted in (-1, kind) else 0)
            missing -= taken[-1]
        return tuple(taken)

    # -- one scheduling pass, for each backfill --------------------------------------------

    def try_start(self, task: Task) -> bool:
        """Start a job where it fits now and takes nothing that EASY has reserved."""
        assert isinstance(task, NodeTask)
        if self.over_limit(task):
            return False
        instants, others = [self.now], self._placed(False)
        if self.now + task.walltime > self.shadow and self.easy_head is not None:
            instants, others = [self.now, self.shadow], [*others, self.easy_head]
        parts = self.nodes_for(task, instants, self.now + task.walltime, others)
        if parts:
            task.parts = parts
            self.start(task)
        return bool(parts)

    def _none(self, released: bool, newcomers: list[Task]) -> None:
        for task in list(self.waiting):
            if not self.over_limit(task) and not self.try_start(task):
                return

    def _list(self, released: bool, newcomers: list[Task]) -> None:
        for task in list(self.waiting):
            self.try_start(task)

    def _easy(self, released: bool, newcomers: list[Task]) -> None:
        self.easy_head, self.shadow, blocked = None, NEVER, False
        for task in list(self.waiting):
            assert isinstance(task, NodeTask)
            if self.over_limit(task) or self.try_start(task) or blocked:
                continue
            blocked = True
            begin, parts = self.earliest(task, busiest=True)
            if begin is not None:
                self.shadow, task.parts, self.easy_head = begin, parts, task
                task.reserved = begin
        if self.easy_head is not None:
            self.easy_head.reserved = None
        self.easy_head, self.shadow = None, NEVER

    def _conservative(self, released: bool, newcomers: list[Task]) -> None:
        for task in list(self.waiting):
            assert isinstance(task, NodeTask)
            end = self.now + task.walltime
            failed = task.reserved == self.now and not all(
                self.nodes.is_there(part.node, self.now, self.now, end) for part in task.parts
            )
            if task.reserved is not None and (self.released or failed):
                self.reserve(task)
        later = 0  # jobs so far that have a reservation and do not start now
        for task in self.waiting:
            if task.reserved is None and later < self.depth and not self.over_limit(task):
                self.reserve(task)
            later += task.reserved not in (None, self.now)
        for task in list(self.waiting):
            if task.reserved == self.now:
                task.reserved = None
                if not self.over_limit(task):
                    self.start(task)

    def _plan(self, released: bool, newcomers: list[Task]) -> None:
        later = 0
        for task in list(self.waiting):
            if later >= self.depth:
                break
            if self.over_limit(task):
                continue
            self.reserve(task)
            if task.reserved == self.now:
                task.reserved = None
                self.start(task)
            else:
                later += 1
        for task in self.waiting:
            task.reserved = None

    def planned(self) -> dict[Task, int]:
        """Plan all jobs that are over no limit afresh, in queue order, and forget the plan."""
        plan: dict[Task, int] = {}
        for task in self.waiting:
            if not self.over_limit(task):
                self.reserve(task)
                if task.reserved is not None:
                    plan[task] = task.reserved
        for task in self.waiting:
            task.reserved = None
        return plan

    # -- the future, as far as walltimes tell ----------------------------------------------

    def reserve(self, task: Task) -> None:
        """Give a job the earliest room that disturbs no other reservation."""
        assert isinstance(task, NodeTask)
        task.reserved = None
        begin, parts = self.earliest(task)
        task.reserved = begin
        task.parts = parts

    def earliest(self, task: NodeTask, busiest: bool = False) -> tuple[int | None, list[Part]]:
        """Return the earliest instant at which a job can start, and where; None for never."""
        others = self._placed(True, without=task)
        changes: set[int] = set()
        for other in others:
            begin = other.start if other.start is not None else other.reserved
            assert begin is not None
            changes |= {begin, begin + other.walltime}
        returns = {end for _, _, end, _ in self.nodes.outages if end < NEVER}
        for begin in sorted({self.now, *(t for t in changes | returns if t > self.now)}):
            end = begin + task.walltime
            instants = [begin, *sorted(t for t in changes if begin < t < end)]
            parts = self.nodes_for(task, instants, end, others, busiest)
            if parts:
                return begin, parts
        return None, []


class NodeOrderedTwin(NodeTwin, OrderedTwin):
    """The twin of an order with a backfill, on nodes."""


class NodeRuleBasedTwin(NodeTwin, RuleBasedTwin):
    """The twin of a rule base, on nodes."""

    def note_ended(self, ended: list[Task]) -> None:
        """Count them for the slowdown of ended jobs."""
        self.ended += ended

    def pass_over(self, ended: list[Task], newcomers: list[Task]) -> None:
        """Let the rules choose a strategy where there is a choice, and play it."""
        if len(self.waiting) == 1:
            self.ended += ended
            self.try_start(self.waiting[0])  # whatever is chosen, it starts where it can
            return
        super().pass_over(ended, newcomers)


class NodeSelfTuningTwin(NodeTwin, SelfTuningTwin):
    """The twin of self-tuning dynP, on nodes."""

    def pass_over(self, ended: list[Task], newcomers: list[Task]) -> None:
        """Nodes that come back are a step where completions are."""
        super().pass_over(ended or self.waiting[:1] if self.released else ended, newcomers)

    def value_of_plan(self, order: Order) -> float:
        """Plan all waiting jobs under an order and value the plan; low is good.

        Where all of them are over a limit there is no plan, and any is as good as another.
        """
        self.sort(order)
        return super().value_of_plan(order) if self.planned() else 0.0


def twin_on_nodes(workload: Workload, machine: NodeCluster, policy: AnyPolicy) -> NodeTwin:
    """Return the twin of a replay on nodes; the workload must fit the machine."""
    tasks = _tasks(workload, machine)
    twin: NodeTwin
    if isinstance(policy, Policy):
        twin = NodeOrderedTwin(machine, tasks, policy)  # type: ignore[arg-type]
    elif isinstance(policy, RuleBased):
        twin = NodeRuleBasedTwin(machine, tasks, policy)  # type: ignore[arg-type]
    elif isinstance(policy, SelfTuning):
        twin = NodeSelfTuningTwin(machine, tasks, policy)  # type: ignore[arg-type]
    else:
        raise PolicyError(
            f"there is no twin that replays '{policy}' on nodes. Give an order with a backfill, a "
            "rule base or dynp(...)."
        )
    twin.nodes = Nodes(workload, machine)
    return twin


def _tasks(workload: Workload, machine: NodeCluster) -> list[NodeTask]:
    asks = job_requests(workload, machine)
    after, think = predecessors(workload)
    tasks = [
        NodeTask(**vars(task), eligible=int(asks.eligible[i]), think=int(think[i]))
        for i, task in enumerate(tasks_of(workload, machine))  # type: ignore[arg-type]
    ]
    for task, before in zip(tasks, after, strict=True):
        task.after = tasks[before] if before >= 0 else None
    return tasks
