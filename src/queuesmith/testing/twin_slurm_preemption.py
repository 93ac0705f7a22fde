"""Slurm's preemption in plain Python: which jobs are stopped so that another can start.

A job that finds no room looks whether it would find some with all jobs gone that it may stop. Then
these are taken away one after the other until it fits: those first that are to be gone anyway, then
by the rank of their QOS or partition, those on few nodes first. The one that made it fit is tried
first then, and so again as often as Slurm is told, so that fewer are stopped. Of those that were
taken away, who is on one of the chosen nodes is stopped. Who wanted the nodes starts when the main
scheduler looks, as soon as they are gone; who was stopped comes again after a while, or not.
"""

from __future__ import annotations

from queuesmith.cluster.preemption import CANCEL, REQUEUE
from queuesmith.engine.slurm_preempting import rules_of
from queuesmith.policy.slurm_settings import SlurmSettings
from queuesmith.testing.twin_slurm_nodes import NodeTask, SlurmNodesTwin


class TwinPreemption:
    """Who may stop whom, who is being stopped, and the runs that were cut short."""

    def __init__(self, nodes: SlurmNodesTwin, settings: SlurmSettings) -> None:
        self.nodes, self.settings = nodes, settings
        self.rules = rules_of(nodes.machine, nodes.requests, settings)
        self.gone_by: dict[int, int] = {}  # jobs that are being stopped, and when they are gone
        self.comes_again: dict[int, int] = {}
        self.cancelled: dict[int, int] = {}
        self.lost: list[tuple[int, int, int]] = []  # job, begin and end of runs cut short

    def __bool__(self) -> bool:
        return self.rules is not None

    @property
    def by_time_alone(self) -> bool:
        """Whether jobs can be stopped later that cannot now, without anything having happened."""
        return self.rules is not None and bool(self.rules.exempt.any())

    def stands_before(self, one: NodeTask, other: NodeTask) -> bool:
        """Tell whether a job stands before another in the queue, whatever their priorities."""
        if self.rules is None:
            return False
        group = self.rules.group
        return bool(self.rules.before[group[one.place], group[other.place]])

    def candidates(
        self, task: NodeTask, running: list[NodeTask], usable: set[int], now: int
    ) -> list[NodeTask]:
        """Return the jobs on usable nodes that one may stop, in the order they are taken away."""
        rules = self.rules
        assert rules is not None
        youngest_first = self.settings["preempt_youngest_first"]

        def may_be_stopped(other: NodeTask) -> bool:
            assert other.start is not None
            place = other.place
            return (
                bool(rules.stops[rules.group[task.place], rules.group[place]])
                and rules.mode[place] in (REQUEUE, CANCEL)
                and now - other.start >= rules.exempt[place]
                and bool(usable & other.given.keys())
            )

        def key(other: NodeTask) -> tuple[int, ...]:
            stays, rank = other.place not in self.gone_by, int(rules.rank[rules.group[other.place]])
            if youngest_first:
                return stays, -(other.start or 0), other.place
            return stays, rank, len(other.given), other.place

        return sorted(filter(may_be_stopped, running), key=key)

    def victims(
        self, task: NodeTask, running: list[NodeTask], usable: set[int], now: int
    ) -> tuple[list[int], list[NodeTask]]:
        """Return the nodes for a job and who must be stopped there; none where that is no help."""
        order, tries = self.candidates(task, running, usable, now), 0
        if not self._fit_without(task, order, usable):
            return [], []
        while True:
            taken: list[NodeTask] = []
            chosen: list[int] = []
            while not chosen and len(taken) < len(order):
                taken.append(order[len(taken)])
                chosen = self._fit_without(task, taken, usable)
            tries += 1
            most = self.settings["preempt_reorder_count"] + 1
            if not chosen or tries > most or len(order) <= tries:
                return chosen, [t for t in taken if set(chosen) & t.given.keys()] if chosen else []
            before, rest = taken[:-1], order[len(taken) :]
            if not self.settings["preempt_strict_order"]:
                before.sort(key=lambda other: -len(set(chosen) & other.given.keys()))
                idle = [t for t in before if not set(chosen) & t.given.keys()]
                before, rest = before[: len(before) - len(idle)], [*idle, *rest]
            order = [taken[-1], *before, *rest]

    def _fit_without(self, task: NodeTask, gone: list[NodeTask], usable: set[int]) -> list[int]:
        later = dict(self.nodes.free)
        for other in gone:
            self.nodes.release(other, later)
        return self.nodes.choose(task, usable, later) if gone else []

    def stop_others(
        self, task: NodeTask, running: list[NodeTask], usable: set[int], now: int
    ) -> list[int]:
        """Stop jobs so that one can start when they are gone; return the nodes it will have."""
        if self.rules is None:
            return []
        chosen, victims = self.victims(task, running, usable, now)
        for victim in victims:
            if victim.place in self.gone_by:
                continue
            before = self.due(victim)
            self.gone_by[victim.place] = now + int(self.rules.grace[victim.place])
            if self.due(victim) < before:  # among those that are due then, it is the last
                running.remove(victim)
                running.append(victim)
        return chosen

    def due(self, task: NodeTask) -> int:
        """Return when Slurm expects a job to be gone; of one that is stopped, just after that."""
        assert task.start is not None
        limit = max(-(-int(self.nodes.workload.walltime[task.place]) // 60) * 60, 60)
        stopped = self.gone_by.get(task.place)
        return task.start + limit if stopped is None else min(task.start + limit, stopped + 1)

    def end(self, task: NodeTask) -> int:
        """Return when a job is gone in truth."""
        assert task.start is not None
        runtime = int(self.nodes.workload.runtime[task.place])
        return self.gone_by[task.place] if self.was_stopped(task) else task.start + runtime

    def was_stopped(self, task: NodeTask) -> bool:
        """Tell whether a job is or was stopped before its end."""
        assert task.start is not None
        runtime = int(self.nodes.workload.runtime[task.place])
        return self.gone_by.get(task.place, 2**62) < task.start + runtime

    def leave(self, task: NodeTask, now: int) -> bool:
        """Let a job go that was stopped; tell whether it comes again."""
        assert self.rules is not None
        assert task.start is not None
        cut = self.gone_by[task.place]
        if self.rules.mode[task.place] == CANCEL:
            self.cancelled[task.place] = cut
            return False
        del self.gone_by[task.place]
        self.lost.append((task.place, task.start, cut))
        self.comes_again[task.place] = max(cut + int(self.settings["requeue_delay"]), now)
        task.start, task.given = None, {}
        return True
