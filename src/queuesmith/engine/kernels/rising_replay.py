"""The part of a replay in which the queue is long and scores only rise while a job waits."""

from numba import int64, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.due import reserve
from queuesmith.engine.kernels.blocks import (
    BLOCKS_TYPE,
    COUNT,
    PASS,
    arrange_blocks,
    first_in_blocks,
    job_at,
    leave_place,
    some_waiting_fits,
)
from queuesmith.engine.kernels.constants import BAD_JOB, DUE, FREE, LIST, NEVER, NOBODY, NONE
from queuesmith.engine.kernels.order_replay import SCORED, complete_unplanned, replay_changing
from queuesmith.engine.kernels.replay import next_instant, start_job
from queuesmith.engine.kernels.score_now import Scoring, score_waiting


@kernel
def blocks_serve(replay, manner):
    """Tell whether all scores are numbers and the queue is long enough for blocks."""
    return replay.counters[BAD_JOB] == NOBODY and manner[0].number[COUNT] > 0


@kernel
def follow_blocks(replay, manner, scoring, now, released):
    """Run one pass where some job fits: none, list or EASY."""
    blocks, backfill = manner
    if some_waiting_fits(replay, blocks):
        arrange_blocks(replay, blocks, scoring, now)
        blocks.number[PASS] += 1
        if score_waiting(replay, scoring, now):
            start_in_blocks(replay, blocks, scoring, now, backfill)


@kernel
def start_in_blocks(replay, blocks, scoring, now, backfill):
    """Start jobs by the rules of `passes.start_in_queue`, scoring only blocks that may matter."""
    jobs, counters = replay.jobs, replay.counters
    longest, extra = NEVER, 0
    blocked = backfill == LIST  # whether the first job waits, and only others may start
    while counters[FREE] > 0:
        most = counters[FREE] if blocked else NEVER
        place = first_in_blocks(replay, blocks, scoring, now, most, longest, min(extra, most))
        if place == NOBODY:
            return
        job = job_at(replay, blocks, place)
        cores = jobs.cores[job]
        if cores <= counters[FREE]:
            extra -= cores if jobs.walltime[job] > longest else 0
            start_job(replay, job, now)
            leave_place(replay, blocks, place)
        elif backfill == NONE:
            return
        else:
            shadow, extra = reserve(replay.running, counters[DUE], counters[FREE], cores)
            longest = shadow - now
            blocked = True


@entry(void(*SCORED, int64, BLOCKS_TYPE))
def run_rising(replay, score_queue, parameters, cores, backfill, blocks):
    """Go on with a replay whose queue is long, until it is short again: none, list or EASY."""
    scoring = Scoring(score_queue, parameters, cores)
    arrange_blocks(replay, blocks, scoring, next_instant(replay))
    manner = blocks, backfill
    replay_changing(replay, scoring, manner, blocks_serve, complete_unplanned, follow_blocks)
