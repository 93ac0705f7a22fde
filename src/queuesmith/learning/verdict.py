"""What a learned policy is worth on some jobs, beside what one would have without learning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from queuesmith.base.errors import MetricError
from queuesmith.schedule import Schedule
from queuesmith.schedule.confidence import Interval, confidence
from queuesmith.schedule.guard import Guard
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.paired import improvement
from queuesmith.schedule.starvation import GroupWaits, NobodyStarves, group_waits


@dataclass(frozen=True)
class Guarded:
    """What became of a metric that was to get no worse.

    Parameters
    ----------
    guard
        The metric, and by how much it may be worse.
    baseline, best_fixed, learned
        Its value under each policy.
    """

    guard: Guard
    baseline: float
    best_fixed: float
    learned: float

    @property
    def limit(self) -> float:
        """The worst value that is admitted."""
        return self.guard.limit(self.baseline)

    @property
    def kept(self) -> bool:
        """Whether the learned policy is within the limit."""
        return self.guard.shortfall(self.learned, self.baseline) == 0

    def to_dict(self) -> dict[str, Any]:
        """Return it, ready for JSON."""
        return {
            "metric": self.guard.metric,
            "tolerance": self.guard.tolerance,
            "baseline": self.baseline,
            "best_fixed": self.best_fixed,
            "learned": self.learned,
            "limit": self.limit,
            "kept": self.kept,
        }


@dataclass(frozen=True, eq=False)
class Verdict:
    """Schedules of the same jobs under the learned policy and under what it must beat.

    Parameters
    ----------
    objective
        What they are judged by.
    learned, baseline, best_fixed
        Under the learned policy, under FCFS with EASY, and under the fixed strategy that was the
        best on the jobs learned from.
    guards
        What was to get no worse than under FCFS with EASY.
    starving
        How much longer than under FCFS with EASY a group may wait at most; None for no limit.
    """

    objective: Objective
    learned: Schedule
    baseline: Schedule
    best_fixed: Schedule
    guards: tuple[Guard, ...] = ()
    starving: NobodyStarves | None = None

    @property
    def schedules(self) -> dict[str, Schedule]:
        """The three schedules by the part they play."""
        return {
            "baseline": self.baseline,
            "best_fixed": self.best_fixed,
            "learned": self.learned,
        }

    @cached_property
    def values(self) -> dict[str, Interval]:
        """The objective of each schedule, with its confidence interval over weeks."""
        return {
            part: _interval(schedule, self.objective) for part, schedule in self.schedules.items()
        }

    @cached_property
    def improvement(self) -> dict[str, Interval | None]:
        """By how many per cent the learned policy is better, with paired confidence intervals."""
        return {
            "baseline": improvement(self.learned, self.baseline, self.objective),
            "best_fixed": improvement(self.learned, self.best_fixed, self.objective),
        }

    @property
    def improvement_percent(self) -> dict[str, float | None]:
        """By how many per cent the learned policy is better; None where there is no percentage."""
        return {
            part: None if gain is None else gain.value for part, gain in self.improvement.items()
        }

    @cached_property
    def no_worse(self) -> tuple[Guarded, ...]:
        """What became of the metrics that were to get no worse, on these jobs."""
        return tuple(
            Guarded(guard, **{part: guard.objective(each) for part, each in self.schedules.items()})
            for guard in self.guards
        )

    @cached_property
    def waits(self) -> dict[str, dict[str, GroupWaits]]:
        """How long the unluckiest jobs of each group wait, by policy, then by group."""
        return {part: group_waits(schedule) for part, schedule in self.schedules.items()}

    @property
    def longest_waits(self) -> dict[str, dict[str, float]]:
        """The longest wait of each group in seconds, by policy, then by group."""
        return {
            part: {group: each.longest for group, each in waits.items()}
            for part, waits in self.waits.items()
        }

    @cached_property
    def starved(self) -> dict[str, float]:
        """The groups that wait longer than is admitted, and how many times as long."""
        return {} if self.starving is None else self.starving.starved(self.learned, self.baseline)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict, ready for JSON."""
        named = {
            part: {"name": self.schedules[part].policy, **_plain(interval)}
            for part, interval in self.values.items()
        }
        return {
            "jobs": len(self.learned),
            **named,
            "improvement_percent": self.improvement_percent,
            "improvement_interval": {
                part: None if gain is None else [gain.low, gain.high]
                for part, gain in self.improvement.items()
            },
            "utilization": {
                part: schedule.value("utilization") for part, schedule in self.schedules.items()
            },
            "no_worse": [guarded.to_dict() for guarded in self.no_worse],
            "longest_waits": self.longest_waits,
            "waits": {
                part: {group: each.to_dict() for group, each in waits.items()}
                for part, waits in self.waits.items()
            },
            "starved": self.starved,
        }


def _interval(schedule: Schedule, objective: Objective) -> Interval:
    """Return the value, and its range where the objective has a bootstrap."""
    try:
        return confidence(schedule, objective)
    except MetricError:
        return Interval(objective(schedule), None, None, 0)


def _plain(interval: Interval) -> dict[str, float | None]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}
