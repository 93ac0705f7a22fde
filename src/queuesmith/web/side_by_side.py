"""The columns of the page side by side: what they are worth, and who gains and who pays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from queuesmith.base.errors import MetricError
from queuesmith.base.words import so_many
from queuesmith.report.comparison import Comparison, check_labels
from queuesmith.report.figure_data import common_parts, mean_waits, sorted_waits
from queuesmith.report.wording import duration
from queuesmith.schedule.confidence import Interval, confidence
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.schedule import HISTORY, Schedule
from queuesmith.workload import Workload

WEEK = 7 * 86_400
#: Changes below so many per cent are none that anybody would notice.
NOTICEABLE = 1.0
#: Above so many per cent more, one says how many times as long.
MANY_TIMES = 900.0


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Comparison):
    """Schedules of one log that may differ in load and machine, each under a name of its own.

    Parameters
    ----------
    columns
        The names of all columns, also of those that could not be replayed: they keep their colour.
    """

    columns: tuple[str, ...] = ()

    @property
    def policies(self) -> tuple[str, ...]:
        """All names, in the order in which colours are given out."""
        own = super().policies
        return tuple(dict.fromkeys([*own[: HISTORY in own], *self.columns, *own]))

    def _check_alike(self) -> None:
        check_labels(self.schedules)

    @property
    def dated(self) -> Workload:
        """A workload without dates where one of them has none: its arrivals were moved."""
        undated = (each.workload for each in self.schedules if each.workload.epoch is None)
        return next(undated, self.workload)


@dataclass(frozen=True)
class Facts:
    """What one looks at first in a column; waits in seconds."""

    objective: Interval
    mean_wait: float
    p95_wait: float
    longest_wait: float
    beyond_a_week: int
    utilization: float
    jobs: int


@lru_cache(maxsize=32)
def facts_of(schedule: Schedule, objective: Objective) -> Facts:
    """Return the figures of a column; the objective with its interval where it has one."""
    wait = sorted_waits(schedule)
    try:
        value = confidence(schedule, objective)
    except MetricError:
        value = Interval(objective(schedule), None, None, 0)
    return Facts(
        value,
        float(wait.mean()),
        float(np.percentile(wait, 95)),
        float(wait[-1]),
        int(np.count_nonzero(wait > WEEK)),
        schedule.value("utilization"),
        len(schedule),
    )


def sentence_of_change(before: Schedule, after: Schedule, by: str) -> str:
    """Say in a sentence or two what changed for whom, and at what price."""
    parts = common_parts([before.workload, after.workload], by)
    old, new = (mean_waits(each, parts) for each in (before, after))
    mean_before, mean_after = float(before.wait.mean()), float(after.wait.mean())
    text = f"{after.policy} instead of {before.policy}: {_mean(mean_before, mean_after)}"
    if len(after) != len(before):
        text += f" {len(after):,} instead of {so_many(len(before), 'job')} fit its machine."
    in_both = (old.jobs > 0) & (new.jobs > 0)
    changes = {
        label: _percent(float(a), float(b))
        for label, a, b, there in zip(parts.labels, old.mean, new.mean, in_both, strict=True)
        if there
    }
    if len(changes) > 1:
        text += _who(changes)
    longest = (float(before.wait.max()), float(after.wait.max()))
    late = [int(np.count_nonzero(each.wait > WEEK)) for each in (before, after)]
    text += f" The longest wait is {duration(longest[1])} instead of {duration(longest[0])}"
    weeks = (
        f"; {late[1]:,} instead of {so_many(late[0], 'job')} wait over a week" if any(late) else ""
    )
    return f"{text}{weeks}."


def _mean(before: float, after: float) -> str:
    change = _percent(before, after)
    times = f"{duration(after)} instead of {duration(before)}"
    if math.isinf(change):
        return f"jobs wait {duration(after)} on average instead of not at all."
    if abs(change) < NOTICEABLE:
        return f"jobs wait about as long as before on average ({times})."
    how = f"{abs(change):.0f} % {'longer' if change > 0 else 'less'}"
    if change > MANY_TIMES:
        how = f"{after / before:,.0f} times as long"
    return f"jobs wait {how} on average ({times})."


def _who(changes: dict[str, float]) -> str:
    least, most = min(changes, key=changes.__getitem__), max(changes, key=changes.__getitem__)
    gains = changes[least] <= -NOTICEABLE
    pays = changes[most] >= NOTICEABLE
    if gains and pays:
        return (
            f" {least} gains most ({_sized(changes[least])}), {most} pays most "
            f"({_sized(changes[most])})."
        )
    if gains:
        return f" {least} gains most ({_sized(changes[least])}), and nobody noticeably pays."
    if pays:
        return f" {most} pays most ({_sized(changes[most])}), and nobody noticeably gains."
    return " Nobody noticeably gains or pays."


def _sized(change: float) -> str:
    return "it did not wait before" if math.isinf(change) else f"{change:+.0f} %"


def _percent(before: float, after: float) -> float:
    """Return a change in per cent; without end where somebody waits who did not before."""
    if before > 0:
        return 100 * (after - before) / before
    return math.inf if after >= 1 else 0.0


def replays_of(schedules: Sequence[Schedule]) -> list[Schedule]:
    """Return the schedules without what really happened."""
    return [schedule for schedule in schedules if schedule.policy != HISTORY]
