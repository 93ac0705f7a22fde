"""The replay under Slurm: its main scheduler, its backfill, its priorities, event by event."""

from numba import void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.constants import ARRIVED, CANCEL, NEVER, NOBODY
from queuesmith.engine.kernels.slurm_arrivals import (
    admit_due,
    cancel_due,
    next_arrival,
    next_cancel,
    release_followers,
)
from queuesmith.engine.kernels.slurm_backfill import backfill
from queuesmith.engine.kernels.slurm_choosing import leave_out_outages
from queuesmith.engine.kernels.slurm_holding import end_next, over_limit, start_on_nodes
from queuesmith.engine.kernels.slurm_preemption import (
    leave_stopped,
    stop_others,
    time_alone_matters,
    was_stopped,
)
from queuesmith.engine.kernels.slurm_priority import note_use, recalculate, rights_of, share_out
from queuesmith.engine.kernels.slurm_sets import add_all, remove_all
from queuesmith.engine.kernels.slurm_starting import choose_now
from queuesmith.engine.kernels.slurm_state import (
    AWAY,
    BACKFILLS,
    BATCH_DELAY,
    BF_INTERVAL,
    CALC_PERIOD,
    CHANGES,
    HELD,
    LANE,
    LAST_CALC,
    LIMIT,
    NO_ROOM,
    NODE_SET,
    OFFSET,
    OUT_END,
    PREEMPTING_REPLAY,
    QUEUE_DEPTH,
    QUEUED,
    RESERVATION,
    SCHED_INTERVAL,
    SLURM_REPLAY,
    STUCK,
    USABLE,
)
from queuesmith.engine.kernels.time_heap import TIME


@kernel
def start_by_priority(replay, now, depth):
    """Start jobs by priority; the first of a partition that cannot start stops the partition.

    Its nodes are left alone, too, for jobs of other partitions. One of a reservation stops that
    reservation alone. Where jobs may stop others, it does so, and starts when it is looked at after
    they are gone. Returns how many started.
    """
    jobs, nodes, counters, queue = replay.jobs, replay.nodes, replay.counters, replay.waiting.queue
    free, ready, choice = replay.free, replay.ready, replay.choice
    usable, blocked, away = replay.choice.sets[USABLE], replay.blocked, replay.choice.sets[AWAY]
    lanes = replay.waiting.lanes
    blocked[:] = False
    away[:] = 0
    started, left, still_open = 0, 0, 0
    for lane in range(len(lanes)):
        still_open += lanes[lane] > 0
    for i in range(counters[QUEUED]):
        job = queue[i]
        queue[left] = job
        left += 1
        if i >= depth or still_open == 0:
            if started == 0:
                left = counters[QUEUED]
                break
            continue
        lane, reservation = jobs[LANE, job], jobs[RESERVATION, job]
        if blocked[lane] or over_limit(replay.limits, job):
            continue
        copy(usable, nodes.sets[jobs[NODE_SET, job]])
        remove_all(usable, away)
        leave_out_outages(nodes, reservation, usable, now, now + jobs[LIMIT, job])
        count = choose_now(jobs, nodes, free, ready, choice, counters[CHANGES], job, usable)
        if count > 0:
            start_on_nodes(replay, job, count, now)
            started += 1
            left -= 1
            still_open -= lanes[lane] == 0
            continue
        stop_others(replay.preemption, replay, job, usable, now)
        blocked[lane] = True
        still_open -= 1
        if reservation == NOBODY:
            add_all(away, nodes.partitions[lane])
    counters[QUEUED] = left
    return started


@kernel
def next_return(ends, now):
    """Return when the next outage ends."""
    instant = NEVER
    for end in ends:
        if end > now:
            instant = min(instant, end)
    return instant


@kernel
def end_due(replay, now):
    """Release what jobs that end now hold; tell whether any did, and whether one was stopped."""
    jobs, running, counters = replay.jobs, replay.running, replay.counters
    ended, stopped = False, False
    while counters[HELD] > 0 and running.ending[TIME, 0] == now:
        job = end_next(
            jobs, replay.free, replay.pieces, running, replay.ready, replay.limits, counters
        )
        fresh, start = replay.shares.fresh, replay.start[job]
        note_use(jobs, replay.worth, fresh, replay.weights, counters[LAST_CALC], job, start, now)
        if was_stopped(replay.preemption, jobs, replay.start, job):
            stopped = True
            leave_stopped(
                replay.preemption,
                jobs,
                replay.pieces,
                replay.waiting,
                replay.knobs,
                counters,
                replay.start,
                job,
                now,
            )
        else:
            release_followers(jobs, replay.waiting, counters, job, now)
        ended = True
    return ended, stopped


@entry(void(SLURM_REPLAY))
def run_slurm(replay):
    """Replay all jobs under Slurm; fills ``replay.start`` and ``replay.pieces``."""
    replay_slurm(replay)


@entry(void(PREEMPTING_REPLAY))
def run_slurm_preempting(replay):
    """Do so where jobs are stopped for others."""
    replay_slurm(replay)


@kernel
def replay_slurm(replay):
    """Replay all jobs.

    At one instant jobs end, others are cancelled, others arrive, priorities are computed, the main
    scheduler looks, then the backfill. The main scheduler looks when something has happened, but
    not sooner after it looked last than ``batch_sched_delay``, and after ``sched_interval`` anyway;
    where jobs were stopped for others, as soon as they are gone.
    The backfill comes ``bf_interval`` after its last pass, while jobs wait or as soon as something
    has happened.
    """
    jobs, knobs, counters, running = replay.jobs, replay.knobs, replay.counters, replay.running
    line, weights, count = replay.waiting, replay.weights, jobs.shape[1]
    first = next_arrival(jobs, line, counters)
    calculation = first + knobs[CALC_PERIOD] - knobs[OFFSET] % knobs[CALC_PERIOD]
    filled = first - knobs[OFFSET] % knobs[BF_INTERVAL]
    # Since the controller began, the main scheduler has looked at an empty queue.
    pause = knobs[OFFSET] % knobs[SCHED_INTERVAL] if knobs[OFFSET] > 0 else knobs[BATCH_DELAY]
    looked = first - pause
    counters[LAST_CALC] = first
    share_out(replay.shares, knobs, weights)
    happened, updated, changed = False, False, False  # since each looked last
    returning, idle = next_return(replay.nodes.outage[OUT_END], first), NEVER
    rights, timely = rights_of(replay.preemption), time_alone_matters(replay.preemption, knobs)
    while counters[CANCEL] == 0 and counters[NO_ROOM] == 0:
        waiting = counters[QUEUED] > 0
        if counters[ARRIVED] == count and not waiting:
            break
        coming = min(next_arrival(jobs, line, counters), next_cancel(jobs, line, counters))
        now = min(returning, calculation, coming)
        if counters[HELD] > 0:
            now = min(now, running.ending[TIME, 0])
        if waiting or happened:
            now = min(now, looked + knobs[BATCH_DELAY if happened else SCHED_INTERVAL])
        if (waiting or updated) and knobs[BACKFILLS]:
            now = min(now, filled + knobs[BF_INTERVAL])
        if not (waiting or happened):  # it has looked at an empty queue
            empty = max(now - looked - 1, 0)
            looked += empty // knobs[SCHED_INTERVAL] * knobs[SCHED_INTERVAL]
        event, pressed = end_due(replay, now)
        left = cancel_due(jobs, line, counters, replay.start, now)
        factor = replay.shares.factor
        event |= admit_due(jobs, replay.worth, line, rights, factor, knobs, weights, counters, now)
        event |= now == returning
        if now == returning:
            returning = next_return(replay.nodes.outage[OUT_END], now)
        if now == calculation:
            # With outages, time alone decides where jobs can be.
            changed |= recalculate(replay, now) or replay.nodes.outage.shape[1] > 0
            calculation = now + knobs[CALC_PERIOD]
        happened |= event  # the main scheduler does not look because a job has left the queue
        updated |= event or left
        changed |= event or left
        whole = now - looked >= knobs[SCHED_INTERVAL]
        if whole or pressed or (happened and now - looked >= knobs[BATCH_DELAY]):
            depth = count if whole else knobs[QUEUE_DEPTH]
            changed |= start_by_priority(replay, now, depth) > 0
            looked, happened = now, False
        waiting = counters[QUEUED] > 0
        if (waiting or updated) and now - filled >= knobs[BF_INTERVAL]:
            filled, updated = now, False
            if waiting and changed and knobs[BACKFILLS]:
                changed = backfill(replay, now) > 0 or timely
        # Where nothing runs or comes and both have looked in vain, nothing will ever start.
        coming = min(next_arrival(jobs, line, counters), next_cancel(jobs, line, counters))
        lone = waiting and counters[HELD] == 0 and coming == NEVER
        if not lone or returning != NEVER:
            idle = NEVER
        elif idle == NEVER:
            idle = now
        elif now - idle > knobs[SCHED_INTERVAL] + knobs[BF_INTERVAL]:
            counters[STUCK] = 1
            break
