"""Expected times to compute: how long each job takes on each machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import several
from queuesmith.base.errors import WorkloadError
from queuesmith.base.words import so_many
from queuesmith.cluster.machine import Places
from queuesmith.grid.etc.measures import MEASURES
from queuesmith.grid.etc.rules import first_wrong, misplaced, rounding
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload
from queuesmith.workload.columns import LARGEST_TIME

Floats = NDArray[np.float64]

#: The longest finite time: sums of any number of them stay finite.
LONGEST_TIME = 1e100


@dataclass(frozen=True, eq=False)
class EtcMatrix:
    """Independent jobs, heterogeneous machines, and the time of every job on every machine.

    It is what a schedule of these jobs runs on.

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
        matrix = _frozen(times, "the times of a matrix")
        _check_times(matrix, name)
        jobs, machines = matrix.shape
        free = _frozen(np.zeros(machines) if ready is None else ready, "ready times")
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

    # -- as the machine of a schedule ----------------------------------------------------------

    @property
    def cores(self) -> int:
        """How many machines there are: each runs one job at a time."""
        return self.machines

    @cached_property
    def places(self) -> Places:
        """The machines by name, with one core each."""
        return Places(self.machine_names, np.ones(self.machines, np.int64))

    @property
    def measures(self) -> Mapping[str, Callable[[Schedule], float]]:
        """What the literature of grids measures: mean_flowtime and fitness."""
        return MEASURES

    @cached_property
    def workload(self) -> Workload:
        """The jobs as a log has them, all submitted at second 0."""
        return workload_of(self, np.zeros(self.jobs))

    def violations(self, schedule: Schedule) -> list[str]:
        """Return a sentence for each rule of unequal machines that a schedule breaks.

        Every job is on a machine that can run it, takes its time there, and starts after the
        machine is ready.
        """
        found = misplaced(schedule, self.times)
        if found:
            return found
        parts = schedule.parts
        needed = self.times[schedule.workload.id[parts.job], parts.place]
        ready = self.ready[parts.place]
        return [
            *first_wrong(
                schedule,
                np.abs(parts.length - needed) > rounding(parts.end),
                lambda piece: f"takes another time than its {needed[piece]:g} s",
            ),
            *first_wrong(
                schedule,
                parts.start < ready - rounding(ready),
                lambda piece: f"starts before that machine is ready at {ready[piece]:g}",
            ),
        ]

    def __repr__(self) -> str:
        return (
            f"<EtcMatrix '{self.name}': {so_many(self.jobs, 'job')} on "
            f"{so_many(self.machines, 'machine')}>"
        )


def workload_of(matrix: EtcMatrix, submit: Floats) -> Workload:
    """Return jobs of one core that are submitted at such times, rounded down to whole seconds.

    A job's runtime is that on its quickest machine, rounded up; its id is its row in the matrix.
    """
    seconds = np.minimum(np.ceil(matrix.times.min(axis=1)), LARGEST_TIME)
    return Workload(
        np.floor(submit),
        seconds,
        seconds,
        np.ones(matrix.jobs),
        id=np.arange(matrix.jobs),
        labels={"id": matrix.job_names},
        name=matrix.name,
        machine_cores=matrix.machines,
    )


def _frozen(values: ArrayLike, what: str) -> Floats:
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise WorkloadError(
            f"{what} are of the kind {type(values).__name__}, which cannot be read as numbers. "
            "Give an array of seconds, or read a file with read_etc(...)."
        ) from None
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
            f"instance '{name}' has the ready times {np.atleast_1d(ready).tolist()[:8]}, but there "
            f"must be one for each of its {so_many(machines, 'machine')}, from 0 up. Correct them."
        )


def _names(names: tuple[str, ...] | None, count: int, what: str) -> tuple[str, ...]:
    if names is None:
        return tuple(str(i) for i in range(count))
    names = several(f"{what} names", names, "Give one each.")
    if len(names) != count:
        raise WorkloadError(
            f"{so_many(len(names), f'{what} name is', f'{what} names are')} given for "
            f"{so_many(count, what)}. Give one each."
        )
    return names
