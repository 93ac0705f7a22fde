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
from queuesmith.compiled import load
from queuesmith.federation.exact.mode_search import ModeSearch
from queuesmith.federation.exact.modes import Modes, list_modes
from queuesmith.federation.exact.oas import improve, new_incumbent
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.search import halting, plan_of
from queuesmith.federation.exact.slot_model import SlotModel, SlotSolution
from queuesmith.federation.heuristics.heuristics import ALLOCATIONS, HEURISTICS, place_by_heuristic
from queuesmith.federation.loading import load_kernels
from queuesmith.federation.model.clusters import Ints
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs, check_fits
from queuesmith.federation.model.placed import last_end
from queuesmith.federation.options import PlaceOptions
from queuesmith.federation.replay.kernels.heuristic import run_heuristic
from queuesmith.schedule import Schedule
from queuesmith.solving.libraries import solver_library
from queuesmith.solving.mixed_model import HIGHS


def slots(
    federation: Federation,
    jobs: FederationJobs,
    options: PlaceOptions,
    progress: Callable[[float], None],
) -> Schedule:
    """Place a queue by the paper's slot model: the method of that name."""
    size = slot_seconds(jobs, options.slot_percent)
    found = solve_slots(federation, jobs, slot=size, seconds=options.seconds, nodes=options.steps)
    progress(1.0)
    return found


def slot_seconds(jobs: FederationJobs, percent: float) -> int:
    """Return the size of a slot that is so many per cent of the mean base time."""
    share = positive("the slot size", percent, "Give per cent of the mean base time, such as 50.")
    return max(1, round(share / 100 * float(jobs.base_time.mean())))


def solve_slots(
    federation: Federation,
    jobs: FederationJobs,
    *,
    slot: int,
    seconds: float = 60.0,
    nodes: int | None = None,
) -> Schedule:
    """Place a queue by the paper's MIP, and return it with its true times.

    Jobs start with a slot and end when they truly end. HiGHS begins with the best heuristic's
    placement in slots. Its end is the deadline (theta), and it is the result where HiGHS finds
    nothing shorter.

    Parameters
    ----------
    federation, jobs
        Where, and what; all jobs wait at second 0.
    slot
        The size of a slot (eta), in seconds.
    seconds
        How long HiGHS may take.
    nodes
        Stop HiGHS after so many nodes of its tree instead: the same result each time.
    """
    size = whole_number("the slot size", slot, 1, "Give whole seconds, for example 300000.")
    positive("the number of seconds", seconds, "Give for example 60.")
    check_fits(federation, jobs)
    load(run_heuristic)
    solver_library(HIGHS)
    began = time.perf_counter()
    start = slotted_heuristic(federation, jobs, size)
    theta = int(slots_until(start, size).max())
    solution = SlotModel(federation, jobs, size, theta).solve(start, seconds, nodes)
    best, note = solution.schedule, {}
    if last_end(best) >= last_end(start):
        best, note = start, {"note": _not_its_own(solution, start)}
    return replace(
        best,
        policy="slots" if not note or solution.status == "optimal" else f"{start.policy}, in slots",
        seconds=time.perf_counter() - began,
        facts={
            "saturation": 1.0,
            "slot_seconds": size,
            "slots": int(slots_until(best, size).max()),
            "slot_bound": solution.bound,
            "slot_status": solution.status,
            **note,
        },
    )


def _not_its_own(solution: SlotSolution, start: Schedule) -> str:
    return (
        f"HiGHS: {solution.status}, nothing shorter found; this is {start.policy} started anew "
        "with slots"
    )


def slots_until(schedule: Schedule, size: int) -> Ints:
    """Return how many slots have passed when each job has left its last one."""
    whole = -(-(schedule.end - schedule.start) // size)
    return np.asarray(schedule.start // size + whole)


def whole_slots(modes: Modes, size: int) -> Modes:
    """Return modes whose durations are rounded up to whole slots."""
    return replace(modes, duration=-(-modes.duration // size) * size)


def slotted_heuristic(federation: Federation, jobs: FederationJobs, size: int) -> Schedule:
    """Return the shortest schedule of the heuristics, their jobs started anew with slots."""
    found = [
        place_by_heuristic(federation, jobs, heuristic, allocation)
        for heuristic in HEURISTICS
        for allocation in ALLOCATIONS
    ]
    true = list_modes(federation, jobs, also=found)
    whole = Packed(whole_slots(true, size))
    slotted = [
        true.schedule(plan.mode, plan.start, f"{each.policy} ({each.facts['allocation']})")
        for each in found
        if (plan := plan_of(whole, each)) is not None
    ]
    return min(slotted, key=last_end)


def best_in_slots(
    federation: Federation,
    jobs: FederationJobs,
    *,
    slot: int,
    seconds: float = 10.0,
    seed: int = 0,
    workers: int = 2,
) -> Schedule:
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
    load_kernels(len(jobs))
    began = time.perf_counter()
    first = slotted_heuristic(federation, jobs, size)
    true = list_modes(federation, jobs, also=[first])
    packed = Packed(whole_slots(true, size))
    plan = plan_of(packed, first)
    assert plan is not None  # its modes were asked for
    whole = packed.modes.schedule(plan.mode, plan.start, "slots")
    incumbent = new_incumbent(whole, seconds, began=began)
    search = ModeSearch(packed, incumbent, true.complete, seed, workers, plan=plan)
    with halting(incumbent.left) as incumbent.halt:
        improve(search)
    best_plan = search.plan or plan
    best = true.schedule(best_plan.mode, best_plan.start, "best in slots")
    facts = {
        "saturation": 1.0,
        "slot_seconds": size,
        "slots": int(incumbent.value) // size,
        "slot_bound": -(-int(incumbent.bound) // size),
    }
    return replace(best, seconds=incumbent.spent, facts=facts)
