"""Long queues whose scores only rise: blocks of jobs, each with a score that none of them exceeds.

A score that never falls is at most what it will be at a later instant. Up to that instant a block
whose bound is below the best score found so far need not be looked at, so that of a queue of
thousands a few dozen jobs are scored at each pass. The answer is the same as if all were.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INT_TABLE, INTS, REAL_TABLE, REALS, SMALL_TABLE
from queuesmith.engine.kernels.constants import (
    FREE,
    IN_BLOCKS,
    NARROWEST,
    NEVER,
    NOBODY,
    TAIL,
    TOO_LONG,
)
from queuesmith.engine.kernels.queue import (
    Queue,
    best_of_those,
    comes_before,
    fill_gap,
    leads,
    may_start,
    move,
    put,
    some_job_fits,
    some_lead,
    sort_queue,
)
from queuesmith.engine.kernels.score_now import score_now
from queuesmith.engine.kernels.usage import USAGE_TYPE, Usage, new_usage, use_least

#: So many jobs stand in a block when it is made.
SIZE = 64
#: A queue of so many jobs is cut into blocks, one of so few is not worth it.
LONG, SHORT = 8 * SIZE, 4 * SIZE
#: A bound is so much higher than the score from which it is taken, in parts of it: a logarithm need
#: not rise in its last digit.
SLACK = 1e-12
#: To make a block anew takes about as long as so many looks at one. Where more than twice as many
#: were looked at, bounds are made anew and serve half as long; where less than half, twice as long.
ANEW = 12
#: To score everybody takes so many fifths of the looks at all blocks.
WHOLE = 3
#: Blocks are given up, until the queue is twice as long, where they have cost more than scoring
#: everybody in so many passes.
WASTED = 400


class Blocks(NamedTuple):
    """Waiting jobs in blocks; those that came since, or all while they are few, are in the queue.

    In a block the jobs stand at its first places, in no order.
    """

    job: Any
    cores: Any
    walltime: Any
    whole: Any  # what else orders see, as in a queue: a table a block
    real: Any
    score: Any
    bound: Any  # what none of a block's scores exceeds
    fact: Any  # a row a block, see below
    number: Any  # see below
    usage: Usage  # the least that users can have consumed while the bounds hold


BLOCKS_TYPE = types.NamedTuple(
    [
        SMALL_TABLE,
        INT_TABLE,
        INT_TABLE,
        int64[:, :, ::1],
        float64[:, :, ::1],
        REAL_TABLE,
        REALS,
        INT_TABLE,
        INTS,
        USAGE_TYPE,
    ],
    Blocks,
)
# Of a block: its jobs, the least cores and the least walltime among them, the pass in which it was
# last scored.
JOBS, LEAST_CORES, LEAST_WALLTIME, SCORED = range(4)
# Of all: how many blocks there are, until when their bounds hold, how long bounds serve, how many
# blocks were looked at since bounds were made, the number of passes now and then, and what blocks
# have saved, in fifths of a look.
COUNT, UNTIL, SERVE, LOOKS, PASS, MADE, SAVED = range(7)


def new_blocks(jobs: int, slots: int) -> Blocks:
    """Return room for so many jobs, and for what so many users consume."""
    count = jobs // SIZE
    return Blocks(
        job=np.empty((count, SIZE), np.int32),
        cores=np.empty((count, SIZE), np.int64),
        walltime=np.empty((count, SIZE), np.int64),
        whole=np.empty((count, 4, SIZE), np.int64),
        real=np.empty((count, 4, SIZE), np.float64),
        score=np.empty((count, SIZE), np.float64),
        bound=np.empty(count, np.float64),
        fact=np.zeros((count, 4), np.int64),
        number=np.array([0, 0, SIZE, 0, 0, 0, 0], np.int64),
        usage=new_usage(slots),
    )


@kernel
def block_of(blocks, queue, b):
    """Return a block as a queue."""
    return Queue(
        blocks.job[b],
        blocks.cores[b],
        blocks.walltime[b],
        blocks.whole[b],
        blocks.real[b],
        blocks.score[b],
        queue.spare_job,
        queue.spare_score,
        queue.asked,
    )


# -- making blocks ---------------------------------------------------------------------------------


@kernel
def arrange_blocks(replay, blocks, scoring, now):
    """Before a pass: make all blocks anew where their bounds are no longer good, or one of those
    who came since, where they are enough for it.
    """
    number, counters = blocks.number, replay.counters
    used_up = number[LOOKS] > 2 * ANEW * number[COUNT]
    if number[COUNT] == 0 or now > number[UNTIL] or used_up:
        empty_blocks(replay, blocks)
        if counters[TAIL] >= SHORT and still_worth_it(replay, blocks):
            make_blocks(replay, blocks, scoring, now)
    elif counters[TAIL] >= SIZE:
        score_bounds(replay, blocks, scoring)
        move_into_blocks(replay, blocks)


@kernel
def empty_blocks(replay, blocks):
    """Put all jobs back into the queue, and learn how long bounds had better serve."""
    number, counters, tail = blocks.number, replay.counters, replay.counters[TAIL]
    looks, anew = number[LOOKS], ANEW * number[COUNT]
    if looks > 2 * anew:
        number[SERVE] = max(number[SERVE] >> 1, 1)
    elif 2 * looks < anew:
        number[SERVE] <<= 1
    number[SAVED] += WHOLE * number[COUNT] * (number[PASS] - number[MADE]) - 5 * (looks + anew)
    for b in range(number[COUNT]):
        counters[NARROWEST] = min(counters[NARROWEST], blocks.fact[b, LEAST_CORES])
        for i in range(blocks.fact[b, JOBS]):
            put(replay.jobs, replay.queue, tail, blocks.job[b, i])
            tail += 1
    counters[TAIL] = tail
    number[COUNT] = number[LOOKS] = counters[IN_BLOCKS] = 0


@kernel
def still_worth_it(replay, blocks):
    """Tell whether blocks have not cost much more than they saved; where they have, let the queue
    be scored whole until it is twice as long.
    """
    number, counters = blocks.number, replay.counters
    most = 5 * WASTED * (counters[TAIL] // SIZE)
    number[SAVED] = min(number[SAVED], most)  # what was saved long ago pays for nothing
    if number[SAVED] >= -most:
        return True
    number[SAVED] = 0
    counters[TOO_LONG] = 2 * counters[TAIL]
    return False


@kernel
def make_blocks(replay, blocks, scoring, now):
    """Make blocks of the whole queue, with bounds that hold for some time from now on."""
    number, counters = blocks.number, replay.counters
    number[UNTIL], number[MADE] = now + number[SERVE], number[PASS]
    use_least(blocks.usage, replay.usage, now, number[SERVE], scoring.cores)
    score_bounds(replay, blocks, scoring)
    sort_queue(replay.jobs, replay.queue, counters)
    move_into_blocks(replay, blocks)


@kernel
def score_bounds(replay, blocks, scoring):
    """Score the queue as it will be when the bounds' time is over."""
    queue, waiting, cores = replay.queue, replay.counters[TAIL], scoring.cores
    until = blocks.number[UNTIL]
    scoring.score_queue(queue, blocks.usage, waiting, until, cores, cores, scoring.parameters)


@kernel
def move_into_blocks(replay, blocks):
    """Make blocks of those who stand first in the queue; it keeps fewer than one takes."""
    queue, counters, number = replay.queue, replay.counters, blocks.number
    whole = counters[TAIL] // SIZE * SIZE
    for begin in range(0, whole, SIZE):
        b = number[COUNT]
        bound = -np.inf
        for i in range(SIZE):
            put(replay.jobs, block_of(blocks, queue, b), i, queue.job[begin + i])
            score = queue.score[begin + i]
            bound = bound if score <= bound else score  # a score that is no number is no bound
        blocks.bound[b] = bound + SLACK * abs(bound)
        blocks.fact[b, JOBS], blocks.fact[b, SCORED] = SIZE, NOBODY
        note_least(blocks, b)
        number[COUNT] += 1
        counters[IN_BLOCKS] += SIZE
    counters[TAIL] -= whole
    for i in range(counters[TAIL]):
        move(queue, i, whole + i)


@kernel
def note_least(blocks, b):
    """Note the least cores and the least walltime of a block's jobs."""
    cores, walltime = NEVER, NEVER
    for i in range(blocks.fact[b, JOBS]):
        cores = min(cores, blocks.cores[b, i])
        walltime = min(walltime, blocks.walltime[b, i])
    blocks.fact[b, LEAST_CORES], blocks.fact[b, LEAST_WALLTIME] = cores, walltime


# -- looking for the first -------------------------------------------------------------------------


@kernel
def some_waiting_fits(replay, blocks):
    """Tell whether any waiting job is narrow enough to start now."""
    free = replay.counters[FREE]
    for b in range(blocks.number[COUNT]):
        if blocks.fact[b, LEAST_CORES] <= free:
            return True
    return some_job_fits(replay.queue, replay.counters)


@kernel
def first_in_blocks(replay, blocks, scoring, now, most, longest, extra):
    """Return the place of the first job of those with at most so many cores that are short enough
    or narrow enough, or NOBODY. Places in blocks come after those in the queue.
    """
    queue, fact, number = replay.queue, blocks.fact, blocks.number
    place = best_of_those(queue, replay.counters[TAIL], leads, most, longest, extra)
    top, first = -np.inf, NEVER
    if place != NOBODY:
        top, first = queue.score[place], queue.job[place]
    for b in range(number[COUNT]):
        room = most if fact[b, LEAST_WALLTIME] <= longest else extra
        if blocks.bound[b] < top or fact[b, LEAST_CORES] > room:
            continue
        block, jobs = block_of(blocks, queue, b), fact[b, JOBS]
        if not some_lead(block, 0, jobs, may_start, top, most, longest, extra):
            continue
        if fact[b, SCORED] != number[PASS]:
            score_now(replay, block, jobs, scoring, now)
            fact[b, SCORED] = number[PASS]
            number[LOOKS] += 1
        i = best_of_those(block, jobs, leads, most, longest, extra)
        if i != NOBODY and comes_before(block.score[i], block.job[i], top, first):
            place, top, first = len(queue.job) + b * SIZE + i, block.score[i], block.job[i]
    return place


@kernel
def job_at(replay, blocks, place):
    """Return the job at a place of the queue or of a block."""
    before = len(replay.queue.job)
    if place < before:
        return replay.queue.job[place]
    return blocks.job[(place - before) // SIZE, (place - before) % SIZE]


@kernel
def leave_place(replay, blocks, place):
    """Take a job away that has started."""
    queue, fact, before = replay.queue, blocks.fact, len(replay.queue.job)
    if place < before:
        fill_gap(queue, replay.counters, place)
        return
    b, i = (place - before) // SIZE, (place - before) % SIZE
    last = fact[b, JOBS] - 1
    block = block_of(blocks, queue, b)
    move(block, i, last)
    block.score[i] = block.score[last]
    fact[b, JOBS] = last
    replay.counters[IN_BLOCKS] -= 1
    note_least(blocks, b)
