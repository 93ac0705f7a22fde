"""Slurm's preemption: which jobs are stopped so that another can start, and where they go then.

Where nobody can stop anybody there is no ``preemption``: what others call here takes None for it,
and is compiled to nothing then.
"""

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import ARRIVED, NEVER, NOBODY
from queuesmith.engine.kernels.slurm_arrivals import come_later, release_followers
from queuesmith.engine.kernels.slurm_choosing import choose_nodes
from queuesmith.engine.kernels.slurm_holding import end_sooner, expect_sooner, give_back
from queuesmith.engine.kernels.slurm_ready import release_nobody
from queuesmith.engine.kernels.slurm_sets import has
from queuesmith.engine.kernels.slurm_sorting import sort
from queuesmith.engine.kernels.slurm_state import (
    ALONE,
    CANDIDATES,
    CHOSEN_NODE,
    COMPLETION_DELAY,
    CUT_AT,
    ENDED_FOR_GOOD,
    EXEMPT,
    EXPECTED,
    FIRST_PIECE,
    GONE_BY,
    GRACE,
    GROUP,
    HELD,
    LOST_BEGIN,
    LOST_COUNT,
    LOST_END,
    LOST_JOB,
    LOST_PIECES,
    LOST_RUNS,
    MODE,
    NO_ROOM,
    OVERLAP,
    PIECE_CORES,
    PIECE_NODE,
    QUEUED,
    RANK,
    REORDER_COUNT,
    REQUEUE_DELAY,
    RUNTIME,
    SORTING,
    START_DELAY,
    STOPS,
    STRICT_ORDER,
    YOUNGEST_FIRST,
)


@kernel
def anybody_stops(preemption):
    """Tell whether jobs are stopped for others."""
    return preemption is not None


@kernel
def time_alone_matters(preemption, knobs):
    """Tell whether a job can be stopped later than now without anything having happened."""
    if preemption is None:
        return False
    matters = False
    for job in range(preemption.of_job.shape[1]):
        matters |= preemption.of_job[EXEMPT, job] > 0 or knobs[START_DELAY] > 0
    return matters


@kernel
def last_preemptor(preemption, jobs, running, queue, counters):
    """Return the last place in the queue of a job that may stop one that runs, -1: there is none.

    Where it is not known whether it will find room so.
    """
    if preemption is None:
        return -1
    rights, present = preemption.rights, preemption.present
    present[:] = False
    for place in range(counters[HELD]):
        present[jobs[GROUP, running.due_job[place]]] = True
    for place in range(counters[QUEUED] - 1, -1, -1):
        group = jobs[GROUP, queue[place]]
        for other in range(len(rights)):
            if present[other] and rights[group, other] & STOPS:
                return place
    return -1


@kernel
def stop_others(preemption, replay, job, usable, now):
    """Stop jobs so that one can start on usable nodes when they are gone.

    Returns how many nodes were chosen for it, 0 where no jobs that it may stop would make room.
    """
    if preemption is None:
        return 0
    count, taken = _find_victims(
        preemption,
        replay.jobs,
        replay.nodes,
        replay.free,
        replay.later,
        replay.choice,
        replay.pieces,
        replay.running,
        replay.start,
        replay.counters[HELD],
        replay.knobs,
        job,
        usable,
        now,
    )
    for i in range(taken if count > 0 else 0):
        other = preemption.candidates[CANDIDATES, i]
        if _nodes_among_chosen(replay.jobs, replay.pieces, replay.choice, other, count) > 0:
            _stop(replay, other, now)
    return count


@kernel
def _find_victims(
    preemption,
    jobs,
    nodes,
    free,
    later,
    choice,
    pieces,
    running,
    start,
    held,
    knobs,
    job,
    usable,
    now,
):
    """Choose nodes as if jobs that one may stop were gone, as few of the first of them as will do.

    They are taken away one after the other until it fits. Then the last of them is tried first, and
    so again a few times, so that fewer are stopped. Returns how many nodes were chosen, and how
    many candidates were taken away.
    """
    candidates = preemption.candidates
    size = _candidates(preemption, jobs, pieces, running, start, held, knobs, job, usable, now)
    if size == 0:
        return 0, 0
    release_nobody(pieces, free, later)
    for i in range(size):
        _give_all_back(jobs, pieces, later, candidates[CANDIDATES, i])
    if choose_nodes(jobs, nodes, choice, job, usable, later) == 0:
        return 0, 0
    tries = 0
    while True:
        count, taken = 0, 0
        release_nobody(pieces, free, later)
        while count == 0 and taken < size:
            _give_all_back(jobs, pieces, later, candidates[CANDIDATES, taken])
            taken += 1
            count = choose_nodes(jobs, nodes, choice, job, usable, later)
        tries += 1
        if count == 0 or tries > knobs[REORDER_COUNT] + 1 or size <= tries:
            return count, taken
        _reorder(candidates, jobs, pieces, choice, knobs, size, taken, count)


@kernel
def _candidates(preemption, jobs, pieces, running, start, held, knobs, job, usable, now):
    """Find the jobs that one may stop on usable nodes, in the order in which they are; how many."""
    of_job, candidates, size = preemption.of_job, preemption.candidates, 0
    rights = preemption.rights[jobs[GROUP, job]]
    for place in range(held):
        other = running.due_job[place]
        if (
            rights[jobs[GROUP, other]] & STOPS
            and of_job[MODE, other] != ALONE
            and now - start[other] >= of_job[EXEMPT, other]
            and _is_on_any(jobs, pieces, other, usable)
        ):
            candidates[CANDIDATES, size] = other
            size += 1
    context = (of_job, pieces.count, start, knobs)
    sort(candidates[CANDIDATES], candidates[SORTING], size, _is_stopped_before, context)
    return size


@kernel
def _is_stopped_before(context, job, other):
    """Tell whether a job is stopped rather than another: who is to be gone anyway, then by rank."""
    of_job, count, start, knobs = context
    if (of_job[GONE_BY, job] == NEVER) != (of_job[GONE_BY, other] == NEVER):
        return of_job[GONE_BY, job] != NEVER
    if knobs[YOUNGEST_FIRST]:
        if start[job] != start[other]:
            return start[job] > start[other]
    elif of_job[RANK, job] != of_job[RANK, other]:
        return of_job[RANK, job] < of_job[RANK, other]
    elif count[job] != count[other]:
        return count[job] < count[other]
    return job < other


@kernel
def _is_on_any(jobs, pieces, job, nodes):
    first, found = jobs[FIRST_PIECE, job], False
    for piece in range(first, first + pieces.count[job]):
        found |= has(nodes, pieces.of_piece[piece, PIECE_NODE])
    return found


@kernel
def _give_all_back(jobs, pieces, later, job):
    first = jobs[FIRST_PIECE, job]
    for piece in range(first, first + pieces.count[job]):
        give_back(pieces, piece, later)


@kernel
def _nodes_among_chosen(jobs, pieces, choice, job, count):
    first, found = jobs[FIRST_PIECE, job], 0
    for piece in range(first, first + pieces.count[job]):
        for i in range(count):
            found += choice.of_node[CHOSEN_NODE, i] == pieces.of_piece[piece, PIECE_NODE]
    return found


@kernel
def _reorder(candidates, jobs, pieces, choice, knobs, size, taken, count):
    """Put the last candidate that was needed first, behind it those with most of the chosen nodes.

    In strict order, all others stay as they are.
    """
    last = candidates[CANDIDATES, taken - 1]
    for i in range(taken - 1, 0, -1):
        candidates[CANDIDATES, i] = candidates[CANDIDATES, i - 1]
    candidates[CANDIDATES, 0] = last
    if knobs[STRICT_ORDER]:
        return
    for i in range(size):
        job = candidates[CANDIDATES, i]
        inside = 0 < i < taken
        overlap = _nodes_among_chosen(jobs, pieces, choice, job, count) if inside else 0
        candidates[OVERLAP, job] = overlap
    rest, spare = candidates[CANDIDATES, 1:], candidates[SORTING]
    sort(rest, spare, size - 1, _has_more, candidates[OVERLAP])


@kernel
def _has_more(overlap, job, other):
    return overlap[job] > overlap[other]


@kernel
def _stop(replay, job, now):
    """Let a job that runs be gone after its grace time, if it is not to be gone already."""
    of_job, running, knobs = replay.preemption.of_job, replay.running, replay.knobs
    if of_job[GONE_BY, job] != NEVER:
        return
    cut = max(now + of_job[GRACE, job], replay.start[job])
    of_job[GONE_BY, job] = cut
    released = cut + knobs[COMPLETION_DELAY]
    if cut < replay.start[job] + replay.jobs[RUNTIME, job]:
        end_sooner(running, job, released)
    if released + 1 < running.of_job[EXPECTED, job]:
        expect_sooner(replay, job, released + 1)


@kernel
def was_stopped(preemption, jobs, start, job):
    """Tell whether a job that is over was stopped before its end."""
    if preemption is None:
        return False
    return preemption.of_job[GONE_BY, job] < start[job] + jobs[RUNTIME, job]


@kernel
def leave_stopped(preemption, jobs, pieces, waiting, knobs, counters, start, job, now):
    """Send a job that was stopped back to the queue, to come when its delay is over, or let it go.

    The run that is lost is noted.
    """
    if preemption is None:
        return
    of_job = preemption.of_job
    cut = of_job[GONE_BY, job]
    if of_job[MODE, job] == ENDED_FOR_GOOD:
        of_job[CUT_AT, job] = cut
        release_followers(jobs, waiting, counters, job, now)
        return
    _note_lost(preemption, jobs, pieces, counters, job, start[job], cut)
    of_job[GONE_BY, job] = NEVER
    pieces.count[job] = 0
    start[job] = NOBODY
    counters[ARRIVED] -= 1
    come_later(waiting, counters, job, max(cut + knobs[REQUEUE_DELAY], now))


@kernel
def _note_lost(preemption, jobs, pieces, counters, job, begin, end):
    run, place, first = counters[LOST_RUNS], counters[LOST_PIECES], jobs[FIRST_PIECE, job]
    if run == len(preemption.lost) or place + pieces.count[job] > len(preemption.lost_pieces):
        counters[NO_ROOM] = 1
        return
    preemption.lost[run, LOST_JOB] = job
    preemption.lost[run, LOST_BEGIN] = begin
    preemption.lost[run, LOST_END] = end
    preemption.lost[run, LOST_COUNT] = pieces.count[job]
    for i in range(pieces.count[job]):
        preemption.lost_pieces[place + i, 0] = pieces.of_piece[first + i, PIECE_NODE]
        preemption.lost_pieces[place + i, 1] = pieces.of_piece[first + i, PIECE_CORES]
    counters[LOST_RUNS] += 1
    counters[LOST_PIECES] += pieces.count[job]
