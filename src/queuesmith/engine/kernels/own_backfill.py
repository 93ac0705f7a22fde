"""Replays in which a function of the user's says who may overtake."""

from typing import Any, NamedTuple

from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_REALS
from queuesmith.compiled.due import reserve
from queuesmith.engine.kernels.constants import DUE, FREE, NOBODY, TAIL
from queuesmith.engine.kernels.order_replay import (
    complete_unplanned,
    queue_serves,
    replay_changing,
)
from queuesmith.engine.kernels.queue import QUEUE_TYPE, best, fill_gap, some_job_fits
from queuesmith.engine.kernels.replay import REPLAY_TYPE, SCORER_TYPE, start_job
from queuesmith.engine.kernels.score_now import Scoring, score_waiting

#: Who overtakes: of a scored queue and so many who wait; now, cores, free cores; the place of the
#: first job, when it can start at the latest, and cores to spare then; and parameters.
OVERTAKER_TYPE = int64(QUEUE_TYPE, *[int64] * 7, FROZEN_REALS)


class Overtaking(NamedTuple):
    """Who may overtake: the compiled function of a backfill, and its parameters."""

    overtaker: Any
    settings: Any


@kernel
def follow_function(replay, own, scoring, now, released):
    """Run one pass where some job fits: the user's function says who overtakes."""
    if some_job_fits(replay.queue, replay.counters) and score_waiting(replay, scoring, now):
        start_by_function(replay, own, scoring.cores, now)


@kernel
def start_by_function(replay, own, cores, now):
    """Run one scheduling pass over a scored queue: the first job while it fits, then others."""
    queue, counters = replay.queue, replay.counters
    while counters[TAIL] > 0 and counters[FREE] > 0:
        first = best(queue, counters)
        place = first
        if queue.cores[first] > counters[FREE]:
            reserved, spare = reserve(
                replay.running, counters[DUE], counters[FREE], queue.cores[first]
            )
            place = own.overtaker(
                *(queue, counters[TAIL], now, cores, counters[FREE], first, reserved, spare),
                own.settings,
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
    scoring, own = Scoring(score_queue, parameters, cores), Overtaking(overtaker, settings)
    replay_changing(replay, scoring, own, queue_serves, complete_unplanned, follow_function)
