"""Narrower windows: instants at which no better plan can start a job."""

import math

from queuesmith.compiled import kernel
from queuesmith.planning.kernels.placing import stretch_of, take
from queuesmith.planning.kernels.pricing import add_up, cell_of, cheapest, own_cost
from queuesmith.planning.kernels.problem import NEVER

#: Rounds of narrowing windows by what must run in them.
ROUNDS = 4


@kernel
def next_bend(grid, start_cell, end_cell, length, latest):
    """Return where the cost of a job bends next, up to its latest start."""
    cells = len(grid.area)
    bend = latest
    if start_cell < cells:
        bend = min(bend, grid.time[start_cell + 1])
    if end_cell < cells:
        bend = min(bend, grid.time[end_cell + 1] - length)
    return bend


@kernel
def exclude(jobs, grid, prices, earliest, latest, bound, aim):
    """Leave out starts that cost a job so much that nothing below the aim is possible."""
    add_up(grid, prices)
    cells = len(grid.area)
    slack = (aim - bound) * (1 + 1e-9) + 1e-6
    for job in range(len(jobs.length)):
        length = jobs.length[job]
        limit = cheapest(jobs, grid, prices, job, earliest[job], latest[job])[0] + slack
        limit += 1e-12 * abs(limit)
        start = earliest[job]
        cost = own_cost(jobs, grid, prices, job, start)
        first, last = NEVER, earliest[job]
        while True:
            if cost <= limit:
                first, last = min(first, start), start
            if start >= latest[job]:
                break
            a, b = cell_of(grid, start), cell_of(grid, start + length)
            if a >= cells:  # from here on the cost only rises
                if jobs.weight[job] > 0 and cost <= limit:
                    last = start + math.ceil((limit - cost) / jobs.weight[job])
                elif cost <= limit:
                    last = latest[job]
                break
            bend = next_bend(grid, a, b, length, latest[job])
            after = own_cost(jobs, grid, prices, job, bend)
            if (cost <= limit) != (after <= limit):
                crossing = start + (limit - cost) / (after - cost) * (bend - start)
                if cost <= limit:
                    last = math.ceil(crossing)
                else:
                    first = min(first, math.floor(crossing))
            start, cost = bend, after
        if first < NEVER:  # else rounding hid the cheapest start itself
            earliest[job] = max(earliest[job], first)
            latest[job] = min(latest[job], last)


@kernel
def take_certain(jobs, stairs, earliest, latest, state):
    """Take from the staircase what jobs hold wherever they start; return the stretches, or -1."""
    count = len(stairs.time)
    for i in range(count):
        state.time[i] = stairs.time[i]
        state.free[i] = stairs.free[i]
    for job in range(len(jobs.length)):
        start, end = latest[job], earliest[job] + jobs.length[job]
        if start < end:
            first = stretch_of(state, count, start)
            count = take(state, count, first, start, end, jobs.cores[job])
    for i in range(count):
        if state.free[i] < 0:
            return -1
    return count


@kernel
def fits(jobs, state, job, i, earliest, latest):
    """Return whether a job fits into a stretch beside what the others hold for certain."""
    free = state.free[i]
    if latest <= state.time[i] < earliest + jobs.length[job]:
        free += jobs.cores[job]  # what it holds itself
    return free >= jobs.cores[job]


@kernel
def first_fit(jobs, state, count, job, earliest, latest):
    """Return the first start of a job in its window beside what the others hold for certain."""
    start = earliest
    i = stretch_of(state, count, start)
    while start <= latest:
        if not fits(jobs, state, job, i, earliest, latest):
            i += 1
            start = state.time[i]
        elif i + 1 >= count or state.time[i + 1] >= start + jobs.length[job]:
            break
        else:
            i += 1
    return start


@kernel
def last_fit(jobs, state, count, job, earliest, latest):
    """Return the last start of a job in its window beside what the others hold for certain."""
    start = latest
    i = stretch_of(state, count, start + jobs.length[job] - 1)
    while start >= earliest:
        if not fits(jobs, state, job, i, earliest, latest):
            start = state.time[i] - jobs.length[job]
            i -= 1
        elif state.time[i] <= start:
            break
        else:
            i -= 1
    return start


@kernel
def narrow(jobs, stairs, successor, earliest, latest, state):
    """Narrow the windows by what others hold for certain; False where nothing is left.

    Jobs that are alike start in the order of ``successor``, which loses no schedule.
    """
    jobs_count = len(jobs.length)
    for _ in range(ROUNDS):
        count = take_certain(jobs, stairs, earliest, latest, state)
        if count < 0:
            return False
        changed = False
        for job in range(jobs_count):
            low, high = earliest[job], latest[job]
            if low < high:
                earliest[job] = first_fit(jobs, state, count, job, low, high)
                if high < NEVER:
                    latest[job] = last_fit(jobs, state, count, job, low, high)
                changed |= earliest[job] > low or latest[job] < high
        for job in range(jobs_count):
            after = successor[job]
            if after >= 0 and earliest[after] < earliest[job]:
                earliest[after] = earliest[job]
                changed = True
        for job in range(jobs_count - 1, -1, -1):
            after = successor[job]
            if after >= 0 and latest[job] > latest[after]:
                latest[job] = latest[after]
                changed = True
        for job in range(jobs_count):
            if earliest[job] > latest[job]:
                return False
        if not changed:
            break
    return True
