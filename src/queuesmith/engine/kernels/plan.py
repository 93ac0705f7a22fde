"""Plans that are made afresh at each pass: how many cores are free when.

Ordinary logs have short plans, for which a plain list of steps is quickest; deep queues have long
ones, for which blocks are. A plan begins as a list and becomes blocks when it outgrows that.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INTS
from queuesmith.engine.kernels.constants import BLOCKS, DUE, NEVER, STEPS
from queuesmith.engine.kernels.step_blocks import (
    BLOCKS_TYPE,
    StepBlocks,
    append_step,
    blocks_have_room_now,
    change_blocks,
    earliest_in_blocks,
    earliest_in_blocks_from,
    new_blocks,
    note_all,
)
from queuesmith.engine.kernels.step_list import (
    begin_list,
    change_list,
    earliest_in_list,
    earliest_in_list_from,
    list_has_room_now,
    reserve_in_list,
)

#: A plan is long when it has so many steps more than jobs run: then blocks are quicker.
LONG = 512
#: How many steps a plan has that stands in blocks, as far as its counter tells.
IN_BLOCKS = -1


class ReservationPlan(NamedTuple):
    """Free cores from ``time[i]`` up to ``time[i + 1]``, the last step lasts for ever; or the same
    in blocks. There is no plan while ``counters[STEPS]`` is 0.
    """

    time: Any
    free: Any
    blocks: StepBlocks


RESERVATION_PLAN_TYPE = types.NamedTuple([INTS, INTS, BLOCKS_TYPE], ReservationPlan)


def new_plan(planned: int, running: int, cores: int, long: int = LONG) -> ReservationPlan:
    """Return room for a plan of so many jobs and reservations at most, or none for none.

    Parameters
    ----------
    running
        How many of them run at most.
    long
        How many steps more than those a list has at most.
    """
    steps = running + 2 * planned + 3 if planned else 0
    listed = running + long if steps else 0
    return ReservationPlan(
        np.empty(listed, np.int64), np.empty(listed, np.int64), new_blocks(steps, cores)
    )


@kernel
def begin_plan(running, counters, plan, now):
    """Begin a plan with the cores that running jobs will free by their walltimes."""
    begin_list(running, counters, plan, now)


@kernel
def most_listed(plan, counters):
    """Return how many steps a list may have now."""
    return min(counters[DUE] + LONG, len(plan.time))


@kernel
def divide_into_blocks(plan, counters):
    """Put the steps of a list into blocks, neighbours that are alike as one."""
    counters[BLOCKS] = 0
    for i in range(counters[STEPS]):
        if i == 0 or plan.free[i] != plan.free[i - 1]:
            append_step(plan.blocks, counters, plan.time[i], plan.free[i])
    note_all(plan.blocks, counters)
    counters[STEPS] = IN_BLOCKS


@kernel
def change_plan(plan, counters, begin, end, cores):
    """Give back cores between two instants, or take them where the number is negative."""
    if counters[STEPS] + 2 > most_listed(plan, counters):
        divide_into_blocks(plan, counters)
    if counters[STEPS] > 0:
        change_list(plan, counters, begin, end, cores)
    else:
        change_blocks(plan.blocks, counters, begin, end, cores)


@kernel
def earliest(plan, counters, walltime, cores):
    """Return the earliest instant at which there is room for a job."""
    if counters[STEPS] > 0:
        return earliest_in_list(plan, counters, walltime, cores, NEVER)
    return earliest_in_blocks(plan.blocks, counters, walltime, cores)


@kernel
def reserve_earliest_room(plan, counters, walltime, cores):
    """Take cores for a job at the earliest instant that has room, and return that instant."""
    if 0 < counters[STEPS] < most_listed(plan, counters):
        return reserve_in_list(plan, counters, walltime, cores)
    begin = earliest(plan, counters, walltime, cores)
    change_plan(plan, counters, begin, begin + walltime, -cores)
    return begin


@kernel
def may_start_now(plan, counters, walltime, cores):
    """Tell whether a plan has room for a job from its first instant on."""
    if counters[STEPS] > 0:
        return list_has_room_now(plan, counters, walltime, cores)
    return blocks_have_room_now(plan.blocks, counters, walltime, cores)


@kernel
def earliest_from(plan, counters, begin, duration, cores):
    """Return the earliest instant from ``begin`` on at which so many cores are free for so long."""
    if counters[STEPS] > 0:
        return earliest_in_list_from(plan, counters, begin, duration, cores)
    return earliest_in_blocks_from(plan.blocks, counters, begin, duration, cores)
