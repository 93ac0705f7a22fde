"""How sure an improvement is: two schedules of the same jobs, redrawn week by week together.

A heavy week is heavy under both policies, so the same weeks are drawn for both. The range of the
improvement is then much narrower than the ranges of the two values suggest.
"""

from __future__ import annotations

import numpy as np

from queuesmith.base.errors import MetricError
from queuesmith.schedule.confidence import Interval, redrawn, weekly_plans
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.schedule import Schedule


def improvement_percent(value: float, than: float, better: str = "lower") -> float | None:
    """Return by how many per cent a value is better than another; None where that is 0."""
    if than == 0:
        return None
    gain = value - than if better == "higher" else than - value
    return 100.0 * gain / abs(than)


def improvement(
    schedule: Schedule,
    than: Schedule,
    objective: Objective,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Interval | None:
    """Return by how many per cent one schedule is better than another, with its interval.

    None where the other's value is 0, so that there is no percentage.

    Parameters
    ----------
    schedule, than
        Two schedules of the same jobs.
    objective
        What they are judged by.
    level, resamples, seed
        As for ``confidence``.
    """
    gain = improvement_percent(objective(schedule), objective(than), objective.better)
    if gain is None:
        return None
    try:
        weeks, plans = weekly_plans(schedule, objective)
        _, other_plans = weekly_plans(than, objective)
    except MetricError:  # a metric that has no bootstrap
        return Interval(gain, None, None, 0, level)
    informed = min((plan.weeks for plan in (*plans.values(), *other_plans.values())), default=0)
    if informed < 2:
        return Interval(gain, None, None, informed, level)
    # The same seed draws the same weeks for both.
    value = redrawn(objective, plans, weeks.count, resamples, seed)
    other = redrawn(objective, other_plans, weeks.count, resamples, seed)
    sign = -1.0 if objective.better == "higher" else 1.0
    with np.errstate(all="ignore"):
        gains = 100.0 * sign * (other - value) / np.abs(other)
    gains = gains[np.isfinite(gains)]
    if not len(gains):
        return Interval(gain, None, None, informed, level)
    low, high = np.quantile(gains, [(1 - level) / 2, (1 + level) / 2])
    return Interval(gain, float(low), float(high), informed, level)


def interval_words(percent: Interval) -> str:
    """Return the interval of a gain as it stands behind it: `` (1.2 to 3.4)``; nothing without."""
    if percent.low is None or percent.high is None:
        return ""
    return f" ({percent.low:.1f} to {percent.high:.1f})"


def chance_words(*gains: Interval) -> str:
    """Say whether gains may be chance; of several, whether one of them may be."""
    if not all(gain.weeks for gain in gains):
        return "Whether that is chance cannot be told: weeks of this objective cannot be redrawn."
    lows = [gain.low for gain in gains if gain.low is not None]
    if len(lows) < len(gains):
        return "The log is too short to tell whether that is chance."
    if min(lows) > 0:
        return "It stays better when the weeks of the log are redrawn, so that is hardly chance."
    return "That may be chance: with other weeks of the same log there would be no gain."
