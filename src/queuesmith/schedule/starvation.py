"""Starvation: groups whose unluckiest jobs wait far longer than they did under a baseline."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import UsageError
from queuesmith.schedule.schedule import Schedule

Floats = NDArray[np.float64]

#: By how much the longest and the 99 % wait of a group may grow unless one asks for another factor.
DEFAULT_FACTOR = 2.0
#: Nobody starves who waits no longer than this, however short the baseline's waits are.
SHORT_WAIT = 86_400.0
#: Whoever waits longer than this is counted wherever a gain is shown.
WEEK = 7 * 86_400.0
#: The share of a group's jobs that wait no longer than its 99 % wait.
NEARLY_ALL = 0.99
#: A share below which a difference is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class GroupWaits:
    """What one group pays for a gain: how long its unluckiest jobs wait.

    Parameters
    ----------
    jobs
        How many jobs the group has.
    longest, p99
        The longest wait in seconds, and the one that 99 % of the jobs do not exceed.
    beyond_a_week
        How many jobs wait longer than a week.
    """

    jobs: int
    longest: float
    p99: float
    beyond_a_week: int

    def to_dict(self) -> dict[str, float]:
        """Return it, ready for JSON."""
        return asdict(self)

    def worst_with(self, other: GroupWaits) -> GroupWaits:
        """Return what a group waits at worst in two replays, and how many jobs too long in both."""
        return GroupWaits(
            self.jobs + other.jobs,
            max(self.longest, other.longest),
            max(self.p99, other.p99),
            self.beyond_a_week + other.beyond_a_week,
        )


def group_waits(schedule: Schedule) -> dict[str, GroupWaits]:
    """Return for each group, by its name, how long its unluckiest jobs wait.

    >>> from queuesmith import demo_workload, simulate
    >>> waits = group_waits(simulate(demo_workload(), policy="fcfs+easy"))
    >>> waits["1"].beyond_a_week
    63
    """
    jobs, found = schedule.workload, {}
    wait = schedule.wait.astype(np.float64)
    for group in np.unique(jobs.group):
        own = wait[jobs.group == group]
        name = jobs.label("group", int(group))
        found[name] = GroupWaits(len(own), *_unluckiest(own), int((own > WEEK).sum()))
    return found


@dataclass(frozen=True)
class NobodyStarves:
    """No group's longest wait, nor its 99 % wait, may be above so many times the baseline's.

    A wait of up to a day starves nobody.

    Parameters
    ----------
    factor
        How many times the baseline's wait of the same group is still admitted.

    Examples
    --------
    >>> NobodyStarves(2).limits({"1": 36_000.0, "2": 360_000.0})
    {'1': 86400.0, '2': 720000.0}
    """

    factor: float = DEFAULT_FACTOR

    def __post_init__(self) -> None:
        number = isinstance(self.factor, int | float) and not isinstance(self.factor, bool)
        if not number or not 1 <= self.factor < math.inf:
            raise UsageError(
                f"the factor of the longest wait is {self.factor!r}, but it must be 1 or more: how "
                "many times as long as under the baseline the longest wait of a group may be. "
                "Give for example 2."
            )
        object.__setattr__(self, "factor", float(self.factor))

    def limits(self, baseline: dict[str, float]) -> dict[str, float]:
        """Return the wait that each group is admitted, given the baseline's."""
        return {group: self.limit(wait) for group, wait in baseline.items()}

    def limit(self, baseline: float) -> float:
        """Return the wait that is admitted where the baseline's is this one."""
        return max(self.factor * baseline, SHORT_WAIT)

    def starved(self, schedule: Schedule, baseline: Schedule) -> dict[str, float]:
        """Return the groups that starve: by how many times their wait exceeds what is admitted."""
        before, beyond = group_waits(baseline), {}
        for group, now in group_waits(schedule).items():
            own = before[group]
            pairs = (now.longest, own.longest), (now.p99, own.p99)
            beyond[group] = max(wait / self.limit(was) for wait, was in pairs)
        return {group: share for group, share in beyond.items() if share > 1 + ROUNDING}


class WaitLimits:
    """The waits that groups are admitted, known once and asked for many schedules."""

    def __init__(self, rule: NobodyStarves, baseline: Schedule) -> None:
        groups = baseline.workload.group
        self._members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        self._limits = np.maximum(rule.factor * self._waits(baseline), SHORT_WAIT)

    def shortfall(self, schedule: Schedule) -> float:
        """Return by which shares of the limits all groups together wait too long; 0 if none.

        Of a group's two waits the one that is further beyond its limit counts.
        """
        beyond = (self._waits(schedule) / self._limits - 1).max(axis=1)
        return float(beyond[beyond > ROUNDING].sum())

    def _waits(self, schedule: Schedule) -> Floats:
        """Return a row for each group: its longest wait, and its 99 % wait."""
        wait = schedule.wait.astype(np.float64)
        return np.array([_unluckiest(wait[members]) for members in self._members])


def longest_waits(schedule: Schedule) -> dict[str, float]:
    """Return the longest wait of each group in seconds, by the group's name."""
    return {group: waits.longest for group, waits in group_waits(schedule).items()}


def _unluckiest(wait: Floats) -> tuple[float, float]:
    """Return the longest of some waits, and the one that 99 % of them do not exceed."""
    return float(wait.max()), float(np.quantile(wait, NEARLY_ALL))
