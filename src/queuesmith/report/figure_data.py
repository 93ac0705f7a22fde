"""What the figures show, as plain numbers: computed here, drawn in ``drawing``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.distinct import distinct
from queuesmith.base.remembering import remembered
from queuesmith.schedule.confidence import Interval
from queuesmith.schedule.fidelity import codes_by
from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.timeline import mean_between
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from queuesmith.report.comparison import Comparison

Floats = NDArray[np.float64]

#: The most points of a curve, and the most bins of a figure over time.
MOST_POINTS = 400
MOST_BINS = 400
#: The most user groups that are told apart; lighter ones are drawn as one.
MOST_GROUPS = 8

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
NICE_WIDTHS = (
    *(_MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * n for n in (1, 2, 3, 6, 12)),
    *(_DAY * n for n in (1, 2, 7, 14, 28, 91, 182, 364)),
)


@dataclass(frozen=True, eq=False)
class Curve:
    """A share of the jobs, from 0 to 1, over a rising threshold."""

    x: Floats
    share: Floats


@dataclass(frozen=True, eq=False)
class UserGroups:
    """The user groups that figures tell apart.

    Parameters
    ----------
    labels
        What each group is called.
    slot
        The position in ``labels`` of each job's group.
    other
        Whether the last label stands for all lighter groups together.
    """

    labels: tuple[str, ...]
    slot: Ints
    other: bool


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """A mean for each part of the jobs, and how many jobs it is taken over."""

    labels: tuple[str, ...]
    mean: Floats
    jobs: Ints


def user_groups(workload: Workload, most: int = MOST_GROUPS) -> UserGroups:
    """Return the groups of a workload, the lightest put together where there are many."""
    parts = job_parts(workload, "group", most)
    return UserGroups(parts.labels, parts.slots(workload), other=parts.other)


@dataclass(frozen=True, eq=False)
class JobParts:
    """The parts that figures divide jobs into: user groups, partitions, accounts, sizes.

    Parameters
    ----------
    by
        What they are divided by, as ``Fidelity.by`` takes it.
    labels
        What each part is called.
    codes, slot_of_code
        The numbers that the column has, in rising order, and the position in ``labels`` of each.
    other
        Whether the last label stands for all lighter parts together.
    dated
        Whether months are those of the calendar; else they are counted from the first job on.
    """

    by: str
    labels: tuple[str, ...]
    codes: Ints
    slot_of_code: Ints
    other: bool
    dated: bool = True

    def slots(self, workload: Workload) -> Ints:
        """Return the position in ``labels`` of each job's part, of the same log or a part of it."""
        codes, _ = _codes(workload, self.by, self.dated)
        return self.slot_of_code[np.searchsorted(self.codes, codes)]


def _codes(workload: Workload, by: str, dated: bool) -> tuple[NDArray[Any], Callable[[int], str]]:
    return codes_by(workload if dated else workload.replaced(epoch=None), by)


@remembered
def _codes_there(workload: Workload, by: str, dated: bool) -> tuple[int, ...]:
    """Return the numbers that a column has, in rising order."""
    return tuple(distinct(_codes(workload, by, dated)[0])[0].tolist())


def job_parts(workload: Workload, by: str = "group", most: int = MOST_GROUPS) -> JobParts:
    """Return the parts of a workload, the lightest put together where there are many."""
    return common_parts([workload], by, most)


def common_parts(
    workloads: Sequence[Workload], by: str = "group", most: int = MOST_GROUPS
) -> JobParts:
    """Return the parts that some workloads of one log have together.

    Some may lack jobs that were too wide for a machine, and of some the arrivals may be moved: then
    they have no dates, and all months are counted from the first job on.
    """
    dated = by != "month" or len({each.epoch for each in workloads}) == 1
    codes = set().union(*(_codes_there(each, by, dated) for each in workloads))
    return _parts(max(workloads, key=len), by, most, tuple(sorted(codes)), dated)


@remembered
def _parts(
    workload: Workload, by: str, most: int, numbers: tuple[int, ...], dated: bool
) -> JobParts:
    codes, (of_job, label) = np.array(numbers), _codes(workload, by, dated)
    labels = [label(code) for code in numbers]
    if by == "group" and "group" not in workload.labels:
        labels = [f"group {label}" for label in labels]
    if len(codes) <= most:
        slots = np.arange(len(codes))
        return JobParts(by, tuple(labels), codes, slots, other=False, dated=dated)
    slot = np.searchsorted(codes, of_job)
    work = np.bincount(slot, weights=workload.work, minlength=len(codes))
    kept = np.sort(np.argsort(-work, kind="stable")[: most - 1])
    position = np.full(len(codes), most - 1, dtype=np.int64)
    position[kept] = np.arange(most - 1)
    others = "groups" if by == "group" else f"{by}s"
    names = (*(labels[i] for i in kept), f"{len(codes) - most + 1} other {others}")
    return JobParts(by, names, codes, position, other=True, dated=dated)


@remembered
def sorted_waits(schedule: Schedule) -> Floats:
    """Return the waits of a schedule, the shortest first."""
    return np.sort(schedule.wait.astype(np.float64))


@remembered
def mean_waits(schedule: Schedule, parts: JobParts) -> GroupMeans:
    """Return the mean wait of each part of the jobs."""
    return part_means(schedule, parts, schedule.wait)


def share_at_most(
    values: ArrayLike,
    *,
    least: float = 1.0,
    largest: float = 0.0,
    points: int = MOST_POINTS,
) -> Curve:
    """Return the share of values at most x, at thresholds spaced evenly on a log axis.

    The curve is exact at its thresholds. They run from ``least`` to the largest value, or on to
    ``largest`` where that is beyond it.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    last = max(float(ordered[-1]) if len(ordered) else least, least * 1.001, largest)
    x = np.geomspace(least, last, points)
    x[-1] = last
    below = np.searchsorted(ordered, x, side="right")
    return Curve(x, below / max(len(ordered), 1))


def share_above(values: ArrayLike, *, least: float = 1.0, points: int = MOST_POINTS) -> Curve:
    """Return the share of values above x, leaving out the end where it is nothing."""
    curve = share_at_most(values, least=least, points=points)
    some = curve.share < 1
    return Curve(curve.x[some], 1 - curve.share[some])


def part_means(schedule: Schedule, parts: JobParts, values: ArrayLike) -> GroupMeans:
    """Return the mean of a value of each job over the jobs of each part."""
    count, slot = len(parts.labels), parts.slots(schedule.workload)
    total = np.bincount(slot, weights=np.asarray(values, np.float64), minlength=count)
    jobs = np.bincount(slot, minlength=count).astype(np.int64)
    return GroupMeans(parts.labels, total / np.maximum(jobs, 1), jobs)


def nice_edges(first: int, last: int, most: int = MOST_BINS) -> Ints:
    """Return bin edges over a time: as wide as a clock or calendar has it, at most ``most`` bins.

    The last edge is at or after ``last``.
    """
    span = max(last - first, 1)
    fitting = (width for width in NICE_WIDTHS if span <= width * most)
    width = next(fitting, -(-span // most))
    return first + width * np.arange(-(-span // width) + 1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class OverTime:
    """The state of the machine in bins of time: bin ``i`` begins at ``edges[i]``.

    Parameters
    ----------
    edges
        Seconds, one more than there are bins.
    utilization
        The share of the cores in use, 0 to 1.
    queue_length
        Waiting jobs, averaged over the bin.
    backlog
        Core-hours of walltime that the waiting jobs ask for, averaged over the bin.
    """

    edges: Ints
    utilization: Floats
    queue_length: Floats
    backlog: Floats


def over_time_data(schedule: Schedule, edges: Ints) -> OverTime:
    """Return the exact means of utilization, queue length and backlog between even edges."""
    return _over_time(schedule, int(edges[0]), int(edges[1] - edges[0]), len(edges))


@remembered
def _over_time(schedule: Schedule, first: int, width: int, count: int) -> OverTime:
    edges = first + width * np.arange(count, dtype=np.int64)
    return OverTime(
        edges,
        mean_between(schedule, "busy_cores", edges) / schedule.cluster.cores,
        mean_between(schedule, "queue_length", edges),
        mean_between(schedule, "backlog", edges) / 3600,
    )


@dataclass(frozen=True, eq=False)
class Relative:
    """The metrics of one policy relative to another's, 100 being equal; nan where that is 0.

    Parameters
    ----------
    value
        One number for each metric.
    below, above
        How far the confidence interval reaches down and up; nan where there is none.
    """

    value: Floats
    below: Floats
    above: Floats


def relative_data(comparison: Comparison) -> dict[str, Relative]:
    """Return every policy's metrics relative to those of the first replay."""
    first = comparison.baseline
    base = np.array([comparison.values[first][metric] for metric in comparison.metrics])
    base = np.where(base > 0, base, np.nan)
    return {
        policy: _relative(list(comparison.intervals[policy].values()), base)
        for policy in comparison.policies
    }


def _relative(intervals: list[Interval], base: Floats) -> Relative:
    value = 100 * np.array([each.value for each in intervals]) / base
    low, high = (
        100 * np.array([np.nan if b is None else b for b in bounds], dtype=np.float64) / base
        for bounds in zip(*((each.low, each.high) for each in intervals), strict=True)
    )
    # A percentile interval of skewed weeks may leave the value outside: no bar reaches backwards.
    return Relative(value, np.maximum(value - low, 0), np.maximum(high - value, 0))
