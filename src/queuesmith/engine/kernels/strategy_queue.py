"""Jobs that wait for a policy that chooses among strategies."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_INT_TABLE, FROZEN_REAL_TABLE, SMALL_INTS
from queuesmith.engine.kernels.constants import (
    ACTIVE,
    BAD_JOB,
    BAD_TIME,
    FREE,
    NEVER,
    NOBODY,
    STARTED,
    TAIL,
    TOO_WIDE,
    WAITING,
)
from queuesmith.engine.kernels.line import (
    LINES_TYPE,
    Lines,
    join_line,
    leave_wherever,
    line_of,
    new_lines,
    next_in_line,
)
from queuesmith.engine.kernels.plan import RESERVATION_PLAN_TYPE, ReservationPlan
from queuesmith.engine.kernels.queue import join_at_end, sort_queue
from queuesmith.engine.kernels.replay import REPLAY_TYPE, SCORER_TYPE, Replay


class StrategyQueue(NamedTuple):
    """The waiting jobs of a policy that chooses, so that any strategy can begin at once.

    Besides the lines they form a ring in the order of submission, whose anchor is the last place.
    A strategy is a row of three: its line, or where its order changes ``-1 - k`` for the row k of
    ``parameters`` with which that order is scored; its backfill; how deep it plans.
    """

    replay: Replay
    plan: ReservationPlan
    lines: Lines
    following: Any
    preceding: Any
    strategies: Any
    parameters: Any


STRATEGY_QUEUE_TYPE = types.NamedTuple(
    [
        REPLAY_TYPE,
        RESERVATION_PLAN_TYPE,
        LINES_TYPE,
        SMALL_INTS,
        SMALL_INTS,
        FROZEN_INT_TABLE,
        FROZEN_REAL_TABLE,
    ],
    StrategyQueue,
)


def new_strategy_queue(
    replay: Replay,
    plan: ReservationPlan,
    ranks: Any,
    keep: Any,
    job: Any,
    strategies: Any,
    parameters: Any,
) -> StrategyQueue:
    """Return a pool in which nobody waits."""
    anchor = len(replay.jobs.submit)
    ring = np.full((2, anchor + 1), anchor, np.int32)
    lines = new_lines(ranks, keep, job)
    return StrategyQueue(replay, plan, lines, ring[0], ring[1], strategies, parameters)


@kernel
def join_pool(pool, job):
    """Let a job wait: in every line, and as the last of the ring."""
    anchor = len(pool.following) - 1
    last = pool.preceding[anchor]
    pool.following[last], pool.following[job] = job, anchor
    pool.preceding[anchor], pool.preceding[job] = job, last
    pool.replay.counters[WAITING] += 1
    for k in range(len(pool.lines.rank)):
        join_line(pool.replay.jobs, line_of(pool.lines, k), pool.lines.rank[k, job], job)


@kernel
def leave_pool(pool, job):
    """Let a job wait no more."""
    before, after = pool.preceding[job], pool.following[job]
    pool.following[before], pool.preceding[after] = after, before
    pool.replay.counters[WAITING] -= 1
    for k in range(len(pool.lines.rank)):
        leave_wherever(line_of(pool.lines, k), pool.lines.rank[k, job])


@kernel
def queue_in_line(pool, k):
    """Put the jobs of a line into the queue."""
    replay, line = pool.replay, line_of(pool.lines, k)
    replay.counters[TAIL] = 0
    place = next_in_line(line, 0, TOO_WIDE - 1, NEVER, 0)
    while place != NOBODY:
        join_at_end(replay, line.job[place])
        place = next_in_line(line, place + 1, TOO_WIDE - 1, NEVER, 0)


@kernel
def queue_scored(pool, k, score_queue, now, cores):
    """Put the waiting jobs into the queue, unsorted, with their scores; tells of a bad one."""
    replay, queue, counters = pool.replay, pool.replay.queue, pool.replay.counters
    counters[TAIL] = 0
    anchor = len(pool.following) - 1
    job = pool.following[anchor]
    while job != anchor:
        join_at_end(replay, job)
        job = pool.following[job]
    waiting, free = counters[TAIL], counters[FREE]
    bad = score_queue(queue, replay.usage, waiting, now, cores, free, pool.parameters[k])
    if bad >= 0:
        counters[BAD_JOB], counters[BAD_TIME], counters[ACTIVE] = queue.job[bad], now, k
    return bad < 0


@kernel
def queue_sorted(pool, order, score_queue, now, cores):
    """Put the waiting jobs into the queue in an order; tells whether it could be done."""
    if order >= 0:
        queue_in_line(pool, order)
        return True
    scored = queue_scored(pool, -1 - order, score_queue, now, cores)
    if scored:
        sort_queue(pool.replay.jobs, pool.replay.queue, pool.replay.counters)
    return scored


@kernel
def take_out_started(pool, before):
    """Let the jobs that started since then wait no more."""
    for i in range(before, pool.replay.counters[STARTED]):
        leave_pool(pool, pool.replay.started[i])


@entry(SCORER_TYPE)
def score_nobody(queue, usage, waiting, now, cores, free, parameters):
    """Stand in where no strategy's order changes with time."""
    return -1
