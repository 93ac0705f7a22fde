"""What a rule can look at: numbers that describe the state of the machine at one instant.

A feature is a function of a :class:`State` and one entry in ``FEATURES``. The engine keeps the
state up to date while it replays and compiles the functions into its loop. They return plain
numbers.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from queuesmith.base.errors import PolicyError

GROUPS = 5
DAY = 86_400
HIGHEST_SLOWDOWN = 100.0


class State(NamedTuple):
    """What is known at a scheduling instant, before anything is decided.

    At least one job waits: without one there is nothing to decide.
    """

    now: int
    cores: int
    free: int
    waiting: int  # jobs
    oldest_submit: int  # of the job that has waited longest
    narrowest: int  # cores of the narrowest waiting job
    waiting_work: float  # walltime times cores of all waiting jobs
    group_work: Any  # the same for groups 1 to 5, at these places
    slowdown: float  # equation 5, of the jobs that ended; 1 before the first


@dataclass(frozen=True)
class Feature:
    """One number about the state, with the range in which it is expected."""

    name: str
    function: Callable[[State], Any]
    low: float
    high: float
    words: str  # how a sentence calls it


def slowdown(state: State) -> float:
    """Average slowdown of ended jobs, weighted by their work (equation 5), at most 100."""
    return min(state.slowdown, HIGHEST_SLOWDOWN)


def utilization(state: State) -> float:
    """Share of the cores that are busy now (equation 6)."""
    return (state.cores - state.free) / state.cores


def _share_of_group(group: int) -> Callable[[State], float]:
    def share(state: State) -> float:
        if state.waiting_work <= 0.0:
            return 0.0
        return state.group_work[group] / state.waiting_work  # type: ignore[no-any-return]

    share.__doc__ = f"Share of group {group} in the work that waits (equation 7)."
    share.__name__ = f"group_{group}_share"
    return share


def queue_length(state: State) -> float:
    """How many jobs wait."""
    return state.waiting


def queue_work(state: State) -> float:
    """Hours that the whole machine needs for the work that waits, by the walltimes."""
    return state.waiting_work / state.cores / 3600.0


def head_wait(state: State) -> float:
    """Hours that the oldest waiting job has waited."""
    return (state.now - state.oldest_submit) / 3600.0


def free_share(state: State) -> float:
    """Free cores over the cores of the narrowest waiting job, at most 10."""
    return min(state.free / state.narrowest, 10.0)


def time_of_day(state: State) -> float:
    """Hours since midnight on the log's clock, whose second 0 counts as a midnight."""
    return state.now % DAY / 3600.0


def day_of_week(state: State) -> float:
    """Days, 0 to 7, on the log's clock, whose second 0 counts as the beginning of a week."""
    return state.now % (7 * DAY) / DAY


FEATURES = {
    feature.name: feature
    for feature in (
        Feature("slowdown", slowdown, 1, 10, "the slowdown so far"),
        Feature("utilization", utilization, 0, 1, "utilization"),
        *(
            Feature(
                f"group_{group}_share",
                _share_of_group(group),
                0,
                1,
                f"group {group}'s share of the queue",
            )
            for group in range(1, GROUPS + 1)
        ),
        Feature("queue_length", queue_length, 0, 100, "the number of waiting jobs"),
        Feature("queue_work", queue_work, 0, 100, "the hours of work that wait"),
        Feature("head_wait", head_wait, 0, 48, "the longest wait in hours"),
        Feature("free_share", free_share, 0, 10, "room for the narrowest job"),
        Feature("time_of_day", time_of_day, 0, 24, "the hour of the day"),
        Feature("day_of_week", day_of_week, 0, 7, "the day of the week"),
    )
}

#: The seven features of Franke, Lepping and Schwiegelshohn, section 3.2.
SEVEN = tuple(FEATURES)[:7]


def find_features(names: Sequence[str]) -> tuple[Feature, ...]:
    """Return features by their names."""
    for name in names:
        if name not in FEATURES:
            near = difflib.get_close_matches(name, FEATURES, 1)
            hint = f"Did you mean '{near[0]}'? " if near else ""
            raise PolicyError(
                f"there is no feature '{name}'. {hint}Choose from: {', '.join(FEATURES)}."
            )
    return tuple(FEATURES[name] for name in names)
