"""Expected times to compute: how long each job takes on each machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.errors import WorkloadError

if TYPE_CHECKING:
    from queuesmith.grid.etc.describe import EtcDescription

Floats = NDArray[np.float64]

#: The longest finite time: sums of any number of them stay finite.
LONGEST_TIME = 1e100


@dataclass(frozen=True, eq=False)
class EtcMatrix:
    """Independent jobs, heterogeneous machines, and the time of every job on every machine.

    Parameters
    ----------
    times
        One row a job, one column a machine; infinite where the machine cannot run the job.
    ready
        When each machine has finished what it did before; by default 0.
    name
        What messages and figures call this instance.
    job_names, machine_names
        By default ``0``, ``1``, and so on.
    """

    times: Floats
    ready: Floats
    name: str
    job_names: tuple[str, ...]
    machine_names: tuple[str, ...]

    def __init__(
        self,
        times: ArrayLike,
        ready: ArrayLike | None = None,
        *,
        name: str = "etc",
        job_names: tuple[str, ...] | None = None,
        machine_names: tuple[str, ...] | None = None,
    ) -> None:
        matrix = _frozen(times)
        _check_times(matrix, name)
        jobs, machines = matrix.shape
        free = _frozen(np.zeros(machines) if ready is None else ready)
        _check_ready(free, machines, name)
        object.__setattr__(self, "times", matrix)
        object.__setattr__(self, "ready", free)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "job_names", _names(job_names, jobs, "job"))
        object.__setattr__(self, "machine_names", _names(machine_names, machines, "machine"))

    @property
    def jobs(self) -> int:
        """How many jobs there are."""
        return int(self.times.shape[0])

    @property
    def machines(self) -> int:
        """How many machines there are."""
        return int(self.times.shape[1])

    @property
    def compatible(self) -> NDArray[np.bool_]:
        """Which machine can run which job."""
        return np.isfinite(self.times)

    def completion(self, machine: NDArray[np.int64]) -> Floats:
        """Return when each machine has finished, if each job runs on the machine given."""
        own = self.times[np.arange(self.jobs), machine]
        return np.asarray(self.ready + np.bincount(machine, own, minlength=self.machines))

    def makespan(self, machine: NDArray[np.int64]) -> float:
        """Return when the last machine has finished, if each job runs on the machine given."""
        return float(self.completion(machine).max())

    def describe(self) -> EtcDescription:
        """Measure heterogeneity and consistency."""
        from queuesmith.grid.etc.describe import describe

        return describe(self)

    def __repr__(self) -> str:
        return f"<EtcMatrix '{self.name}': {self.jobs:,} jobs on {self.machines:,} machines>"


def _frozen(values: ArrayLike) -> Floats:
    array = np.array(values, dtype=np.float64, order="C")
    array.setflags(write=False)
    return array


def _check_times(times: Floats, name: str) -> None:
    if times.ndim != 2 or 0 in times.shape:
        raise WorkloadError(
            f"instance '{name}' has the shape {times.shape}, but it must have a row for each job "
            "and a column for each machine, at least one of both. Correct it."
        )
    wrong = np.isnan(times) | (times <= 0)
    if wrong.any():
        job, machine = (int(i) for i in np.argwhere(wrong)[0])
        raise WorkloadError(
            f"job {job} of instance '{name}' takes {times[job, machine]} on machine {machine}, but "
            "a time must be above 0. Give inf where a machine cannot run a job."
        )
    if (times[np.isfinite(times)] > LONGEST_TIME).any():
        raise WorkloadError(
            f"instance '{name}' has a time of {times[np.isfinite(times)].max():g}, but a time may "
            f"be at most {LONGEST_TIME:g}. Give inf where a machine cannot run a job."
        )
    homeless = ~np.isfinite(times).any(axis=1)
    if homeless.any():
        raise WorkloadError(
            f"job {int(np.argmax(homeless))} of instance '{name}' can run on no machine. "
            "Leave it out, or give it a finite time somewhere."
        )


def _check_ready(ready: Floats, machines: int, name: str) -> None:
    if ready.shape != (machines,) or not np.isfinite(ready).all() or (ready < 0).any():
        raise WorkloadError(
            f"instance '{name}' has the ready times {ready.tolist()[:8]}, but there must be one "
            f"for each of its {machines} machines, from 0 up. Correct them."
        )


def _names(names: tuple[str, ...] | None, count: int, what: str) -> tuple[str, ...]:
    if names is None:
        return tuple(str(i) for i in range(count))
    if len(names) != count:
        raise WorkloadError(
            f"{len(names)} {what} names are given, but there are {count} {what}s. Give one each."
        )
    return tuple(names)
