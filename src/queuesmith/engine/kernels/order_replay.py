"""Replays under one order and one backfill."""

from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_INTS, FROZEN_REALS
from queuesmith.engine.kernels.constants import (
    BAD_JOB,
    CANCEL,
    FREE,
    IN_BLOCKS,
    NEVER,
    NOBODY,
    NONE,
    TAIL,
    TOO_LONG,
    TOO_WIDE,
)
from queuesmith.engine.kernels.line import (
    FAVOURED,
    PATIENCE,
    join_line,
    let_impatient_pass,
    next_in_line,
    room_for_start,
)
from queuesmith.engine.kernels.passes import start_in_line, start_in_queue
from queuesmith.engine.kernels.plan import RESERVATION_PLAN_TYPE
from queuesmith.engine.kernels.planned_pass import start_as_planned
from queuesmith.engine.kernels.queue import join_at_end, join_by_rank, some_job_fits, sort_queue
from queuesmith.engine.kernels.replay import (
    REPLAY_TYPE,
    SCORER_TYPE,
    arrive,
    end_all,
    end_job,
    next_instant,
    start_job,
)
from queuesmith.engine.kernels.reservations import (
    RESERVATIONS_TYPE,
    complete_reserved,
    keep_reservations,
)
from queuesmith.engine.kernels.score_now import Scoring, score_waiting


@kernel
def replay_fixed(replay, rank, backfill):
    """Replay under an order in which jobs never change places: none, list or EASY."""
    jobs, line, counters = replay.jobs, replay.line, replay.counters
    first, shadow, extra, oldest = NOBODY, NEVER, 0, 0
    now = next_instant(replay)
    while now != NEVER and counters[CANCEL] == 0:
        released = end_all(replay, now, end_job)
        if first != NOBODY and line.keep[PATIENCE] != NEVER:
            oldest, moved = let_impatient_pass(jobs, line, rank, oldest, now)
            if moved:
                first, released = next_in_line(line, 0, TOO_WIDE - 1, NEVER, 0), True
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
def replay_queue(replay, order, plan, going, complete_planned, join, follow):
    """Replay with one queue, as long as it is going: newcomers join it, and passes follow a plan.

    The order is each job's rank where jobs never change places, else how they are scored at each
    pass.
    """
    jobs, counters = replay.jobs, replay.counters
    now = next_instant(replay)
    while now != NEVER and counters[CANCEL] == 0 and going(replay, plan):
        released = complete_planned(replay, plan, now)
        job, last = arrive(replay, now)
        empty = counters[TAIL] + counters[IN_BLOCKS] == 0
        if last == job + 1 and empty and jobs.cores[job] <= counters[FREE]:
            start_job(replay, job, now)
        elif job < last or not empty:
            for newcomer in range(job, last):
                join(replay, order, newcomer)
            follow(replay, plan, order, now, released)
        now = next_instant(replay)


@kernel
def replay_changing(replay, scoring, plan, going, complete_planned, follow):
    """Replay under an order whose scores change with time: nobody has a place of his own."""
    replay_queue(replay, scoring, plan, going, complete_planned, join_unsorted, follow)


# -- how arrivals, completions and passes are for each kind of backfill ----------------------------


@kernel
def join_unsorted(replay, scoring, job):
    """Let a job wait anywhere: it is scored at each pass."""
    join_at_end(replay, job)


@kernel
def complete_unplanned(replay, plan, now):
    """Release the cores of all jobs that end now; no plan is kept that would have to know."""
    return end_all(replay, now, end_job)


@kernel
def follow_plan(replay, plan, rank, now, released):
    """Run one pass over a sorted queue: plan."""
    start_as_planned(replay, plan, now)


@kernel
def follow_reservations(replay, plan, rank, now, released):
    """Run one pass over a sorted queue: conservative."""
    keep_reservations(replay, plan, now, released)


@kernel
def queue_serves(replay, plan):
    """Tell whether all scores are numbers and the queue is not too long for this replay."""
    counters = replay.counters
    return counters[BAD_JOB] == NOBODY and counters[TAIL] < counters[TOO_LONG]


@kernel
def follow_backfill(replay, backfill, scoring, now, released):
    """Run one pass where some job fits: none, list or EASY."""
    if some_job_fits(replay.queue, replay.counters) and score_waiting(replay, scoring, now):
        start_in_queue(replay, now, backfill)


@kernel
def follow_scored_plan(replay, plan, scoring, now, released):
    """Run one pass where some job fits: plan."""
    if some_job_fits(replay.queue, replay.counters) and score_waiting(replay, scoring, now):
        sort_queue(replay.jobs, replay.queue, replay.counters)
        start_as_planned(replay, plan, now)


@kernel
def follow_scored_reservations(replay, plan, scoring, now, released):
    """Run one pass, whether some job fits or not: conservative."""
    if score_waiting(replay, scoring, now):
        sort_queue(replay.jobs, replay.queue, replay.counters)
        keep_reservations(replay, plan, now, released)


# -- entries: each compiles what its kind of backfill needs, and no more ---------------------------

SCORED = (REPLAY_TYPE, types.FunctionType(SCORER_TYPE), FROZEN_REALS, int64)


@entry(void(REPLAY_TYPE, FROZEN_INTS, int64))
def run_fixed(replay, rank, backfill):
    """Replay all jobs under a fixed order and none, list or EASY; fills ``replay.start``."""
    replay_fixed(replay, rank, backfill)


@entry(void(REPLAY_TYPE, FROZEN_INTS, RESERVATION_PLAN_TYPE))
def run_fixed_plan(replay, rank, plan):
    """Replay all jobs under a fixed order and plan; fills ``replay.start``."""
    replay_queue(replay, rank, plan, queue_serves, complete_unplanned, join_by_rank, follow_plan)


@entry(void(REPLAY_TYPE, FROZEN_INTS, RESERVATIONS_TYPE))
def run_fixed_conservative(replay, rank, plan):
    """Replay all jobs under a fixed order and conservative; fills ``replay.start``."""
    replay_queue(
        replay, rank, plan, queue_serves, complete_reserved, join_by_rank, follow_reservations
    )


@entry(void(*SCORED, int64))
def run_changing(replay, score_queue, parameters, cores, backfill):
    """Replay under an order that changes with time and none, list or EASY."""
    scoring = Scoring(score_queue, parameters, cores)
    replay_changing(replay, scoring, backfill, queue_serves, complete_unplanned, follow_backfill)


@entry(void(*SCORED, RESERVATION_PLAN_TYPE))
def run_changing_plan(replay, score_queue, parameters, cores, plan):
    """Replay under an order that changes with time and plan."""
    scoring = Scoring(score_queue, parameters, cores)
    replay_changing(replay, scoring, plan, queue_serves, complete_unplanned, follow_scored_plan)


@entry(void(*SCORED, RESERVATIONS_TYPE))
def run_changing_conservative(replay, score_queue, parameters, cores, plan):
    """Replay under an order that changes with time and conservative."""
    scoring = Scoring(score_queue, parameters, cores)
    replay_changing(
        replay, scoring, plan, queue_serves, complete_reserved, follow_scored_reservations
    )
