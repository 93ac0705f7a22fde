"""The planning step as a time-indexed mixed-integer model, on HiGHS.

On a grid of ``step`` seconds starts and lengths are rounded down, and the capacity of a slot is
read at its last second. A plan to the second remains feasible under this rounding: at the last
second of a slot all jobs that hold it are at work. So the model's bound holds for all plans,
whatever the grid; with a step of one second the model is exact.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from queuesmith.planning.cpsat import last_end
from queuesmith.planning.problem import PlanningProblem, placed
from queuesmith.planning.snapshot import Floats
from queuesmith.planning.solver_result import SolverResult
from queuesmith.solving.libraries import solver_library
from queuesmith.workload.workload import Ints

#: The grid is as fine as so many variables allow.
MOST_VARIABLES = 8_000
#: The solver's bound holds but for its tolerances: so much is taken off, relatively.
TOLERANCE = 2e-6


class Slots(NamedTuple):
    """One variable for each job and slot in which it may start."""

    job: Ints
    slot: Ints
    cost: Floats
    length: Ints  # in slots
    capacity: Ints  # of each slot


def solve_time_indexed(
    problem: PlanningProblem, order: Ints, seconds: float, *, step: int | None = None
) -> SolverResult:
    """Solve the rounded-down model by HiGHS.

    Parameters
    ----------
    order
        The best order known: its cost limits how late jobs can start.
    step
        Seconds of a slot; by default as few as keep the model small.
    """
    optimize = solver_library("scipy.optimize")
    cost = placed(problem, order)[0]
    latest = _latest(problem, cost)
    slots = _slots(problem, latest, _step(problem, latest) if step is None else step)
    # Variables, constraints: each job once, no slot above its capacity; then the objective.
    count = len(problem.jobs.length)
    found = optimize.milp(
        slots.cost,
        integrality=np.ones(len(slots.cost)),
        bounds=optimize.Bounds(0, 1),
        constraints=[
            optimize.LinearConstraint(once_rows(slots.job, count), 1, 1),
            optimize.LinearConstraint(
                capacity_rows(slots, problem.jobs.cores), -np.inf, slots.capacity
            ),
        ],
        options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0.0},
    )
    # Decode.
    bound = -math.inf
    if found.mip_dual_bound is not None and math.isfinite(found.mip_dual_bound):
        bound = found.mip_dual_bound - TOLERANCE * abs(found.mip_dual_bound)
    status = {0: "optimal", 1: "time limit", 2: "infeasible"}.get(found.status, "failed")
    if found.x is None:
        return SolverResult(None, bound, status)
    start = np.zeros(count, np.int64)
    used = found.x > 0.5
    start[slots.job[used]] = slots.slot[used]
    return SolverResult(np.argsort(start, kind="stable"), bound, status)


def once_rows(job: Ints, jobs: int) -> Any:
    """Return the rows in which each job has its variables."""
    sparse = solver_library("scipy.sparse")
    count = len(job)
    return sparse.csr_array((np.ones(count), (job, np.arange(count))), shape=(jobs, count))


def capacity_rows(slots: Slots, cores: Ints) -> Any:
    """Return the rows in which each slot has the cores of the jobs that hold it."""
    sparse = solver_library("scipy.sparse")
    length = slots.length[slots.job]
    last = np.minimum(slots.slot + length, len(slots.capacity))
    held = np.maximum(last - slots.slot, 0)
    column = np.repeat(np.arange(len(slots.job)), held)
    within = np.arange(held.sum()) - np.repeat(np.cumsum(held) - held, held)
    row = slots.slot[column] + within
    shape = (len(slots.capacity), len(slots.job))
    return sparse.csr_array((cores[slots.job[column]].astype(float), (row, column)), shape=shape)


def _latest(problem: PlanningProblem, cost: float) -> Ints:
    """Return the latest start of each job in a plan that costs no more than a known one."""
    jobs, earliest = problem.jobs, problem.earliest
    latest = last_end(problem) - jobs.length
    if problem.objective.span_weight:
        late = int(cost / problem.objective.span_weight) - jobs.length
        return np.asarray(np.minimum(latest, late))
    slack = cost - float((jobs.weight * earliest).sum())
    late_by_cost = earliest + np.floor(slack / np.maximum(jobs.weight, 1e-9) + 1e-6)
    return np.asarray(np.minimum(late_by_cost, latest).astype(np.int64))


def _step(problem: PlanningProblem, latest: Ints) -> int:
    seconds = int((latest - problem.earliest + 1).sum())
    return max(1, math.ceil(seconds / MOST_VARIABLES))


def _slots(problem: PlanningProblem, latest: Ints, step: int) -> Slots:
    jobs, earliest = problem.jobs, problem.earliest
    first, last = earliest // step, latest // step
    choices = last - first + 1
    job = np.repeat(np.arange(len(first)), choices)
    slot = first[job] + np.arange(len(job)) - np.repeat(np.cumsum(choices) - choices, choices)
    cost = jobs.weight[job] * np.maximum(slot * step, earliest[job])
    length = jobs.length // step
    count = int((last + length).max()) + 1
    ends = np.arange(1, count + 1) * step - 1
    capacity = problem.usable.free[np.searchsorted(problem.usable.time, ends, "right") - 1]
    return Slots(job, slot, cost.astype(np.float64), length, capacity)
