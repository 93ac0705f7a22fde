"""Which machine runs which job, how good that is, and how sure one can be of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import ScheduleError
from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.solving.status import Status, gap_percent, status_of

#: The weight of the makespan where both criteria count (Carretero et al., eq. 4 and section 4).
LAMBDA = 0.75


@dataclass(frozen=True, eq=False)
class Mapping:
    """A machine for every job. On each machine, short jobs run first.

    Parameters
    ----------
    matrix
        The jobs and machines.
    machine
        The machine of each job, by its number.
    method
        What decided it.
    objective
        What was minimised: ``makespan``, ``flowtime``, ``simultaneous`` or ``hierarchic``.
    lower_bound
        What the objective cannot be below, where that was proven.
    seconds
        How long the decision took.
    facts
        Further facts about how it came about, ready for JSON.
    """

    matrix: EtcMatrix
    machine: NDArray[np.int64]
    method: str
    objective: str = "makespan"
    lower_bound: float | None = None
    seconds: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        machine = np.array(self.machine, dtype=np.int64)
        machine.setflags(write=False)
        object.__setattr__(self, "machine", machine)
        verify(self)

    @cached_property
    def own_time(self) -> Floats:
        """The time of each job on its machine."""
        return np.asarray(self.matrix.times[np.arange(self.matrix.jobs), self.machine])

    @cached_property
    def completion(self) -> Floats:
        """When each machine has finished (Carretero et al., eq. 2)."""
        return self.matrix.completion(self.machine)

    @cached_property
    def makespan(self) -> float:
        """When the last machine has finished (eq. 3)."""
        return float(self.completion.max())

    @cached_property
    def start(self) -> Floats:
        """When each job starts, short jobs first on each machine."""
        return self._start_and_finish[0]

    @cached_property
    def finish(self) -> Floats:
        """When each job has finished, short jobs first on each machine."""
        return self._start_and_finish[1]

    @cached_property
    def _start_and_finish(self) -> tuple[Floats, Floats]:
        order = np.lexsort((self.own_time, self.machine))
        border = np.searchsorted(self.machine[order], np.arange(self.matrix.machines + 1))
        start, finish = np.empty(self.matrix.jobs), np.empty(self.matrix.jobs)
        for machine in np.flatnonzero(np.diff(border)):
            mine = order[border[machine] : border[machine + 1]]
            clock = np.cumsum(np.append(self.matrix.ready[machine], self.own_time[mine]))
            start[mine], finish[mine] = clock[:-1], clock[1:]
        return start, finish

    @cached_property
    def flowtime(self) -> float:
        """The sum of the finishing times of all jobs (eq. 1)."""
        return float(self.finish.sum())

    @property
    def mean_flowtime(self) -> float:
        """The flowtime over the number of machines, as the paper weighs it (section 2.2)."""
        return self.flowtime / self.matrix.machines

    @property
    def fitness(self) -> float:
        """Makespan and mean flowtime, weighted (eq. 4)."""
        return LAMBDA * self.makespan + (1 - LAMBDA) * self.mean_flowtime

    @property
    def load_balance(self) -> float:
        """The mean completion time over the makespan: 1 where all machines finish together."""
        return float(self.completion.mean() / self.makespan)

    @property
    def utilization(self) -> float:
        """The share of the machines' time from 0 to the makespan in which they compute."""
        busy = (self.completion - self.matrix.ready).sum()
        return float(busy / (self.matrix.machines * self.makespan))

    @property
    def value(self) -> float:
        """The value of the objective; hierarchic mappings are judged by their makespan."""
        by_name = {"flowtime": self.flowtime, "simultaneous": self.fitness}
        return by_name.get(self.objective, self.makespan)

    @property
    def gap_percent(self) -> float | None:
        """By how many per cent the value may at most lie above the optimum."""
        return gap_percent(self.value, self.lower_bound)

    @property
    def status(self) -> Status:
        """Whether the mapping is proven to be the best."""
        return status_of(self.value, self.lower_bound)

    def to_dict(self) -> dict[str, Any]:
        """Return what is known about the mapping, ready for JSON."""
        return {
            "instance": self.matrix.name,
            "jobs": self.matrix.jobs,
            "machines": self.matrix.machines,
            "method": self.method,
            "objective": self.objective,
            "makespan": self.makespan,
            "flowtime": self.flowtime,
            "mean_flowtime": self.mean_flowtime,
            "load_balance": self.load_balance,
            "utilization": self.utilization,
            "value": self.value,
            "lower_bound": self.lower_bound,
            "gap_percent": self.gap_percent,
            "status": str(self.status),
            "seconds": self.seconds,
            **self.facts,
        }


def verify(mapping: Mapping) -> Mapping:
    """Return the mapping unchanged if every job has a machine that can run it; raise if not."""
    matrix, machine = mapping.matrix, mapping.machine
    if machine.shape != (matrix.jobs,):
        raise ScheduleError(
            f"mapping '{mapping.method}' has {machine.size} machines, but instance "
            f"'{matrix.name}' has {matrix.jobs} jobs. Give one machine for each job."
        )
    outside = (machine < 0) | (machine >= matrix.machines)
    if outside.any():
        job = int(np.argmax(outside))
        raise ScheduleError(
            f"mapping '{mapping.method}' puts job {job} on machine {machine[job]}, but there are "
            f"{matrix.machines}. Number machines from 0."
        )
    impossible = ~np.isfinite(matrix.times[np.arange(matrix.jobs), machine])
    if impossible.any():
        job = int(np.argmax(impossible))
        raise ScheduleError(
            f"mapping '{mapping.method}' puts job {job} on machine {machine[job]}, which cannot "
            "run it. Choose a machine with a finite time."
        )
    return mapping
