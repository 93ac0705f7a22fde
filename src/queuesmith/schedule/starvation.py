"""Starvation: groups whose unluckiest job waits far longer than it did under a baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import UsageError
from queuesmith.schedule.schedule import Schedule
from queuesmith.workload import Workload

Floats = NDArray[np.float64]

#: By how much the longest wait of a group may grow unless one asks for another factor.
DEFAULT_FACTOR = 2.0
#: Nobody starves who waits no longer than this, however short the baseline's waits are.
SHORT_WAIT = 86_400.0
#: A share below which a difference is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class NobodyStarves:
    """No group's longest wait may be above so many times the baseline's; a day starves nobody.

    Parameters
    ----------
    factor
        How many times the baseline's longest wait of the same group is still admitted.

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
        """Return the longest wait that each group is admitted, given the baseline's."""
        return {group: max(self.factor * wait, SHORT_WAIT) for group, wait in baseline.items()}

    def starved(self, schedule: Schedule, baseline: Schedule) -> dict[str, float]:
        """Return the groups that starve: by how many times their wait exceeds what is admitted."""
        limits = self.limits(longest_waits(baseline))
        beyond = {group: wait / limits[group] for group, wait in longest_waits(schedule).items()}
        return {group: share for group, share in beyond.items() if share > 1 + ROUNDING}


class WaitLimits:
    """The longest waits that some jobs are admitted, known once and asked for many schedules."""

    def __init__(self, rule: NobodyStarves, baseline: Schedule) -> None:
        self._codes, self._count = _codes(baseline.workload)
        waits = _longest(baseline, self._codes, self._count)
        self._limits = np.maximum(rule.factor * waits, SHORT_WAIT)

    def shortfall(self, schedule: Schedule) -> float:
        """Return by which shares of the limits all groups together wait too long; 0 if none."""
        beyond = _longest(schedule, self._codes, self._count) / self._limits - 1
        return float(beyond[beyond > ROUNDING].sum())


def longest_waits(schedule: Schedule) -> dict[str, float]:
    """Return the longest wait of each group in seconds, by the group's name."""
    jobs = schedule.workload
    codes, count = _codes(jobs)
    names = [jobs.label("group", int(group)) for group in np.unique(jobs.group)]
    return dict(zip(names, _longest(schedule, codes, count).tolist(), strict=True))


def _codes(jobs: Workload) -> tuple[NDArray[np.int64], int]:
    groups, codes = np.unique(jobs.group, return_inverse=True)
    return codes, len(groups)


def _longest(schedule: Schedule, codes: NDArray[np.int64], count: int) -> Floats:
    longest = np.zeros(count)
    np.maximum.at(longest, codes, schedule.wait.astype(np.float64))
    return longest
