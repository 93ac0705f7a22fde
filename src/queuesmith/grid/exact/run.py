"""What the parts of an exact method share: instance, prices, and the incumbent mapping."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from queuesmith.grid.etc.mapping import Machines, machine_of, mapped, objective_value
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.exact.bounds import Bound, safe_bound
from queuesmith.grid.exact.elite import Elite
from queuesmith.schedule import Schedule
from queuesmith.solving.incumbent import Incumbent, Report

#: What seconds are counted by.
Clock = Callable[[], float]


@dataclass
class ExactRun:
    """An exact method under way.

    Parameters
    ----------
    matrix
        The jobs and machines.
    bound
        The best bound on the makespan by prices, which also guide the searches.
    incumbent
        The mapping of the shortest makespan so far, what is proven, and the time.
    seed, workers
        What chance follows from, and how many threads may work at once.
    elite
        The best mappings of short walks.
    wall_began
        What the clock on the wall showed at the beginning: solvers know no other.
    """

    matrix: EtcMatrix
    bound: Bound
    incumbent: Incumbent[Machines]
    seed: int
    workers: int
    elite: Elite = field(default_factory=Elite)
    wall_began: float = field(default_factory=time.perf_counter)

    @property
    def wall_seconds_left(self) -> float:
        """The time that is left, on the wall, if it goes on passing as it has so far.

        It is another where the run counts the processor's seconds on a busy computer.
        """
        spent = max(self.incumbent.spent, 1e-3)
        return self.incumbent.left * (time.perf_counter() - self.wall_began) / spent

    def offer(self, machine: Machines) -> None:
        """Take a mapping if its makespan is shorter."""
        self.incumbent.offer(machine, self.matrix.makespan(machine))

    def schedule(self, objective: str, machine: Machines, proven: float) -> Schedule:
        """Return a mapping with what is known about it; its bound never exceeds its value."""
        incumbent = self.incumbent
        took = {f"{part}_seconds": round(seconds, 3) for part, seconds in incumbent.took.items()}
        return mapped(
            self.matrix,
            machine,
            "exact",
            objective,
            lower_bound=min(proven, objective_value(self.matrix, machine, objective)),
            seconds=incumbent.spent,
            facts={**took, **incumbent.facts},
        )


def new_run(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Schedule | None,
    report: Report | None,
    clock: Clock = time.perf_counter,
) -> ExactRun:
    """Return a run that begins now, from the start given or a greedy mapping."""
    first = greedy(matrix) if start is None else machine_of(start)
    rough = safe_bound(matrix, np.ones(matrix.machines))
    span = matrix.makespan(first)
    incumbent = Incumbent(first, span, seconds, report=report, clock=clock, began=clock())
    return ExactRun(matrix, rough, incumbent, seed, workers)


def greedy(matrix: EtcMatrix) -> Machines:
    """Map long jobs first, each to the machine that finishes it first."""
    load = np.array(matrix.ready)
    machine = np.zeros(matrix.jobs, np.int64)
    for job in np.argsort(-matrix.times.min(axis=1), kind="stable"):
        own = int(np.argmin(load + matrix.times[job]))
        load[own] += matrix.times[job, own]
        machine[job] = own
    return machine
