"""Annealing over the orders in which jobs are placed."""

import math

from numba import float64, int64, uint64

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import BITS, INTS, copy
from queuesmith.compiled.chance import below, next_random, uniform
from queuesmith.planning.kernels.placing import place
from queuesmith.planning.kernels.problem import JOBS_TYPE, PLACING_TYPE, STAIRCASE_TYPE


@kernel
def move(order, seed):
    """Swap two places at random, or take one job out and put it in elsewhere."""
    a, b = below(seed, len(order)), below(seed, len(order))
    job = order[a]
    if next_random(seed) >> uint64(63) == uint64(0):
        order[a] = order[b]
    elif a < b:
        for i in range(a, b):
            order[i] = order[i + 1]
    else:
        for i in range(a, b, -1):
            order[i] = order[i - 1]
    order[b] = job


@entry(
    float64(
        JOBS_TYPE, STAIRCASE_TYPE, INTS, INTS, INTS, PLACING_TYPE, BITS, int64, float64, float64
    )
)
def anneal(jobs, stairs, order, trial, best, state, seed, steps, hot, cold):
    """Try so many changes of an order while it cools; return the least cost, kept in ``best``."""
    cost = place(jobs, stairs, order, state)
    least = cost
    copy(best, order)
    cooling = math.log(cold / hot) / max(steps, 1)
    for step in range(steps):
        copy(trial, order)
        move(trial, seed)
        new = place(jobs, stairs, trial, state)
        heat = hot * math.exp(cooling * step)
        if new <= cost or uniform(seed) < math.exp((cost - new) / heat):
            cost = new
            copy(order, trial)
            if cost < least:
                least = cost
                copy(best, order)
    return least
