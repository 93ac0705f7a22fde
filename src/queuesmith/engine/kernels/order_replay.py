"""Replays under one order and one backfill."""

from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_INTS, FROZEN_REALS
from queuesmith.engine.kernels.constants import (
    BAD_JOB,
    BAD_TIME,
    CANCEL,
    CONSERVATIVE,
    EASY,
    FREE,
    NEVER,
    NOBODY,
    NONE,
    TAIL,
    TOO_WIDE,
)
from queuesmith.engine.kernels.line import FAVOURED, join_line, room_for_start
from queuesmith.engine.kernels.passes import follow_plan, start_in_line, start_in_queue
from queuesmith.engine.kernels.queue import join_at_end, join_by_rank, some_job_fits, sort_queue
from queuesmith.engine.kernels.replay import (
    REPLAY_TYPE,
    SCORER_TYPE,
    arrive,
    complete,
    next_instant,
    start_job,
)


@kernel
def replay_fixed(replay, rank, backfill):
    """Replay under an order in which jobs never change places: none, list or EASY."""
    jobs, line, counters = replay.jobs, replay.line, replay.counters
    first, shadow, extra = NOBODY, NEVER, 0
    now = next_instant(replay)
    while now != NEVER and counters[CANCEL] == 0:
        released = complete(replay, now)
        job, last = arrive(replay, now)
        alone = last == job + 1
        room = room_for_start(line, rank[job], jobs.cores[job]) if alone else TOO_WIDE
        if first == NOBODY and room <= counters[FREE]:
            start_job(replay, job, now)
        elif alone and not released and first != NOBODY and rank[job] > first:
            # Since the last pass only time has passed and this job has come, so no other can
            # start: it would have started then.
            cores = jobs.cores[job]
            in_time = now + jobs.walltime[job] <= shadow
            may_overtake = backfill != NONE and not first < line.keep[FAVOURED] <= rank[job]
            if may_overtake and room <= counters[FREE] and (in_time or cores <= extra):
                start_job(replay, job, now)
                if not in_time:
                    extra -= cores
            else:
                join_line(jobs, line, rank[job], job)
        elif job < last or first != NOBODY:
            for newcomer in range(job, last):
                join_line(jobs, line, rank[newcomer], newcomer)
                if first == NOBODY or rank[newcomer] < first:
                    first = rank[newcomer]
            first, shadow, extra = start_in_line(replay, line, now, first, backfill)
        now = next_instant(replay)


@kernel
def replay_fixed_planned(replay, rank, backfill):
    """Replay under an order in which jobs never change places: conservative or plan."""
    jobs, counters = replay.jobs, replay.counters
    now = next_instant(replay)
    while now != NEVER and counters[CANCEL] == 0:
        released = complete(replay, now)
        job, last = arrive(replay, now)
        empty = counters[TAIL] == 0
        if last == job + 1 and empty and jobs.cores[job] <= counters[FREE]:
            start_job(replay, job, now)
        elif job < last or not empty:
            for newcomer in range(job, last):
                join_by_rank(replay, rank, newcomer)
            follow_plan(replay, now, backfill, released)
        now = next_instant(replay)


@entry(void(REPLAY_TYPE, FROZEN_INTS, int64))
def run_fixed(replay, rank, backfill):
    """Replay all jobs under a fixed order; fills ``replay.start``."""
    if backfill <= EASY:
        replay_fixed(replay, rank, backfill)
    else:
        replay_fixed_planned(replay, rank, backfill)


@kernel
def replay_changing(replay, score_queue, parameters, cores, backfill):
    """Replay under an order whose scores change with time: the queue is scored at each pass."""
    jobs, queue, counters = replay.jobs, replay.queue, replay.counters
    now = next_instant(replay)
    while now != NEVER and counters[CANCEL] == 0:
        released = complete(replay, now)
        job, last = arrive(replay, now)
        empty = counters[TAIL] == 0
        if last == job + 1 and empty and jobs.cores[job] <= counters[FREE]:
            start_job(replay, job, now)
        elif job < last or not empty:
            for newcomer in range(job, last):
                join_at_end(replay, newcomer)
            if backfill == CONSERVATIVE or some_job_fits(queue, counters):
                waiting, free = counters[TAIL], counters[FREE]
                bad = score_queue(queue, replay.usage, waiting, now, cores, free, parameters)
                if bad >= 0:
                    counters[BAD_JOB], counters[BAD_TIME] = queue.job[bad], now
                    return
                if backfill <= EASY:
                    start_in_queue(replay, now, backfill)
                else:
                    sort_queue(jobs, queue, counters)
                    follow_plan(replay, now, backfill, released)
        now = next_instant(replay)


@entry(void(REPLAY_TYPE, types.FunctionType(SCORER_TYPE), FROZEN_REALS, int64, int64))
def run_changing(replay, score_queue, parameters, cores, backfill):
    """Replay all jobs under an order that changes with time; fills ``replay.start``."""
    replay_changing(replay, score_queue, parameters, cores, backfill)
