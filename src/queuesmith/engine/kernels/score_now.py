"""Scoring those who wait, as an order has them now."""

from typing import Any, NamedTuple

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import BAD_JOB, BAD_TIME, FREE, TAIL


class Scoring(NamedTuple):
    """How jobs are scored: the compiled loop of an order, its parameters, the machine's cores."""

    score_queue: Any
    parameters: Any
    cores: Any


@kernel
def score_waiting(replay, scoring, now):
    """Score the whole queue; tells whether every score is a number."""
    return score_now(replay, replay.queue, replay.counters[TAIL], scoring, now)


@kernel
def score_now(replay, queue, waiting, scoring, now):
    """Score the jobs of a queue, so many; tells whether every score is a number, and notes the
    first that is not.
    """
    counters, cores = replay.counters, scoring.cores
    free, parameters = counters[FREE], scoring.parameters
    bad = scoring.score_queue(queue, replay.usage, waiting, now, cores, free, parameters)
    if bad >= 0:
        counters[BAD_JOB], counters[BAD_TIME] = queue.job[bad], now
    return bad < 0
