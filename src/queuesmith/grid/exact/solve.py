"""The best possible mapping, or one close to it, with what is proven about it."""

from __future__ import annotations

import time

from queuesmith.base.errors import UsageError
from queuesmith.compiled import load
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.exact.both_criteria import bound_both, capped, polish, value_both
from queuesmith.grid.exact.flowtime import can_assign, least_weighted, plain_flowtime_bound
from queuesmith.grid.exact.incumbent import Progress, new_work, result_of
from queuesmith.grid.exact.kernels.both import anneal_both
from queuesmith.grid.exact.kernels.columns import anneal_columns
from queuesmith.grid.exact.kernels.prices import divide_jobs
from queuesmith.grid.exact.kernels.walk import walk
from queuesmith.grid.exact.makespan import minimise_makespan
from queuesmith.grid.exact.search import Both
from queuesmith.grid.mapping import LAMBDA, Mapping
from queuesmith.solving.libraries import solver_library


def solve_exact(
    matrix: EtcMatrix,
    objective: str = "makespan",
    *,
    seconds: float = 60.0,
    seed: int = 0,
    workers: int = 2,
    start: Mapping | None = None,
    progress: Progress | None = None,
) -> Mapping:
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
        What chance follows from.
    workers
        How many threads may work at once.
    start
        A mapping to begin with; the result is never worse.
    progress
        Called with the seconds spent, the best value and the bound whenever they change.
    """
    _check(objective, seconds, workers, start, matrix)
    for module in ("scipy.optimize", "ortools.sat.python.cp_model"):
        solver_library(module)
    load(divide_jobs, walk, anneal_both, anneal_columns)
    return OBJECTIVES[objective](matrix, seconds, seed, workers, start, progress)


def _check(
    objective: str, seconds: float, workers: int, start: Mapping | None, matrix: EtcMatrix
) -> None:
    if objective not in OBJECTIVES:
        raise UsageError(
            f"there is no objective '{objective}'. Choose from: {', '.join(OBJECTIVES)}."
        )
    if not seconds > 0:
        raise UsageError(f"seconds is {seconds}, but a search needs time. Give more than 0.")
    if workers < 1:
        raise UsageError(f"workers is {workers}, but someone must work. Give at least 1.")
    if start is not None and start.matrix.times.shape != matrix.times.shape:
        raise UsageError(
            f"the start maps {start.matrix.jobs} jobs on {start.matrix.machines} machines, but "
            f"instance '{matrix.name}' has {matrix.jobs} and {matrix.machines}. Start from its own."
        )


def _solve_makespan(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> Mapping:
    work = minimise_makespan(matrix, seconds, seed, workers, start, progress)
    return result_of(work, "makespan", work.machine, work.proven)


def _solve_flowtime(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> Mapping:
    """Assign jobs to positions; where that is too large, anneal and give a simple bound."""
    work = new_work(matrix, seconds, seed, workers, start, progress)
    if can_assign(matrix):
        best = least_weighted(matrix)
        return result_of(work, "flowtime", best.machine, best.value)
    aim = Both(1.0, 0.0, 0.0)
    machine = polish(work, aim, work.machine, work.left)
    return result_of(work, "flowtime", machine, plain_flowtime_bound(matrix))


def _solve_simultaneous(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> Mapping:
    """Minimise the weighted sum: bound it by priced assignments, anneal from the best of them."""
    work = minimise_makespan(matrix, 0.3 * seconds, seed, workers, start, progress)
    work.seconds = seconds
    aim = Both((1 - LAMBDA) / matrix.machines, LAMBDA, 0.0)
    starts = [work.machine] if start is None else [work.machine, start.machine]
    began = time.perf_counter()
    priced = bound_both(matrix, aim, work.bound, seconds=0.2 * seconds)
    work.facts["both_bound_seconds"] = round(time.perf_counter() - began, 3)
    best = min([*starts, *priced.mappings], key=lambda machine: value_both(matrix, aim, machine))
    machine = polish(work, aim, best, work.left)
    return result_of(work, "simultaneous", machine, priced.value)


def _solve_hierarchic(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> Mapping:
    """Minimise the makespan, then the flowtime of mappings that keep to it."""
    work = minimise_makespan(matrix, 0.7 * seconds, seed, workers, start, progress)
    work.seconds = seconds
    machine = work.machine
    if (
        start is not None
        and start.makespan <= work.value
        and start.flowtime < Mapping(matrix, work.machine, "exact").flowtime
    ):
        machine = start.machine
    aim = capped(matrix, work.value)
    return result_of(work, "hierarchic", polish(work, aim, machine, work.left), work.proven)


#: How each objective is solved.
OBJECTIVES = {
    "makespan": _solve_makespan,
    "flowtime": _solve_flowtime,
    "simultaneous": _solve_simultaneous,
    "hierarchic": _solve_hierarchic,
}
