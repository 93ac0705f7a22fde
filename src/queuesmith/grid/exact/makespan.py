"""The shortest makespan, or one close to it: the bound, a search guided by its prices, a proof."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable

from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.exact.bounds import lower_bound
from queuesmith.grid.exact.crowd import Crowd
from queuesmith.grid.exact.incumbent import Machines, Progress, Work, new_work
from queuesmith.grid.exact.search import Habits, Search
from queuesmith.grid.exact.solvers import solve_cpsat, solve_mip
from queuesmith.grid.mapping import Mapping
from queuesmith.solving.status import TOLERANCE

#: CP-SAT is asked for a proof where no more columns than this are left.
CPSAT_COLUMNS = 1_500
#: HiGHS is asked for a proof or a better bound where no more columns than this are left.
MIP_COLUMNS = 12_000
#: How the workers walk, in turn.
WALKS = (
    Habits(0.06, 0.015, 30_000.0, 0.1, 14),
    Habits(0.06, 0.010, 40_000.0, 0.3, 12),
    Habits(0.06, 0.015, 20_000.0, 0.1, 20),
)
#: With more machines than this, and a gap above that after the first part of the time, jobs move
#: along cheap columns for the second part; below, pairs of machines do well.
MANY, WIDE, FIRST, SECOND = 64, 0.005, 0.1, 0.7
#: Seconds of a walk before its habits change.
ROUND = 2.5
#: Rounds after which a worker goes on from the best mapping of all.
PARTING = 4


def minimise_makespan(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> Work:
    """Return the best mapping and bound for the makespan that are found in the time."""
    work = new_work(matrix, seconds, seed, workers, start, progress)
    _timed(work, "bound", _bound_and_round)
    if not work.closed:
        _timed(work, "search", lambda work: _search(work, _search_seconds(work)))
    if not work.closed and work.left > 0:
        _timed(work, "solvers", _prove_and_search)
    return work


def _timed(work: Work, part: str, action: Callable[[Work], None]) -> None:
    began = time.perf_counter()
    action(work)
    work.facts[f"{part}_seconds"] = round(time.perf_counter() - began, 3)


def _bound_and_round(work: Work) -> None:
    """Solve the LP, round its solution to each job's largest share, keep the better mapping."""
    work.bound = lower_bound(work.matrix, seconds=work.left / 2)
    work.prove(work.bound.value)
    work.facts["lp_bound"] = work.bound.value
    if work.bound.rounded is not None:
        work.offer(work.bound.rounded)


def _search_seconds(work: Work) -> float:
    """How long to search before the solvers begin: little where they may prove the optimum."""
    if work.matrix.times.size <= CPSAT_COLUMNS:
        return min(0.05 * work.left, 1.0)
    return work.left if work.matrix.machines > MANY else 0.5 * work.left


def _search(work: Work, seconds: float, workers: int | None = None) -> None:
    """Walk on all workers at once, sharing the best mapping every round."""
    count = work.workers if workers is None else workers
    ends = time.perf_counter() + seconds
    walkers = [
        threading.Thread(target=_walk, args=(work, i, ends, work.seed * 97 + i))
        for i in range(count)
    ]
    for walker in walkers[1:]:
        walker.start()
    walkers[0].run()
    for walker in walkers[1:]:
        walker.join()


def _walk(work: Work, which: int, ends: float, seed: int) -> None:
    """Walk until the time is over, on many machines along cheap columns, too.

    These begin with the LP's own mapping, rounded: it costs nothing extra, and only where a machine
    is late has it to be mended. From any other, annealing must first find back to cheap columns.
    """
    seconds = ends - time.perf_counter()
    start = work.machine
    if work.matrix.machines > MANY:
        _walk_pairs(work, start, which, ends - (1 - FIRST) * seconds, seed)
        start = work.machine
        if work.value > work.bound.value * (1 + WIDE):
            rounded = work.bound.rounded
            crowd = Crowd(work.bound, start if rounded is None else rounded, seed=seed)
            crowd.run_for(SECOND * seconds, stopped=lambda: work.closed)
            work.offer(crowd.machine)
            start = crowd.last
    _walk_pairs(work, start, which, ends, seed)


def _walk_pairs(work: Work, start: Machines, which: int, ends: float, seed: int) -> None:
    """Divide jobs of pairs of machines, from the best mapping of all where one's own is worse."""
    search = Search(work.bound, start, seed=seed)
    for turn in itertools.count(which):
        left = ends - time.perf_counter()
        if work.closed or left <= 0:
            return
        search.behave(WALKS[turn % len(WALKS)])
        search.run_for(min(left, ROUND), stopped=lambda: work.closed)
        work.offer(search.machine)
        if turn % PARTING == 0 and work.value < search.makespan * (1 - TOLERANCE):
            search.restart(work.machine)


def _prove_and_search(work: Work) -> None:
    """Let a solver look for a proof, while the other workers go on searching."""
    columns = int(work.bound.columns(work.value).sum())
    work.facts["columns"] = columns
    solver = solve_cpsat if columns <= CPSAT_COLUMNS else solve_mip
    if columns > MIP_COLUMNS:
        _search(work, work.left)
    elif work.workers == 1:
        solver(work)
    else:
        thread = threading.Thread(target=solver, args=(work,))
        thread.start()
        _search(work, work.left, work.workers - 1)
        thread.join()
