"""One scheduling pass by the strategy that a rule base has chosen."""

import numpy as np

from queuesmith.compiled import kernel
from queuesmith.compiled.due import reserve
from queuesmith.engine.kernels.constants import (
    ACTIVE,
    BAD_JOB,
    BAD_TIME,
    DEPTH,
    DUE,
    FREE,
    NEVER,
    NOBODY,
    PLAN,
    STARTED,
    STEPS,
    TAIL,
    TOO_WIDE,
    WAITING,
    WORK,
)
from queuesmith.engine.kernels.line import leave_line, next_in_line
from queuesmith.engine.kernels.passes import start_in_line, start_in_queue
from queuesmith.engine.kernels.plan import begin_plan, may_start_now, reserve_earliest_room
from queuesmith.engine.kernels.planned_pass import start_as_planned
from queuesmith.engine.kernels.queue import sort_queue
from queuesmith.engine.kernels.replay import start_job
from queuesmith.engine.kernels.rule_based_lines import (
    let_go,
    line_up_to_date,
    note_own_starts,
    note_places,
)


@kernel
def start_by_strategy(pool, upkeep, strategy, score_queue, start_scored, now, cores):
    """Run one scheduling pass by one of the strategies; tells whether it could be done."""
    counters = pool.replay.counters
    order, backfill = pool.strategies[strategy, 0], pool.strategies[strategy, 1]
    before, done = counters[STARTED], True
    if backfill == PLAN or order < 0:
        counters[WORK] += counters[WAITING]
    counters[DEPTH] = pool.strategies[strategy, 2]
    if order >= 0:
        line = line_up_to_date(pool, upkeep, order, now)
        if backfill == PLAN:
            start_planned_in_line(pool.replay, pool.plan, upkeep.overtaking, line, now)
        else:
            start_in_line(pool.replay, line, now, next_waiting(line, 0), backfill)
        note_own_starts(pool, upkeep, order)
    else:
        done = score_waiting(pool, -1 - order, score_queue, now, cores)
        if done:
            start_scored(pool, backfill, now)
        note_places(pool.replay, upkeep)
    let_go(pool, upkeep, before, order >= 0 and len(upkeep.place) > 0)
    return done


@kernel
def next_waiting(line, rank):
    """Return the first rank from ``rank`` on at which somebody waits, or NOBODY."""
    return next_in_line(line, rank, TOO_WIDE - 1, NEVER, 0)


@kernel
def score_waiting(pool, k, score_queue, now, cores):
    """Score all who wait; tells whether all had a number."""
    replay, queue, counters = pool.replay, pool.replay.queue, pool.replay.counters
    waiting, free = counters[TAIL], counters[FREE]
    if score_queue(queue, replay.usage, waiting, now, cores, free, pool.parameters[k]) >= 0:
        counters[BAD_JOB], counters[BAD_TIME] = earliest_without_number(queue, waiting), now
        counters[ACTIVE] = k
        return False
    return True


@kernel
def start_scored_unplanned(pool, backfill, now):
    """Run one pass over a scored queue: none, list or EASY."""
    start_in_queue(pool.replay, now, backfill)


@kernel
def start_scored_any(pool, backfill, now):
    """Run one pass over a scored queue: none, list, EASY or plan."""
    if backfill == PLAN:
        sort_queue(pool.replay.jobs, pool.replay.queue, pool.replay.counters)
        start_as_planned(pool.replay, pool.plan, now)
    else:
        start_in_queue(pool.replay, now, backfill)


@kernel
def earliest_without_number(queue, waiting):
    """Return the job that came first of those whose score is no number."""
    found = TOO_WIDE
    for i in range(waiting):
        if queue.score[i] != queue.score[i]:
            found = min(found, queue.job[i])
    return found


@kernel
def start_planned_in_line(replay, plan, overtaking, line, now):
    """Plan every job of a line afresh, at its earliest room; start those planned for now.

    Cores only get free as running jobs end, so whoever is first starts if it fits, and is planned
    for the instant of EASY's reservation if not. Room only shrinks while jobs are planned: nobody
    can overtake who could not under EASY, and without such a job no plan is needed.
    """
    counters = replay.counters
    first = next_waiting(line, 0)
    while first != NOBODY and line.cores[len(line.job) + first] <= counters[FREE]:
        start_job(replay, line.job[first], now)
        leave_line(line, first)
        first = next_waiting(line, first + 1)
    if first == NOBODY or counters[DEPTH] <= 1:
        return
    width = line.cores[len(line.job) + first]
    shadow, extra = reserve(replay.running, counters[DUE], counters[FREE], width)
    last = find_overtaking(line, first, counters[FREE], shadow - now, extra, overtaking)
    if last < 0:
        return
    begin_plan(replay.running, counters, plan, now)
    walltime = line.walltime[len(line.job) + first]
    reserve_earliest_room(plan, counters, walltime, np.int64(width))
    start_overtaking(replay, plan, overtaking, last, line, now, first)
    counters[STEPS] = 0


@kernel
def find_overtaking(line, first, free, longest, extra, overtaking):
    """Note the ranks behind the first that EASY would let overtake; return the last's place."""
    last = -1
    rank = next_in_line(line, first + 1, free, longest, extra)
    while rank != NOBODY:
        last += 1
        overtaking[last] = rank
        rank = next_in_line(line, rank + 1, free, longest, extra)
    return last


@kernel
def start_overtaking(replay, plan, overtaking, last, line, now, first):
    """Plan those behind the first, up to the last who may still start now."""
    counters, leaves = replay.counters, len(line.job)
    later = 1  # jobs that are planned and do not start now
    rank = next_waiting(line, first + 1)
    while last >= 0 and NOBODY < rank <= overtaking[last] and later < counters[DEPTH]:
        width, walltime = np.int64(line.cores[leaves + rank]), line.walltime[leaves + rank]
        end_of_last = now + line.walltime[leaves + overtaking[last]]
        begin = reserve_earliest_room(plan, counters, walltime, width)
        if begin == now:
            start_job(replay, line.job[rank], now)
            leave_line(line, rank)
        else:
            later += 1
        if begin < end_of_last:  # else the last has its room as before
            last = last_overtaking(plan, counters, overtaking, last, line, rank)
        rank = next_waiting(line, rank + 1)


@kernel
def last_overtaking(plan, counters, overtaking, last, line, rank):
    """Return the place of the last behind a rank who may still start now, or -1."""
    leaves = len(line.job)
    while last >= 0 and overtaking[last] > rank:
        node = leaves + overtaking[last]
        width = np.int64(line.cores[node])
        if width <= counters[FREE] and may_start_now(plan, counters, line.walltime[node], width):
            return last
        last -= 1
    return -1
