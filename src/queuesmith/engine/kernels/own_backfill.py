"""Replays in which a function of the user's says who may overtake."""

from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_REALS
from queuesmith.compiled.due import reserve
from queuesmith.engine.kernels.constants import (
    BAD_JOB,
    BAD_TIME,
    CANCEL,
    DUE,
    FREE,
    NEVER,
    NOBODY,
    TAIL,
)
from queuesmith.engine.kernels.queue import (
    QUEUE_TYPE,
    best,
    fill_gap,
    join_at_end,
    some_job_fits,
)
from queuesmith.engine.kernels.replay import (
    REPLAY_TYPE,
    SCORER_TYPE,
    arrive,
    complete,
    next_instant,
    start_job,
)

#: Who overtakes: of a scored queue and so many who wait; now, cores, free cores; the place of the
#: first job, when it can start at the latest, and cores to spare then; and parameters.
OVERTAKER_TYPE = int64(QUEUE_TYPE, *[int64] * 7, FROZEN_REALS)


@kernel
def start_by_function(replay, now, cores, overtaker, settings):
    """Run one scheduling pass over a scored queue: the first job while it fits, then others."""
    queue, counters = replay.queue, replay.counters
    while counters[TAIL] > 0 and counters[FREE] > 0:
        first = best(queue, counters)
        place = first
        if queue.cores[first] > counters[FREE]:
            reserved, spare = reserve(
                replay.running, counters[DUE], counters[FREE], queue.cores[first]
            )
            place = overtaker(
                *(queue, counters[TAIL], now, cores, counters[FREE], first, reserved, spare),
                settings,
            )
            if place == NOBODY:
                return
        start_job(replay, queue.job[place], now)
        fill_gap(queue, counters, place)


@entry(
    void(
        REPLAY_TYPE,
        types.FunctionType(SCORER_TYPE),
        FROZEN_REALS,
        types.FunctionType(OVERTAKER_TYPE),
        FROZEN_REALS,
        int64,
    )
)
def run_own_backfill(replay, score_queue, parameters, overtaker, settings, cores):
    """Replay all jobs under an order and a backfill of the user's; fills ``replay.start``."""
    jobs, queue, counters = replay.jobs, replay.queue, replay.counters
    now = next_instant(replay)
    while now != NEVER and counters[CANCEL] == 0:
        complete(replay, now)
        job, last = arrive(replay, now)
        empty = counters[TAIL] == 0
        if last == job + 1 and empty and jobs.cores[job] <= counters[FREE]:
            start_job(replay, job, now)
        elif job < last or not empty:
            for newcomer in range(job, last):
                join_at_end(replay, newcomer)
            if some_job_fits(queue, counters):
                waiting, free = counters[TAIL], counters[FREE]
                bad = score_queue(queue, replay.usage, waiting, now, cores, free, parameters)
                if bad >= 0:
                    counters[BAD_JOB], counters[BAD_TIME] = queue.job[bad], now
                    return
                start_by_function(replay, now, cores, overtaker, settings)
        now = next_instant(replay)
