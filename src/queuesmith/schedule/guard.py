"""Guards: metrics that may get no worse while a policy is made better at something else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from queuesmith.base.errors import MetricError, UsageError
from queuesmith.schedule.measures import DEFAULT_BOUND
from queuesmith.schedule.metrics import Better
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.starvation import NobodyStarves, WaitLimits

#: A share below which a difference is rounding: sums of the same numbers in another order.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Guard:
    """A metric that may be no worse than under a baseline.

    Parameters
    ----------
    metric
        A metric as objectives name it, such as ``utilization`` or ``awrt[1]``.
    tolerance
        By which share of the baseline's value it may be worse all the same.
    bound
        The bound of the bounded slowdown in seconds, for the metrics that use it.

    Examples
    --------
    >>> Guard.parse("utilization:0.1%")
    Guard(metric='utilization', tolerance=0.001, bound=10.0)
    """

    metric: str
    tolerance: float = 0.0
    bound: float = DEFAULT_BOUND

    def __post_init__(self) -> None:
        try:
            objective = self.objective
        except MetricError as error:
            raise MetricError(f"no-worse '{self.metric}' cannot be read: {error}") from error
        if str(objective) not in objective.names:
            raise MetricError(
                f"no-worse '{self.metric}' is an expression, of which nothing says whether lower "
                "or higher is better. Name one metric, such as utilization or awrt[1]."
            )
        if not isinstance(self.tolerance, int | float) or not 0 <= self.tolerance < 1:
            raise UsageError(
                f"the tolerance of no-worse '{objective}' is {self.tolerance!r}, but it must be a "
                "share from 0 up to, not including, 1. Write for example 0.001 or 0.1%."
            )
        object.__setattr__(self, "metric", str(objective))
        object.__setattr__(self, "tolerance", float(self.tolerance))

    @classmethod
    def parse(cls, text: str, *, bound: float = DEFAULT_BOUND) -> Guard:
        """Read a guard as one writes it: ``METRIC``, ``METRIC:0.001`` or ``METRIC:0.1%``."""
        has_tolerance = ":" in text and not text.rstrip().endswith("]")  # a group's name may have :
        metric, _, tolerance = text.rpartition(":") if has_tolerance else (text, "", "0")
        return cls(metric.strip(), _share(tolerance, text), bound)

    def __str__(self) -> str:
        return f"{self.metric}:{self.tolerance!r}" if self.tolerance else self.metric

    @property
    def objective(self) -> Objective:
        """The metric as an objective."""
        return Objective(self.metric, bound=self.bound)

    @property
    def better(self) -> Better:
        """Whether lower or higher is better."""
        return self.objective.better

    def limit(self, baseline: float) -> float:
        """Return the worst value that is still admitted where the baseline has this one."""
        leeway = self.tolerance * abs(baseline)
        return baseline - leeway if self.better == "higher" else baseline + leeway

    def shortfall(self, value: float, baseline: float) -> float:
        """Return how far a value is beyond the limit, as a share of the baseline; 0 if it is not.

        Where the baseline is 0, it is the value itself.
        """
        limit = self.limit(baseline)
        beyond = limit - value if self.better == "higher" else value - limit
        share = beyond / (abs(baseline) or 1.0)
        return share if share > ROUNDING else 0.0


class Limits:
    """What guards demand of schedules of some jobs, given the baseline's schedule of them."""

    def __init__(
        self, guards: Sequence[Guard], baseline: Schedule, starving: NobodyStarves | None = None
    ) -> None:
        self._known = [(guard, guard.objective, guard.objective(baseline)) for guard in guards]
        self._waits = None if starving is None else WaitLimits(starving, baseline)

    def shortfall(self, schedule: Schedule) -> float:
        """Return how far a schedule is beyond all limits together; 0 if it keeps them."""
        waits = 0.0 if self._waits is None else self._waits.shortfall(schedule)
        return waits + math.fsum(
            guard.shortfall(objective(schedule), baseline)
            for guard, objective, baseline in self._known
        )


def as_guards(
    written: str | Guard | Sequence[str | Guard], *, bound: float = DEFAULT_BOUND
) -> tuple[Guard, ...]:
    """Return guards as they are, or read them as they are written; each metric once."""
    several = [written] if isinstance(written, str | Guard) else written
    guards = tuple(_as_guard(each, bound) for each in several)
    metrics = [guard.metric for guard in guards]
    for metric in metrics:
        if metrics.count(metric) > 1:
            raise UsageError(f"no-worse names '{metric}' more than once. Name each metric once.")
    return guards


def _as_guard(written: str | Guard, bound: float) -> Guard:
    if isinstance(written, Guard):
        return written
    if not isinstance(written, str):
        raise UsageError(
            f"no-worse is {written!r}, but it must be a text or a Guard. Write for example "
            "'utilization:0.1%'."
        )
    return Guard.parse(written, bound=bound)


def _share(written: str, whole: str) -> float:
    text = written.strip()
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise UsageError(
            f"the tolerance '{text}' of no-worse '{whole}' is no number. Write METRIC, "
            "METRIC:0.001 or METRIC:0.1%."
        ) from None
