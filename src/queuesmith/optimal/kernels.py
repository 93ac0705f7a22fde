"""The compiled parts of optimal planning: plain numbers in, start times and bounds out.

Times are whole seconds from the instant of planning. ``NUMBA_DISABLE_JIT=1`` runs the same code as
plain Python.

Three things are here:

- *placing*: jobs in some order, each as early as it fits on the staircase of free cores;
- *annealing* over such orders;
- *bounds*: every core-second has a price, constant between two instants of a grid. Given prices,
  each job takes the cheapest start for itself alone; the sum of these costs, less the price of all
  there is, is never above the cost of any schedule. The minimum of a job is at an instant of the
  grid, or where it ends at one, so that nothing is rounded: the bound holds to the second on any
  grid. Prices rise where jobs want more than there is. Branching narrows the windows in which
  jobs may start, and the least bound of all open branches is proven.
"""

import math
from typing import Any, NamedTuple

from numba import float64, uint64

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import copy
from queuesmith.compiled.chance import below, next_random, uniform
from queuesmith.compiled.heap import rise, sink

#: A start that is later than any.
NEVER = 2**60
#: Weight of the newest answer in the averages of the starts.
FRESH = 0.1
#: Share of the old direction that a step of the prices keeps.
INERTIA = 0.7
#: What the step is multiplied by when nothing gets better, and where it ends.
SHORTER, SHORTEST = 0.6, 0.01
#: Rounds of narrowing windows by what must run in them.
ROUNDS = 4

# Places in the counters of a tree.
OPEN, USED, SPARE, NODES, IMPROVED = range(5)
COUNTERS = 5


class Jobs(NamedTuple):
    """What is to be planned. The cost is the sum of weight * start, plus that of the last end."""

    release: Any  # no start before this
    length: Any
    cores: Any
    weight: Any
    span_weight: Any  # one number: the cost of a second of the makespan


class Staircase(NamedTuple):
    """How many cores are free from each instant on. It never falls."""

    time: Any
    free: Any


class Room(NamedTuple):
    """Scratch: the cores that are left over time, and the starts."""

    time: Any
    free: Any
    start: Any


class Grid(NamedTuple):
    """Instants between which prices are constant, and where jobs lie that start or end at one."""

    time: Any
    area: Any  # core-seconds that are free in each cell
    end_cell: Any  # job x instant: the cell of the end of a job that starts at the instant
    end_rest: Any  # and the seconds from the beginning of that cell to the end
    start_cell: Any  # the same of the start of a job that ends at the instant
    start_rest: Any


class Prices(NamedTuple):
    """Scratch of the ascent; all but ``mean``, ``spread`` and the windows are one value a cell."""

    price: Any
    best: Any
    total: Any  # price of all seconds before a cell
    use: Any  # core-seconds that the jobs want
    step: Any
    mean: Any  # average of each job's cheapest starts
    square: Any
    spread: Any  # their standard deviation
    low: Any  # of each job: the first and last instants worth a look, as start and as end
    high: Any
    low_end: Any
    high_end: Any


class Tree(NamedTuple):
    """Branches: the windows of the starts, the prices, the bound, and where to split next."""

    earliest: Any
    latest: Any
    price: Any
    bound: Any
    job: Any
    split: Any
    heap: Any  # open branches, the least bound first
    spare: Any  # places that are free again
    counters: Any


# -- placing ---------------------------------------------------------------------------------------


@kernel
def insert_instant(room, count, place, instant):
    """Divide the stretch at ``place`` at an instant; return how many stretches there are now."""
    for i in range(count - 1, place, -1):
        room.time[i + 1] = room.time[i]
        room.free[i + 1] = room.free[i]
    room.time[place + 1] = instant
    room.free[place + 1] = room.free[place]
    return count + 1


@kernel
def take(room, count, first, start, end, cores):
    """Take cores from ``start`` to ``end``; ``first`` is the stretch of ``start``."""
    if room.time[first] != start:
        count = insert_instant(room, count, first, start)
        first += 1
    last = first
    while last + 1 < count and room.time[last + 1] < end:
        last += 1
    if not (last + 1 < count and room.time[last + 1] == end):
        count = insert_instant(room, count, last, end)
    for i in range(first, last + 1):
        room.free[i] -= cores
    return count


@kernel
def stretch_of(room, count, instant):
    """Return the last stretch that begins at an instant or before."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if room.time[middle] <= instant:
            low = middle
        else:
            high = middle
    return low


@kernel
def place(jobs, stairs, order, room):
    """Start jobs in an order, each as early as it fits beside those before; return the cost."""
    count = len(stairs.time)
    for i in range(count):
        room.time[i] = stairs.time[i]
        room.free[i] = stairs.free[i]
    cost = 0.0
    last_end = 0
    for position in range(len(order)):
        job = order[position]
        cores, length, start = jobs.cores[job], jobs.length[job], jobs.release[job]
        first = stretch_of(room, count, start) if start > 0 else 0
        i = first
        while True:
            if room.free[i] < cores:
                i += 1
                first = i
                start = room.time[i]
            elif i + 1 >= count or room.time[i + 1] >= start + length:
                break
            else:
                i += 1
        room.start[job] = start
        count = take(room, count, first, start, start + length, cores)
        cost += jobs.weight[job] * start
        last_end = max(last_end, start + length)
    return cost + jobs.span_weight[0] * last_end


@entry()
def place_order(jobs, stairs, order, room):
    """Place jobs in an order; the starts are in ``room.start``. Return the cost."""
    return place(jobs, stairs, order, room)


# -- annealing -------------------------------------------------------------------------------------


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


@entry()
def anneal(jobs, stairs, order, trial, best, room, seed, steps, hot, cold):
    """Try so many changes of an order while it cools; return the least cost, kept in ``best``."""
    cost = place(jobs, stairs, order, room)
    least = cost
    copy(best, order)
    cooling = math.log(cold / hot) / max(steps, 1)
    for step in range(steps):
        copy(trial, order)
        move(trial, seed)
        new = place(jobs, stairs, trial, room)
        heat = hot * math.exp(cooling * step)
        if new <= cost or uniform(seed) < math.exp((cost - new) / heat):
            cost = new
            copy(order, trial)
            if cost < least:
                least = cost
                copy(best, order)
    return least


# -- the bound of given prices ---------------------------------------------------------------------


@kernel
def cell_of(grid, instant):
    """Return the cell of an instant; the last one, beyond the grid, costs nothing."""
    low, high = 0, len(grid.time)
    while high - low > 1:
        middle = (low + high) // 2
        if grid.time[middle] <= instant:
            low = middle
        else:
            high = middle
    return low


@kernel
def paid_until(grid, work, instant):
    """Return the price of one core from now to an instant."""
    cell = cell_of(grid, instant)
    return work.total[cell] + work.price[cell] * (instant - grid.time[cell])


@kernel
def own_cost(jobs, grid, work, job, start):
    """Return what a job pays, and costs, if it starts at an instant."""
    paid = paid_until(grid, work, start + jobs.length[job]) - paid_until(grid, work, start)
    return jobs.weight[job] * start + jobs.cores[job] * paid


@kernel
def add_up(grid, work):
    """Add up the prices, and return that of all there is."""
    value = 0.0
    work.total[0] = 0.0
    for cell in range(len(grid.area)):
        seconds = grid.time[cell + 1] - grid.time[cell]
        work.total[cell + 1] = work.total[cell] + work.price[cell] * seconds
        value += work.price[cell] * grid.area[cell]
    return value


@kernel
def find_instants(jobs, grid, work, earliest, latest):
    """Note the instants of the grid that lie within each job's window, as start and as end."""
    for job in range(len(jobs.length)):
        work.low[job] = cell_of(grid, earliest[job]) + 1
        work.high[job] = cell_of(grid, latest[job] - 1) + 1
        work.low_end[job] = cell_of(grid, earliest[job] + jobs.length[job]) + 1
        work.high_end[job] = cell_of(grid, latest[job] + jobs.length[job] - 1) + 1


@kernel
def cheapest(jobs, grid, work, job, earliest, latest):
    """Return the least cost of a job by itself within its window, and the start that has it."""
    weight, cores, length = jobs.weight[job], jobs.cores[job], jobs.length[job]
    start = earliest
    least = own_cost(jobs, grid, work, job, start)
    horizon = grid.time[len(grid.time) - 1]
    if earliest < latest <= horizon:
        cost = own_cost(jobs, grid, work, job, latest)
        if cost < least:
            least, start = cost, latest
    for i in range(work.low[job], work.high[job]):
        cell = grid.end_cell[job, i]
        paid = work.total[cell] + work.price[cell] * grid.end_rest[job, i] - work.total[i]
        cost = weight * grid.time[i] + cores * paid
        if cost < least:
            least, start = cost, grid.time[i]
    for i in range(work.low_end[job], work.high_end[job]):
        cell = grid.start_cell[job, i]
        paid = work.total[i] - work.total[cell] - work.price[cell] * grid.start_rest[job, i]
        cost = weight * (grid.time[i] - length) + cores * paid
        if cost < least:
            least, start = cost, grid.time[i] - length
    return least, start


@kernel
def want(jobs, grid, work, job, start):
    """Add what a job uses of each cell: parts at its ends, and a step up and down for the rest."""
    cores, end = jobs.cores[job], start + jobs.length[job]
    first, last = cell_of(grid, start), cell_of(grid, end)
    cells = len(grid.area)
    if first >= cells:
        return
    if first == last:
        work.use[first] += cores * (end - start)
        return
    work.use[first] += cores * (grid.time[first + 1] - start)
    if last < cells:
        work.use[last] += cores * (end - grid.time[last])
    work.step[first + 1] += cores
    work.step[last] -= cores


@kernel
def dual(jobs, grid, work, earliest, latest, fresh):
    """Return the bound that the prices prove, and note what jobs want at these prices."""
    value = -add_up(grid, work)
    cells = len(grid.area)
    for cell in range(cells + 1):
        work.use[cell] = 0.0
        work.step[cell] = 0.0
    for job in range(len(jobs.length)):
        least, start = cheapest(jobs, grid, work, job, earliest[job], latest[job])
        value += least
        want(jobs, grid, work, job, start)
        work.mean[job] += fresh * (start - work.mean[job])
        work.square[job] += fresh * (float64(start) * start - work.square[job])
    inside = 0.0
    for cell in range(cells):
        inside += work.step[cell]
        work.use[cell] += inside * (grid.time[cell + 1] - grid.time[cell])
    return value


# -- better prices ---------------------------------------------------------------------------------


@kernel
def steer(grid, work, direction, inertia):
    """Turn the direction towards cells where more is wanted than there is; return its size."""
    size = 0.0
    for cell in range(len(grid.area)):
        seconds = grid.time[cell + 1] - grid.time[cell]
        excess = (work.use[cell] - grid.area[cell]) / seconds
        direction[cell] = inertia * direction[cell] + (1 - inertia) * excess
        if work.price[cell] > 0 or direction[cell] > 0:
            size += direction[cell] * direction[cell] * seconds
    return size


@kernel
def ascend(jobs, grid, work, direction, earliest, latest, aim, steps, stride, patience):
    """Raise the bound by so many steps of the prices; the best are kept. Return the bound.

    Steps are Polyak's: as long as would reach the aim if all went straight, times a stride that
    shortens whenever patience ends.
    """
    cells = len(grid.area)
    find_instants(jobs, grid, work, earliest, latest)
    bound = -math.inf
    waited, inertia, fresh = 0, 0.0, 1.0
    for _ in range(steps):
        value = dual(jobs, grid, work, earliest, latest, fresh)
        fresh = FRESH
        waited += 1
        if value > bound:
            if value - bound > 1e-5 * (aim - value):
                waited = 0
            bound = value
            copy(work.best, work.price)
            if bound >= aim:
                break
        if waited >= patience:
            stride *= SHORTER
            if stride < SHORTEST:
                break
            waited, inertia = 0, 0.0
            copy(work.price, work.best)
            value = dual(jobs, grid, work, earliest, latest, fresh)
        size = steer(grid, work, direction, inertia)
        if size <= 0 and inertia > 0:
            size = steer(grid, work, direction, 0.0)
        if size <= 0:
            break
        inertia = INERTIA
        length = stride * (aim - value) / size
        for cell in range(cells):
            work.price[cell] = max(work.price[cell] + length * direction[cell], 0.0)
    for job in range(len(jobs.length)):
        variance = work.square[job] - work.mean[job] * work.mean[job]
        work.spread[job] = math.sqrt(max(variance, 0.0))
    return bound


# -- narrower windows ------------------------------------------------------------------------------


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
def exclude(jobs, grid, work, earliest, latest, bound, aim):
    """Leave out starts that cost a job so much that nothing below the aim is possible."""
    add_up(grid, work)
    cells = len(grid.area)
    slack = (aim - bound) * (1 + 1e-9) + 1e-6
    for job in range(len(jobs.length)):
        length = jobs.length[job]
        limit = cheapest(jobs, grid, work, job, earliest[job], latest[job])[0] + slack
        limit += 1e-12 * abs(limit)
        start = earliest[job]
        cost = own_cost(jobs, grid, work, job, start)
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
            after = own_cost(jobs, grid, work, job, bend)
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
def take_certain(jobs, stairs, earliest, latest, room):
    """Take from the staircase what jobs hold wherever they start; return the stretches, or -1."""
    count = len(stairs.time)
    for i in range(count):
        room.time[i] = stairs.time[i]
        room.free[i] = stairs.free[i]
    for job in range(len(jobs.length)):
        start, end = latest[job], earliest[job] + jobs.length[job]
        if start < end:
            first = stretch_of(room, count, start)
            count = take(room, count, first, start, end, jobs.cores[job])
    for i in range(count):
        if room.free[i] < 0:
            return -1
    return count


@kernel
def fits(jobs, room, job, i, earliest, latest):
    """Return whether a job fits into a stretch beside what the others hold for certain."""
    free = room.free[i]
    if latest <= room.time[i] < earliest + jobs.length[job]:
        free += jobs.cores[job]  # what it holds itself
    return free >= jobs.cores[job]


@kernel
def first_fit(jobs, room, count, job, earliest, latest):
    """Return the first start of a job in its window beside what the others hold for certain."""
    start = earliest
    i = stretch_of(room, count, start)
    while start <= latest:
        if not fits(jobs, room, job, i, earliest, latest):
            i += 1
            start = room.time[i]
        elif i + 1 >= count or room.time[i + 1] >= start + jobs.length[job]:
            break
        else:
            i += 1
    return start


@kernel
def last_fit(jobs, room, count, job, earliest, latest):
    """Return the last start of a job in its window beside what the others hold for certain."""
    start = latest
    i = stretch_of(room, count, start + jobs.length[job] - 1)
    while start >= earliest:
        if not fits(jobs, room, job, i, earliest, latest):
            start = room.time[i] - jobs.length[job]
            i -= 1
        elif room.time[i] <= start:
            break
        else:
            i -= 1
    return start


@kernel
def narrow(jobs, stairs, successor, earliest, latest, room):
    """Narrow the windows by what others hold for certain; False where nothing is left.

    Jobs that are alike start in the order of ``successor``, which loses no schedule.
    """
    jobs_count = len(jobs.length)
    for _ in range(ROUNDS):
        count = take_certain(jobs, stairs, earliest, latest, room)
        if count < 0:
            return False
        changed = False
        for job in range(jobs_count):
            low, high = earliest[job], latest[job]
            if low < high:
                earliest[job] = first_fit(jobs, room, count, job, low, high)
                if high < NEVER:
                    latest[job] = last_fit(jobs, room, count, job, low, high)
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


# -- branching -------------------------------------------------------------------------------------


@kernel
def bound_at(tree, place):
    """Return the bound by which the heap is ordered."""
    return tree.bound[tree.heap[place]]


@kernel
def move_open(tree, goal, source):
    """Move a branch of the heap to another place."""
    tree.heap[goal] = tree.heap[source]


@kernel
def push(tree, node):
    """Add an open branch to the heap."""
    place = rise(tree, tree.counters[OPEN], tree.bound[node], bound_at, move_open)
    tree.counters[OPEN] += 1
    tree.heap[place] = node


@kernel
def pop(tree):
    """Take the open branch of the least bound."""
    top = tree.heap[0]
    tree.counters[OPEN] -= 1
    count = tree.counters[OPEN]
    node = tree.heap[count]
    tree.heap[sink(tree, 0, count, tree.bound[node], bound_at, move_open)] = node
    return top


@kernel
def new_place(tree):
    """Return a free place for a branch."""
    if tree.counters[SPARE] > 0:
        tree.counters[SPARE] -= 1
        return tree.spare[tree.counters[SPARE]]
    tree.counters[USED] += 1
    return tree.counters[USED] - 1


@kernel
def give_back(tree, node):
    """Free the place of a branch that is closed."""
    tree.spare[tree.counters[SPARE]] = node
    tree.counters[SPARE] += 1


@kernel
def choose_split(jobs, work, earliest, latest):
    """Return the job whose starts are most undecided, by weight; -1 where all are decided."""
    chosen, most = -1, -1.0
    for job in range(len(jobs.length)):
        if earliest[job] < latest[job]:
            reach = min(work.spread[job], jobs.length[job])
            doubt = jobs.cores[job] * reach + 1e-9 * min(latest[job] - earliest[job], 10**9)
            if doubt > most:
                chosen, most = job, doubt
    return chosen


@kernel
def sort_by_mean(work, order):
    """Put jobs into the order of their average starts, by insertion."""
    for i in range(len(order)):
        order[i] = i
    for i in range(1, len(order)):
        job = order[i]
        k = i
        while k > 0 and work.mean[order[k - 1]] > work.mean[job]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = job


@kernel
def try_order(jobs, stairs, work, trial, best, room, goal, tree):
    """Place jobs by their average starts; keep the order if it is the best so far."""
    sort_by_mean(work, trial)
    cost = place(jobs, stairs, trial, room)
    if cost < goal[0]:
        goal[1] -= goal[0] - cost
        goal[0] = cost
        copy(best, trial)
        tree.counters[IMPROVED] += 1


@kernel
def least_cost(jobs, earliest):
    """Return the cost if every job started at its earliest."""
    cost = 0.0
    for job in range(len(earliest)):
        cost += jobs.weight[job] * earliest[job]
    return cost


@kernel
def settle(jobs, stairs, grid, work, direction, successor, tree, node, aim, steps, patience, room):
    """Bound a branch and find where to split it; return whether it stays open."""
    earliest, latest = tree.earliest[node], tree.latest[node]
    if not narrow(jobs, stairs, successor, earliest, latest, room):
        return False
    copy(work.price, tree.price[node])
    bound = ascend(jobs, grid, work, direction, earliest, latest, aim, steps, 1.0, patience)
    tree.bound[node] = max(tree.bound[node], bound)
    if tree.bound[node] >= aim:
        return False
    copy(work.price, work.best)
    copy(tree.price[node], work.best)
    exclude(jobs, grid, work, earliest, latest, bound, aim)
    if not narrow(jobs, stairs, successor, earliest, latest, room):
        return False
    tree.bound[node] = max(tree.bound[node], least_cost(jobs, earliest))
    if tree.bound[node] >= aim:
        return False
    job = choose_split(jobs, work, earliest, latest)
    tree.job[node] = job
    if job < 0:  # one start is left for each job, and all fit: placing them closes the branch
        copy(work.mean, earliest)
        return True
    middle = math.floor(work.mean[job])
    tree.split[node] = min(max(middle, earliest[job]), latest[job] - 1)
    return True


@entry()
def plant(
    jobs, stairs, grid, work, direction, successor, tree, trial, best, room, goal, steps, patience
):
    """Settle the root, whose windows are in the first place of the tree."""
    tree.bound[0] = -math.inf
    tree.counters[USED] = 1
    copy(tree.price[0], work.price)
    if settle(
        jobs, stairs, grid, work, direction, successor, tree, 0, goal[1], steps, patience, room
    ):
        push(tree, 0)
        try_order(jobs, stairs, work, trial, best, room, goal, tree)


@entry()
def branch(
    jobs,
    stairs,
    grid,
    work,
    direction,
    successor,
    tree,
    trial,
    best,
    room,
    goal,
    nodes,
    steps,
    patience,
):
    """Split the open branches of the least bound, so many of them.

    ``goal`` holds the cost of the best schedule, and the bound from which on a branch is closed.
    """
    places = len(tree.bound)
    for _ in range(nodes):
        spare = places - tree.counters[USED] + tree.counters[SPARE]
        if tree.counters[OPEN] == 0 or spare < 2:
            break
        node = pop(tree)
        if tree.bound[node] >= goal[1]:
            tree.counters[OPEN] = 0
            break
        job = tree.job[node]
        tree.counters[NODES] += 1
        other = new_place(tree)
        copy(tree.earliest[other], tree.earliest[node])
        copy(tree.latest[other], tree.latest[node])
        copy(tree.price[other], tree.price[node])
        tree.bound[other] = tree.bound[node]
        tree.latest[node, job] = tree.split[node]
        tree.earliest[other, job] = tree.split[node] + 1
        for child in (node, other):
            if settle(
                jobs,
                stairs,
                grid,
                work,
                direction,
                successor,
                tree,
                child,
                goal[1],
                steps,
                patience,
                room,
            ):
                push(tree, child)
                try_order(jobs, stairs, work, trial, best, room, goal, tree)
            else:
                give_back(tree, child)
