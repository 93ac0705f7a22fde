"""Solvers that look for a proof, over the columns that a better mapping can use at all.

A column whose reduced cost exceeds the gap cannot be part of a better mapping, so that dropping
it loses no proof.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from queuesmith.grid.etc.mapping import Machines
from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.grid.exact.bounds import assignment_model
from queuesmith.grid.exact.run import ExactRun
from queuesmith.solving.libraries import solver_library

#: The MIP's own bound holds but for its tolerances: so much is taken off, relatively.
MIP_TOLERANCE = 2e-6
#: HiGHS tells no bound before it has a mapping, so it may begin with one that is worse by this.
LOOSE = 1.05
#: Times become whole numbers for CP-SAT, the makespan about this one.
CPSAT_UNITS = float(2**40)


# -- HiGHS -----------------------------------------------------------------------------------------


def solve_mip(run: ExactRun) -> None:
    """Solve the assignment model over the columns that are left, by HiGHS."""
    optimize = solver_library("scipy.optimize")
    # Variables: one for each column, then the makespan.
    job, machine = np.nonzero(run.bound.columns(run.incumbent.value))
    model = assignment_model(run.matrix, job, machine)
    count = len(job)
    bounds = optimize.Bounds(
        np.append(np.zeros(count), run.bound.value / model.scale),
        np.append(np.ones(count), run.incumbent.value / model.scale * LOOSE),
    )
    # Constraints: each job once, each machine done by the makespan.
    rows = [
        optimize.LinearConstraint(model.job_rows, 1, 1),
        optimize.LinearConstraint(model.machine_rows, -np.inf, -run.matrix.ready / model.scale),
    ]
    # Objective.
    found = optimize.milp(
        model.cost,
        integrality=np.append(np.ones(count), 0),
        bounds=bounds,
        constraints=rows,
        options={"time_limit": max(run.wall_seconds_left, 0.1), "mip_rel_gap": 0.0},
    )
    # Decode.
    if found.x is not None:
        run.offer(_decode(run.matrix, job, machine, found.x[:-1]))
    if found.mip_dual_bound is not None and math.isfinite(found.mip_dual_bound):
        run.incumbent.facts["mip_bound"] = found.mip_dual_bound * model.scale
        run.incumbent.prove(found.mip_dual_bound * model.scale * (1 - MIP_TOLERANCE))


def _decode(matrix: EtcMatrix, job: Machines, machine: Machines, share: Floats) -> Machines:
    """Give each job the machine of its largest share."""
    shares = np.full(matrix.times.shape, -1.0)
    shares[job, machine] = share
    return np.asarray(shares.argmax(axis=1), dtype=np.int64)


# -- CP-SAT ----------------------------------------------------------------------------------------


def solve_cpsat(run: ExactRun) -> None:
    """Solve the assignment model over the columns that are left, by CP-SAT, times rounded down."""
    cp_model = solver_library("ortools.sat.python.cp_model")
    best, value = run.incumbent.snapshot()
    unit = value / CPSAT_UNITS
    times = np.floor(np.where(run.matrix.compatible, run.matrix.times, 0.0) / unit)
    ready = np.floor(run.matrix.ready / unit)
    # Variables: one for each column, then the makespan.
    model = cp_model.CpModel()
    job, machine = np.nonzero(run.bound.columns(value))
    uses = [model.new_bool_var("") for _ in job]
    lowest = max(math.floor(run.incumbent.bound / unit) - run.matrix.jobs - 1, 0)
    span = model.new_int_var(lowest, math.ceil(CPSAT_UNITS), "makespan")
    # Constraints: each job once, each machine done by the makespan.
    by_job: list[list[Any]] = [[] for _ in range(run.matrix.jobs)]
    by_machine: list[list[Any]] = [[] for _ in range(run.matrix.machines)]
    for use, j, m in zip(uses, job, machine, strict=True):
        by_job[j].append(use)
        by_machine[m].append(int(times[j, m]) * use)
        model.add_hint(use, bool(best[j] == m))
    for choices in by_job:
        model.add_exactly_one(choices)
    for loads, free in zip(by_machine, ready, strict=True):
        model.add(sum(loads) + int(free) <= span)
    # Objective.
    model.minimize(span)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(run.wall_seconds_left, 0.1)
    solver.parameters.num_workers = max(run.workers - 1, 1)
    solver.parameters.random_seed = run.seed % 2**31
    # Beside the main thread it would answer Ctrl-C by ending the process.
    solver.parameters.catch_sigint_signal = False
    status = solver.solve(model)
    # Decode.
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        share = np.array([float(solver.value(use)) for use in uses])
        run.offer(_decode(run.matrix, job, machine, share))
        run.incumbent.prove(solver.best_objective_bound * unit * (1 - 1e-15))
    elif status == cp_model.INFEASIBLE:
        run.incumbent.prove(run.incumbent.value)
    run.incumbent.facts["cpsat"] = solver.status_name(status).lower()
