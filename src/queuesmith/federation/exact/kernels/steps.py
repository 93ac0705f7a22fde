"""What a plan begun can do next, and when it can end at the earliest."""

from typing import Any, NamedTuple

from numba import float64, types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import BITS, INTS, REALS, copy
from queuesmith.federation.exact.kernels.earning import room_for

# Places in the array of results that searches share; a tree ends at so many nodes at most.
BEST, NODES, MOST_NODES = range(3)
#: A price left over that is no more than this is rounding.
DUST = 1e-6


class StepSpace(NamedTuple):
    """Space for one plan's next step, and what a search is told and finds."""

    rate: Any
    table: Any  # what the waiting jobs can earn, by state
    room: Any
    run_mode: Any
    run_end: Any
    marks: Any  # a random number for each job and each state
    seen: Any
    price: Any
    best_mode: Any
    best_start: Any
    result: Any
    halt: Any


SPACE_TYPE = types.NamedTuple(
    [REALS, REALS, INTS, INTS, INTS, BITS, BITS, REALS, *[INTS] * 4], StepSpace
)


@kernel
def earliest(modes, states, room, clock, running, run_mode, run_end, mode):
    """Return when a mode can start, the state then, and how many running jobs have ended by then.

    Nothing starts before the clock, so that nodes only become free, and what fits once fits on.
    """
    free = states.fits.shape[1] - 1
    copy(room, modes.limit)
    for i in range(running):
        free -= states.offset[run_mode[i]]
        for link in range(len(modes.limit)):
            room[link] -= modes.use[run_mode[i], link]
    start, ended = clock, 0
    while not states.fits[mode, free] or not room_for(modes, room, mode):
        start = run_end[ended]
        while ended < running and run_end[ended] == start:
            free += states.offset[run_mode[ended]]
            for link in range(len(modes.limit)):
                room[link] += modes.use[run_mode[ended], link]
            ended += 1
    return start, free, ended


@kernel
def join_running(run_mode, run_end, running, ended, mode, end, goal_mode, goal_end):
    """List the running jobs with a new one among them, by their ends; return how many."""
    count, placed = 0, False
    for i in range(ended, running):
        if not placed and end < run_end[i]:
            goal_mode[count], goal_end[count] = mode, end
            count += 1
            placed = True
        goal_mode[count], goal_end[count] = run_mode[i], run_end[i]
        count += 1
    if not placed:
        goal_mode[count], goal_end[count] = mode, end
        count += 1
    return count


@kernel
def earliest_end(states, table, need, start, free, running, run_mode, run_end):
    """Return when the waiting jobs, at the best rates, can have earned their prices."""
    clock = float64(start)
    for i in range(running):
        if need <= DUST:
            return clock
        gain = (run_end[i] - clock) * table[free]
        if gain >= need:
            return clock + need / table[free]
        need -= gain
        clock = float64(run_end[i])
        free += states.offset[run_mode[i]]
    return clock + need / table[free] if need > DUST and table[free] > 0 else clock
