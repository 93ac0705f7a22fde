"""What the parts of an exact method share: the best mapping and bound so far, and the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.exact.bounds import Bound, safe_bound
from queuesmith.grid.mapping import Mapping
from queuesmith.solving.status import TOLERANCE

Machines = NDArray[np.int64]
#: Told the seconds spent, the best value and the bound, whenever one of them changes.
Progress = Callable[[float, float, float], None]


@dataclass
class Work:
    """The best mapping and bound so far, the time, and what took how long."""

    matrix: EtcMatrix
    seconds: float
    seed: int
    workers: int
    progress: Progress | None
    machine: Machines
    bound: Bound
    proven: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def value(self) -> float:
        """The makespan of the best mapping."""
        return self.matrix.makespan(self.machine)

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.seconds - (time.perf_counter() - self.began)

    @property
    def closed(self) -> bool:
        """Whether the best mapping is proven to be the best possible."""
        return self.value <= self.proven * (1 + TOLERANCE)

    def offer(self, machine: Machines) -> None:
        """Take a mapping if it is better."""
        with self.lock:
            if self.matrix.makespan(machine) < self.value:
                self.machine = machine
                self._tell()

    def prove(self, bound: float) -> None:
        """Take a bound if it is better; it never exceeds the best value."""
        with self.lock:
            better = min(bound, self.value)
            if better > self.proven:
                self.proven = better
                self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(time.perf_counter() - self.began, self.value, self.proven)


def new_work(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> Work:
    """Return work that begins now, from the start given or a greedy mapping."""
    first = greedy(matrix) if start is None else start.machine
    rough = safe_bound(matrix, np.ones(matrix.machines))
    return Work(matrix, seconds, seed, workers, progress, first, rough)


def result_of(work: Work, objective: str, machine: Machines, proven: float) -> Mapping:
    """Return the mapping; its bound never exceeds its value."""
    mapping = Mapping(work.matrix, machine, "exact", objective)
    return Mapping(
        work.matrix,
        machine,
        "exact",
        objective,
        lower_bound=min(proven, mapping.value),
        seconds=time.perf_counter() - work.began,
        facts=dict(work.facts),
    )


def greedy(matrix: EtcMatrix) -> Machines:
    """Map long jobs first, each to the machine that finishes it first."""
    load = np.array(matrix.ready)
    machine = np.zeros(matrix.jobs, np.int64)
    for job in np.argsort(-matrix.times.min(axis=1), kind="stable"):
        own = int(np.argmin(load + matrix.times[job]))
        load[own] += matrix.times[job, own]
        machine[job] = own
    return machine
