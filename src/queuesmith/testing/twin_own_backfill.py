"""The slow twin of an order with a backfill of the user's own."""

from __future__ import annotations

from collections.abc import Sequence

from queuesmith.cluster import Cluster
from queuesmith.policy.own_backfill import OwnBackfill
from queuesmith.policy.view import Head, Machine
from queuesmith.testing.twin import Task, Twin


class OwnBackfillTwin(Twin):
    """Asks the function itself, one job at a time."""

    def __init__(self, cluster: Cluster, tasks: Sequence[Task], policy: OwnBackfill) -> None:
        super().__init__(cluster, tasks)
        self.policy = policy

    def pass_over(self, ended: list[Task], newcomers: list[Task]) -> None:
        """Sort the queue, and start one after another until nobody may."""
        self.sort(self.policy.order)
        while (task := self._next()) is not None:
            self.start(task)

    def _next(self) -> Task | None:
        if not self.waiting:
            return None
        first, *others = self.waiting
        if first.cores <= self.free:
            return first
        head = self._head(first)
        return next((t for t in others if t.cores <= self.free and self._may(t, head)), None)

    def _head(self, first: Task) -> Head:
        ends = sorted({task.due for task in self.running})
        reserved = next(end for end in ends if self._free_at(end) >= first.cores)
        spare = self._free_at(reserved) - first.cores
        return Head(first.submit, first.walltime, first.cores, reserved, spare)

    def _may(self, task: Task, head: Head) -> bool:
        backfill = self.policy.backfill
        machine = Machine(self.cluster.cores, self.free, len(self.waiting))
        handed = (self._view(task, {}, self.policy.order), head, self.now, machine)
        return bool(backfill.function(*handed[: backfill.views], **backfill.parameters))
