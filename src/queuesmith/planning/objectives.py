"""What a plan is judged by.

All but the makespan are sums of weight * response over a constant. The weight of a job in the
slowdown weighted by area is ``cores * walltime / walltime``, so that it has the same best plans as
the response weighted by width. A planner knows no runtimes; walltimes stand in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from queuesmith.base.errors import MetricError
from queuesmith.base.registry import entry
from queuesmith.planning.snapshot import Floats, Snapshot


class PlanObjective(NamedTuple):
    """``(sum weight * response + span_weight * (last end - now)) / scale``, to be minimised."""

    name: str
    weight: Floats
    span_weight: float
    scale: float


def artww(snapshot: Snapshot) -> PlanObjective:
    """Average response time weighted by width (Grothklags and Streit, eq. 2)."""
    width = snapshot.jobs.cores.astype(np.float64)
    return PlanObjective("artww", width, 0.0, float(width.sum()))


def sldwa(snapshot: Snapshot) -> PlanObjective:
    """Average slowdown weighted by area (section 4): weights are ``area / walltime``."""
    width = snapshot.jobs.cores.astype(np.float64)
    return PlanObjective("sldwa", width, 0.0, float((width * snapshot.jobs.walltime).sum()))


def response(snapshot: Snapshot) -> PlanObjective:
    """Average response time, weighted by the jobs' own weights."""
    return PlanObjective("response", snapshot.weight, 0.0, float(snapshot.weight.sum()))


def makespan(snapshot: Snapshot) -> PlanObjective:
    """Seconds from now to the last end."""
    return PlanObjective("makespan", np.zeros(len(snapshot)), 1.0, 1.0)


OBJECTIVES: Mapping[str, Callable[[Snapshot], PlanObjective]] = {
    each.__name__: each for each in (artww, sldwa, response, makespan)
}


def find_objective(name: str) -> Callable[[Snapshot], PlanObjective]:
    """Return an objective by name."""
    return entry("objective", name, OBJECTIVES, error=MetricError)
