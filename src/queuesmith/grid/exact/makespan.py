"""The shortest makespan, or one close to it: the bound, a search guided by its prices, a proof."""

from __future__ import annotations

import threading

from queuesmith.grid.exact import walker
from queuesmith.grid.exact.bounds import lower_bound
from queuesmith.grid.exact.run import ExactRequest, ExactRun, new_run
from queuesmith.grid.exact.solvers import solve_cpsat, solve_mip

#: CP-SAT is asked for a proof where no more columns than this are left.
CPSAT_COLUMNS = 1_500
#: HiGHS is asked for a proof or a better bound where no more columns than this are left.
MIP_COLUMNS = 12_000
#: With more machines than this, and several workers, no solver takes the time of a search.
SEVERAL = 24


def minimise_makespan(request: ExactRequest) -> ExactRun:
    """Return the best mapping and bound for the makespan that are found in the time."""
    run = new_run(request)
    incumbent = run.incumbent
    with incumbent.timed("bound"):
        _bound_and_round(run)
    if not incumbent.closed:
        with incumbent.timed("search"):
            _search(run, _search_seconds(run))
    if not incumbent.done:
        with incumbent.timed("solvers"):
            _prove_and_search(run)
    return run


def _bound_and_round(run: ExactRun) -> None:
    """Solve the LP, round its solution to each job's largest share, keep the better mapping."""
    run.bound = lower_bound(run.matrix, seconds=run.incumbent.left / 2)
    run.incumbent.prove(run.bound.value)
    run.incumbent.facts["lp_bound"] = run.bound.value
    if run.bound.rounded is not None:
        run.offer(run.bound.rounded)


def _search_seconds(run: ExactRun) -> float:
    """How long to search before the solvers begin: little where they may prove the optimum."""
    if run.matrix.times.size <= CPSAT_COLUMNS:
        return min(0.05 * run.incumbent.left, 1.0)
    large = run.matrix.machines > (walker.MANY if run.workers == 1 else SEVERAL)
    return run.incumbent.left if large else 0.5 * run.incumbent.left


def _search(run: ExactRun, seconds: float, workers: int | None = None) -> None:
    """Walk on all workers at once, sharing the best mapping every round."""
    count = run.workers if workers is None else workers
    ends = run.incumbent.spent + seconds
    walkers = [walker.Walker(run, place, ends, run.seed * 97 + place) for place in range(count)]
    threads = [threading.Thread(target=each.walk) for each in walkers[1:]]
    for thread in threads:
        thread.start()
    walkers[0].walk()
    for thread in threads:
        thread.join()


def _prove_and_search(run: ExactRun) -> None:
    """Let a solver look for a proof, while the other workers go on searching."""
    columns = int(run.bound.columns(run.incumbent.value).sum())
    run.incumbent.facts["columns"] = columns
    solver = solve_cpsat if columns <= CPSAT_COLUMNS else solve_mip
    if columns > MIP_COLUMNS:
        _search(run, run.incumbent.left)
    elif run.workers == 1:
        solver(run)
    else:
        thread = threading.Thread(target=solver, args=(run,))
        thread.start()
        _search(run, run.incumbent.left, run.workers - 1)
        thread.join()
