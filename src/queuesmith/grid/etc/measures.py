"""What the literature of grids measures on a schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from queuesmith.schedule import Schedule

#: The weight of the makespan where both criteria count (Carretero et al., eq. 4 and section 4).
MAKESPAN_WEIGHT = 0.75


def mean_flowtime(schedule: Schedule) -> float:
    """Return the flowtime over the number of machines, as the paper weighs it (section 2.2)."""
    return schedule.value("flowtime") / schedule.cluster.cores


def fitness(schedule: Schedule) -> float:
    """Return makespan and mean flowtime, weighted (eq. 4)."""
    return weighted(schedule.makespan, mean_flowtime(schedule))


def weighted(makespan: float, mean_flowtime: float) -> float:
    """Return both criteria as one number (eq. 4)."""
    return MAKESPAN_WEIGHT * makespan + (1 - MAKESPAN_WEIGHT) * mean_flowtime


#: By the names that objectives have for them.
MEASURES: Mapping[str, Callable[[Schedule], float]] = {
    "mean_flowtime": mean_flowtime,
    "fitness": fitness,
}
