"""The shortest makespan, or one close to it: the bound, a search guided by its prices, a proof."""

from __future__ import annotations

import itertools
import math
import threading
import time

import numpy as np

from queuesmith.grid.etc.mapping import Machines
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.exact.bounds import lower_bound
from queuesmith.grid.exact.column_search import ColumnSearch
from queuesmith.grid.exact.pair_search import Habits, PairSearch
from queuesmith.grid.exact.run import Clock, ExactRun, new_run
from queuesmith.grid.exact.solvers import solve_cpsat, solve_mip
from queuesmith.schedule import Schedule
from queuesmith.solving.incumbent import Report
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
#: With more machines than this, and several workers, no solver takes the time of a search.
SEVERAL = 24
#: But for many machines, a walk that finds nothing better in so many seconds ends, and the next
#: begins from two of the best mappings mixed.
SETTLED = 0.15
#: With many machines, the seconds of a walk before its habits change.
ROUND = 2.5
#: Rounds after which a worker goes on from the best mapping of all.
PARTING = 4


def minimise_makespan(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Schedule | None,
    report: Report | None,
    clock: Clock = time.perf_counter,
) -> ExactRun:
    """Return the best mapping and bound for the makespan that are found in the time."""
    run = new_run(matrix, seconds, seed, workers, start, report, clock)
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
    large = run.matrix.machines > (MANY if run.workers == 1 else SEVERAL)
    return run.incumbent.left if large else 0.5 * run.incumbent.left


def _search(run: ExactRun, seconds: float, workers: int | None = None) -> None:
    """Walk on all workers at once, sharing the best mapping every round."""
    count = run.workers if workers is None else workers
    ends = run.incumbent.spent + seconds
    walkers = [
        threading.Thread(target=_walk, args=(run, i, ends, run.seed * 97 + i)) for i in range(count)
    ]
    for walker in walkers[1:]:
        walker.start()
    walkers[0].run()
    for walker in walkers[1:]:
        walker.join()


def _walk(run: ExactRun, which: int, ends: float, seed: int) -> None:
    """Walk until the time is over, in the way that suits the number of machines."""
    if run.matrix.machines > MANY:
        _walk_far(run, which, ends, seed)
    else:
        _walk_often(run, which, ends, seed)


def _walk_far(run: ExactRun, which: int, ends: float, seed: int) -> None:
    """Walk over many machines: where the gap stays wide, along cheap columns most of the time."""
    seconds = ends - run.incumbent.spent
    _walk_pairs(run, run.incumbent.best, which, ends - (1 - FIRST) * seconds, seed)
    start = run.incumbent.best
    if run.incumbent.value > run.bound.value * (1 + WIDE):
        start = _walk_columns(run, SECOND * seconds, seed)
    _walk_pairs(run, start, which, ends, seed)


def _walk_often(run: ExactRun, which: int, ends: float, seed: int) -> None:
    """Take short walks, first from the LP's mapping, then from two of the best mixed."""
    chance = np.random.default_rng(seed)
    start = run.incumbent.best
    for turn in itertools.count(which):
        _settle(run, start, WALKS[turn % len(WALKS)], ends, int(chance.integers(2**63)))
        if run.incumbent.closed or run.incumbent.spent >= ends:
            return
        mixed = run.elite.cross(chance)
        start = _first_mapping(run) if mixed is None else mixed


def _settle(run: ExactRun, start: Machines, habits: Habits, ends: float, seed: int) -> None:
    """Divide jobs of pairs until nothing better is found for a while; offer what was found."""
    search = PairSearch(run.bound, start, seed=seed)
    search.behave(habits)
    before = math.inf
    while search.makespan < before * (1 - TOLERANCE) and run.incumbent.spent < ends:
        before = search.makespan
        seconds = min(SETTLED, ends - run.incumbent.spent)
        search.run_for(seconds, lambda: run.incumbent.closed, run.incumbent.clock)
    run.offer(search.machine)
    run.elite.offer(search.machine, search.makespan)


def _walk_columns(run: ExactRun, seconds: float, seed: int) -> Machines:
    """Anneal along cheap columns; return the last mapping, which few machines may be late in.

    It begins with the LP's own mapping, rounded: it costs nothing extra, and only where a machine
    is late has it to be mended. From any other, annealing must first find back to cheap columns.
    """
    search = ColumnSearch(run.bound, _first_mapping(run), seed=seed)
    search.run_for(seconds, lambda: run.incumbent.closed, run.incumbent.clock)
    run.offer(search.machine)
    return search.last


def _first_mapping(run: ExactRun) -> Machines:
    """Return the LP's own mapping, rounded, or the best one where there is none."""
    return run.incumbent.best if run.bound.rounded is None else run.bound.rounded


def _walk_pairs(run: ExactRun, start: Machines, which: int, ends: float, seed: int) -> None:
    """Divide jobs of pairs of machines, from the best mapping of all where one's own is worse."""
    search = PairSearch(run.bound, start, seed=seed)
    for turn in itertools.count(which):
        left = ends - run.incumbent.spent
        if run.incumbent.closed or left <= 0:
            return
        search.behave(WALKS[turn % len(WALKS)])
        search.run_for(min(left, ROUND), lambda: run.incumbent.closed, run.incumbent.clock)
        run.offer(search.machine)
        if turn % PARTING == 0 and run.incumbent.value < search.makespan * (1 - TOLERANCE):
            search.restart(run.incumbent.best)


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
