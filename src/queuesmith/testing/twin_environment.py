"""The slow twin of the environment: the same choices in plain Python, with lists."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from queuesmith.workload import Workload


@dataclass
class TwinEpisode:
    """One episode: jobs are started one after another, each as soon as there is room.

    Parameters
    ----------
    workload
        The jobs, none wider than the machine.
    cores
        The machine.
    easy
        Whether jobs that do not delay the chosen one may start meanwhile.
    """

    workload: Workload
    cores: int
    easy: bool = False
    now: int = 0
    arrived: int = 0
    waiting: list[int] = field(default_factory=list)
    running: dict[int, int] = field(default_factory=dict)  # the start of each job that runs
    start: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.submit: list[int] = self.workload.submit.tolist()
        self.runtime: list[int] = self.workload.runtime.tolist()
        self.walltime: list[int] = self.workload.walltime.tolist()
        self.width: list[int] = self.workload.cores.tolist()
        self.now = self.submit[0]
        self._arrive()

    @property
    def free(self) -> int:
        """The cores that nobody uses."""
        return self.cores - sum(self.width[job] for job in self.running)

    def step(self, place: int) -> None:
        """Start the job at a place of the queue as soon as there is room."""
        chosen = self.waiting[min(place, len(self.waiting) - 1)]
        while self.width[chosen] > self.free:
            if self.easy:
                self._backfill(chosen)
            self._advance()
        self._start(chosen)
        while not self.waiting and self.arrived < len(self.submit):
            self._advance()

    def look(self, window: int) -> NDArray[np.float32]:
        """Return what a scheduler knows of the first waiting jobs, all between 0 and 1."""
        rows = []
        for job in self.waiting[:window]:
            wait = self.now - self.submit[job]
            rows.append(
                (
                    wait / (wait + 3600),
                    self.walltime[job] / (self.walltime[job] + 3600),
                    self.width[job] / self.cores,
                    float(self.width[job] <= self.free),
                    self.free / self.cores,
                    1.0,
                )
            )
        return np.array(rows + [(0.0,) * 6] * (window - len(rows)), np.float32)

    def _arrive(self) -> None:
        while self.arrived < len(self.submit) and self.submit[self.arrived] <= self.now:
            self.waiting.append(self.arrived)
            self.arrived += 1

    def _advance(self) -> None:
        events = [start + self.runtime[job] for job, start in self.running.items()]
        if self.arrived < len(self.submit):
            events.append(self.submit[self.arrived])
        self.now = min(events)
        ended = [j for j, start in self.running.items() if start + self.runtime[j] <= self.now]
        for job in ended:
            del self.running[job]
        self._arrive()

    def _start(self, job: int) -> None:
        self.waiting.remove(job)
        self.running[job] = self.start[job] = self.now

    def _backfill(self, chosen: int) -> None:
        ends = sorted(
            (max(start + self.walltime[job], self.now), self.width[job])
            for job, start in self.running.items()
        )
        room, shadow = self.free, self.now
        for end, width in ends:
            if room >= self.width[chosen] and end > shadow:
                break
            room, shadow = room + width, end
        extra = room - self.width[chosen]
        for job in [job for job in self.waiting if job != chosen]:
            in_time = self.now + self.walltime[job] <= shadow
            if self.width[job] <= self.free and (in_time or self.width[job] <= extra):
                extra -= 0 if in_time else self.width[job]
                self._start(job)
