"""What an exact solver hands back, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass

from queuesmith.workload.workload import Ints


@dataclass(frozen=True)
class SolverResult:
    """An order of the jobs, where one was found, and a bound on the cost of all plans.

    The bound is minus infinity where nothing is proven.
    """

    order: Ints | None
    bound: float
    status: str
