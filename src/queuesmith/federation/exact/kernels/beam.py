"""A beam: plans are built job by job, the most promising side by side."""

from typing import Any, NamedTuple

from numba import float64, types, uint64, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import BITS, INT_TABLE, INTS, REALS, TRUTH_TABLE, copy
from queuesmith.compiled.chance import mixed
from queuesmith.compiled.heap import rise, sink
from queuesmith.federation.exact.kernels.plans import MODES_TYPE
from queuesmith.federation.exact.kernels.states import STATES_TYPE, add_job
from queuesmith.federation.exact.kernels.steps import (
    BEST,
    NODES,
    SPACE_TYPE,
    earliest,
    earliest_end,
    join_running,
)

#: How many of the best candidates are looked through for one that is the same.
LOOK_BACK = 256


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


BEAM_TYPE = types.NamedTuple(
    [TRUTH_TABLE, INTS, INTS, INTS, INT_TABLE, INT_TABLE, REALS, INT_TABLE, INT_TABLE], Beam
)
HEAP_TYPE = types.NamedTuple([REALS, *[INTS] * 4, BITS], Heap)


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
def mark_of(modes, states, space, waiting, count, start):
    """Return a number that plans with the same future share."""
    mark = mixed(waiting ^ uint64(start))
    jobs = len(modes.first) - 1
    for i in range(count):
        own = space.marks[jobs + states.offset[space.run_mode[i]]]
        mark = mixed(mark ^ own ^ uint64(space.run_end[i]))
    return mark


@kernel
def finish(modes, space, beam, at, mode, start, span):
    """Keep a complete plan if it is the best."""
    if span >= space.result[BEST]:
        return
    space.result[BEST] = span
    copy(space.best_mode, beam.mode[at])
    copy(space.best_start, beam.start[at])
    space.best_mode[modes.job[mode]] = mode
    space.best_start[modes.job[mode]] = start


@kernel
def expand(modes, states, space, beam, heap, at, size, left, bias):
    """Offer every way in which a plan can go on; return how many are kept."""
    space.table[:] = 0.0
    waiting = uint64(0)
    for job in range(beam.waiting.shape[1]):
        if beam.waiting[at, job]:
            add_job(modes, states, space.rate, job, space.table, space.table)
            waiting ^= space.marks[job]
    clock, running = beam.clock[at], beam.running[at]
    run_mode, run_end = beam.run_mode[at], beam.run_end[at]
    for mode in range(len(modes.duration)):
        job = modes.job[mode]
        if not beam.waiting[at, job]:
            continue
        start, free, ended = earliest(
            modes, states, space.room, clock, running, run_mode, run_end, mode
        )
        # Of jobs that start together, the order is that of their numbers.
        if start == clock and job < beam.last[at]:
            continue
        end = start + modes.duration[mode]
        count = join_running(
            run_mode, run_end, running, ended, mode, end, space.run_mode, space.run_end
        )
        span = space.run_end[count - 1]
        if span >= space.result[BEST]:
            continue
        if left == 1:
            finish(modes, space, beam, at, mode, start, span)
            continue
        need = beam.need[at] - space.price[job]
        free -= states.offset[mode]
        cost = earliest_end(
            states, space.table, need, start, free, count, space.run_mode, space.run_end
        )
        cost = max(cost, float64(span))
        if cost > space.result[BEST] - 1:
            continue
        cost += bias * start
        if size == len(heap.cost) and cost >= heap.cost[0]:
            continue
        mark = mark_of(modes, states, space, waiting ^ space.marks[job], count, start)
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
def take_step(modes, beam, at, goal, to, mode, start, price):
    """Copy a plan with one more job started."""
    job, end = modes.job[mode], start + modes.duration[mode]
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
def advance(modes, states, space, beam, goal, heap, size, left, bias):
    """Take every plan one job further and keep the best; return how many there are."""
    kept = 0
    for at in range(size):
        if space.halt[0]:
            return 0
        kept = expand(modes, states, space, beam, heap, at, kept, left, bias)
        space.result[NODES] += 1
    sort_heap(heap, kept)
    to = 0
    for i in range(kept):
        place = heap.place[i]
        if to == len(goal.clock):
            break
        if seen_before(space.seen, to, heap.mark[place]):
            continue
        space.seen[to] = heap.mark[place]
        take_step(
            modes,
            beam,
            heap.parent[place],
            goal,
            to,
            heap.mode[place],
            heap.start[place],
            space.price,
        )
        to += 1
    return to


@entry(void(MODES_TYPE, STATES_TYPE, SPACE_TYPE, BEAM_TYPE, BEAM_TYPE, HEAP_TYPE, float64))
def run_beam(modes, states, space, beam, other, heap, bias):
    """Build plans job by job, as many side by side as the beam is wide; keep the best.

    The bias makes late starts dearer than the bound alone would.
    """
    jobs = len(space.price)
    beam.waiting[0, :] = True
    beam.clock[0], beam.last[0], beam.running[0] = 0, -1, 0
    beam.need[0] = space.price.sum()
    size = 1
    for left in range(jobs, 0, -1):
        if (jobs - left) % 2 == 0:
            size = advance(modes, states, space, beam, other, heap, size, left, bias)
        else:
            size = advance(modes, states, space, other, beam, heap, size, left, bias)
        if size == 0:
            return
