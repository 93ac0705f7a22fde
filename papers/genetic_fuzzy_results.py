"""Everything that the genetic fuzzy study knows about one log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from papers.genetic_fuzzy_approaches import THIRTEEN
from queuesmith.learning.offline_front import Front
from queuesmith.schedule.starvation import NobodyStarves

GROUPS = tuple(f"{group}" for group in range(1, 6))
#: Where the waits of a group have the longest, and the one that 99 % do not exceed: see `worth`.
LONGEST, NEARLY_ALL = 1, 2


@dataclass(frozen=True)
class Spread:
    """One figure of several runs that differ in their seed."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median."""
        return median(self.values)

    def overlaps(self, other: Spread) -> bool:
        """Tell whether another figure's range and this one's have a value in common."""
        return min(self.values) <= max(other.values) and min(other.values) <= max(self.values)

    def __str__(self) -> str:
        if len(self.values) == 1:
            return f"{self.median:.2f} (1 seed)"
        low, high = min(self.values), max(self.values)
        return f"{self.median:.2f} ({low:.2f} to {high:.2f}, {len(self.values)} seeds)"


@dataclass(frozen=True)
class Results:
    """Everything that is known about one log.

    Parameters
    ----------
    name
        The log, as the paper calls it.
    fixed
        The piece of the fixed strategies.
    runs
        What was learned: by approach and part of the log, a piece for each seed.
    front
        The off-line front, where it was searched.
    """

    name: str
    fixed: dict[str, Any]
    runs: dict[tuple[str, str], list[dict[str, Any]]]
    front: Front | None = None

    def of(self, approach: str, part: str = "all") -> list[dict[str, Any]]:
        """Return the runs of an approach, one for each seed."""
        return self.runs.get((approach, part), [])

    @property
    def easy(self) -> dict[str, Any]:
        """FCFS with EASY on the whole log."""
        return dict(self.fixed["all"]["fcfs+easy"])

    def best_fixed(self, part: str = "all") -> str:
        """Return the best of the thirteen on a part of the log."""
        worth = self.fixed[part]
        return min(THIRTEEN, key=lambda name: float(worth[name]["f"]))

    def gain(self, values: dict[str, Any], key: str = "f") -> float:
        """Return by how many per cent a schedule of the whole log is better than EASY."""
        return float(100 * (1 - values[key] / self.easy[key]))

    def points(self, values: dict[str, Any]) -> float:
        """Return by how many points of per cent the utilization is higher than EASY's."""
        return float(100 * (values["utilization"] - self.easy["utilization"]))

    @property
    def alone(self) -> float:
        """The improvement if groups 3 to 5 did not exist."""
        return float(100 * (1 - self.fixed["alone"] / self.easy["f"]))

    def gains(self, approach: str, key: str = "f") -> Spread | None:
        """Return the improvements on the whole log, learned on all of it; None where not run."""
        found = [self.gain(run["learning"]["learned"], key) for run in self.of(approach)]
        return Spread(tuple(found)) if found else None

    def typical(self, approach: str, part: str = "all") -> dict[str, Any] | None:
        """Return the run that is the median by what it learned for; None where there is none."""
        runs = sorted(self.of(approach, part), key=lambda run: run["learning"]["learned"]["f"])
        return runs[len(runs) // 2] if runs else None

    def held_out(self, approach: str, than: str) -> list[Sequence[float | None]]:
        """Return the improvements on jobs not seen, each with its interval."""
        return [run["held out"]["gain"][than] for run in self.of(approach, "held out")]

    def over_best_of_thirteen(self, approach: str) -> float | None:
        """Return the improvement on jobs not seen over the best of the thirteen on those seen.

        Per cent, the median of the seeds; whether or not that strategy keeps any guard.
        """
        fixed = self.fixed["rest"][self.best_fixed("first part")]["f"]
        found = [run["held out"]["learned"]["f"] for run in self.of(approach, "held out")]
        return median(100 * (1 - f / fixed) for f in found) if found else None

    def beyond_the_guard(self, approach: str) -> list[int]:
        """Return for each seed how many groups wait too long on jobs not seen, as the guard has it.

        Learning cannot know these jobs, so nothing enforces it there.
        """
        before, rule = self.fixed["rest"]["fcfs+easy"]["waits"], NobodyStarves()
        return [
            sum(
                any(now[at] > rule.limit(before[group][at]) for at in (LONGEST, NEARLY_ALL))
                for group, now in run["held out"]["learned"]["waits"].items()
            )
            for run in self.of(approach, "held out")
        ]
