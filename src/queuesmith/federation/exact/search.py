"""Searches for short plans: annealing over order and modes, and beams guided by prices.

Both are compiled, and work on the modes of `modes.list_modes`, at the precision of one second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from queuesmith.federation.exact.kernels import annealing, plans
from queuesmith.federation.exact.kernels.beam import run_beam
from queuesmith.federation.exact.kernels.steps import BEST
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.schedule import Schedule

#: Temperatures of annealing, as shares of the makespan.
HOT, COLD = 0.01, 0.0003
#: Changes tried to see how fast annealing is, and the seconds of one cooling at most.
PROBE, LONGEST_COOLING = 200, 4.0
#: A way to go on is kept for each plan of a beam and as many again, for those that are the same.
SPARE = 2


class ModePlan(NamedTuple):
    """A mode and a start for every job."""

    mode: Ints
    start: Ints
    span: int


@contextmanager
def halting(seconds: float) -> Iterator[Ints]:
    """Yield a flag that compiled searches look at; it is set when time is up, and at the end."""
    halt = np.zeros(1, np.int64)

    def stop() -> None:
        halt[0] = 1

    timer = threading.Timer(max(seconds, 0.0), stop)
    timer.daemon = True
    timer.start()
    try:
        yield halt
    finally:
        timer.cancel()
        stop()


def plan_of(packed: Packed, schedule: Schedule) -> ModePlan | None:
    """Return a schedule as a plan, its jobs planned anew in the order of their starts.

    None where one of its modes is not listed. The plan is never longer than the schedule.
    """
    mode = packed.modes.of(schedule)
    if (mode < 0).any():
        return None
    order = np.argsort(schedule.start, kind="stable")
    return plan_in_order(packed, order, mode)


def plan_in_order(packed: Packed, order: Ints, mode: Ints) -> ModePlan:
    """Plan jobs in an order, each as early as possible."""
    start = np.zeros(len(order), np.int64)
    profile = plans.new_profile(packed.arrays)
    span = plans.plan(
        packed.arrays, profile, np.ascontiguousarray(order), np.ascontiguousarray(mode), start
    )
    return ModePlan(np.array(mode), start, int(span))


def anneal_plan(
    packed: Packed, plan: ModePlan, *, seconds: float, seed: int, halt: Ints
) -> ModePlan:
    """Anneal from a plan until time is up; return the best plan, never a longer one."""
    ends = time.perf_counter() + seconds
    profile, walk = plans.new_profile(packed.arrays), _new_walk(plan, seed, halt)
    steps = PROBE
    while time.perf_counter() < ends and not halt[0]:
        began = time.perf_counter()
        span = float(walk.best[0])
        walk.order[:], walk.mode[:] = walk.best_order, walk.best_mode
        annealing.anneal(packed.arrays, profile, walk, HOT * span, COLD * span, steps)
        spent = max(time.perf_counter() - began, 1e-5)
        wanted = min(LONGEST_COOLING, ends - time.perf_counter())
        steps = max(PROBE, int(min(4 * steps, steps * wanted / spent)))
    return plan_in_order(packed, walk.best_order, walk.best_mode)


def anneal_steps(packed: Packed, plan: ModePlan, *, steps: int, seed: int) -> ModePlan:
    """Anneal once, for so many steps; return the best plan, never a longer one."""
    profile, walk = plans.new_profile(packed.arrays), _new_walk(plan, seed, np.zeros(1, np.int64))
    annealing.anneal(packed.arrays, profile, walk, HOT * plan.span, COLD * plan.span, steps)
    return plan_in_order(packed, walk.best_order, walk.best_mode)


def _new_walk(plan: ModePlan, seed: int, halt: Ints) -> annealing.Walk:
    order = np.argsort(plan.start, kind="stable").astype(np.int64)
    return annealing.Walk(
        order.copy(),
        plan.mode.copy(),
        np.zeros(len(order), np.int64),
        order.copy(),
        plan.mode.copy(),
        order.copy(),
        plan.mode.copy(),
        np.array([plan.span], np.int64),
        np.random.default_rng(seed).integers(1, 2**63, 1, np.uint64),
        halt,
    )


def beam_plan(
    packed: Packed, price: Floats, *, width: int, bias: float, best: int, halt: Ints
) -> ModePlan | None:
    """Build plans job by job, the most promising so many side by side.

    Parameters
    ----------
    packed
        The modes; they must be tabulated.
    price
        Of each job: what the configuration LP says guides well.
    width
        How many plans are kept at each step.
    bias
        How much dearer late starts are than the bound says, as a share.
    best
        The makespan to beat.
    halt
        Is looked at now and then; the beam ends when it is set.

    Returns
    -------
    A plan shorter than ``best``, or None.
    """
    space = packed.step_space(price, best, width, halt)
    run_beam(
        packed.arrays,
        packed.states,
        space,
        packed.beam(width),
        packed.beam(width),
        packed.heap(SPARE * width),
        bias,
    )
    span = int(space.result[BEST])
    return ModePlan(space.best_mode, space.best_start, span) if span < best else None
