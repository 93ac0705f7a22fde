"""One planning step: the instant, the waiting jobs, and the cores that running jobs will free."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import number, several
from queuesmith.base.errors import ScheduleError, WorkloadError
from queuesmith.base.files import AnyPath, atomic_write, read_bytes
from queuesmith.base.words import so_many
from queuesmith.cluster import AlikeCores, Cluster
from queuesmith.schedule import Schedule
from queuesmith.schedule.verify import usage
from queuesmith.workload import Workload
from queuesmith.workload.columns import as_array, frozen_column
from queuesmith.workload.workload import Ints, checked_workload

Floats = NDArray[np.float64]

#: Seconds beyond which a plan cannot reach: up to here real numbers are exact to the second.
LAST_SECOND = 2**53
_PAIRS = "Give it as pairs of an instant and the cores free from then on."


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot(AlikeCores):
    """What a planning scheduler knows at one instant; plans are schedules on it.

    Parameters
    ----------
    now
        The instant. Nothing starts before it.
    jobs
        The waiting jobs. Of their times only the walltime counts, since the scheduler knows no
        other; a job submitted after now starts no earlier than that. A column ``weight`` in
        ``extra`` gives jobs weights other than 1.
    time, free
        The staircase: from instant ``time[i]`` on, ``free[i]`` cores are free of what runs now.
        It begins now and never falls.
    cores
        The size of the machine.

    Examples
    --------
    >>> step = Snapshot.make(now=0, cores=4, staircase=[(0, 1), (60, 4)],
    ...                      submit=[0, 0], walltime=[60, 30], width=[4, 1])
    >>> len(step)
    2
    """

    now: int
    jobs: Workload
    time: Ints
    free: Ints
    cores: int

    def __post_init__(self) -> None:
        Cluster(self.cores)
        number("now", self.now, -LAST_SECOND, LAST_SECOND, "Give a second, for example 0.")
        for name in ("time", "free"):
            steps = _whole(getattr(self, name), name)
            object.__setattr__(self, name, steps)
        _check_staircase(self)
        _check_jobs(self)

    @classmethod
    def make(
        cls,
        *,
        now: int,
        cores: int,
        staircase: Sequence[tuple[int, int]],
        submit: ArrayLike,
        walltime: ArrayLike,
        width: ArrayLike,
        weight: ArrayLike | None = None,
        id: ArrayLike | None = None,
        name: str = "snapshot",
    ) -> Snapshot:
        """Make a snapshot by hand, the staircase as pairs of an instant and free cores."""
        extra = {} if weight is None else {"weight": weight}
        jobs = Workload(submit, walltime, walltime, width, id=id, extra=extra, name=name)
        time, free = _columns_of(staircase)
        return cls(now, jobs, time, free, cores)

    def __len__(self) -> int:
        return len(self.jobs)

    def __repr__(self) -> str:
        return (
            f"<Snapshot at {self.now:,} s: {so_many(len(self), 'job')}, {self.free[0]:,} of "
            f"{so_many(self.cores, 'core')} free>"
        )

    @property
    def weight(self) -> Floats:
        """The weight of each job, 1 unless given."""
        given = self.jobs.extra.get("weight")
        return np.ones(len(self)) if given is None else np.asarray(given, dtype=np.float64)

    @property
    def release(self) -> Ints:
        """The first instant at which each job may start, whatever the staircase says."""
        return np.maximum(self.jobs.submit, self.now)

    # -- as the machine of its plans -------------------------------------------------------

    @property
    def name(self) -> str:
        """What messages and figures call it."""
        return self.jobs.name

    def violations(self, schedule: Schedule) -> list[str]:
        """Return a sentence for each rule that a plan breaks: nothing before now, no core twice.

        It shares no code with the placing. The staircase never falls, so it is enough to look
        where the number of busy cores changes.
        """
        broken = []
        early = schedule.start < self.now
        if early.any():
            job = int(np.argmax(early))
            broken.append(
                f"job {self.jobs.id[job]} starts at {schedule.start[job]}, but now is {self.now}."
            )
        stairs = usage(schedule)
        instants, busy = stairs.time, stairs.busy
        step = np.maximum(np.searchsorted(self.time, instants, "right") - 1, 0)
        over = busy > self.free[step]
        if over.any():
            first = int(np.argmax(over))
            broken.append(
                f"{busy[first]} cores are in use at {instants[first]}, but "
                f"{self.free[step[first]]} are free of what runs now."
            )
        return broken

    # -- as a file -------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        jobs, weight = self.jobs, self.weight
        return {
            "name": jobs.name,
            "now": int(self.now),
            "cores": int(self.cores),
            "staircase": [
                {"time": int(time), "free": int(free)}
                for time, free in zip(self.time, self.free, strict=True)
            ],
            "jobs": [
                {
                    "id": int(jobs.id[i]),
                    "submit": int(jobs.submit[i]),
                    "walltime": int(jobs.walltime[i]),
                    "cores": int(jobs.cores[i]),
                    "weight": float(weight[i]),
                }
                for i in range(len(jobs))
            ],
        }

    def save(self, path: AnyPath) -> None:
        """Write the snapshot as JSON."""
        with atomic_write(path) as file:
            file.write((json.dumps(self.to_dict(), indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: AnyPath) -> Snapshot:
        """Read a snapshot from its JSON file."""
        try:
            content = json.loads(read_bytes(path))
        except (ValueError, RecursionError) as error:
            raise WorkloadError(
                f"snapshot file '{path}' is not JSON: {error}. Correct it."
            ) from None
        try:
            jobs = content["jobs"]
            return cls.make(
                now=_number(content["now"]),
                cores=_number(content["cores"]),
                staircase=[
                    (_number(step["time"]), _number(step["free"])) for step in content["staircase"]
                ],
                submit=[_number(job["submit"]) for job in jobs],
                walltime=[_number(job["walltime"]) for job in jobs],
                width=[_number(job["cores"]) for job in jobs],
                weight=[float(job.get("weight", 1.0)) for job in jobs],
                id=[_number(job["id"]) for job in jobs],
                name=str(content.get("name", "snapshot")),
            )
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise WorkloadError(
                f"snapshot file '{path}' does not describe a snapshot ({error!r}): it must have "
                "'now', 'cores', 'staircase' (each with 'time' and 'free') and 'jobs' (each with "
                "'id', 'submit', 'walltime' and 'cores'), all whole numbers. Correct it."
            ) from None


def _number(value: Any) -> int:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not abs(value) <= LAST_SECOND or value != int(value):
        raise ValueError(f"{value!r} is no whole number up to {LAST_SECOND}")
    return int(value)


def _columns_of(staircase: Sequence[tuple[int, int]]) -> tuple[Any, Any]:
    """Return the instants and the free cores of pairs."""
    pairs = as_array(several("the staircase", staircase, _PAIRS))
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ScheduleError(
            f"the staircase must be a list of pairs, at least one, but it is not. {_PAIRS}"
        )
    return pairs[:, 0], pairs[:, 1]


def _whole(values: Any, name: str) -> Ints:
    array = as_array(values)
    if array.ndim != 1 or not len(array) or not np.issubdtype(array.dtype, np.integer):
        raise ScheduleError(
            f"the staircase's {name} must be a list of whole numbers, at least one. {_PAIRS}"
        )
    return frozen_column(array.astype(np.int64))


def _check_staircase(snapshot: Snapshot) -> None:
    time, free = snapshot.time, snapshot.free
    if len(time) != len(free):
        raise ScheduleError(
            f"the staircase has {so_many(len(time), 'instant')}, but "
            f"{so_many(len(free), 'number')} of free cores. Give one for each."
        )
    if time[0] != snapshot.now:
        raise ScheduleError(
            f"the staircase begins at {time[0]}, but now is {snapshot.now}. Begin it now."
        )
    back = np.flatnonzero(np.diff(time) <= 0)
    if len(back):
        i = int(back[0])
        raise ScheduleError(
            f"the staircase goes from instant {time[i]} to {time[i + 1]}, but time goes forward. "
            "Sort its steps, one for each instant."
        )
    falls = np.flatnonzero(np.diff(free) < 0)
    if len(falls):
        i = int(falls[0])
        raise ScheduleError(
            f"the staircase falls from {free[i]} to {so_many(free[i + 1], 'free core')} at "
            f"{time[i + 1]}, but running jobs only free cores. Correct it."
        )
    if free[0] < 0 or free[-1] > snapshot.cores:
        raise ScheduleError(
            f"the staircase has between {free[0]} and {so_many(free[-1], 'free core')}, but the "
            f"machine has {snapshot.cores}. Give numbers from 0 to {snapshot.cores}."
        )


def _check_jobs(snapshot: Snapshot) -> None:
    jobs = checked_workload(snapshot.jobs)
    if not len(jobs):
        raise WorkloadError("the snapshot has no waiting jobs, so nothing is to be planned.")
    widest = int(np.argmax(jobs.cores))
    if jobs.cores[widest] > snapshot.cores:
        raise WorkloadError(
            f"job {jobs.id[widest]} asks for {jobs.cores[widest]} cores, but the machine has "
            f"{snapshot.cores}. Leave it out."
        )
    if jobs.cores[widest] > snapshot.free[-1]:
        raise WorkloadError(
            f"job {jobs.id[widest]} asks for {jobs.cores[widest]} cores, but the staircase never "
            f"has more than {snapshot.free[-1]}. Leave it out, or let the staircase rise."
        )
    if (jobs.walltime < 1).any():
        job = jobs.id[int(np.argmax(jobs.walltime < 1))]
        raise WorkloadError(f"job {job} has a walltime below a second. Give at least 1.")
    ready = max(int(snapshot.release.max()), int(snapshot.time[-1]))
    if ready + int(jobs.walltime.sum()) > LAST_SECOND:
        raise WorkloadError(
            f"the jobs of the snapshot may all be ready as late as second {ready}, but a plan "
            f"reaches to second {LAST_SECOND}. Give times in seconds, from a recent beginning."
        )
    if len(np.unique(jobs.id)) < len(jobs):
        raise WorkloadError("two jobs of the snapshot have one id. Number them differently.")
    weight = jobs.extra.get("weight", np.ones(len(jobs)))
    numbers = np.issubdtype(weight.dtype, np.number) and np.isrealobj(weight)
    if not numbers or not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise WorkloadError(
            "weights of jobs must be numbers from 0 up, and not all 0. Correct them."
        )
