"""How sure a metric is: bootstrap intervals over the calendar weeks of a log.

Jobs of one week share its bursts and holidays, so whole weeks are drawn, with replacement, and
each draw gives another value of the metric (block bootstrap, percentile interval).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import of_kind, whole_number
from queuesmith.base.distinct import distinct
from queuesmith.base.errors import MetricError
from queuesmith.base.words import so_many
from queuesmith.schedule.measures import (
    DEFAULT_BOUND,
    Average,
    Gini,
    Jobs,
    Quantile,
    TimeAverage,
    TimePeak,
    utilization,
)
from queuesmith.schedule.metrics import Term, find, jobs_of_terms
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.timeline import Bins, CurveName, curve, horizon

WEEK = 7 * 86_400
#: How many numbers of one kind are held at once.
ROOM = 4_000_000

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: How often each week was drawn, one row a draw, to one value a draw (nan where it has none).
Redraw = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Interval:
    """A value and the range that holds it with some confidence.

    Parameters
    ----------
    value
        The value for the schedule as it is.
    low, high
        The range; None where fewer than two weeks have something to measure.
    weeks
        How many weeks have something to measure; the fewest among an objective's metrics.
    level
        The confidence that was asked for.
    """

    value: float
    low: float | None
    high: float | None
    weeks: int
    level: float = 0.95

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:,.6g} (no interval: {so_many(self.weeks, 'week')})"
        share = f"{100 * self.level:g} %"
        return f"{self.value:,.6g} ({share}: {self.low:,.6g} to {self.high:,.6g})"


@dataclass(frozen=True, eq=False)
class _Weeks:
    """The weeks with submissions: which one each job belongs to, and when each begins and ends."""

    of_job: Ints
    edges: Ints

    @property
    def count(self) -> int:
        return len(self.edges) - 1


class _Plan(NamedTuple):
    """How to compute a metric for drawn weeks, and how many weeks have something to measure."""

    redraw: Redraw
    weeks: int


def confidence(
    schedule: Schedule,
    expression: str | Objective,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    bound: float = DEFAULT_BOUND,
) -> Interval:
    """Return a metric or objective with its bootstrap interval over weeks.

    Weeks count from the first submission. A job belongs to the week of its submission and
    brings its outcome along; averages and peaks over time take the week's slice of time.

    Parameters
    ----------
    schedule, expression
        What is judged, and by what.
    level
        The confidence, between 0 and 1.
    resamples
        How many times as many weeks as there are are drawn.
    seed
        Same seed, same interval.
    bound
        The bound of the bounded slowdown in seconds; an :class:`Objective` brings its own.
    """
    of_kind("the schedule", schedule, Schedule, "Give what simulate(...) returned.")
    if not isinstance(level, Real) or not 0 < level < 1:
        raise MetricError(f"the level is {level!r}, but it lies between 0 and 1. Give 0.95.")
    if not isinstance(resamples, Integral) or resamples < 1:
        raise MetricError(
            f"{resamples!r} resamples are asked for; take at least 1, a whole number. Give 1000."
        )
    whole_number("the seed", seed, 0, "Give for example 0.")
    if not isinstance(expression, Objective):
        expression = Objective(expression, bound=bound)
    value = expression(schedule)
    if not expression.terms:
        return Interval(value, value, value, _weeks(schedule).count, level)
    weeks, plans = weekly_plans(schedule, expression)
    informed = min(plan.weeks for plan in plans.values())
    if informed < 2:
        return Interval(value, None, None, informed, level)
    drawn = redrawn(expression, plans, weeks.count, resamples, seed)
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return Interval(value, None, None, informed, level)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high), informed, level)


def weekly_plans(schedule: Schedule, objective: Objective) -> tuple[_Weeks, dict[Term, _Plan]]:
    """Return the weeks of a schedule, and how each metric is computed from drawn weeks."""
    weeks = _weeks(schedule)
    jobs = jobs_of_terms(schedule, objective.terms, bound=objective.bound)
    return weeks, {term: _plan(term, jobs[term], weeks) for term in objective.terms}


def _weeks(schedule: Schedule) -> _Weeks:
    """Return the weeks; a week without submissions adds its time to the week before."""
    submit = schedule.workload.submit
    week = (submit - submit[0]) // WEEK
    present, of_job = distinct(week)
    last = max(horizon(schedule)[1], int(submit[-1]))
    return _Weeks(of_job, np.append(submit[0] + present * WEEK, last))


def redrawn(
    objective: Objective, plans: dict[Term, _Plan], weeks: int, resamples: int, seed: int
) -> Floats:
    """Return the objective for weeks drawn again and again; the same seed draws the same weeks."""
    generator = np.random.default_rng(seed)
    batch = max(1, ROOM // weeks)
    values = []
    for first in range(0, resamples, batch):
        rows = min(batch, resamples - first)
        picked = generator.integers(weeks, size=(rows, weeks))
        picked += weeks * np.arange(rows)[:, None]
        counted = np.bincount(picked.ravel(), minlength=rows * weeks)
        often = counted.reshape(rows, weeks).astype(np.float64)
        drawn = {term: plan.redraw(often) for term, plan in plans.items()}
        values.append(np.broadcast_to(objective.combined_each(drawn), rows))
    return np.concatenate(values)


def _plan(term: Term, jobs: Jobs, weeks: _Weeks) -> _Plan:
    function = find(term).function
    match function:
        case Average():
            return _averages(function, jobs, weeks)
        case Quantile():
            return _quantiles(function, jobs, weeks)
        case Gini():
            return _ginis(function, jobs, weeks)
        case TimeAverage(name):
            return _time_averages(_slices(jobs, name, weeks.edges))
        case TimePeak(name):
            return _time_peaks(_slices(jobs, name, weeks.edges))
    if function is utilization:
        return _utilizations(jobs, weeks)
    raise MetricError(
        f"{term} has no bootstrap interval: it is no average, percentile or peak that weeks "
        "can be drawn for. Leave it out of the expression."
    )


# -- one function for each shape of a metric ---------------------------------------------------


def _ratios(over: Floats, under: Floats) -> _Plan:
    def redraw(often: Floats) -> Floats:
        total = often @ under
        values = np.full(len(often), np.nan)
        np.divide(often @ over, total, out=values, where=total > 0)
        return values

    return _Plan(redraw, int(np.count_nonzero(under > 0)))


def _averages(metric: Average, jobs: Jobs, weeks: _Weeks) -> _Plan:
    """Sums of each week are enough."""
    week, weight = jobs.take(weeks.of_job), jobs.values(metric.weight)
    weighted = weight * jobs.values(metric.quantity)
    return _ratios(_sums(week, weighted, weeks.count), _sums(week, weight, weeks.count))


def _sums(week: Ints, values: Floats, weeks: int) -> Floats:
    return np.bincount(week, weights=values, minlength=weeks).astype(np.float64)


def _quantiles(metric: Quantile, jobs: Jobs, weeks: _Weeks) -> _Plan:
    """Sort once; find a rank first among blocks of sorted jobs, then inside the block."""
    values, week = jobs.values(metric.quantity), jobs.take(weeks.of_job)
    order = np.argsort(values, kind="stable")
    values, week = values[order], week[order]
    blocks = max(1, min(-(-len(values) // 1024), ROOM // weeks.count))
    size = -(-len(values) // blocks)
    of_block = np.bincount(
        week * blocks + np.arange(len(values)) // size, minlength=weeks.count * blocks
    ).reshape(weeks.count, blocks)

    def ranked(row: Floats, ends: Floats, rank: float) -> float:
        block = int(np.searchsorted(ends, rank, side="right"))
        before = ends[block - 1] if block else 0.0
        inside = slice(block * size, (block + 1) * size)
        place = np.searchsorted(np.cumsum(row[week[inside]]), rank - before, side="right")
        return float(values[inside][place])

    def one(row: Floats, ends: Floats) -> float:
        if not ends[-1]:
            return float("nan")
        rank = (ends[-1] - 1) * metric.share
        below = ranked(row, ends, np.floor(rank))
        above = ranked(row, ends, np.ceil(rank))
        return below + (above - below) * float(rank % 1)

    def redraw(often: Floats) -> Floats:
        ends = np.cumsum(often @ of_block, axis=1)
        return np.array([one(row, end) for row, end in zip(often, ends, strict=True)])

    return _Plan(redraw, len(np.unique(week)))


def _ginis(metric: Gini, jobs: Jobs, weeks: _Weeks) -> _Plan:
    """A job drawn c times stands at c neighbouring ranks."""
    values, week = jobs.values(metric.quantity), jobs.take(weeks.of_job)
    order = np.argsort(values, kind="stable")
    values, week = values[order], week[order]

    def one(row: Floats) -> float:
        often = row[week]
        last = np.cumsum(often)
        count, mass = last[-1], often * values
        total = mass.sum()
        if not count or total <= 0:
            return 0.0 if count else float("nan")
        return float((mass * (2 * last - often - count)).sum() / (count * total))

    def redraw(often: Floats) -> Floats:
        return np.array([one(row) for row in often])

    return _Plan(redraw, len(np.unique(week)))


def _slices(jobs: Jobs, name: CurveName, edges: Ints) -> Bins:
    return curve(jobs.schedule, name).between(edges)


def _time_averages(slices: Bins) -> _Plan:
    return _ratios(slices.integral, np.diff(slices.edges).astype(np.float64))


def _time_peaks(slices: Bins) -> _Plan:
    def redraw(often: Floats) -> Floats:
        return np.array([slices.max[row > 0].max() for row in often])

    return _Plan(redraw, int(np.count_nonzero(np.diff(slices.edges))))


def _utilizations(jobs: Jobs, weeks: _Weeks) -> _Plan:
    """Busy core-seconds of a week's slice over what the cores could do in it."""
    schedule = jobs.schedule
    edges = np.maximum(weeks.edges, int(schedule.start.min()))
    slices = _slices(jobs, "busy_cores", edges)
    return _ratios(slices.integral, schedule.cluster.cores * np.diff(edges).astype(np.float64))
