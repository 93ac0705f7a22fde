"""The model of Grothklags and Streit (2003) as it stands, on HiGHS.

Variables x_it (eq. 1), the response weighted by width (eq. 2), constraints 3 to 5, on a grid whose
time scale follows from the memory (eq. 6). Jobs start at the beginning of a slot and hold whole
slots; a slot has the cores that are free at its first second. After solving, jobs are placed anew
in the order of their starts, each as early as it fits.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from queuesmith.base.checks import positive
from queuesmith.planning.kernels.placing import place_order
from queuesmith.planning.kernels.problem import Jobs, Staircase
from queuesmith.planning.plans import POLICIES, plan, plan_value, planned
from queuesmith.planning.problem import PlanningProblem, placed
from queuesmith.planning.snapshot import Snapshot
from queuesmith.planning.time_indexed import Slots, capacity_rows, once_rows
from queuesmith.schedule import Schedule
from queuesmith.solving.libraries import solver_library
from queuesmith.workload.workload import Ints

#: Megabytes of a matrix entry (section 3.2).
ENTRY_MEGABYTES = 0.0001
#: Megabytes for the model. The text speaks of a quarter of 8 GB; the time scales of Table 1 follow
#: from this number, 11 of 12.
MEMORY_MEGABYTES = 196.0
MINUTE = 60


@dataclass(frozen=True, eq=False)
class PaperResult:
    """What the paper's model gives for a snapshot.

    Parameters
    ----------
    plan
        The plan after the repair; None where the solver found none in the time.
    scale
        The time scale in seconds.
    status
        ``optimal`` (on its grid), ``time limit`` or ``failed``.
    variables, entries
        The size of the model.
    seconds
        How long building and solving took.
    """

    plan: Schedule | None
    scale: int
    status: str
    variables: int
    entries: int
    seconds: float


def time_scale(snapshot: Snapshot, memory: float = MEMORY_MEGABYTES) -> int:
    """Return the seconds of a slot by equation 6, rounded up to a minute."""
    positive("memory", memory, "Give the megabytes that the model may take.")
    span = max(plan_value(plan(snapshot, name), "makespan") for name in POLICIES)
    return scale_of(int(span), int(snapshot.jobs.walltime.sum()), memory)


def scale_of(span: int, run_time: int, memory: float = MEMORY_MEGABYTES) -> int:
    """Return equation 6 for a maximal makespan and an accumulated run time, in seconds."""
    seconds = math.sqrt(span * run_time * ENTRY_MEGABYTES / memory)
    return MINUTE * max(1, math.ceil(seconds / MINUTE))


def solve_paper_model(
    snapshot: Snapshot, seconds: float = 60.0, *, memory: float = MEMORY_MEGABYTES
) -> PaperResult:
    """Solve a snapshot by the paper's model.

    Parameters
    ----------
    seconds
        The solver's time limit.
    memory
        The megabytes of equation 6: the more, the finer the grid.
    """
    optimize = solver_library("scipy.optimize")
    positive("seconds", seconds, "Give the solver's time limit.")
    began = time.perf_counter()
    scale = time_scale(snapshot, memory)
    problem = PlanningProblem.of(snapshot, "artww")
    slots = _slots(problem, scale)
    rows = capacity_rows(slots, problem.jobs.cores)
    found = optimize.milp(
        slots.cost,
        integrality=np.ones(len(slots.cost)),  # eq. 5
        bounds=optimize.Bounds(0, 1),
        constraints=[
            optimize.LinearConstraint(once_rows(slots.job, len(snapshot)), 1, 1),  # eq. 3
            optimize.LinearConstraint(rows, -np.inf, slots.capacity),  # eq. 4
        ],
        options={"time_limit": seconds},
    )
    status = {0: "optimal", 1: "time limit"}.get(found.status, "failed")
    repaired = None
    if found.x is not None:
        start = np.zeros(len(snapshot), np.int64)
        used = found.x > 0.5
        start[slots.job[used]] = slots.slot[used] * scale + snapshot.now
        repaired = moved_forward(snapshot, start)
    took = time.perf_counter() - began
    return PaperResult(repaired, scale, status, len(slots.cost), int(rows.nnz), took)


def moved_forward(snapshot: Snapshot, start: Ints) -> Schedule:
    """Place jobs anew in the order of their starts, each as early as it fits (section 3.2)."""
    problem = PlanningProblem.of(snapshot, "artww")
    order = np.argsort(start, kind="stable")
    return planned(snapshot, placed(problem, order)[1], "paper")


def _slots(problem: PlanningProblem, scale: int) -> Slots:
    """Return the variables: all slots up to the longest plan of the three policies on the grid."""
    jobs, stairs = problem.jobs, problem.stairs
    length = -(-jobs.length // scale)
    release = -(-jobs.release // scale)
    coarse = Jobs(release, length, jobs.cores, jobs.weight, jobs.span_weight)
    time = -(-stairs.time // scale)
    last = np.append(np.flatnonzero(np.diff(time)), len(time) - 1)
    steps = Staircase(time[last], stairs.free[last])
    state = problem.new_placing()
    horizon = 0
    for order in POLICIES.values():
        place_order(coarse, steps, order(problem.snapshot), state)
        horizon = max(horizon, int((state.start + length).max()))
    choices = horizon - length - release + 1
    job = np.repeat(np.arange(len(length)), choices)
    first = np.repeat(np.cumsum(choices) - choices, choices)
    slot = release[job] + np.arange(len(job)) - first
    cost = jobs.weight[job] * (slot * float(scale))
    capacity = steps.free[np.searchsorted(steps.time, np.arange(horizon), "right") - 1]
    return Slots(job, slot, cost, length, capacity)
