"""Metrics of one's own: a plain function of a schedule, from Python or from a file."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from queuesmith.base.errors import MetricError, QueuesmithError, UsageError
from queuesmith.policy.order import load_function
from queuesmith.schedule.metrics import METRICS, Better, Metric

if TYPE_CHECKING:
    from queuesmith.schedule.measures import Jobs
    from queuesmith.schedule.schedule import Schedule

#: Those that were added, by name, with where they come from.
_ADDED: dict[str, str] = {}


def add_metric(
    function: Callable[[Schedule], float] | str,
    *,
    unit: str | None = None,
    better: Better | None = None,
) -> str:
    """Let objectives, tables and reports know a metric of one's own; return its name.

    Parameters
    ----------
    function
        A function that takes a ``Schedule`` and returns a number, or where it stands:
        ``"my.py:worst_day"``. It is called by its name from then on.
    unit
        ``s``, ``jobs``, ``core-s``, or ``1`` for a plain ratio; by default what the function has as
        ``unit``, else ``1``.
    better
        Whether ``lower`` or ``higher`` is better; by default what the function has as ``better``,
        else ``lower``.

    Examples
    --------
    >>> def waiting_days(schedule):
    ...     "All waits together, in days."
    ...     return schedule.wait.sum() / 86_400
    >>> add_metric(waiting_days)
    'waiting_days'
    """
    source = function if isinstance(function, str) else f"{function!r}"
    called = load_function(function, "metric") if isinstance(function, str) else function
    if not inspect.isfunction(called):
        raise UsageError(
            f"the metric {function!r} is no function, but a metric is a plain Python function of a "
            "schedule. Write one with def."
        )
    name = called.__name__
    if name in METRICS and name not in _ADDED:
        raise UsageError(
            f"there is a metric '{name}' already, so '{source}' cannot be called so. Rename it."
        )
    METRICS[name] = Metric(
        name,
        _measured(called, name),
        (inspect.getdoc(called) or f"of {source}").splitlines()[0].rstrip("."),
        unit or str(getattr(called, "unit", "1")),
        _direction(better or getattr(called, "better", "lower"), name),
    )
    _ADDED[name] = source
    return name


def _direction(better: Any, name: str) -> Better:
    if better not in ("lower", "higher"):
        raise UsageError(
            f"the metric '{name}' is better when {better!r}, but that must be 'lower' or 'higher'. "
            "Correct it."
        )
    return better  # type: ignore[no-any-return]  # seen above


def _measured(function: Callable[..., Any], name: str) -> Callable[[Jobs], float]:
    def measure(jobs: Jobs) -> float:
        try:
            value = float(function(jobs.schedule))
        except QueuesmithError:
            raise
        except Exception as error:
            raise MetricError(
                f"your metric '{name}' failed: {type(error).__name__}: {error}. Correct it."
            ) from error
        if not math.isfinite(value):
            raise MetricError(
                f"your metric '{name}' is {value} for '{jobs.schedule.policy}', but it must be a "
                "finite number. Correct it."
            )
        return value

    return measure
