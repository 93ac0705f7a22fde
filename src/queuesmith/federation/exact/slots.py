"""The slot model of Blanco et al.: their MIP on HiGHS, and what it could find at best.

H. Blanco, F. Guirado, J. L. Lérida, V. M. Albornoz: MIP Model Scheduling for Multi-Clusters.

Time is divided into slots; a job starts with one and holds its nodes for whole ones. The MIP is in
`slot_model`; what is loose or wrong in its printed form, and how it is mended, is told in
docs/federation_exact.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from queuesmith.base.checks import positive, whole_number
from queuesmith.federation.exact.incumbent import Model, Work
from queuesmith.federation.exact.modes import Modes, list_modes
from queuesmith.federation.exact.oas import improve
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.search import halting, plan_of
from queuesmith.federation.exact.slot_model import SlotModel
from queuesmith.federation.heuristics.heuristics import ALLOCATIONS, HEURISTICS, place_by_heuristic
from queuesmith.federation.loading import load_kernels
from queuesmith.federation.model.federation import Federation, Ints
from queuesmith.federation.model.jobs import FederationJobs, check_fits
from queuesmith.federation.model.placement import Placement
from queuesmith.federation.options import PlaceOptions


def slots(
    federation: Federation,
    jobs: FederationJobs,
    options: PlaceOptions,
    progress: Callable[[float], None],
) -> Placement:
    """Place a queue by the paper's slot model: the method of that name."""
    size = slot_seconds(jobs, options.slot_percent)
    found = solve_slots(federation, jobs, slot=size, seconds=options.seconds)
    progress(1.0)
    return found


def slot_seconds(jobs: FederationJobs, percent: float) -> int:
    """Return the size of a slot that is so many per cent of the mean base time."""
    share = positive("the slot size", percent, "Give per cent of the mean base time, such as 50.")
    return max(1, round(share / 100 * float(jobs.base_time.mean())))


def solve_slots(
    federation: Federation, jobs: FederationJobs, *, slot: int, seconds: float = 60.0
) -> Placement:
    """Place a queue by the paper's MIP, and return it with its true times.

    Jobs start with a slot and end when they truly end. The deadline (theta) is the end of the best
    heuristic's placement in slots, which is also the result where HiGHS finds nothing shorter.

    Parameters
    ----------
    federation, jobs
        Where, and what; all jobs wait at second 0.
    slot
        The size of a slot (eta), in seconds.
    seconds
        How long HiGHS may take.
    """
    size = whole_number("the slot size", slot, 1, "Give whole seconds, for example 300000.")
    positive("the number of seconds", seconds, "Give for example 60.")
    check_fits(federation, jobs)
    load_kernels()
    began = time.perf_counter()
    start = slotted_heuristic(federation, jobs, size)
    theta = int(slots_until(start, size).max())
    answer = SlotModel(federation, jobs, size, theta).solve(seconds)
    best = start
    if answer.placement is not None and answer.placement.makespan < start.makespan:
        best = answer.placement
    return replace(
        best,
        method="slots",
        seconds=time.perf_counter() - began,
        facts={
            "slot_seconds": size,
            "slots": int(slots_until(best, size).max()),
            "slot_bound": answer.bound,
            "slot_status": answer.status,
        },
    )


def slots_until(placement: Placement, size: int) -> Ints:
    """Return how many slots have passed when each job has left its last one."""
    whole = -(-(placement.end - placement.start) // size)
    return np.asarray(placement.start // size + whole)


def whole_slots(modes: Modes, size: int) -> Modes:
    """Return modes whose durations are rounded up to whole slots."""
    return replace(modes, duration=-(-modes.duration // size) * size)


def slotted_heuristic(federation: Federation, jobs: FederationJobs, size: int) -> Placement:
    """Return the shortest placement of the heuristics, their jobs started anew with slots."""
    found = [
        place_by_heuristic(federation, jobs, heuristic, allocation)
        for heuristic in HEURISTICS
        for allocation in ALLOCATIONS
    ]
    true = list_modes(federation, jobs, also=found)
    whole = Packed(whole_slots(true, size))
    plans = [plan for plan in (plan_of(whole, each) for each in found) if plan is not None]
    placements = [true.placement(plan.mode, plan.start, "slots") for plan in plans]
    return min(placements, key=lambda placement: placement.makespan)


def best_in_slots(
    federation: Federation,
    jobs: FederationJobs,
    *,
    slot: int,
    seconds: float = 10.0,
    seed: int = 0,
    workers: int = 2,
) -> Placement:
    """Return what the slot model finds if it is solved to its end: the fewest slots.

    It is the problem of `oas` with durations rounded up to whole slots, and is solved as such. The
    facts say how many slots are needed, and how many at least.

    Parameters
    ----------
    federation, jobs, slot
        As for `solve_slots`.
    seconds, seed, workers
        As for `solve_oas`.
    """
    size = whole_number("the slot size", slot, 1, "Give whole seconds, for example 300000.")
    positive("the number of seconds", seconds, "Give for example 10.")
    check_fits(federation, jobs)
    load_kernels()
    began = time.perf_counter()
    first = slotted_heuristic(federation, jobs, size)
    true = list_modes(federation, jobs, also=[first])
    model = Model(Packed(whole_slots(true, size)), proves=true.complete)
    plan = plan_of(model.packed, first)
    assert plan is not None  # its modes were asked for
    whole = model.packed.modes.placement(plan.mode, plan.start, "slots")
    work = Work(whole, seconds, seed, workers, began=began)
    model.take(work, plan)
    with halting(work.left) as work.halt:
        improve(work, model)
    best_plan = model.plan or plan
    best = true.placement(best_plan.mode, best_plan.start, "best in slots")
    facts = {
        "slot_seconds": size,
        "slots": work.best.makespan // size,
        "slot_bound": -(-work.bound // size),
    }
    return replace(best, seconds=time.perf_counter() - began, facts=facts)
