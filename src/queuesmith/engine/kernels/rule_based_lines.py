"""Waiting jobs of a rule base, whose lines are brought up to date when they are needed.

Most jobs start before most of the orders have been chosen. So a newcomer joins the first line only,
which tells at each instant whether anybody fits; a further line hears of arrivals and starts when a
strategy of its order is chosen, and never of jobs that came and went in between.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INTS, SMALL_INTS
from queuesmith.engine.kernels.constants import ARRIVED, NEVER, NOBODY, STARTED, TAIL, WAITING
from queuesmith.engine.kernels.line import (
    PATIENCE,
    join_line,
    leave_line,
    leave_wherever,
    let_impatient_pass,
    line_of,
)
from queuesmith.engine.kernels.queue import move, put

FIRST = 0  # the line that is always up to date


class Upkeep(NamedTuple):
    """How far each line is up to date, and where jobs stand in the queue that is scored."""

    arrived: Any  # how many arrivals each line has heard of
    started: Any  # and how many starts
    oldest: Any  # the first job of which a line does not know whether its patience is over
    place: Any  # of each waiting job in the queue; empty where no order changes with time
    overtaking: Any  # room for the ranks of those who may overtake; empty where nothing is planned


UPKEEP_TYPE = types.NamedTuple([INTS, INTS, INTS, SMALL_INTS, SMALL_INTS], Upkeep)


def new_upkeep(lines: int, jobs: int, *, scored: bool, planned: bool) -> Upkeep:
    """Return what is known where nothing has happened yet."""
    return Upkeep(
        np.zeros(lines, np.int64),
        np.zeros(lines, np.int64),
        np.zeros(lines, np.int64),
        np.empty(jobs if scored else 0, np.int32),
        np.empty(jobs if planned else 0, np.int32),
    )


@kernel
def let_wait(pool, upkeep, job):
    """Let a job wait: in the first line, as the last of the ring, at the end of the queue."""
    replay, anchor = pool.replay, len(pool.following) - 1
    counters = replay.counters
    last = pool.preceding[anchor]
    pool.following[last], pool.following[job] = job, anchor
    pool.preceding[anchor], pool.preceding[job] = job, last
    counters[WAITING] += 1
    join_line(replay.jobs, line_of(pool.lines, FIRST), pool.lines.rank[FIRST, job], job)
    if len(upkeep.place) > 0:
        put(replay.jobs, replay.queue, counters[TAIL], job)
        upkeep.place[job] = counters[TAIL]
        counters[TAIL] += 1


@kernel
def let_go(pool, upkeep, before, queued):
    """Let the jobs that started since then wait no more, nor stand in the queue if they do."""
    replay, counters = pool.replay, pool.replay.counters
    for i in range(before, counters[STARTED]):
        job = replay.started[i]
        previous, following = pool.preceding[job], pool.following[job]
        pool.following[previous], pool.preceding[following] = following, previous
        pool.following[job] = NOBODY
        counters[WAITING] -= 1
        leave_line(line_of(pool.lines, FIRST), pool.lines.rank[FIRST, job])
        if queued:
            leave_queue(replay, upkeep, job)


@kernel
def leave_queue(replay, upkeep, job):
    """Take a job out of the queue, whose last job moves to its place."""
    queue, counters = replay.queue, replay.counters
    place, last = upkeep.place[job], counters[TAIL] - 1
    if place < last:
        move(queue, place, last)
        upkeep.place[queue.job[place]] = place
    counters[TAIL] = last


@kernel
def note_places(replay, upkeep):
    """Note where each job of the queue stands, after a pass has moved them."""
    job = replay.queue.job
    for i in range(replay.counters[TAIL]):
        upkeep.place[job[i]] = i


@kernel
def line_up_to_date(pool, upkeep, k, now):
    """Return a line after telling it who has started and who has come since it was last used, and
    whose patience is over.
    """
    line = line_of(pool.lines, k)
    if k != FIRST:
        replay, counters, rank = pool.replay, pool.replay.counters, pool.lines.rank[k]
        for i in range(upkeep.started[k], counters[STARTED]):
            job = replay.started[i]
            if job < upkeep.arrived[k]:  # else it never was in this line
                leave_wherever(line, rank[job])
        for job in range(upkeep.arrived[k], counters[ARRIVED]):
            if pool.following[job] != NOBODY:
                join_line(replay.jobs, line, rank[job], job)
        upkeep.arrived[k] = counters[ARRIVED]
        upkeep.started[k] = counters[STARTED]
        if line.keep[PATIENCE] != NEVER:
            oldest = upkeep.oldest[k]
            upkeep.oldest[k], _ = let_impatient_pass(replay.jobs, line, rank, oldest, now)
    return line


@kernel
def note_own_starts(pool, upkeep, k):
    """Note that a line knows of all starts, for those of its own pass have left it."""
    upkeep.started[k] = pool.replay.counters[STARTED]
