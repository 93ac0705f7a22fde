"""What waits and what runs, second by second: the step functions behind plots of a schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.errors import ScheduleError, UsageError
from queuesmith.schedule.times import Times
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from queuesmith.schedule.schedule import Schedule

Floats = NDArray[np.float64]
CurveName = Literal["queue_length", "waiting_cores", "backlog", "busy_cores"]


class Spells(NamedTuple):
    """From when to when each job counts for a curve, and how much it counts."""

    begin: Times
    finish: Times
    amount: Floats


@dataclass(frozen=True)
class Bins:
    """A step function gathered into bins: bin ``i`` goes from ``edges[i]`` to ``edges[i + 1]``."""

    edges: Ints
    mean: Floats
    max: Floats

    @property
    def integral(self) -> Floats:
        """The mean times the seconds of each bin."""
        return self.mean * np.diff(self.edges)


@dataclass(frozen=True)
class Steps:
    """A quantity that holds ``value[i]`` from ``time[i]`` up to, not including, ``time[i + 1]``.

    The last instant is the end of the schedule; before the first one the value is 0.
    """

    time: Times
    value: Floats

    def __len__(self) -> int:
        return len(self.time)

    def at(self, instants: ArrayLike) -> Floats:
        """Return the value at some instants."""
        position = np.searchsorted(self.time, np.asarray(instants), side="right") - 1
        return np.where(position < 0, 0.0, self.value[position])

    def mean(self) -> float:
        """Return the average over time."""
        seconds = self.time[-1] - self.time[0]
        return float((self.value[:-1] * np.diff(self.time)).sum() / seconds) if seconds else 0.0

    def max(self) -> float:
        """Return the highest value."""
        return float(self.value.max())

    def binned(self, bins: int) -> Bins:
        """Gather the steps into at most ``bins`` bins of whole seconds, nearly equal in length."""
        if bins < 1:
            raise UsageError(f"{bins} bins were asked for, but there is at least 1. Give 500.")
        first, span = int(self.time[0]), int(self.time[-1] - self.time[0])
        count = max(1, min(int(bins), span))
        return self.between([first + span * i // count for i in range(count + 1)])

    def between(self, edges: ArrayLike) -> Bins:
        """Return the exact mean and maximum between each two neighbouring edges.

        A bin of no length has the value at its instant as its mean and maximum.
        """
        cuts = np.asarray(edges, dtype=np.int64)
        if len(cuts) < 2 or (np.diff(cuts) < 0).any():
            raise UsageError("the edges of bins must be two or more seconds in rising order.")
        inside = self.time[(self.time > cuts[0]) & (self.time < cuts[-1])]
        times = np.unique(np.concatenate([cuts, inside]))
        values = self.at(times)
        # Every piece between two neighbouring times lies in one bin; the last has no length.
        area = values * np.diff(times, append=times[-1])
        first_piece = np.searchsorted(times, cuts[:-1])
        width = np.diff(cuts)
        mean = np.add.reduceat(area, first_piece) / np.maximum(width, 1)
        inner = values.copy()
        inner[-1] = -np.inf
        top = np.maximum.reduceat(inner, first_piece)
        at_edge = values[first_piece]
        return Bins(cuts, np.where(width, mean, at_edge), np.where(width, top, at_edge))


@dataclass(frozen=True)
class Timeline:
    """The state of a machine over time, from the first submission to the last end.

    Parameters
    ----------
    queue_length
        Waiting jobs.
    waiting_cores
        Cores that the waiting jobs ask for.
    backlog
        Core-seconds of walltime that the waiting jobs ask for.
    busy_cores
        Cores in use.
    """

    queue_length: Steps
    waiting_cores: Steps
    backlog: Steps
    busy_cores: Steps


def over_time(schedule: Schedule) -> Timeline:
    """Return queue length, waiting cores, backlog and busy cores as step functions."""
    return Timeline(**{name: curve(schedule, name) for name in CURVES})


def curve(schedule: Schedule, name: CurveName) -> Steps:
    """Return one of the curves of :data:`CURVES` as a step function."""
    return as_steps(schedule, CURVES[name](schedule))


def mean_between(schedule: Schedule, name: CurveName, edges: Ints) -> Floats:
    """Return the mean of a curve between each two neighbouring edges, which are evenly spaced.

    The same as ``curve(...).between(edges).mean``, but without sorting what happens: a page that
    follows a slider needs it in milliseconds.
    """
    first, width, count = int(edges[0]), int(edges[1] - edges[0]), len(edges) - 1
    begin, finish, amount = CURVES[name](schedule)
    # Bin 0 is all time before the first edge, the last bin all time after the last one.
    area, change = np.zeros(count + 2), np.zeros(count + 2)
    for times, sign in ((begin, 1.0), (finish, -1.0)):
        bin = np.clip((times - first) // width + 1, 0, count + 1).astype(np.int64, copy=False)
        change += sign * np.bincount(bin, amount, minlength=count + 2)
        left = amount * (first + bin * width - times)  # of the bin, once the job counts
        area += sign * np.bincount(bin, left, minlength=count + 2)
    at_begin = np.cumsum(change)[:count]
    return at_begin + area[1:-1] / width


def as_steps(schedule: Schedule, spells: Spells) -> Steps:
    """Add spells up to a step function, from the first submission to the last end."""
    first, last = horizon(schedule)
    begin, finish, amount = spells
    lasting = finish > begin
    begin, finish, amount = begin[lasting], finish[lasting], amount[lasting]
    time = np.concatenate([[first], begin, finish, [last]])
    change = np.concatenate([[0.0], amount, -amount, [0.0]])
    order = np.argsort(time, kind="stable")
    time = time[order]
    new = np.flatnonzero(np.diff(time, prepend=time[0] - 1))
    return Steps(time[new], np.cumsum(np.add.reduceat(change[order], new)))


def horizon(schedule: Schedule) -> tuple[int, int]:
    """Return the first submission and the last end."""
    if not len(schedule):
        raise ScheduleError(
            f"schedule '{schedule.policy}' has no jobs, so nothing happens over time. "
            "Give a workload that has jobs."
        )
    first = min(schedule.submit.min(), schedule.start.min())
    return int(np.floor(first)), int(np.ceil(schedule.end.max()))


def _queue_length(schedule: Schedule) -> Spells:
    return Spells(schedule.submit, schedule.start, np.ones(len(schedule)))


def _waiting_cores(schedule: Schedule) -> Spells:
    jobs = schedule.workload
    return Spells(schedule.submit, schedule.start, jobs.cores.astype(np.float64))


def _backlog(schedule: Schedule) -> Spells:
    jobs = schedule.workload
    return Spells(schedule.submit, schedule.start, jobs.cores.astype(np.float64) * jobs.walltime)


def _busy_cores(schedule: Schedule) -> Spells:
    parts = schedule.parts
    return Spells(parts.start, parts.end, parts.cores.astype(np.float64))


#: The curves there are. Sums of whole numbers in float64 are exact below 2**53.
CURVES: Mapping[CurveName, Callable[[Schedule], Spells]] = {
    "queue_length": _queue_length,
    "waiting_cores": _waiting_cores,
    "backlog": _backlog,
    "busy_cores": _busy_cores,
}
