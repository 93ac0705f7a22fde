"""How sure one can be of an answer: its status, and its distance from what is proven."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """What is known about an answer."""

    OPTIMAL = "optimal"  # proven: no better one exists
    FEASIBLE = "feasible"  # valid, and perhaps not the best


#: Two values closer than this, relatively, are equal to within the arithmetic of the solvers.
TOLERANCE = 1e-9


def gap_percent(value: float, lower_bound: float | None) -> float | None:
    """Return by how many per cent a value may at most lie above the optimum; None if unknown."""
    if lower_bound is None:
        return None
    if value <= lower_bound * (1 + TOLERANCE):
        return 0.0
    return 100.0 * (value - lower_bound) / lower_bound if lower_bound > 0 else None


def status_of(value: float, lower_bound: float | None) -> Status:
    """Return whether a bound proves a value to be the best."""
    return Status.OPTIMAL if gap_percent(value, lower_bound) == 0.0 else Status.FEASIBLE
