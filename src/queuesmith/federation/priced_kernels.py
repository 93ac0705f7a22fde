# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
"""Search by prices: the best set of modes at one time, a beam, and a tree that proves optima.

Give every job a price. A mode then earns its job's price over its duration, each second it runs.
What the waiting jobs can earn at most on some free nodes is a small knapsack, tabulated over all
**states**: how many nodes of each group are free. A plan is built job by job, by starts, so that
after the last start nodes only become free, and the rest takes at least until the free nodes, at
their best rates, have earned the prices of all jobs that wait. That bound guides a beam to good
plans, and cuts a tree of all plans down to a proof.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import boolean, float64, int64, types, uint64, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import BITS, INT_TABLE, INTS, REAL_TABLE, REALS, TRUTH_TABLE, copy
from queuesmith.compiled.chance import mixed
from queuesmith.compiled.heap import rise, sink
from queuesmith.federation.search_kernels import GROUND_TYPE

# Places in the array of results that searches share.
BEST, NODES = range(2)
#: A price left over that is no more than this is rounding.
DUST = 1e-6
#: What a bound must exceed a makespan by, relatively, before rounding is out of the question.
MARGIN = 1e-9
#: How many of the best candidates are looked through for one that is the same.
LOOK_BACK = 256


class States(NamedTuple):
    """The states of the free nodes: mixed radix numbers, one digit a group."""

    fits: Any  # modes x states
    offset: Any  # what each mode takes off a state


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


class Beam(NamedTuple):
    """Plans begun, side by side; `running` jobs of each are in the order of their ends."""

    waiting: Any  # plans x jobs
    clock: Any  # the start of the last job
    last: Any  # that job
    running: Any
    run_mode: Any
    run_end: Any
    need: Any  # the price of all jobs that wait
    mode: Any  # plans x jobs
    start: Any


class Heap(NamedTuple):
    """The best ways to go on, the worst of them on top."""

    cost: Any
    place: Any
    parent: Any
    mode: Any
    start: Any
    mark: Any


class Desk(NamedTuple):
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


class Tree(NamedTuple):
    """A path in the tree of all plans, by depth."""

    clock: Any
    waiting: Any  # bits
    cursor: Any
    last: Any
    span: Any
    running: Any
    run_mode: Any
    run_end: Any
    need: Any  # depth x prices
    chosen: Any
    start: Any
    tables: Any  # prices x sets of jobs x states
    prices: Any
    shortest: Any


STATES_TYPE = types.NamedTuple([TRUTH_TABLE, INTS], States)
PRICING_TYPE = types.NamedTuple(
    [REALS, INTS, REAL_TABLE, INT_TABLE, INTS, REALS, INTS, INTS, INTS], Pricing
)
BEAM_TYPE = types.NamedTuple(
    [TRUTH_TABLE, INTS, INTS, INTS, INT_TABLE, INT_TABLE, REALS, INT_TABLE, INT_TABLE], Beam
)
HEAP_TYPE = types.NamedTuple([REALS, *[INTS] * 4, BITS], Heap)
DESK_TYPE = types.NamedTuple([REALS, REALS, INTS, INTS, INTS, BITS, BITS, REALS, *[INTS] * 4], Desk)
TREE_TYPE = types.NamedTuple(
    [
        *([INTS] * 6),
        *(INT_TABLE, INT_TABLE, REAL_TABLE, INTS, INTS),
        *(float64[:, :, ::1], REAL_TABLE, INTS),
    ],
    Tree,
)


# -- states ----------------------------------------------------------------------------------------


@entry(void(GROUND_TYPE, STATES_TYPE))
def fill_states(ground, states):
    """Tabulate which modes fit which states, and what they take off them."""
    for mode in range(len(ground.duration)):
        base, offset = 1, 0
        for group in range(len(ground.nodes)):
            offset += ground.counts[mode, group] * base
            base *= ground.nodes[group] + 1
        states.offset[mode] = offset
        for state in range(base):
            rest, fits = state, True
            for group in range(len(ground.nodes)):
                size = ground.nodes[group] + 1
                fits = fits and rest % size >= ground.counts[mode, group]
                rest //= size
            states.fits[mode, state] = fits


@kernel
def add_job(ground, states, rate, job, before, after):
    """Let one more job earn: at most one of its modes; ``before`` and ``after`` may be the same."""
    for state in range(len(before) - 1, -1, -1):
        most = before[state]
        for mode in range(ground.first[job], ground.first[job + 1]):
            if states.fits[mode, state]:
                most = max(most, rate[mode] + before[state - states.offset[mode]])
        after[state] = most


# -- the set of modes that earns most --------------------------------------------------------------


@kernel
def room_for(ground, room, mode):
    """Return whether links have room for a mode."""
    enough = True
    for link in range(len(ground.limit)):
        enough = enough and ground.use[mode, link] <= room[link]
    return enough


@kernel
def descend(ground, states, pricing, depth, mode):
    """Take a mode, or none (-1), and go on to the next job."""
    pricing.chosen[depth] = mode
    copy(pricing.room[depth + 1], pricing.room[depth])
    pricing.state[depth + 1] = pricing.state[depth]
    pricing.earned[depth + 1] = pricing.earned[depth]
    if mode >= 0:
        pricing.state[depth + 1] -= states.offset[mode]
        pricing.earned[depth + 1] += pricing.rate[mode]
        for link in range(len(ground.limit)):
            pricing.room[depth + 1, link] -= ground.use[mode, link]
    if depth + 1 < len(pricing.order):
        pricing.cursor[depth + 1] = ground.first[pricing.order[depth + 1]]


@kernel
def most_left(pricing, depth, best):
    """Return what is proven where the search is given up: what open branches could earn."""
    most = best
    for d in range(depth + 1):
        most = max(most, pricing.earned[d] + pricing.best[d, pricing.state[d]])
    return most


@entry(types.UniTuple(float64, 2)(GROUND_TYPE, STATES_TYPE, PRICING_TYPE, int64))
def earn_most(ground, states, pricing, nodes):
    """Find the modes that can run at one time and earn most; return that, and what is proven.

    Links are looked at only here: the table of each state, which knows none, is the bound. Beyond
    so many nodes of the tree the search is given up, and the bound is above what was found.
    """
    count = len(pricing.order)
    pricing.best[count, :] = 0.0
    for place in range(count - 1, -1, -1):
        add_job(
            ground,
            states,
            pricing.rate,
            pricing.order[place],
            pricing.best[place + 1],
            pricing.best[place],
        )
    copy(pricing.room[0], ground.limit)
    pricing.state[0] = len(pricing.best[0]) - 1
    pricing.earned[0] = 0.0
    pricing.found[:] = -1
    best, depth = 0.0, 0
    if count:
        pricing.cursor[0] = ground.first[pricing.order[0]]
    while depth >= 0:
        if depth == count:
            if pricing.earned[depth] > best:
                best = pricing.earned[depth]
                copy(pricing.found, pricing.chosen)
            depth -= 1
            continue
        job, mode = pricing.order[depth], pricing.cursor[depth]
        bound = pricing.earned[depth] + pricing.best[depth, pricing.state[depth]]
        if mode > ground.first[job + 1] or bound <= best * (1 + 1e-12):
            depth -= 1
            continue
        nodes -= 1
        if nodes < 0:
            return best, most_left(pricing, depth, best)
        pricing.cursor[depth] = mode + 1
        if mode == ground.first[job + 1]:
            mode = -1
        elif not states.fits[mode, pricing.state[depth]] or not room_for(
            ground, pricing.room[depth], mode
        ):
            continue
        descend(ground, states, pricing, depth, mode)
        depth += 1
    return best, best * (1 + 1e-12)


# -- what a plan begun can do next -----------------------------------------------------------------


@kernel
def earliest(ground, states, room, clock, running, run_mode, run_end, mode):
    """Return when a mode can start, the state then, and how many running jobs have ended by then.

    Nothing starts before the clock, so that nodes only become free, and what fits once fits on.
    """
    free = states.fits.shape[1] - 1
    copy(room, ground.limit)
    for i in range(running):
        free -= states.offset[run_mode[i]]
        for link in range(len(ground.limit)):
            room[link] -= ground.use[run_mode[i], link]
    start, ended = clock, 0
    while not states.fits[mode, free] or not room_for(ground, room, mode):
        start = run_end[ended]
        while ended < running and run_end[ended] == start:
            free += states.offset[run_mode[ended]]
            for link in range(len(ground.limit)):
                room[link] += ground.use[run_mode[ended], link]
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


# -- the beam --------------------------------------------------------------------------------------


@kernel
def key_at(heap, place):
    """Return the key by which the heap is ordered: the dearest is the first to go."""
    return -heap.cost[place]


@kernel
def move_entry(heap, goal, source):
    """Move an entry of the heap to another place."""
    heap.cost[goal], heap.place[goal] = heap.cost[source], heap.place[source]


@kernel
def enter(heap, hole, cost, place):
    """Write an entry into a hole."""
    heap.cost[hole], heap.place[hole] = cost, place


@kernel
def offer(heap, size, cost, parent, mode, start, mark):
    """Keep a way to go on if it is among the best; return how many there are."""
    if size == len(heap.cost):
        place = heap.place[0]
        enter(heap, sink(heap, 0, size, -cost, key_at, move_entry), cost, place)
    else:
        place = size
        enter(heap, rise(heap, size, -cost, key_at, move_entry), cost, place)
        size += 1
    heap.parent[place], heap.mode[place] = parent, mode
    heap.start[place], heap.mark[place] = start, mark
    return size


@kernel
def mark_of(ground, states, desk, waiting, count, start):
    """Return a number that plans with the same future share."""
    mark = mixed(waiting ^ uint64(start))
    jobs = len(ground.first) - 1
    for i in range(count):
        own = desk.marks[jobs + states.offset[desk.run_mode[i]]]
        mark = mixed(mark ^ own ^ uint64(desk.run_end[i]))
    return mark


@kernel
def finish(ground, desk, beam, at, mode, start, span):
    """Keep a complete plan if it is the best."""
    if span >= desk.result[BEST]:
        return
    desk.result[BEST] = span
    copy(desk.best_mode, beam.mode[at])
    copy(desk.best_start, beam.start[at])
    desk.best_mode[ground.job[mode]] = mode
    desk.best_start[ground.job[mode]] = start


@kernel
def expand(ground, states, desk, beam, heap, at, size, left, bias):
    """Offer every way in which a plan can go on; return how many are kept."""
    desk.table[:] = 0.0
    waiting = uint64(0)
    for job in range(beam.waiting.shape[1]):
        if beam.waiting[at, job]:
            add_job(ground, states, desk.rate, job, desk.table, desk.table)
            waiting ^= desk.marks[job]
    clock, running = beam.clock[at], beam.running[at]
    run_mode, run_end = beam.run_mode[at], beam.run_end[at]
    for mode in range(len(ground.duration)):
        job = ground.job[mode]
        if not beam.waiting[at, job]:
            continue
        start, free, ended = earliest(
            ground, states, desk.room, clock, running, run_mode, run_end, mode
        )
        # Of jobs that start together, the order is that of their numbers.
        if start == clock and job < beam.last[at]:
            continue
        end = start + ground.duration[mode]
        count = join_running(
            run_mode, run_end, running, ended, mode, end, desk.run_mode, desk.run_end
        )
        span = desk.run_end[count - 1]
        if span >= desk.result[BEST]:
            continue
        if left == 1:
            finish(ground, desk, beam, at, mode, start, span)
            continue
        need = beam.need[at] - desk.price[job]
        free -= states.offset[mode]
        cost = earliest_end(
            states, desk.table, need, start, free, count, desk.run_mode, desk.run_end
        )
        cost = max(cost, float64(span))
        if cost > desk.result[BEST] - 1:
            continue
        cost += bias * start
        if size == len(heap.cost) and cost >= heap.cost[0]:
            continue
        mark = mark_of(ground, states, desk, waiting ^ desk.marks[job], count, start)
        size = offer(heap, size, cost, at, mode, start, mark)
    return size


@kernel
def sort_heap(heap, size):
    """Bring the entries into ascending order of cost."""
    for last in range(size - 1, 0, -1):
        cost, place = heap.cost[last], heap.place[last]
        move_entry(heap, last, 0)
        enter(heap, sink(heap, 0, last, -cost, key_at, move_entry), cost, place)


@kernel
def take_step(ground, beam, at, goal, to, mode, start, price):
    """Copy a plan with one more job started."""
    job, end = ground.job[mode], start + ground.duration[mode]
    copy(goal.waiting[to], beam.waiting[at])
    copy(goal.mode[to], beam.mode[at])
    copy(goal.start[to], beam.start[at])
    goal.waiting[to, job], goal.mode[to, job], goal.start[to, job] = False, mode, start
    ended = 0
    while ended < beam.running[at] and beam.run_end[at, ended] <= start:
        ended += 1
    goal.running[to] = join_running(
        beam.run_mode[at],
        beam.run_end[at],
        beam.running[at],
        ended,
        mode,
        end,
        goal.run_mode[to],
        goal.run_end[to],
    )
    goal.clock[to], goal.last[to] = start, job
    goal.need[to] = beam.need[at] - price[job]


@kernel
def seen_before(seen, size, mark):
    """Return whether one of the last plans taken has the same future."""
    found = False
    for i in range(max(0, size - LOOK_BACK), size):
        found = found or seen[i] == mark
    return found


@kernel
def advance(ground, states, desk, beam, goal, heap, size, left, bias):
    """Take every plan one job further and keep the best; return how many there are."""
    kept = 0
    for at in range(size):
        if desk.halt[0]:
            return 0
        kept = expand(ground, states, desk, beam, heap, at, kept, left, bias)
        desk.result[NODES] += 1
    sort_heap(heap, kept)
    to = 0
    for i in range(kept):
        place = heap.place[i]
        if to == len(goal.clock):
            break
        if seen_before(desk.seen, to, heap.mark[place]):
            continue
        desk.seen[to] = heap.mark[place]
        take_step(
            ground,
            beam,
            heap.parent[place],
            goal,
            to,
            heap.mode[place],
            heap.start[place],
            desk.price,
        )
        to += 1
    return to


@entry(void(GROUND_TYPE, STATES_TYPE, DESK_TYPE, BEAM_TYPE, BEAM_TYPE, HEAP_TYPE, float64))
def run_beam(ground, states, desk, beam, other, heap, bias):
    """Build plans job by job, as many side by side as the beam is wide; keep the best.

    The bias makes late starts dearer than the bound alone would.
    """
    jobs = len(desk.price)
    beam.waiting[0, :] = True
    beam.clock[0], beam.last[0], beam.running[0] = 0, -1, 0
    beam.need[0] = desk.price.sum()
    size = 1
    for left in range(jobs, 0, -1):
        if (jobs - left) % 2 == 0:
            size = advance(ground, states, desk, beam, other, heap, size, left, bias)
        else:
            size = advance(ground, states, desk, other, beam, heap, size, left, bias)
        if size == 0:
            return


# -- the tree --------------------------------------------------------------------------------------


@entry(void(GROUND_TYPE, STATES_TYPE, REALS, REAL_TABLE))
def fill_table(ground, states, rate, table):
    """Tabulate what each set of jobs can earn in each state."""
    table[0, :] = 0.0
    for jobs in range(1, len(table)):
        lowest = 0
        while not jobs >> lowest & 1:
            lowest += 1
        add_job(ground, states, rate, lowest, table[jobs & ~(1 << lowest)], table[jobs])


@kernel
def hopeless(states, tree, depth, job, start, free, count, best):
    """Return whether no plan that goes on so can be shorter than the best."""
    waiting = tree.waiting[depth] & ~(int64(1) << job)
    for other in range(len(tree.shortest)):
        if waiting >> other & 1 and start + tree.shortest[other] >= best:
            return True
    for i in range(len(tree.prices)):
        need = tree.need[depth, i] - tree.prices[i, job]
        tree.need[depth + 1, i] = need
    for i in range(len(tree.prices)):
        end = earliest_end(
            states,
            tree.tables[i, waiting],
            tree.need[depth + 1, i],
            start,
            free,
            count,
            tree.run_mode[depth + 1],
            tree.run_end[depth + 1],
        )
        if end * (1 - MARGIN) > best - 1:
            return True
    return False


@kernel
def keep_path(ground, desk, tree, span):
    """Keep the plan that the path has become."""
    desk.result[BEST] = span
    for depth in range(len(tree.chosen)):
        job = ground.job[tree.chosen[depth]]
        desk.best_mode[job] = tree.chosen[depth]
        desk.best_start[job] = tree.start[depth]


@kernel
def next_mode(ground, tree, depth, before, after):
    """Return the next mode to try at a depth, or -1 where there is none."""
    while tree.cursor[depth] < len(ground.duration):
        mode = tree.cursor[depth]
        job = ground.job[mode]
        waits = tree.waiting[depth] >> job & 1
        # Plans can be run backwards, so that one of two jobs that never overlap may go first.
        if waits and not (job == after and tree.waiting[depth] >> before & 1):
            tree.cursor[depth] += 1
            return mode
        tree.cursor[depth] = ground.first[job + 1]
    return -1


@entry(boolean(GROUND_TYPE, STATES_TYPE, DESK_TYPE, TREE_TYPE, int64, int64, int64, int64))
def search_tree(ground, states, desk, tree, before, after, part, parts):
    """Look through all plans shorter than the best; return whether none is left to look at.

    Of ``parts`` that share the work this one has the first modes whose number leaves ``part``.
    """
    jobs = len(tree.chosen)
    tree.waiting[0] = (int64(1) << jobs) - 1
    tree.clock[0], tree.cursor[0], tree.last[0] = 0, 0, -1
    tree.span[0], tree.running[0] = 0, 0
    depth = 0
    while depth >= 0:
        mode = next_mode(ground, tree, depth, before, after)
        if mode < 0:
            depth -= 1
            continue
        if depth == 0 and mode % parts != part:
            continue
        desk.result[NODES] += 1
        if desk.halt[0]:
            return False
        job = ground.job[mode]
        start, free, ended = earliest(
            ground,
            states,
            desk.room,
            tree.clock[depth],
            tree.running[depth],
            tree.run_mode[depth],
            tree.run_end[depth],
            mode,
        )
        if start == tree.clock[depth] and job < tree.last[depth]:
            continue
        end = start + ground.duration[mode]
        if end >= desk.result[BEST]:
            continue
        span = max(tree.span[depth], end)
        tree.chosen[depth], tree.start[depth] = mode, start
        if depth == jobs - 1:
            keep_path(ground, desk, tree, span)
            continue
        count = join_running(
            tree.run_mode[depth],
            tree.run_end[depth],
            tree.running[depth],
            ended,
            mode,
            end,
            tree.run_mode[depth + 1],
            tree.run_end[depth + 1],
        )
        free -= states.offset[mode]
        if hopeless(states, tree, depth, job, start, free, count, desk.result[BEST]):
            continue
        depth += 1
        tree.running[depth], tree.clock[depth] = count, start
        tree.waiting[depth] = tree.waiting[depth - 1] & ~(int64(1) << job)
        tree.cursor[depth], tree.last[depth], tree.span[depth] = 0, job, span
    return True
