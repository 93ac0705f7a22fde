"""The twin of RLScheduler's rules: plain lists, sorted afresh at every event.

It follows the rules of the published simulator word for word, stable sorts included, for they
decide which of two jobs that end together is released first.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from queuesmith.cluster import Cluster
from queuesmith.policy.committed import Committed
from queuesmith.testing.twin import Task, Twin


class CommittedTwin(Twin):
    """The twin of a scheduler that chooses one job at a time and commits itself."""

    def __init__(self, cluster: Cluster, tasks: Sequence[Task], policy: Committed) -> None:
        super().__init__(cluster, tasks)
        self.policy = policy

    def run(self) -> list[int]:
        """Replay everything; return the start of each task."""
        while self.waiting or self.coming:
            if not self.waiting:
                self.next_event()
                continue
            self.sort(self.policy.order)
            self.start_when_it_fits(self.waiting[0])
        return [task.start for task in self.tasks if task.start is not None]

    def start_when_it_fits(self, chosen: Task) -> None:
        """Let time pass until the chosen job fits; start it."""
        expected = self.expected_start(chosen)
        while chosen.cores > self.free:
            if self.policy.backfill == "early":
                self.start_early(chosen, expected)
            self.next_event()
        self.start(chosen)

    def expected_start(self, chosen: Task) -> int:
        """Return when enough cores are free if all running jobs take all their walltime."""
        if chosen.cores <= self.free:
            return self.now
        if self.policy.backfill == "early":
            self.running.sort(key=attrgetter("due"))
        free = self.free
        for task in sorted(self.running, key=attrgetter("due")):
            free += task.cores
            if free >= chosen.cores:
                return task.due
        raise AssertionError("every job fits the machine")

    def start_early(self, chosen: Task, expected: int) -> None:
        """Start those that end before the chosen job is expected to start, as they came."""
        for task in sorted(self.waiting, key=attrgetter("place")):
            in_time = self.now + task.walltime < expected
            if task is not chosen and in_time and task.cores <= self.free:
                self.start(task)

    def next_event(self) -> None:
        """Let one job arrive, or one end: arrivals of the same instant first."""
        self.running.sort(key=attrgetter("end"))
        ends = self.running[0].end if self.running else None
        if self.coming and (ends is None or self.coming[0].submit <= ends):
            task = self.coming.pop(0)
            self.waiting.append(task)
            self.now = max(self.now, task.submit)
        else:
            task = self.running.pop(0)
            self.now = max(self.now, task.end)

    def pass_over(self, ended: list[Task], newcomers: list[Task]) -> None:
        """Do nothing: there are no passes over the whole queue."""
