"""The replay under Slurm: its main scheduler, its backfill, its priorities, event by event."""

from numba import void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.constants import ARRIVED, CANCEL, NEVER
from queuesmith.engine.kernels.slurm_backfill import backfill
from queuesmith.engine.kernels.slurm_choosing import choose_nodes, leave_out_outages
from queuesmith.engine.kernels.slurm_priority import (
    insert_sorted,
    note_use,
    prioritize,
    recalculate,
    share_out,
)
from queuesmith.engine.kernels.slurm_state import (
    BACKFILLS,
    BF_INTERVAL,
    CALC_PERIOD,
    HELD,
    LAST_CALC,
    OFFSET,
    QUEUE_DEPTH,
    QUEUED,
    SCHED_INTERVAL,
    SLURM_REPLAY,
    STUCK,
    end_next,
    over_limit,
    start_on_nodes,
)


@kernel
def start_by_priority(replay, now, depth):
    """Start jobs by priority; the first of a partition that cannot start stops the partition.

    Its nodes are left alone, too, for jobs of other partitions. Returns how many started.
    """
    jobs, nodes, counters, queue = replay.jobs, replay.nodes, replay.counters, replay.queue
    usable, blocked, away = replay.choice.usable, replay.blocked, replay.choice.spare
    blocked[:] = False
    away[:] = False
    started, left, stopped = 0, 0, 0
    for i in range(counters[QUEUED]):
        job = queue[i]
        queue[left] = job
        left += 1
        partition = jobs.partition[job]
        if i >= depth or stopped == len(blocked):
            if started == 0:
                left = counters[QUEUED]
                break
            continue
        if blocked[partition] or over_limit(replay, job):
            continue
        copy(usable, nodes.sets[jobs.node_set[job]])
        for node in range(len(usable)):
            usable[node] &= not away[node]
        leave_out_outages(replay, usable, now, now + jobs.limit[job])
        count = choose_nodes(replay, job, usable, replay.free)
        if count > 0:
            start_on_nodes(replay, job, count, now)
            started += 1
            left -= 1
            continue
        blocked[partition] = True
        stopped += 1
        for node in range(len(usable)):
            away[node] |= nodes.partitions[partition, node]
    counters[QUEUED] = left
    return started


@kernel
def next_return(replay, now):
    """Return when the next outage ends."""
    instant = NEVER
    for end in replay.nodes.outage_end:
        if end > now:
            instant = min(instant, end)
    return instant


@kernel
def next_of(begin, period, now):
    """Return the next instant after now of something that happens every so many seconds."""
    return now + period - (now - begin) % period


@kernel
def replay_slurm(replay):
    """Replay all jobs; fills starts and pieces."""
    jobs, knobs, counters, running = replay.jobs, replay.knobs, replay.counters, replay.running
    count = len(jobs.eligible)
    first = jobs.eligible[jobs.arrival[0]]
    begin = first - knobs[OFFSET]  # when the daemon's clocks began
    counters[LAST_CALC] = first
    share_out(replay)
    calculation = next_of(begin, knobs[CALC_PERIOD], first)
    full = next_of(begin, knobs[SCHED_INTERVAL], first)
    changed, dirty = NEVER, False
    returning = next_return(replay, first)
    while counters[CANCEL] == 0:
        arrived = counters[ARRIVED]
        if arrived == count and counters[QUEUED] == 0:
            break
        arrival = jobs.eligible[jobs.arrival[arrived]] if arrived < count else NEVER
        completion = running.end[0] if counters[HELD] > 0 else NEVER
        pending = counters[QUEUED] > 0
        filling = NEVER
        if pending and changed != NEVER and knobs[BACKFILLS]:
            # It looks every so many seconds, whether something has changed or not.
            filling = next_of(begin, knobs[BF_INTERVAL], changed)
        looking = full if pending and dirty else NEVER
        now = min(min(arrival, completion), min(min(filling, looking), calculation))
        now = min(now, returning)
        event = False
        while counters[HELD] > 0 and running.end[0] == now:
            job = end_next(replay)
            note_use(replay, job, now)
            event = True
        while arrived < count and jobs.eligible[jobs.arrival[arrived]] == now:
            job = jobs.arrival[arrived]
            prioritize(replay, job, now)
            insert_sorted(replay, job, counters[QUEUED])
            counters[QUEUED] += 1
            arrived += 1
            event = True
        counters[ARRIVED] = arrived
        if now == calculation:
            recalculate(replay, now)
            calculation = now + knobs[CALC_PERIOD]
            changed, dirty = min(changed, now), True
        if now == returning:
            returning = next_return(replay, now)
            event = True
        if now >= full:
            full = next_of(begin, knobs[SCHED_INTERVAL], now)
            if now == looking:
                start_by_priority(replay, now, count)
                dirty = False
        if event:
            start_by_priority(replay, now, knobs[QUEUE_DEPTH])
            changed, dirty = min(changed, now), True
        if now == filling:
            # Whatever starts is a change that the next pass looks at.
            changed = now if backfill(replay, now) > 0 else NEVER
        if counters[QUEUED] == 0:
            changed = NEVER
        idle = counters[QUEUED] > 0 and counters[HELD] == 0 and arrived == count
        if idle and returning == NEVER and start_by_priority(replay, now, count) == 0:
            counters[STUCK] = 1
            break


@entry(void(SLURM_REPLAY))
def run_slurm(replay):
    """Replay all jobs under Slurm; fills ``replay.start`` and ``replay.pieces``."""
    replay_slurm(replay)
