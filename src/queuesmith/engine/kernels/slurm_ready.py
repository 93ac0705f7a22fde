"""When nodes have room for a job: now, or once jobs that run there have reached their limits."""

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.constants import NEVER, NOBODY
from queuesmith.engine.kernels.slurm_holding import give_back
from queuesmith.engine.kernels.slurm_sets import SHIFT, has, lowest, put, remove
from queuesmith.engine.kernels.slurm_sorting import sort
from queuesmith.engine.kernels.slurm_state import (
    BEGAN,
    CORES,
    EXCLUSIVE,
    EXPECTED,
    FIRST,
    FREE_CORES,
    FREE_GPUS,
    FREE_JOBS,
    FREE_MEMORY,
    FREE_OWNER,
    GONE,
    GPU_TYPE,
    GPUS,
    KNOWN,
    MEMORY_PER_CORE,
    MEMORY_PER_NODE,
    MOST,
    NODE_MEMORY,
    PER_NODE,
    PER_TASK,
    PIECE_JOB,
    PIECE_NEXT,
    ROW_CHECKED,
    ROW_ORDERED,
    ROW_REACHED,
    ROW_SHAPE,
    SHAPE,
    THREADS,
    USER,
    WHOLE_MEMORY,
)

#: Earlier than any instant: a node has room already. And: it has not, and when is not known yet.
NOW, LATER = -NEVER, -NEVER + 1


@kernel
def room_on(jobs, nodes, job, free, node):
    """Return how many cores of a node a job could have; 0 where it cannot run there."""
    cores, memory = free[FREE_CORES, node], free[FREE_MEMORY, node]
    if cores == 0 or memory < jobs[MEMORY_PER_NODE, job]:
        return 0
    if jobs[EXCLUSIVE, job] == 1 and free[FREE_JOBS, node] > 0:
        return 0
    owner = free[FREE_OWNER, node]
    if owner != NOBODY and owner != jobs[USER, job]:
        return 0
    if jobs[EXCLUSIVE, job] == 2 and free[FREE_JOBS, node] > 0 and owner != jobs[USER, job]:
        return 0
    if jobs[WHOLE_MEMORY, job] and memory < nodes.of_node[NODE_MEMORY, node]:
        return 0
    if jobs[GPUS, job] > 0 and _free_gpus(jobs, nodes, job, free, node) < jobs[GPUS, job]:
        return 0
    if nodes.of_node[THREADS, node] > 1:
        cores -= cores % nodes.of_node[THREADS, node]
    if jobs[MEMORY_PER_CORE, job] > 0:
        cores = min(cores, memory // jobs[MEMORY_PER_CORE, job])
    if jobs[PER_TASK, job] > 1:
        cores -= cores % jobs[PER_TASK, job]
    if jobs[PER_NODE, job] > 0:
        return jobs[PER_NODE, job] if cores >= jobs[PER_NODE, job] else 0
    # A job that may have one node only has no use for a node with less than it needs.
    return cores if jobs[MOST, job] != 1 or cores >= jobs[CORES, job] else 0


@kernel
def _free_gpus(jobs, nodes, job, free, node):
    gpus = 0
    for kind in range(len(free) - FREE_GPUS):
        if jobs[GPU_TYPE, job] == NOBODY or jobs[GPU_TYPE, job] == kind:
            gpus += free[FREE_GPUS + kind, node]
    return gpus


@kernel
def ready_row(jobs, nodes, free, ready, job, changes):
    """Bring up to date which nodes have room for a job, and return the row that tells it."""
    shape = jobs[SHAPE, job]
    row = shape % len(ready.at)
    seen = ready.of_row[ROW_CHECKED, row] if ready.of_row[ROW_SHAPE, row] == shape else -1
    if seen == changes:
        return row
    for node in range(len(ready.changed)):
        if ready.changed[node] > seen:
            if room_on(jobs, nodes, job, free, node) > 0:
                ready.at[row, node] = NOW
                put(ready.now[row], node)
            else:
                ready.at[row, node] = LATER
                remove(ready.now[row], node)
    if seen == -1:
        ready.of_row[ROW_ORDERED, row] = -1
    ready.of_row[ROW_SHAPE, row] = shape
    ready.of_row[ROW_CHECKED, row] = changes
    return row


@kernel
def _ready_at(jobs, nodes, later, pieces, expected, job, node):
    """Return when a node that has no room now will have some."""
    piece = pieces.of_node[FIRST, node]
    while piece != NOBODY:
        give_back(pieces, piece, later)
        pieces.of_node[GONE, node] = piece
        if room_on(jobs, nodes, job, later, node) > 0:
            return expected[pieces.of_piece[piece, PIECE_JOB]]
        piece = pieces.of_piece[piece, PIECE_NEXT]
    return NEVER


@kernel
def _release_none(pieces, free, later, changed, node):
    """Let what will be free on a node be what is free now."""
    for row in range(len(free)):
        later[row, node] = free[row, node]
    pieces.of_node[GONE, node] = NOBODY
    pieces.of_node[KNOWN, node] = changed[node]


@kernel
def release_nobody(pieces, free, later):
    """Let what will be free on all nodes be what is free now, to be worked out anew later."""
    for row in range(len(free)):
        copy(later[row], free[row])
    pieces.of_node[KNOWN, :] = -1


@kernel
def _is_due_later(running, job, other):
    """Tell whether a job is due after another, of equals one that began after it."""
    due, ends = running.of_job[EXPECTED, other], running.of_job[EXPECTED, job]
    return ends > due or (ends == due and running.of_job[BEGAN, job] > running.of_job[BEGAN, other])


@kernel
def release_until(pieces, running, free, later, changed, node, last):
    """Work out what will be free on a node when a job and all that are due before it are gone.

    Goes on from what was worked out for it last, where that is not beyond.
    """
    gone = pieces.of_node[GONE, node]
    beyond = gone != NOBODY and _is_due_later(running, pieces.of_piece[gone, PIECE_JOB], last)
    if beyond or pieces.of_node[KNOWN, node] != changed[node]:
        _release_none(pieces, free, later, changed, node)
        gone = NOBODY
    piece = pieces.of_node[FIRST, node] if gone == NOBODY else pieces.of_piece[gone, PIECE_NEXT]
    while piece != NOBODY and not _is_due_later(running, pieces.of_piece[piece, PIECE_JOB], last):
        give_back(pieces, piece, later)
        pieces.of_node[GONE, node] = piece
        piece = pieces.of_piece[piece, PIECE_NEXT]


@kernel
def order_row(jobs, nodes, free, later, pieces, expected, ready, row, job, changes, spare):
    """Bring the nodes of a row into the order in which they will have room for a job."""
    if ready.of_row[ROW_ORDERED, row] == changes:
        return
    at = ready.at[row]
    for node in range(len(at)):
        if at[node] == LATER:
            _release_none(pieces, free, later, ready.changed, node)
            at[node] = _ready_at(jobs, nodes, later, pieces, expected, job, node)
    sort(ready.order[row], spare, len(at), _has_room_before, at)
    ready.of_row[ROW_ORDERED, row] = changes
    ready.soon[row, :] = 0
    ready.of_row[ROW_REACHED, row] = 0


@kernel
def _has_room_before(at, node, other):
    return at[node] < at[other]


@kernel
def find_soon(ready, row, instant):
    """Find the nodes of a row that have room by an instant, from those of the last instant."""
    at, order, soon = ready.at[row], ready.order[row], ready.soon[row]
    place = ready.of_row[ROW_REACHED, row]
    while place < len(order) and at[order[place]] <= instant:
        put(soon, order[place])
        place += 1
    while place > 0 and at[order[place - 1]] > instant:
        place -= 1
        remove(soon, order[place])
    ready.of_row[ROW_REACHED, row] = place


@kernel
def first_ready(ready, row, nodes):
    """Return when the first of some nodes has room; the row is in order."""
    for node in ready.order[row]:
        if has(nodes, node):
            return ready.at[row, node]
    return NEVER


@kernel
def leave_out_later(at, nodes, instant, found):
    """Find those of some nodes that have room by an instant; return how many."""
    count = 0
    for word in range(len(nodes)):
        bits, kept = nodes[word], 0
        while bits:
            if at[(word << SHIFT) + lowest(bits)] <= instant:
                kept |= bits & -bits
                count += 1
            bits &= bits - 1
        found[word] = kept
    return count
