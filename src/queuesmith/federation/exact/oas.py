"""OAS without slots: order and allocation of a queue, at one second's precision, with a proof.

Search, bound and solvers work together. All heuristics begin. The configuration LP bounds the
makespan and prices the jobs; beams that follow the prices, and annealing, find short plans. A tree
under the same prices looks through all plans of few jobs; CP-SAT, started from the best plan and
the bound, works on more. Whatever was found and proven when time is up is returned.

Named after the slot model of Blanco et al., which it is meant to replace; see `slots` for that one.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from queuesmith.base.checks import positive, whole_number
from queuesmith.federation.exact.area_bound import quick_bound
from queuesmith.federation.exact.configuration_bound import configuration_bound
from queuesmith.federation.exact.incumbent import Model, Progress, Work
from queuesmith.federation.exact.modes import list_modes
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.provers import AT_ONCE_JOBS, prover_of
from queuesmith.federation.exact.search import halting, plan_of
from queuesmith.federation.exact.searchers import search_for
from queuesmith.federation.heuristics.heuristics import ALLOCATIONS, HEURISTICS, place_by_heuristic
from queuesmith.federation.heuristics.large_queue import place_by_prices
from queuesmith.federation.loading import load_kernels
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs, check_fits
from queuesmith.federation.model.placement import Placement
from queuesmith.federation.options import PlaceOptions
from queuesmith.solving.libraries import solver_library

#: The share of the time that the heuristics and the bound may take.
START_SHARE, BOUND_SHARE = 0.2, 0.4
#: The share of the time for search alone, before a prover joins: little where the tree may end it.
TREE_SEARCH, OTHER_SEARCH = 0.06, 0.6
#: Up to so many jobs all heuristics are run, however little time there is; they take milliseconds.
FEW_JOBS = 300
#: How many of the heuristics' placements lend their modes where there are too many to list.
LENDERS = 5


def oas(
    federation: Federation,
    jobs: FederationJobs,
    options: PlaceOptions,
    progress: Callable[[float], None],
) -> Placement:
    """Place a queue as well as time allows: the method of that name."""
    return solve_oas(
        federation,
        jobs,
        seconds=options.seconds,
        seed=options.seed,
        workers=options.workers or 2,
        saturation=options.saturation,
        progress=lambda spent, makespan, bound: progress(min(spent / options.seconds, 1.0)),
    )


def solve_oas(
    federation: Federation,
    jobs: FederationJobs,
    *,
    seconds: float = 10.0,
    seed: int = 0,
    workers: int = 2,
    saturation: float = 1.0,
    start: Placement | None = None,
    progress: Progress | None = None,
) -> Placement:
    """Return the shortest placement that can be found in the time, with a proven bound.

    Parameters
    ----------
    federation, jobs
        Where, and what; all jobs wait at second 0.
    seconds
        How long it may take.
    seed
        What chance follows from.
    workers
        How many threads may work at once.
    saturation
        How many times its bandwidth each link may be loaded. Above 1, a job on several clusters is
        planned as if its links were loaded that much all the time (eq. 6), which is at worst too
        long; plans without saturation compete. The bound lets nobody be slowed.
    start
        A placement to begin with; the result is never longer.
    progress
        Called with the seconds spent, the best makespan and the bound whenever they change.
    """
    positive("the number of seconds", seconds, "Give for example 10.")
    whole_number("the number of workers", workers, 1, "Give for example 2.")
    whole_number("the seed", seed, 0, "Give for example 0.")
    check_fits(federation, jobs, saturation)
    for module in ("scipy.optimize", "ortools.sat.python.cp_model"):
        solver_library(module)
    load_kernels()
    began = time.perf_counter()
    starts = _starts(federation, jobs, saturation, start, began + START_SHARE * seconds)
    work = Work(starts[0], seconds, seed, workers, progress, began)
    work.facts["heuristic_makespan"] = starts[0].makespan
    work.prove(quick_bound(federation, jobs))
    models = _models(work, starts, saturation)
    for number, model in enumerate(models):
        with halting(work.left / (len(models) - number)) as work.halt:
            improve(work, model)
    return _result(work, saturation)


def _starts(
    federation: Federation,
    jobs: FederationJobs,
    saturation: float,
    start: Placement | None,
    deadline: float,
) -> list[Placement]:
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
    return sorted(starts, key=lambda placement: placement.makespan)


def _models(work: Work, starts: list[Placement], saturation: float) -> list[Model]:
    """The modes to plan with: those without saturation, where all jobs fit so, and those with."""
    federation, jobs = work.best.federation, work.best.jobs
    if saturation > 1.0:
        free = Packed(list_modes(federation, jobs, saturation=saturation, slowed=False))
        if free.tabulated:
            work.prove(configuration_bound(free, seconds=BOUND_SHARE * work.left).value)
    models = []
    for load in sorted({1.0, saturation}):
        modes = list_modes(federation, jobs, saturation=load, also=starts[:LENDERS], seed=work.seed)
        if (np.diff(modes.first) > 0).all():
            model = Model(Packed(modes), proves=saturation == 1.0)
            for placement in starts:
                model.take(work, plan_of(model.packed, placement))
            models.append(model)
    return models


def improve(work: Work, model: Model) -> None:
    """Search with some modes, and prove what can be proven, until time is up."""
    seconds = work.left
    if model.packed.tabulated and not work.closed:
        model.bound = configuration_bound(model.packed, seconds=BOUND_SHARE * seconds)
        if model.proves:
            work.facts["lp_bound"] = model.bound.value
            work.facts["lp_seconds"] = round(model.bound.seconds, 3)
            work.prove(model.bound.value)
    if work.closed:
        return
    prover = prover_of(model)
    few = len(work.best.jobs) <= AT_ONCE_JOBS
    share = 1.0 if prover is None else TREE_SEARCH if few else OTHER_SEARCH
    for thread in search_for(work, model, share * seconds, work.workers):
        thread.join()
    if prover is None or work.halt[0]:
        return
    alone = few or work.workers == 1
    others = search_for(work, model, work.left, 0 if alone else work.workers - 1)
    prover(work, model, work.workers if alone else 1)
    work.halt[0] = 1
    for thread in others:
        thread.join()


def _result(work: Work, saturation: float) -> Placement:
    """Return the best placement with its bound, which never exceeds its makespan."""
    return replace(
        work.best,
        method="oas",
        saturation=saturation,
        lower_bound=min(work.bound, work.best.makespan),
        seconds=time.perf_counter() - work.began,
        facts=dict(work.facts),
    )
