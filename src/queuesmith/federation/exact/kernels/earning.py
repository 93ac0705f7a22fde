"""The set of modes that can run at one time and earns most."""

from typing import Any, NamedTuple

from numba import float64, int64, types

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import INT_TABLE, INTS, REAL_TABLE, REALS, copy
from queuesmith.federation.exact.kernels.plans import MODES_TYPE
from queuesmith.federation.exact.kernels.states import STATES_TYPE, add_job


class Pricing(NamedTuple):
    """Space to find the set of modes that earns most."""

    rate: Any  # of each mode
    order: Any  # of the jobs that have a price
    best: Any  # jobs + 1 x states: what the jobs from one on can earn
    room: Any  # jobs + 1 x links
    state: Any
    earned: Any
    cursor: Any
    chosen: Any
    found: Any


PRICING_TYPE = types.NamedTuple(
    [REALS, INTS, REAL_TABLE, INT_TABLE, INTS, REALS, INTS, INTS, INTS], Pricing
)


@kernel
def room_for(modes, room, mode):
    """Return whether links have room for a mode."""
    enough = True
    for link in range(len(modes.limit)):
        enough = enough and modes.use[mode, link] <= room[link]
    return enough


@kernel
def descend(modes, states, pricing, depth, mode):
    """Take a mode, or none (-1), and go on to the next job."""
    pricing.chosen[depth] = mode
    copy(pricing.room[depth + 1], pricing.room[depth])
    pricing.state[depth + 1] = pricing.state[depth]
    pricing.earned[depth + 1] = pricing.earned[depth]
    if mode >= 0:
        pricing.state[depth + 1] -= states.offset[mode]
        pricing.earned[depth + 1] += pricing.rate[mode]
        for link in range(len(modes.limit)):
            pricing.room[depth + 1, link] -= modes.use[mode, link]
    if depth + 1 < len(pricing.order):
        pricing.cursor[depth + 1] = modes.first[pricing.order[depth + 1]]


@kernel
def most_left(pricing, depth, best):
    """Return what is proven where the search is given up: what open branches could earn."""
    most = best
    for d in range(depth + 1):
        most = max(most, pricing.earned[d] + pricing.best[d, pricing.state[d]])
    return most


@entry(types.UniTuple(float64, 2)(MODES_TYPE, STATES_TYPE, PRICING_TYPE, int64))
def earn_most(modes, states, pricing, nodes):
    """Find the modes that can run at one time and earn most; return that, and what is proven.

    Links are looked at only here: the table of each state, which knows none, is the bound. Beyond
    so many nodes of the tree the search is given up, and the bound is above what was found.
    """
    count = len(pricing.order)
    pricing.best[count, :] = 0.0
    for place in range(count - 1, -1, -1):
        add_job(
            modes,
            states,
            pricing.rate,
            pricing.order[place],
            pricing.best[place + 1],
            pricing.best[place],
        )
    copy(pricing.room[0], modes.limit)
    pricing.state[0] = len(pricing.best[0]) - 1
    pricing.earned[0] = 0.0
    pricing.found[:] = -1
    best, depth = 0.0, 0
    if count:
        pricing.cursor[0] = modes.first[pricing.order[0]]
    while depth >= 0:
        if depth == count:
            if pricing.earned[depth] > best:
                best = pricing.earned[depth]
                copy(pricing.found, pricing.chosen)
            depth -= 1
            continue
        job, mode = pricing.order[depth], pricing.cursor[depth]
        bound = pricing.earned[depth] + pricing.best[depth, pricing.state[depth]]
        if mode > modes.first[job + 1] or bound <= best * (1 + 1e-12):
            depth -= 1
            continue
        nodes -= 1
        if nodes < 0:
            return best, most_left(pricing, depth, best)
        pricing.cursor[depth] = mode + 1
        if mode == modes.first[job + 1]:
            mode = -1
        elif not states.fits[mode, pricing.state[depth]] or not room_for(
            modes, pricing.room[depth], mode
        ):
            continue
        descend(modes, states, pricing, depth, mode)
        depth += 1
    return best, best * (1 + 1e-12)
