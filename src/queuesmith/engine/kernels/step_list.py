"""A short plan: its steps in one list, which is read from its begin."""

import numpy as np

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import DUE, FREE, STEPS


@kernel
def begin_list(running, counters, plan, now):
    """Begin a plan with the cores that running jobs will free by their walltimes."""
    plan.time[0] = now
    plan.free[0] = counters[FREE]
    steps = 1
    for i in range(counters[DUE]):
        if running.due[i] > plan.time[steps - 1]:
            plan.time[steps] = running.due[i]
            plan.free[steps] = plan.free[steps - 1]
            steps += 1
        plan.free[steps - 1] += running.due_cores[i]
    counters[STEPS] = steps


@kernel
def advance_list(plan, counters, now):
    """Forget what lies before now, and join neighbouring steps that are alike."""
    first = np.searchsorted(plan.time[: counters[STEPS]], now, side="right") - 1
    plan.time[0] = now
    plan.free[0] = plan.free[first]
    kept = 1
    for i in range(first + 1, counters[STEPS]):
        if plan.free[i] != plan.free[kept - 1]:
            plan.time[kept] = plan.time[i]
            plan.free[kept] = plan.free[i]
            kept += 1
    counters[STEPS] = kept


@kernel
def split_list(plan, counters, time):
    """Return the step that begins at an instant, making one where there is none."""
    step = np.searchsorted(plan.time[: counters[STEPS]], time)
    split_at(plan, counters, step, time)
    return step


@kernel
def split_at(plan, counters, step, time):
    """Let a step of the list begin at an instant, which belongs at this place."""
    steps = counters[STEPS]
    if step == steps or plan.time[step] != time:
        for i in range(steps, step, -1):
            plan.time[i] = plan.time[i - 1]
            plan.free[i] = plan.free[i - 1]
        plan.time[step] = time
        plan.free[step] = plan.free[step - 1]
        counters[STEPS] = steps + 1


@kernel
def change_list(plan, counters, begin, end, cores):
    """Give back cores between two instants, or take them where the number is negative."""
    first = split_list(plan, counters, begin)
    last = split_list(plan, counters, end)
    for i in range(first, last):
        plan.free[i] += cores


@kernel
def earliest_in_list(plan, counters, walltime, cores, reserved):
    """Return the earliest start for a job that holds a reservation, or NEVER for none.

    Its own reservation is in the plan and does not stand in its way.
    """
    first = 0
    for i in range(counters[STEPS]):
        if plan.time[i] >= reserved:
            break
        if plan.free[i] < cores:
            first = i + 1
        elif i + 1 == counters[STEPS] or plan.time[i + 1] - plan.time[first] >= walltime:
            break
    return min(plan.time[first], reserved) if first < counters[STEPS] else reserved


@kernel
def earliest_in_list_from(plan, counters, begin, duration, cores):
    """Return the earliest instant from ``begin`` on at which so many cores are free for so long."""
    first, short = begin, False
    for i in range(counters[STEPS]):
        if short:
            first = max(first, plan.time[i])
        short = plan.free[i] < cores
        if short and plan.time[i] - first >= duration:
            break
    return first


@kernel
def list_has_room_now(plan, counters, walltime, cores):
    """Tell whether a plan has room for a job from its first instant on."""
    end = plan.time[0] + walltime
    for i in range(counters[STEPS]):
        if plan.time[i] >= end:
            break
        if plan.free[i] < cores:
            return False
    return True


@kernel
def reserve_in_list(plan, counters, walltime, cores):
    """Take cores for a job at the earliest instant that has room, and return that instant.

    It begins where a step begins, so one look at the list finds both ends; the list must have room
    for one step more.
    """
    steps, first, last = counters[STEPS], 0, 0
    while plan.free[last] < cores or (
        last + 1 < steps and plan.time[last + 1] - plan.time[first] < walltime
    ):
        if plan.free[last] < cores:
            first = last + 1
        last += 1
    begin = plan.time[first]
    last += 1
    split_at(plan, counters, last, begin + walltime)
    for i in range(first, last):
        plan.free[i] -= cores
    return begin
