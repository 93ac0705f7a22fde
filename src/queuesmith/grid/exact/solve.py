"""The best possible mapping, or one close to it, with what is proven about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from queuesmith.base.checks import positive, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.base.registry import entry
from queuesmith.base.words import so_many
from queuesmith.compiled import load
from queuesmith.grid.etc.mapping import flowtime, machine_of, matrix_of
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.etc.measures import MAKESPAN_WEIGHT
from queuesmith.grid.exact.both_criteria import bound_both, capped, polish, value_both
from queuesmith.grid.exact.flowtime import assignable_within, least_weighted, plain_flowtime_bound
from queuesmith.grid.exact.kernels.both import anneal_both
from queuesmith.grid.exact.kernels.columns import anneal_columns
from queuesmith.grid.exact.kernels.prices import divide_jobs
from queuesmith.grid.exact.kernels.walk import walk
from queuesmith.grid.exact.makespan import minimise_makespan
from queuesmith.grid.exact.pair_search import Both
from queuesmith.grid.exact.run import ExactRequest, new_run
from queuesmith.schedule import Schedule
from queuesmith.solving.incumbent import Report
from queuesmith.solving.libraries import solver_library
from queuesmith.solving.status import TOLERANCE

#: What is told where the bound is a plain one.
NOT_ASSIGNED = "not begun: it would take more memory or seconds than there are"


def solve_exact(
    matrix: EtcMatrix,
    objective: str = "makespan",
    *,
    seconds: float = 60.0,
    seed: int = 0,
    workers: int = 2,
    start: Schedule | None = None,
    report: Report | None = None,
) -> Schedule:
    """Return the best mapping that can be found in the time, with a proven bound.

    Parameters
    ----------
    matrix
        The jobs and machines.
    objective
        ``makespan``, ``flowtime``, ``simultaneous`` or ``hierarchic``.
    seconds
        How long it may take. A solver that is at work when time runs out is given up.
    seed
        What chance follows from. What the clock stops need not end in the same place twice.
    workers
        How many threads may work at once.
    start
        A mapping to begin with; the result is never worse.
    report
        Called with the seconds spent, the best value and the bound whenever they change.
    """
    solve = entry("objective", objective, OBJECTIVES)
    positive("seconds", seconds, "Give for example 60.")
    whole_number("workers", workers, 1, "Give for example 2.")
    _check_start(start, matrix)
    for module in ("scipy.optimize", "ortools.sat.python.cp_model"):
        solver_library(module)
    load(divide_jobs, walk, anneal_both, anneal_columns)
    return solve(ExactRequest(matrix, seconds, seed, workers, start, report))


def _check_start(start: Schedule | None, matrix: EtcMatrix) -> None:
    if start is None:
        return
    other = matrix_of(start)
    if other.times.shape != matrix.times.shape:
        raise UsageError(
            f"the start maps {so_many(other.jobs, 'job')} on {so_many(other.machines, 'machine')}, "
            f"but instance '{matrix.name}' has {matrix.jobs} and {matrix.machines}. Start from its "
            "own."
        )


def _solve_makespan(request: ExactRequest) -> Schedule:
    run = minimise_makespan(request)
    return run.schedule("makespan", run.incumbent.best, run.incumbent.bound)


def _solve_flowtime(request: ExactRequest) -> Schedule:
    """Assign jobs to positions; where that is too large or slow, anneal, with a simple bound."""
    matrix, run = request.matrix, new_run(request)
    if assignable_within(matrix, run.incumbent.left):
        best = least_weighted(matrix)
        return run.schedule("flowtime", best.machine, best.value)
    run.incumbent.facts["assignment"] = NOT_ASSIGNED
    aim = Both(1.0, 0.0, 0.0)
    machine = polish(run, aim, run.incumbent.best, run.incumbent.left)
    return run.schedule("flowtime", machine, plain_flowtime_bound(matrix))


def _solve_simultaneous(request: ExactRequest) -> Schedule:
    """Minimise the weighted sum: bound it by priced assignments, anneal from the best of them."""
    matrix, start, seconds = request.matrix, request.start, request.seconds
    run = minimise_makespan(request.in_part_of_the_time(0.3))
    run.incumbent.seconds = seconds
    aim = Both((1 - MAKESPAN_WEIGHT) / matrix.machines, MAKESPAN_WEIGHT, 0.0)
    starts = [run.incumbent.best, *([] if start is None else [machine_of(start)])]
    began = time.perf_counter()
    priced = bound_both(
        *(matrix, aim, run.bound),
        seconds=0.2 * seconds,
        makespan=run.incumbent.bound,
        most=run.incumbent.left,
    )
    run.incumbent.took["both_bound"] = time.perf_counter() - began
    if not priced.mappings:
        run.incumbent.facts["assignment"] = NOT_ASSIGNED
    best = min([*starts, *priced.mappings], key=lambda machine: value_both(matrix, aim, machine))
    if value_both(matrix, aim, best) > priced.value * (1 + TOLERANCE):
        best = polish(run, aim, best, run.incumbent.left)
    return run.schedule("simultaneous", best, priced.value)


def _solve_hierarchic(request: ExactRequest) -> Schedule:
    """Minimise the makespan, then the flowtime of mappings that keep to it."""
    matrix, start = request.matrix, request.start
    run = minimise_makespan(request.in_part_of_the_time(0.7))
    run.incumbent.seconds = request.seconds
    machine, span = run.incumbent.snapshot()
    if start is not None:
        own = machine_of(start)
        short = matrix.makespan(own) <= span
        if short and flowtime(matrix, own) < flowtime(matrix, machine):
            machine = own
    found = polish(run, capped(matrix, span), machine, run.incumbent.left)
    return run.schedule("hierarchic", found, run.incumbent.bound)


Solver = Callable[[ExactRequest], Schedule]

#: How each objective is solved.
OBJECTIVES: Mapping[str, Solver] = {
    "makespan": _solve_makespan,
    "flowtime": _solve_flowtime,
    "simultaneous": _solve_simultaneous,
    "hierarchic": _solve_hierarchic,
}
