"""The model of Grothklags and Streit (2003) as it stands, on SCIP.

Variables x_it (eq. 1), the response weighted by width (eq. 2), constraints 3 to 5, on a grid whose
time scale follows from the memory (eq. 6). Jobs start at the beginning of a slot and hold whole
slots; a slot has the cores that are free at its first second. The solver starts from the best plan
of the three policies on that grid. After solving, jobs are placed anew in the order of their
starts, each as early as it fits.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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
    positive("seconds", seconds, "Give the solver's time limit.")
    began = time.perf_counter()
    scale = time_scale(snapshot, memory)
    problem = PlanningProblem.of(snapshot, "artww")
    slots, first = _slots(problem, scale)
    rows = capacity_rows(slots, problem.jobs.cores)
    chosen, status = _solved(slots, rows, first, seconds)
    repaired = None
    if chosen is not None:
        start = np.zeros(len(snapshot), np.int64)
        start[slots.job[chosen]] = slots.slot[chosen] * scale + snapshot.now
        repaired = moved_forward(snapshot, start)
    took = time.perf_counter() - began
    return PaperResult(repaired, scale, status, len(slots.cost), int(rows.nnz), took)


def _solved(
    slots: Slots, rows: sparse.csr_array, first: NDArray[np.bool_], seconds: float
) -> tuple[NDArray[np.bool_] | None, str]:
    """Return which variables are 1 in the best solution found, and how the search ended."""
    builder = solver_library("ortools.linear_solver.python.model_builder")
    count, jobs = len(slots.cost), len(slots.length)
    least = np.append(np.ones(jobs), np.full(rows.shape[0], -np.inf))
    most = np.append(np.ones(jobs), slots.capacity)
    model = builder.Model()
    model.helper.fill_model_from_sparse_data(
        np.zeros(count),
        np.ones(count),
        slots.cost,
        least,  # eq. 3, then eq. 4
        most,
        sparse.csr_matrix(sparse.vstack([once_rows(slots.job, jobs), rows])),
    )
    for i in range(count):
        model.helper.set_var_integrality(i, True)  # eq. 5
        model.add_hint(model.var_from_index(i), float(first[i]))
    solver = builder.Solver("scip")
    solver.set_time_limit_in_seconds(seconds)
    ended = solver.solve(model)
    if ended not in (builder.SolveStatus.OPTIMAL, builder.SolveStatus.FEASIBLE):
        unsolved = ended == builder.SolveStatus.NOT_SOLVED
        return None, "time limit" if unsolved else "failed"
    values = solver.values(model.get_variables()).to_numpy()
    return values > 0.5, "optimal" if ended == builder.SolveStatus.OPTIMAL else "time limit"


def moved_forward(snapshot: Snapshot, start: Ints) -> Schedule:
    """Place jobs anew in the order of their starts, each as early as it fits (section 3.2)."""
    problem = PlanningProblem.of(snapshot, "artww")
    order = np.argsort(start, kind="stable")
    return planned(snapshot, placed(problem, order)[1], "paper")


def _slots(problem: PlanningProblem, scale: int) -> tuple[Slots, NDArray[np.bool_]]:
    """Return the variables: all slots up to the longest plan of the three policies on the grid.

    With them, which of them are 1 in the best of these plans.
    """
    jobs, stairs = problem.jobs, problem.stairs
    length = -(-jobs.length // scale)
    release = -(-jobs.release // scale)
    coarse = Jobs(release, length, jobs.cores, jobs.weight, jobs.span_weight)
    time = -(-stairs.time // scale)
    last = np.append(np.flatnonzero(np.diff(time)), len(time) - 1)
    steps = Staircase(time[last], stairs.free[last])
    plans = []
    for order in POLICIES.values():
        state = problem.new_placing()
        place_order(coarse, steps, order(problem.snapshot), state)
        plans.append(state.start)
    horizon = max(int((start + length).max()) for start in plans)
    choices = horizon - length - release + 1
    job = np.repeat(np.arange(len(length)), choices)
    first = np.repeat(np.cumsum(choices) - choices, choices)
    slot = release[job] + np.arange(len(job)) - first
    cost = jobs.weight[job] * (slot * float(scale))
    capacity = steps.free[np.searchsorted(steps.time, np.arange(horizon), "right") - 1]
    best = min(plans, key=lambda start: float((jobs.weight * start).sum()))
    return Slots(job, slot, cost, length, capacity), slot == best[job]
