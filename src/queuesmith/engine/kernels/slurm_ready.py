"""When nodes have room for a job: now, or once jobs that run there have reached their limits."""

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.constants import NEVER, NOBODY
from queuesmith.engine.kernels.slurm_sets import has, put
from queuesmith.engine.kernels.slurm_state import CHANGES, give_back

#: Earlier than any instant: a node has room already. And: it has not, and when is not known yet.
NOW, LATER = -NEVER, -NEVER + 1


@kernel
def room_on(jobs, nodes, job, free, node):
    """Return how many cores of a node a job could have; 0 where it cannot run there."""
    cores, memory = free.cores[node], free.memory[node]
    if cores == 0 or memory < jobs.memory_per_node[job]:
        return 0
    if jobs.exclusive[job] == 1 and free.jobs[node] > 0:
        return 0
    if free.owner[node] != NOBODY and free.owner[node] != jobs.user[job]:
        return 0
    if jobs.exclusive[job] == 2 and free.jobs[node] > 0 and free.owner[node] != jobs.user[job]:
        return 0
    if jobs.whole_memory[job] and memory < nodes.memory[node]:
        return 0
    if jobs.gpus[job] > 0 and _free_gpus(jobs, nodes, job, free, node) < jobs.gpus[job]:
        return 0
    if nodes.threads[node] > 1:
        cores -= cores % nodes.threads[node]
    if jobs.memory_per_core[job] > 0:
        cores = min(cores, memory // jobs.memory_per_core[job])
    if jobs.per_task[job] > 1:
        cores -= cores % jobs.per_task[job]
    if jobs.per_node[job] > 0:
        return jobs.per_node[job] if cores >= jobs.per_node[job] else 0
    # A job that may have one node only has no use for a node with less than it needs.
    return cores if jobs.most[job] != 1 or cores >= jobs.cores[job] else 0


@kernel
def _free_gpus(jobs, nodes, job, free, node):
    gpus = 0
    for kind in range(nodes.gpus.shape[1]):
        if jobs.gpu_type[job] == NOBODY or jobs.gpu_type[job] == kind:
            gpus += free.gpus[node, kind]
    return gpus


@kernel
def ready_row(replay, job):
    """Bring up to date which nodes have room for a job, and return the row that tells it."""
    ready, shape = replay.ready, replay.jobs.shape[job]
    row = shape % len(ready.shape)
    seen = ready.checked[row] if ready.shape[row] == shape else -1
    if seen == replay.counters[CHANGES]:
        return row
    for node in range(len(ready.changed)):
        if ready.changed[node] > seen:
            room = room_on(replay.jobs, replay.nodes, job, replay.free, node)
            ready.at[row, node] = NOW if room > 0 else LATER
    ready.shape[row] = shape
    ready.checked[row] = replay.counters[CHANGES]
    return row


@kernel
def _ready_at(replay, job, node):
    """Return when a node that has no room now will have some."""
    jobs, nodes, pieces = replay.jobs, replay.nodes, replay.pieces
    copy_node(replay.later, replay.free, node)
    piece = pieces.first[node]
    while piece != NOBODY:
        give_back(pieces, piece, replay.later)
        if room_on(jobs, nodes, job, replay.later, node) > 0:
            return replay.running.expected[pieces.job[piece]]
        piece = pieces.next[piece]
    return NEVER


@kernel
def copy_node(goal, source, node):
    """Copy what is free on a node from one state to another."""
    goal.cores[node] = source.cores[node]
    goal.memory[node] = source.memory[node]
    goal.jobs[node] = source.jobs[node]
    goal.owner[node] = source.owner[node]
    copy(goal.gpus[node], source.gpus[node])


@kernel
def release_until(pieces, running, free, later, node, last):
    """Work out what will be free on a node when a job and all that are due before it are gone."""
    due, order = running.expected[last], running.order[last]
    copy_node(later, free, node)
    piece = pieces.first[node]
    while piece != NOBODY:
        job = pieces.job[piece]
        ends = running.expected[job]
        if ends > due or (ends == due and running.order[job] > order):
            break
        give_back(pieces, piece, later)
        piece = pieces.next[piece]


@kernel
def first_ready(replay, job, row, usable):
    """Return when the first of some nodes has room, and find that out of all of them."""
    at, first = replay.ready.at, NEVER
    for node in range(len(replay.ready.changed)):
        if has(usable, node):
            if at[row, node] == LATER:
                at[row, node] = _ready_at(replay, job, node)
            first = min(first, at[row, node])
    return first


@kernel
def find_ready(at, usable, instant, found):
    """Find the nodes of a set that have room by an instant; return how many."""
    count = 0
    found[:] = 0
    for node in range(len(at)):
        if at[node] <= instant and has(usable, node):
            put(found, node)
            count += 1
    return count
