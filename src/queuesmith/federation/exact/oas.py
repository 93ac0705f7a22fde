"""OAS without slots: order and allocation of a queue, at one second's precision, with a proof.

Search, bound and solvers work together. All heuristics begin. The configuration LP bounds the
makespan and prices the jobs; beams that follow the prices, and annealing, find short plans. A tree
under the same prices looks through all plans of few jobs, and needs no beams before it; CP-SAT,
started from the best plan and the bound, works on more. Whatever was found and proven when time is
up is returned.

Named after the slot model of Blanco et al., which it is meant to replace; see `slots` for that one.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from queuesmith.base.checks import positive, whole_number
from queuesmith.federation.exact.area_bound import quick_bound
from queuesmith.federation.exact.configuration_bound import configuration_bound
from queuesmith.federation.exact.mode_search import MakeSchedule, ModeSearch
from queuesmith.federation.exact.modes import list_modes
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.provers import AT_ONCE_JOBS, prove_by_tree, prover_of
from queuesmith.federation.exact.search import halting, plan_of
from queuesmith.federation.exact.searchers import search_by_count, search_for
from queuesmith.federation.heuristics.heuristics import ALLOCATIONS, HEURISTICS, place_by_heuristic
from queuesmith.federation.heuristics.large_queue import place_by_prices
from queuesmith.federation.loading import load_kernels
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs, check_fits
from queuesmith.federation.model.placed import last_end
from queuesmith.federation.model.placing import with_bound
from queuesmith.federation.options import PlaceOptions
from queuesmith.schedule import Schedule
from queuesmith.solving.incumbent import Incumbent, Report
from queuesmith.solving.libraries import solver_library

#: The share of the time that the heuristics and the bound may take.
START_SHARE, BOUND_SHARE = 0.2, 0.4
#: The share of the time for search alone, before a prover joins: little where the tree may end it.
TREE_SEARCH, OTHER_SEARCH = 0.06, 0.6
#: Nodes of a tree for each step of annealing, where counts stop the search.
NODES_A_STEP = 20
#: Up to so many jobs all heuristics are run, however little time there is; they take milliseconds.
FEW_JOBS = 300
#: How many of the heuristics' placements lend their modes where there are too many to list.
LENDERS = 5


def oas(
    federation: Federation,
    jobs: FederationJobs,
    options: PlaceOptions,
    progress: Callable[[float], None],
) -> Schedule:
    """Place a queue as well as time allows: the method of that name."""
    return solve_oas(
        federation,
        jobs,
        seconds=options.seconds,
        seed=options.seed,
        steps=options.steps,
        workers=options.workers or 2,
        saturation=options.saturation,
        progress=lambda spent, makespan, bound: progress(min(spent / options.seconds, 1.0)),
    )


def solve_oas(
    federation: Federation,
    jobs: FederationJobs,
    *,
    seconds: float = 10.0,
    steps: int | None = None,
    seed: int = 0,
    workers: int = 2,
    saturation: float = 1.0,
    start: Schedule | None = None,
    progress: Report | None = None,
) -> Schedule:
    """Return the shortest schedule that can be found in the time, with a proven bound.

    Parameters
    ----------
    federation, jobs
        Where, and what; all jobs wait at second 0.
    seconds
        How long it may take.
    steps
        Stop by this count instead: so many steps of annealing in all, beams between them, and trees
        of nodes in proportion. The same seed then gives the same schedule, however many workers
        there are: one does it all, and CP-SAT does not take part.
    seed
        What chance follows from.
    workers
        How many threads may work at once.
    saturation
        How many times its bandwidth each link may be loaded. Above 1, a job on several clusters is
        planned as if its links were loaded that much all the time (eq. 6), which is at worst too
        long; plans without saturation compete. The bound lets nobody be slowed.
    start
        A schedule to begin with; the result is never longer.
    progress
        Called with the seconds spent, the best makespan and the bound whenever they change.
    """
    positive("the number of seconds", seconds, "Give for example 10.")
    if steps is not None:
        whole_number("the number of steps", steps, 1, "Give for example 100000.")
        seconds = math.inf
    whole_number("the number of workers", workers, 1, "Give for example 2.")
    whole_number("the seed", seed, 0, "Give for example 0.")
    check_fits(federation, jobs, saturation)
    _load_libraries(len(jobs))
    load_kernels(len(jobs))
    began = time.perf_counter()
    starts = _starts(federation, jobs, saturation, start, began + START_SHARE * seconds)
    incumbent = new_incumbent(starts[0], seconds, began=began, report=progress)
    incumbent.facts["heuristic_makespan"] = last_end(starts[0])
    incumbent.prove(quick_bound(federation, jobs))
    if saturation > 1.0:
        free = Packed(list_modes(federation, jobs, saturation=saturation, slowed=False))
        if free.tabulated:
            limit = BOUND_SHARE * incumbent.left
            incumbent.prove(configuration_bound(free, seconds=limit).value)
    searches = _searches(federation, jobs, saturation, starts, incumbent, seed, workers)
    for number, search in enumerate(searches if steps is None else ()):
        with halting(incumbent.left / (len(searches) - number)) as incumbent.halt:
            improve(search)
    if steps is not None:
        for search in searches:
            improve_by_count(search, -(-steps // len(searches)))
    return _result(incumbent, saturation)


def _load_libraries(jobs: int) -> None:
    """Import what a search needs before its clock starts: few jobs need no CP-SAT."""
    solver_library("scipy.optimize")
    if jobs > AT_ONCE_JOBS:
        solver_library("ortools.sat.python.cp_model")


def new_incumbent(
    start: Schedule, seconds: float, *, began: float, report: Report | None = None
) -> Incumbent[MakeSchedule]:
    """Return what all searches share, with a schedule to begin with; makespans are whole."""
    return Incumbent(
        lambda: start, last_end(start), seconds, tolerance=0.0, began=began, report=report
    )


def _starts(
    federation: Federation,
    jobs: FederationJobs,
    saturation: float,
    start: Schedule | None,
    deadline: float,
) -> list[Schedule]:
    """What all heuristics find with all allocation rules, the shortest first."""
    starts = [] if start is None else [start]
    for heuristic, allocation in itertools.product(HEURISTICS, ALLOCATIONS):
        if len(jobs) > FEW_JOBS and starts and time.perf_counter() > deadline:
            break
        starts.append(
            place_by_heuristic(federation, jobs, heuristic, allocation, saturation=saturation)
        )
    left = max(deadline - time.perf_counter(), 0.01)
    starts.append(place_by_prices(federation, jobs, saturation=saturation, seconds=left))
    return sorted(starts, key=last_end)


def _searches(
    federation: Federation,
    jobs: FederationJobs,
    saturation: float,
    starts: list[Schedule],
    incumbent: Incumbent[MakeSchedule],
    seed: int,
    workers: int,
) -> list[ModeSearch]:
    """The modes to plan with: those without saturation, where all jobs fit so, and those with."""
    searches = []
    for load in sorted({1.0, saturation}):
        modes = list_modes(federation, jobs, saturation=load, also=starts[:LENDERS], seed=seed)
        if (np.diff(modes.first) > 0).all():
            search = ModeSearch(Packed(modes), incumbent, saturation == 1.0, seed, workers)
            for start in starts:
                search.take(plan_of(search.packed, start))
            searches.append(search)
    return searches


def improve(search: ModeSearch) -> None:
    """Search with some modes, and prove what can be proven, until time is up."""
    incumbent = search.incumbent
    seconds = incumbent.left
    if search.packed.tabulated and not incumbent.closed:
        search.bound = configuration_bound(search.packed, seconds=BOUND_SHARE * seconds)
        if search.proves:
            incumbent.facts["lp_bound"] = search.bound.value
            incumbent.facts["lp_seconds"] = round(search.bound.seconds, 3)
            incumbent.prove(search.bound.value)
    if incumbent.closed:
        return
    prover = prover_of(search)
    few = len(search.packed.modes.jobs) <= AT_ONCE_JOBS
    share = 1.0 if prover is None else TREE_SEARCH if few else OTHER_SEARCH
    for thread in search_for(search, share * seconds, search.workers, beams=not few):
        thread.join()
    if prover is None or incumbent.halt[0]:
        return
    alone = few or search.workers == 1
    others = search_for(search, incumbent.left, 0 if alone else search.workers - 1)
    prover(search, search.workers if alone else 1)
    incumbent.stop()
    for thread in others:
        thread.join()


def improve_by_count(search: ModeSearch, steps: int) -> None:
    """Search with some modes, and prove what can be proven, in a number of steps."""
    incumbent = search.incumbent
    if search.packed.tabulated and not incumbent.closed:
        search.bound = configuration_bound(search.packed, seconds=math.inf)
        if search.proves:
            incumbent.facts["lp_bound"] = search.bound.value
            incumbent.prove(search.bound.value)
    search_by_count(search, steps)
    prover = prover_of(search)
    if prover is prove_by_tree and not incumbent.closed:
        prove_by_tree(search, 1, NODES_A_STEP * steps)


def _result(incumbent: Incumbent[MakeSchedule], saturation: float) -> Schedule:
    """Return the best schedule with its bound, which never exceeds its makespan."""
    make, value = incumbent.snapshot()
    found = replace(
        make(),
        policy="oas",
        seconds=incumbent.spent,
        facts={"saturation": float(saturation), **incumbent.facts},
    )
    return with_bound(found, int(min(incumbent.bound, value)))
