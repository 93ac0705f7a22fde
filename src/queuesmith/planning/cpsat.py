"""The planning step as intervals under a cumulative limit, to the second, on CP-SAT."""

from __future__ import annotations

import math

import numpy as np

from queuesmith.planning.problem import PlanningProblem, placed
from queuesmith.planning.solver_result import SolverResult
from queuesmith.solving.libraries import solver_library
from queuesmith.workload.workload import Ints

#: Weights that are no whole numbers are multiplied by this, relative to the largest, and rounded.
WEIGHT_UNITS = 1_000_000


def solve_cpsat(
    problem: PlanningProblem, order: Ints, seconds: float, *, workers: int = 1, seed: int = 0
) -> SolverResult:
    """Solve a problem by CP-SAT, beginning with the plan of an order."""
    cp_model = solver_library("ortools.sat.python.cp_model")
    jobs, stairs = problem.jobs, problem.usable
    hint = placed(problem, order)[1]
    horizon = last_end(problem)
    # Variables: the start of each job, within the time that all jobs need one after the other.
    model = cp_model.CpModel()
    starts, intervals = [], []
    for job, earliest in enumerate(problem.earliest):
        length = int(jobs.length[job])
        start = model.new_int_var(int(earliest), horizon - length, "")
        model.add_hint(start, int(hint[job]))
        starts.append(start)
        intervals.append(model.new_fixed_size_interval_var(start, length, ""))
    # Constraints: what runs now holds its cores until the staircase frees them.
    full = int(stairs.free[-1])
    held = [
        model.new_fixed_size_interval_var(int(time), int(until - time), "")
        for time, until in zip(stairs.time[:-1], stairs.time[1:], strict=True)
    ]
    demands = [int(cores) for cores in jobs.cores]
    demands += [full - int(free) for free in stairs.free[:-1]]
    model.add_cumulative([*intervals, *held], demands, full)
    # Objective: in whole numbers, rounded down so that the bound stays one.
    unit = _unit(problem)
    weights = np.floor(jobs.weight / unit).astype(np.int64)
    span = model.new_int_var(0, horizon, "")
    for start, length in zip(starts, jobs.length, strict=True):
        model.add(span >= start + int(length))
    terms = [int(weight) * start for weight, start in zip(weights, starts, strict=True)]
    model.minimize(sum(terms) + int(problem.objective.span_weight) * span)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(seconds, 0.01)
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed % 2**31
    status = solver.solve(model)
    # Decode.
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return SolverResult(None, -math.inf, solver.status_name(status).lower())
    found = np.array([solver.value(start) for start in starts])
    bound = solver.best_objective_bound * (unit if problem.objective.span_weight == 0 else 1.0)
    return SolverResult(np.argsort(found, kind="stable"), bound, solver.status_name(status).lower())


def last_end(problem: PlanningProblem) -> int:
    """Return an end that the best plan needs not exceed: all jobs one after the other."""
    ready = max(int(problem.stairs.time[-1]), int(problem.jobs.release.max()))
    return ready + int(problem.jobs.length.sum())


def _unit(problem: PlanningProblem) -> float:
    weight = problem.jobs.weight
    if (weight == np.rint(weight)).all():
        return 1.0
    return float(weight.max()) / WEIGHT_UNITS
