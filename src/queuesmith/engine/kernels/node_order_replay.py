"""Replays on nodes under one order and one backfill."""

import numpy as np
from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_INTS, FROZEN_REALS
from queuesmith.engine.kernels.constants import (
    ARRIVED,
    CANCEL,
    CONSERVATIVE,
    EASY,
    NEVER,
    NOBODY,
    NONE,
    STARTED,
    TAIL,
)
from queuesmith.engine.kernels.line import (
    FAVOURED,
    join_line,
    leave_wherever,
    let_impatient_pass,
    pass_if_impatient,
)
from queuesmith.engine.kernels.node_events import (
    arrive_on_nodes,
    finish,
    next_cancelled,
    next_instant_on_nodes,
    release_on_nodes,
)
from queuesmith.engine.kernels.node_future import cancel_booking
from queuesmith.engine.kernels.node_passes import (
    follow_plan_on_nodes,
    start_if_it_fits,
    start_in_line_on_nodes,
    start_in_queue_on_nodes,
)
from queuesmith.engine.kernels.node_state import NODE_REPLAY_TYPE, over_limit
from queuesmith.engine.kernels.queue import (
    close_gap,
    join_at_end,
    join_by_rank,
    some_job_fits,
    sort_queue,
)
from queuesmith.engine.kernels.replay import SCORER_TYPE
from queuesmith.engine.kernels.score_now import Scoring, score_waiting

SCORER = types.FunctionType(SCORER_TYPE)


@entry(void(NODE_REPLAY_TYPE, FROZEN_INTS, int64))
def run_fixed_on_nodes(state, rank, backfill):
    """Replay all jobs on nodes under a fixed order: none, list or EASY."""
    line, counters = state.line, state.counters
    head, shadow, oldest = np.int64(NOBODY), np.int64(NEVER), 0
    alike = line.keep[FAVOURED] == 0 and len(state.board.shares) == 0
    now = next_instant_on_nodes(state)
    while now != NEVER and counters[CANCEL] == 0:
        released = release_on_nodes(state, now)
        gone = next_cancelled(state, now)
        while gone != NOBODY:
            leave_wherever(line, rank[gone])
            released = True
            gone = next_cancelled(state, now)
        count = arrive_on_nodes(state, now)
        job = state.newcomers[0]
        passing = count > 0 or counters[ARRIVED] > counters[STARTED]
        if alike and count == 1 and not released and (head == NOBODY or rank[job] > head):
            # Since the last pass only time has passed and this job has come, so no other can
            # start: it would have started then.
            may = (head == NOBODY or backfill != NONE) and not over_limit(state, job)
            started = may and start_if_it_fits(state, job, now, shadow)
            if not started:
                join_line(state.jobs, line, rank[job], job)
            passing = may and not started and head == NOBODY
        else:
            for i in range(count):
                newcomer = state.newcomers[i]
                join_line(state.jobs, line, rank[newcomer], newcomer)
                pass_if_impatient(state.jobs, line, rank[newcomer], newcomer, now)
        if passing:
            oldest, _ = let_impatient_pass(state.jobs, line, rank, oldest, now)
            head, shadow = start_in_line_on_nodes(state, line, np.int64(0), now, backfill)
        now = next_instant_on_nodes(state)
    finish(state)


@kernel
def leave_queue(state, now):
    """Take jobs that are cancelled now out of the queue, and what is reserved for them; tells
    whether there was any.
    """
    queue, counters, any_left = state.queue, state.counters, False
    job = next_cancelled(state, now)
    while job != NOBODY:
        place = 0
        while queue.job[place] != job:
            place += 1
        if state.start[job] != NOBODY:
            cancel_booking(state.board, job, state.start[job], queue.walltime[place])
            state.start[job] = NOBODY
        close_gap(queue, counters, place, place + 1)
        any_left = True
        job = next_cancelled(state, now)
    return any_left


@kernel
def join_queue(state, rank, count):
    """Let the newcomers wait: at their places in a fixed order, or at the end."""
    for i in range(count):
        if len(rank) > 0:
            join_by_rank(state, rank, state.newcomers[i])
        else:
            join_at_end(state, state.newcomers[i])


@entry(void(NODE_REPLAY_TYPE, FROZEN_INTS, SCORER, FROZEN_REALS, int64, int64))
def run_queue_on_nodes(state, rank, score_queue, parameters, cores, backfill):
    """Replay all jobs on nodes by a sorted queue: any backfill under an order that changes, and
    conservative or plan under a fixed one, whose ranks are given.
    """
    counters, scored = state.counters, True
    scoring = Scoring(score_queue, parameters, cores)
    now = next_instant_on_nodes(state)
    while scored and now != NEVER and counters[CANCEL] == 0:
        released = release_on_nodes(state, now)
        released |= leave_queue(state, now)
        join_queue(state, rank, arrive_on_nodes(state, now))
        keeping = backfill == CONSERVATIVE or len(rank) > 0
        if counters[TAIL] > 0 and (keeping or some_job_fits(state.queue, counters)):
            if len(rank) == 0:
                scored = score_waiting(state, scoring, now)
                if scored:
                    sort_queue(state.jobs, state.queue, counters)
            if scored and backfill <= EASY:
                start_in_queue_on_nodes(state, now, backfill)
            elif scored:
                follow_plan_on_nodes(state, now, backfill, released)
        now = next_instant_on_nodes(state)
    finish(state)
