"""Everything that the genetic fuzzy study knows about one log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from papers.genetic_fuzzy_runs import METHODS, point
from queuesmith.learning.offline_front import Front
from queuesmith.policy.strategies import STRATEGIES

GROUPS = range(1, 6)


@dataclass(frozen=True)
class Results:
    """Everything that is known about one log."""

    name: str
    fixed: dict[str, Any]
    on_all: dict[str, dict[str, Any]]
    split: dict[str, dict[str, Any]]
    front: Front | None

    @property
    def easy(self) -> dict[str, float]:
        """FCFS with EASY."""
        return dict(self.fixed["strategies"]["fcfs+easy"])

    @property
    def best_fixed(self) -> tuple[str, dict[str, float]]:
        """The best of the thirteen on the whole log."""
        strategies = self.fixed["strategies"]
        name = min(STRATEGIES, key=lambda each: float(strategies[each]["f"]))
        return name, dict(strategies[name])

    @property
    def best_keeping(self) -> str | None:
        """The best of the fixed strategies that keep cores free, and lose no utilisation."""
        strategies = self.fixed["strategies"]
        good = [name for name in strategies if "keep" in name and self.as_used(strategies[name])]
        return min(good, key=lambda each: float(strategies[each]["f"]), default=None)

    def points(self, values: dict[str, float]) -> float:
        """By how many points of per cent the utilisation is higher than EASY's."""
        return 100 * (values["utilization"] - self.easy["utilization"])

    def as_used(self, values: dict[str, float]) -> bool:
        """Whether the utilisation is that of EASY, to a tenth of a point."""
        return abs(self.points(values)) <= 0.1

    def learned(self, method: str) -> dict[str, float]:
        """What a method learned on the whole log."""
        return dict(self.on_all[method]["learning"]["learned"])

    def gain(self, values: dict[str, float], key: str = "f") -> float:
        """By how many per cent a schedule is better than EASY."""
        return 100 * (1 - values[key] / self.easy[key])

    @property
    def alone(self) -> float:
        """The improvement if groups 3 to 5 did not exist."""
        return 100 * (1 - float(self.fixed["alone"]) / self.easy["f"])

    def front_with_policies(self) -> Front:
        """Return the front of the log with everything that was learned on all of it marked."""
        assert self.front is not None
        known = [point("EASY", self.easy), point("best fixed", self.best_fixed[1])]
        known += [point(METHODS[method], self.learned(method)) for method in self.on_all]
        return replace(self.front, policies=tuple(known))
