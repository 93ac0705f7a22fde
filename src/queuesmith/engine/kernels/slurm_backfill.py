"""Slurm's backfill: planned jobs keep whole nodes, and others start where they delay none."""

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.constants import NEVER, NOBODY
from queuesmith.engine.kernels.slurm_choosing import earliest_start, leave_out_outages
from queuesmith.engine.kernels.slurm_state import (
    BF_MAX_PARTITION,
    BF_MAX_START,
    BF_MAX_TEST,
    BF_MAX_USER,
    BF_RESOLUTION,
    BF_WINDOW,
    EPOCH,
    PASSES,
    QUEUED,
    over_limit,
    start_on_nodes,
)


@kernel
def backfill(replay, now):
    """Plan jobs by priority, start those that can; return how many started."""
    jobs, knobs, counters, queue = replay.jobs, replay.knobs, replay.counters, replay.queue
    replay.tested[:] = 0
    replay.tested_partition[:] = 0
    _clear(replay, now)
    records, tested, started, left = 1, 0, 0, 0
    counters[PASSES] += 1
    for i in range(counters[QUEUED]):
        job = queue[i]
        queue[left] = job
        left += 1
        if tested >= knobs[BF_MAX_TEST] or started >= knobs[BF_MAX_START]:
            continue
        user, partition = jobs.user[job], jobs.partition[job]
        if over_limit(replay, job) or replay.tested[user] >= knobs[BF_MAX_USER]:
            continue
        if replay.tested_partition[partition] >= knobs[BF_MAX_PARTITION]:
            continue
        replay.tested[user] += 1
        replay.tested_partition[partition] += 1
        tested += 1
        began, records = _place(replay, job, now, records)
        if began:
            started += 1
            left -= 1
    counters[QUEUED] = left
    return started


@kernel
def _clear(replay, now):
    table = replay.reserved
    table.begin[0] = now
    table.end[0] = now + replay.knobs[BF_WINDOW]
    table.next[0] = NOBODY
    table.free[0, :] = True


@kernel
def _place(replay, job, now, records):
    """Start a job or plan it; tells whether it started, and how many records there are."""
    jobs, knobs, table = replay.jobs, replay.knobs, replay.reserved
    usable, limit = replay.choice.usable, jobs.limit[job]
    tried, kind, this_pass = replay.tried, jobs.kind[job], replay.counters[PASSES]
    # Where a job that asks for the same could not start, there is even less room by now.
    later = tried[1, kind] if tried[0, kind] == this_pass else now
    if later == NEVER:
        return False, records
    tried[0, kind] = this_pass
    while True:
        begin = later
        later = _free_nodes(replay, job, begin, begin + limit)
        leave_out_outages(replay, usable, begin, begin + limit)
        start, count = NOBODY, 0
        if _count(usable) >= jobs.least[job]:
            last = later if later != NOBODY else NEVER
            start, count = earliest_start(replay, job, usable, now, last)
        if start == NOBODY or (later != NOBODY and max(start, begin) > later):
            if later == NOBODY:
                tried[1, kind] = NEVER
                return False, records
            continue  # when some nodes that are reserved now are free
        tried[1, kind] = begin
        start = max(start, begin)
        if start <= now:
            start_on_nodes(replay, job, count, now)
            return True, records
        if start > now + knobs[BF_WINDOW] or records + 2 > len(table.begin):
            return False, records
        if _overlaps(replay, count, start, start + limit):
            if start <= begin:
                return False, records
            later = start
            continue
        return False, _reserve(replay, count, start, start + limit, records)


@kernel
def _count(usable):
    count = 0
    for node in range(len(usable)):
        count += usable[node]
    return count


@kernel
def _free_nodes(replay, job, begin, end):
    """Find the nodes that are reserved for nobody; return when to look again, -1: never."""
    table, usable = replay.reserved, replay.choice.usable
    copy(usable, replay.nodes.sets[replay.jobs.node_set[job]])
    record, later = 0, NOBODY
    while record != NOBODY and table.begin[record] <= end:
        if table.end[record] > begin:
            if later == NOBODY and table.next[record] != NOBODY:
                later = table.end[record]
            for node in range(len(usable)):
                usable[node] &= table.free[record, node]
        record = table.next[record]
    return later


@kernel
def _overlaps(replay, count, begin, end):
    """Tell whether a node that was chosen is reserved between two instants."""
    table, record = replay.reserved, 0
    while record != NOBODY:
        if table.end[record] > begin and table.begin[record] < end:
            for i in range(count):
                if not table.free[record, replay.choice.node[i]]:
                    return True
        record = table.next[record]
    return False


@kernel
def _reserve(replay, count, begin, end, records):
    """Keep whole nodes from an instant to another, both rounded down to the resolution."""
    table, resolution, epoch = replay.reserved, replay.knobs[BF_RESOLUTION], replay.knobs[EPOCH]
    begin -= (begin + epoch) % resolution
    end -= (end + epoch) % resolution
    records = _divide(table, begin, records)
    records = _divide(table, end, records)
    record = 0
    while record != NOBODY:
        if table.begin[record] >= begin and table.end[record] <= end:
            for i in range(count):
                table.free[record, replay.choice.node[i]] = False
        record = table.next[record]
    return records


@kernel
def _divide(table, instant, records):
    """Let a record end at an instant, and a new one begin there."""
    record = 0
    while record != NOBODY:
        if table.begin[record] < instant < table.end[record]:
            table.begin[records] = instant
            table.end[records] = table.end[record]
            table.next[records] = table.next[record]
            copy(table.free[records], table.free[record])
            table.end[record] = instant
            table.next[record] = records
            return records + 1
        record = table.next[record]
    return records
