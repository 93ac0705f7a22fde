"""Jobs in some order, each as early as it fits on the staircase of free cores."""

from numba import float64

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import INTS
from queuesmith.planning.kernels.problem import JOBS_TYPE, PLACING_TYPE, STAIRCASE_TYPE


@kernel
def insert_instant(state, count, place, instant):
    """Divide the stretch at ``place`` at an instant; return how many stretches there are now."""
    for i in range(count - 1, place, -1):
        state.time[i + 1] = state.time[i]
        state.free[i + 1] = state.free[i]
    state.time[place + 1] = instant
    state.free[place + 1] = state.free[place]
    return count + 1


@kernel
def take(state, count, first, start, end, cores):
    """Take cores from ``start`` to ``end``; ``first`` is the stretch of ``start``."""
    if state.time[first] != start:
        count = insert_instant(state, count, first, start)
        first += 1
    last = first
    while last + 1 < count and state.time[last + 1] < end:
        last += 1
    if not (last + 1 < count and state.time[last + 1] == end):
        count = insert_instant(state, count, last, end)
    for i in range(first, last + 1):
        state.free[i] -= cores
    return count


@kernel
def stretch_of(stretches, count, instant):
    """Return the last stretch that begins at an instant or before."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if stretches.time[middle] <= instant:
            low = middle
        else:
            high = middle
    return low


@kernel
def place(jobs, stairs, order, state):
    """Start jobs in an order, each as early as it fits beside those before; return the cost."""
    count = len(stairs.time)
    for i in range(count):
        state.time[i] = stairs.time[i]
        state.free[i] = stairs.free[i]
    cost = 0.0
    last_end = 0
    for position in range(len(order)):
        job = order[position]
        cores, length, start = jobs.cores[job], jobs.length[job], jobs.release[job]
        first = stretch_of(state, count, start) if start > 0 else 0
        i = first
        while True:
            if state.free[i] < cores:
                i += 1
                first = i
                start = state.time[i]
            elif i + 1 >= count or state.time[i + 1] >= start + length:
                break
            else:
                i += 1
        state.start[job] = start
        count = take(state, count, first, start, start + length, cores)
        cost += jobs.weight[job] * start
        last_end = max(last_end, start + length)
    return cost + jobs.span_weight[0] * last_end


@entry(float64(JOBS_TYPE, STAIRCASE_TYPE, INTS, PLACING_TYPE))
def place_order(jobs, stairs, order, state):
    """Place jobs in an order; the starts are in ``state.start``. Return the cost."""
    return place(jobs, stairs, order, state)
