"""What all twins of replays on nodes do: events, which nodes a job gets, each backfill.

Like ``twin.py`` they are slow and follow the rules word for word. What is free on a node is counted
in ``twin_node_room.py``; the twin of each kind of policy is in ``twin_on_nodes.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from queuesmith.policy import Policy
from queuesmith.testing.twin import Task, Twin
from queuesmith.testing.twin_node_room import NEVER, Nodes, NodeTask, Part


def _cancelled(task: Task) -> int:
    assert isinstance(task, NodeTask)
    return task.cancelled


def gone_for_good(task: Task) -> bool:
    """Tell whether a job was or will be cancelled before it begins."""
    return _cancelled(task) < NEVER and task.start is None


class NodeTwin(Twin):
    """What all twins on nodes have in common; the kind of policy is a class beside it."""

    nodes: Nodes
    easy_head: NodeTask | None = None  # who has EASY's reservation in the pass that runs
    shadow: int = NEVER
    held_up: bool = False  # whether a job waits that keeps to its limits

    # -- events ----------------------------------------------------------------------------

    def run(self) -> list[int]:
        """Replay everything; return the start of each task."""
        while instants := [t for t in self.instants() if t < NEVER]:
            self.now = min(instants)
            ended = [task for task in self.running if task.end == self.now]
            self.running = [task for task in self.running if task not in ended]
            gone = [task for task in self.waiting if _cancelled(task) == self.now]
            self.waiting = [task for task in self.waiting if task not in gone]
            back = any(away.end == self.now for away in self.nodes.outages)
            newcomers = [task for task in self.coming if self.arrival(task) == self.now]
            self.coming = [task for task in self.coming if task not in newcomers]
            self.waiting += newcomers
            if self.waiting:
                self.released = bool(ended or gone) or back
                self.pass_over(ended, newcomers)
            else:
                self.note_ended(ended)
        found = (task.start for task in self.tasks if task.start is not None or gone_for_good(task))
        return [-1 if start is None else start for start in found]

    def note_ended(self, ended: list[Task]) -> None:
        """Take note of jobs that ended while nobody waits."""

    def arrival(self, task: Task) -> int:
        """Return when a job can start; NEVER while the job that it waits for has not ended."""
        assert isinstance(task, NodeTask)
        if task.after is None:
            return task.eligible
        if gone_for_good(task.after) and task.after.cancelled <= self.now:
            return max(task.eligible, task.after.cancelled + task.think)
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
        yield from (_cancelled(task) for task in self.waiting)
        if self.waiting:
            yield from (away.end for away in self.nodes.outages if away.end > self.now)

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
        may = nodes.may_use(task)
        there = [node for node in may if nodes.is_there(task, node, self.now, instants[0], end)]
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
        starts = bool(parts) and self.leaves_enough(task, parts, self.now)
        if starts and len(instants) > 1:
            starts = self.leaves_enough_for_head(task, parts)
        if starts:
            task.parts = parts
            self.start(task)
        self.held_up |= not starts
        return starts

    def play(self, policy: Policy, ended: list[Task], newcomers: list[Task]) -> None:
        """Run one scheduling pass by an order and a backfill."""
        self.held_up = False
        super().play(policy, ended, newcomers)

    def somebody_is_held_up(self) -> bool:
        """Tell whether a job waits for nodes: one that is over a limit holds nobody up."""
        return self.held_up

    # -- cores that are kept free ----------------------------------------------------------

    def leaves_enough(self, task: NodeTask, parts: Sequence[Part], time: int) -> bool:
        """Tell whether a job that starts then leaves as many cores free as it must.

        They are a share of the nodes that it may use and that are there.
        """
        if self.keep is None:
            return True
        nodes = self.nodes
        there = [
            n for n in nodes.may_use(task) if nodes.is_there(task, n, self.now, time, time + 1)
        ]
        free = sum(self.cores_left(node, [time], self._placed(False)) for node in there)
        all_cores = sum(int(nodes.arrays.cores[node]) for node in there)
        held = sum(nodes.held_cores(task, part) for part in parts)
        return free >= min(held + self.keep.cores(all_cores), all_cores)

    def leaves_enough_for_head(self, task: NodeTask, parts: list[Part]) -> bool:
        """Tell whether the first job could still start as reserved beside one that starts now."""
        head = self.easy_head
        assert head is not None
        task.parts, task.start = parts, self.now
        self.running.append(task)
        enough = self.leaves_enough(head, head.parts, self.shadow)
        self.running.remove(task)
        task.start = None
        return enough

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
                self.nodes.is_there(task, part.node, self.now, self.now, end) for part in task.parts
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
        returns = {away.end for away in self.nodes.outages if away.end < NEVER}
        for begin in sorted({self.now, *(t for t in changes | returns if t > self.now)}):
            end = begin + task.walltime
            instants = [begin, *sorted(t for t in changes if begin < t < end)]
            parts = self.nodes_for(task, instants, end, others, busiest)
            if parts and self.leaves_enough(task, parts, begin):
                return begin, parts
        return None, []
