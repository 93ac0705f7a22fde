"""What the parts of an exact method share: instance, prices, and the incumbent mapping."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from queuesmith.grid.etc.mapping import Machines, machine_of, mapped, objective_value
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.exact.bounds import Bound, safe_bound
from queuesmith.grid.exact.elite import Elite
from queuesmith.schedule import Schedule
from queuesmith.solving.incumbent import Incumbent, Report

#: What seconds are counted by.
Clock = Callable[[], float]


@dataclass(frozen=True)
class ExactRequest:
    """What an exact method is asked for.

    Parameters
    ----------
    matrix
        The jobs and machines.
    seconds
        How long it may take.
    seed, workers
        What chance follows from, and how many threads may work at once.
    start
        A mapping to begin with; by default a greedy one.
    report
        Called with the seconds spent, the best value and the bound whenever they change.
    clock
        What the seconds are counted by.
    """

    matrix: EtcMatrix
    seconds: float
    seed: int = 0
    workers: int = 2
    start: Schedule | None = None
    report: Report | None = None
    clock: Clock = time.perf_counter

    def in_part_of_the_time(self, share: float) -> ExactRequest:
        """Return the same request with this share of its seconds."""
        return replace(self, seconds=share * self.seconds)


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


def new_run(request: ExactRequest) -> ExactRun:
    """Return a run that begins now, from the start given or a greedy mapping."""
    matrix, clock = request.matrix, request.clock
    first = greedy(matrix) if request.start is None else machine_of(request.start)
    rough = safe_bound(matrix, np.ones(matrix.machines))
    incumbent = Incumbent(
        first,
        matrix.makespan(first),
        request.seconds,
        report=request.report,
        clock=clock,
        began=clock(),
    )
    return ExactRun(matrix, rough, incumbent, request.seed, request.workers)


def greedy(matrix: EtcMatrix) -> Machines:
    """Map long jobs first, each to the machine that finishes it first."""
    load = np.array(matrix.ready)
    machine = np.zeros(matrix.jobs, np.int64)
    for job in np.argsort(-matrix.times.min(axis=1), kind="stable"):
        own = int(np.argmin(load + matrix.times[job]))
        load[own] += matrix.times[job, own]
        machine[job] = own
    return machine
