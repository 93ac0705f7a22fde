"""Slurm's backfill: planned jobs keep whole nodes, and others start where they delay none."""

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.constants import NEVER, NOBODY
from queuesmith.engine.kernels.slurm_choosing import leave_out_outages
from queuesmith.engine.kernels.slurm_holding import over_limit, start_on_nodes
from queuesmith.engine.kernels.slurm_hopeful import (
    find_hopeful,
    give_up_reserved,
    give_up_taken,
    last_hopeful,
)
from queuesmith.engine.kernels.slurm_preemption import anybody_stops, last_preemptor, stop_others
from queuesmith.engine.kernels.slurm_ready import find_soon, order_row, ready_row
from queuesmith.engine.kernels.slurm_sets import (
    at_least,
    contains,
    keep_common,
    put,
    remove_all,
)
from queuesmith.engine.kernels.slurm_starting import choose_now, earliest_start
from queuesmith.engine.kernels.slurm_state import (
    BF_MAX_PARTITION,
    BF_MAX_START,
    BF_MAX_TEST,
    BF_MAX_USER,
    BF_RESOLUTION,
    BF_SPACE,
    BF_WINDOW,
    CANDIDATE,
    CHANGES,
    CHOSEN,
    CHOSEN_NODE,
    EPOCH,
    EXPECTED,
    KIND,
    KIND_BEGIN,
    KIND_TRIED,
    LEAST,
    LIMIT,
    NODE_SET,
    PARTITION,
    PASSES,
    QUEUED,
    RESERVATION,
    SOON,
    USABLE,
    USER,
)

#: What becomes of a job that the backfill looks at: it starts, it is planned, or neither.
STARTED, PLANNED, LEFT, FULL = range(4)


@kernel
def backfill(replay, now):
    """Plan jobs by priority, start those that can; return how many started.

    It ends where no job that is still to come can start or stop others: their plans would change
    nothing.
    """
    jobs, knobs, counters, queue = replay.jobs, replay.knobs, replay.counters, replay.waiting.queue
    counters[PASSES] += 1
    hopeful = find_hopeful(
        replay.hopeful,
        jobs,
        replay.nodes,
        replay.free,
        replay.ready,
        replay.limits,
        queue,
        counters,
    )
    stopping = last_preemptor(replay.preemption, jobs, replay.running, queue, counters)
    last = max(last_hopeful(replay.hopeful, hopeful), stopping)
    if last < 0:
        return 0
    replay.tested[:] = 0
    replay.tested_partition[:] = 0
    _clear(replay.reserved, now, knobs[BF_WINDOW])
    records, tested, started, left = 1, 0, 0, 0
    for i in range(counters[QUEUED]):
        job = queue[i]
        queue[left] = job
        left += 1
        if i > last or tested >= knobs[BF_MAX_TEST] or started >= knobs[BF_MAX_START]:
            if started == 0:
                return 0
            continue
        user, partition = jobs[USER, job], jobs[PARTITION, job]
        if over_limit(replay.limits, job) or replay.tested[user] >= knobs[BF_MAX_USER]:
            continue
        if replay.tested_partition[partition] >= knobs[BF_MAX_PARTITION]:
            continue
        replay.tested[user] += 1
        replay.tested_partition[partition] += 1
        tested += 1
        outcome, records, begin = _place(replay, job, now, records)
        if outcome == STARTED:
            started += 1
            left -= 1
            hopeful = give_up_taken(
                replay.hopeful,
                jobs,
                replay.nodes,
                replay.free,
                replay.choice.of_node[CHOSEN_NODE],
                hopeful,
                replay.pieces.count[job],
            )
        elif outcome == PLANNED:
            hopeful = give_up_reserved(
                replay.hopeful, jobs, replay.choice.sets[CHOSEN], hopeful, now, begin
            )
        elif outcome == FULL:
            hopeful = 0
        if outcome != LEFT:
            last = max(last_hopeful(replay.hopeful, hopeful), stopping)
    counters[QUEUED] = left
    return started


@kernel
def _clear(table, now, window):
    table.begin[0] = now
    table.end[0] = now + window
    table.next[0] = NOBODY
    table.free[0, :] = -1


@kernel
def _place(replay, job, now, records):
    """Start a job or plan it; tells what came of it, how many records there are, and from when."""
    jobs, knobs, table = replay.jobs, replay.knobs, replay.reserved
    sets, limit, record = replay.choice.sets, jobs[LIMIT, job], 0
    usable, soon, of_kind = sets[USABLE], sets[SOON], replay.hopeful.of_kind
    kind, this_pass = jobs[KIND, job], replay.counters[PASSES]
    # Where a job that asks for the same could not start, there is even less room by now.
    later = of_kind[KIND_BEGIN, kind] if of_kind[KIND_TRIED, kind] == this_pass else now
    if later == NEVER:
        return LEFT, records, now
    of_kind[KIND_TRIED, kind], of_kind[KIND_BEGIN, kind] = this_pass, later
    count = _choose_unreserved(replay, job, now) if later == now else 0
    if count > 0:
        start_on_nodes(replay, job, count, now)
        return STARTED, records, now
    if later == now and anybody_stops(replay.preemption):
        _leave_out_taken(replay, job, now)
        count = stop_others(replay.preemption, replay, job, usable, now)
        if count > 0:
            _note_chosen(replay.choice, count)
            first, end = _rounded(knobs, now), _rounded(knobs, now + limit)
            if records >= knobs[BF_SPACE]:
                return FULL, records, now
            records = _reserve(table, replay.choice.sets[CHOSEN], 0, first, end, records)
            return PLANNED, records, first if end > now else NEVER
    row = _ready_in_order(replay, job)
    while True:
        begin = later
        record = _record_at(table, record, begin)
        later = table.end[record] if table.next[record] != NOBODY else NOBODY
        last = later if later != NOBODY else NEVER
        find_soon(replay.ready, row, last)
        copy(soon, replay.ready.soon[row])
        copy(usable, replay.nodes.sets[jobs[NODE_SET, job]])
        _leave_out_reserved(table, usable, soon, record, begin, begin + limit)
        leave_out_outages(replay.nodes, jobs[RESERVATION, job], usable, begin, begin + limit)
        keep_common(soon, usable)
        start, count = NOBODY, 0
        if at_least(soon, jobs[LEAST, job]):
            start, count = earliest_start(replay, job, row, usable, soon, now, last)
        if start == NOBODY or (later != NOBODY and max(start, begin) > later):
            if later == NOBODY:
                of_kind[KIND_BEGIN, kind] = NEVER
                return LEFT, records, now
            continue  # when some nodes that are reserved now are free
        of_kind[KIND_BEGIN, kind] = begin
        start = max(start, begin)
        if start > now + knobs[BF_WINDOW]:
            return LEFT, records, now
        if records >= knobs[BF_SPACE]:
            return FULL, records, now
        _note_chosen(replay.choice, count)
        first, end = _rounded(knobs, start), _rounded(knobs, start + limit)
        place = record if table.begin[record] <= first else 0
        if _overlaps(table, replay.choice.sets[CHOSEN], place, first, end):
            if start <= begin:
                return LEFT, records, now
            later = start
            continue
        records = _reserve(table, replay.choice.sets[CHOSEN], place, first, end, records)
        return PLANNED, records, first if end > now else NEVER


@kernel
def _rounded(knobs, instant):
    return instant - (instant + knobs[EPOCH]) % knobs[BF_RESOLUTION]


@kernel
def _choose_unreserved(replay, job, now):
    """Choose nodes with room now that nobody has reserved; return how many, 0 where too few."""
    jobs, usable, end = replay.jobs, replay.choice.sets[USABLE], now + replay.jobs[LIMIT, job]
    copy(usable, replay.hopeful.nodes[jobs[KIND, job]])
    if not at_least(usable, jobs[LEAST, job]):
        return 0
    _leave_out_reserved(replay.reserved, usable, usable, 0, now, end)
    leave_out_outages(replay.nodes, jobs[RESERVATION, job], usable, now, end)
    return choose_now(
        jobs,
        replay.nodes,
        replay.free,
        replay.ready,
        replay.choice,
        replay.counters[CHANGES],
        job,
        usable,
    )


@kernel
def _leave_out_taken(replay, job, now):
    """Find the nodes that a job may use from now on and that nobody has reserved."""
    jobs, usable, end = replay.jobs, replay.choice.sets[USABLE], now + replay.jobs[LIMIT, job]
    copy(usable, replay.nodes.sets[jobs[NODE_SET, job]])
    _leave_out_reserved(replay.reserved, usable, usable, 0, now, end)
    leave_out_outages(replay.nodes, jobs[RESERVATION, job], usable, now, end)


@kernel
def _ready_in_order(replay, job):
    """Bring up to date when nodes have room for a job; return the row that tells it."""
    jobs, nodes, free, ready = replay.jobs, replay.nodes, replay.free, replay.ready
    changes, spare, expected = (
        replay.counters[CHANGES],
        replay.choice.of_node[CANDIDATE],
        replay.running.of_job[EXPECTED],
    )
    row = ready_row(jobs, nodes, free, ready, job, changes)
    later, pieces = replay.later, replay.pieces
    order_row(jobs, nodes, free, later, pieces, expected, ready, row, job, changes, spare)
    return row


@kernel
def _record_at(table, record, instant):
    """Return the record at an instant, from one before it on; the last for all that is later."""
    while table.end[record] <= instant and table.next[record] != NOBODY:
        record = table.next[record]
    return record


@kernel
def _leave_out_reserved(table, usable, soon, record, begin, end):
    """Take from two sets the nodes that are reserved between two instants, from a record on.

    Ends where nothing is left of the second.
    """
    other = record if table.end[record] > begin else NOBODY
    while other != NOBODY and table.begin[other] <= end:
        keep_common(usable, table.free[other])
        if not keep_common(soon, table.free[other]):
            break
        other = table.next[other]


@kernel
def _note_chosen(choice, count):
    choice.sets[CHOSEN][:] = 0
    for i in range(count):
        put(choice.sets[CHOSEN], choice.of_node[CHOSEN_NODE, i])


@kernel
def _overlaps(table, chosen, record, begin, end):
    """Tell whether a node that was chosen is reserved between two instants, from a record on."""
    while record != NOBODY and table.begin[record] < end:
        if table.end[record] > begin and not contains(table.free[record], chosen):
            return True
        record = table.next[record]
    return False


@kernel
def _reserve(table, chosen, record, begin, end, records):
    """Keep whole nodes from an instant to another; the first of these is not before a record."""
    records = _divide(table, record, begin, records)
    records = _divide(table, record, end, records)
    while record != NOBODY and table.begin[record] < end:
        if table.begin[record] >= begin and table.end[record] <= end:
            remove_all(table.free[record], chosen)
        record = table.next[record]
    return records


@kernel
def _divide(table, record, instant, records):
    """Let a record, the given one or a later one, end at an instant, and a new one begin there."""
    while record != NOBODY and table.begin[record] < instant:
        if instant < table.end[record]:
            table.begin[records] = instant
            table.end[records] = table.end[record]
            table.next[records] = table.next[record]
            copy(table.free[records], table.free[record])
            table.end[record] = instant
            table.next[record] = records
            return records + 1
        record = table.next[record]
    return records
