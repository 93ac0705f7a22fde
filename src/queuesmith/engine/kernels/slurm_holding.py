"""What jobs hold while they run: nodes, and their part of limits; who ends next, and who is due."""

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import NOBODY
from queuesmith.engine.kernels.slurm_state import (
    BEGAN,
    BEGUN,
    CHANGES,
    CHOSEN_CORES,
    CHOSEN_NODE,
    COMPLETION_DELAY,
    EXCLUSIVE,
    EXPECTED,
    FIRST,
    FIRST_PIECE,
    FREE_CORES,
    FREE_GPUS,
    FREE_JOBS,
    FREE_MEMORY,
    FREE_OWNER,
    GPU_TYPE,
    GPUS,
    HELD,
    LANE,
    LIMIT,
    MEMORY_PER_CORE,
    MEMORY_PER_NODE,
    NODE_MEMORY,
    PIECE_CORES,
    PIECE_GPUS,
    PIECE_JOB,
    PIECE_MEMORY,
    PIECE_NEXT,
    PIECE_NODE,
    RUNTIME,
    START_DELAY,
    USER,
    WHOLE_MEMORY,
)
from queuesmith.engine.kernels.time_heap import JOB, put_in, take_first


@kernel
def _move_due(running, goal, source):
    running.due[goal] = running.due[source]
    running.due_job[goal] = running.due_job[source]
    running.due_node[goal] = running.due_node[source]


@kernel
def over_limit(limits, job):
    """Tell whether a limit of its QOS or association keeps a job from starting."""
    for i in range(limits.first[job], limits.first[job + 1]):
        number = limits.numbers[i]
        for what in range(limits.amounts.shape[1]):
            amount = limits.used[number, what] + limits.amounts[job, what]
            if limits.amounts[job, what] > 0 and amount > limits.most[number, what]:
                return True
    return False


@kernel
def _count_in_limits(limits, job, sign):
    for i in range(limits.first[job], limits.first[job + 1]):
        for what in range(limits.amounts.shape[1]):
            limits.used[limits.numbers[i], what] += sign * limits.amounts[job, what]


@kernel
def _memory_of(jobs, nodes, job, node, cores):
    if jobs[WHOLE_MEMORY, job]:
        return nodes.of_node[NODE_MEMORY, node]
    if jobs[MEMORY_PER_CORE, job] > 0:
        return jobs[MEMORY_PER_CORE, job] * cores
    return jobs[MEMORY_PER_NODE, job]


@kernel
def _take_nodes(jobs, nodes, free, choice, pieces, expected, ready, counters, job, count):
    """Give a job the nodes that were chosen for it."""
    pieces.count[job] = count
    for i in range(count):
        node, cores = choice.of_node[CHOSEN_NODE, i], choice.of_node[CHOSEN_CORES, i]
        piece = jobs[FIRST_PIECE, job] + i
        pieces.of_piece[piece, PIECE_NODE] = node
        pieces.of_piece[piece, PIECE_CORES] = cores
        pieces.of_piece[piece, PIECE_JOB] = job
        _note_change(ready, counters, node)
        _hang_in(pieces, expected, piece)
        free[FREE_CORES, node] -= cores
        pieces.of_piece[piece, PIECE_MEMORY] = _memory_of(jobs, nodes, job, node, cores)
        free[FREE_MEMORY, node] -= pieces.of_piece[piece, PIECE_MEMORY]
        free[FREE_JOBS, node] += 1
        if jobs[EXCLUSIVE, job] == 2:
            free[FREE_OWNER, node] = jobs[USER, job]
        needed = jobs[GPUS, job]
        for kind in range(len(free) - FREE_GPUS):
            if jobs[GPU_TYPE, job] == NOBODY or jobs[GPU_TYPE, job] == kind:
                taken = min(needed, free[FREE_GPUS + kind, node])
                pieces.of_piece[piece, PIECE_GPUS + kind] = taken
                free[FREE_GPUS + kind, node] -= taken
                needed -= taken


@kernel
def _note_change(ready, counters, node):
    counters[CHANGES] += 1
    ready.changed[node] = counters[CHANGES]


@kernel
def _hang_in(pieces, expected, piece):
    """Put a piece into the list of its node, behind all that are due no later."""
    node, due = pieces.of_piece[piece, PIECE_NODE], expected[pieces.of_piece[piece, PIECE_JOB]]
    before, after = NOBODY, pieces.of_node[FIRST, node]
    while after != NOBODY and expected[pieces.of_piece[after, PIECE_JOB]] <= due:
        before, after = after, pieces.of_piece[after, PIECE_NEXT]
    pieces.of_piece[piece, PIECE_NEXT] = after
    if before == NOBODY:
        pieces.of_node[FIRST, node] = piece
    else:
        pieces.of_piece[before, PIECE_NEXT] = piece


@kernel
def _take_out(pieces, piece):
    node = pieces.of_piece[piece, PIECE_NODE]
    if pieces.of_node[FIRST, node] == piece:
        pieces.of_node[FIRST, node] = pieces.of_piece[piece, PIECE_NEXT]
        return
    before = pieces.of_node[FIRST, node]
    while pieces.of_piece[before, PIECE_NEXT] != piece:
        before = pieces.of_piece[before, PIECE_NEXT]
    pieces.of_piece[before, PIECE_NEXT] = pieces.of_piece[piece, PIECE_NEXT]


@kernel
def give_back(pieces, piece, free):
    """Release a piece of a job, as a state of the nodes sees it."""
    node = pieces.of_piece[piece, PIECE_NODE]
    free[FREE_CORES, node] += pieces.of_piece[piece, PIECE_CORES]
    free[FREE_MEMORY, node] += pieces.of_piece[piece, PIECE_MEMORY]
    free[FREE_JOBS, node] -= 1
    if free[FREE_JOBS, node] == 0:
        free[FREE_OWNER, node] = NOBODY
    for kind in range(len(free) - FREE_GPUS):
        free[FREE_GPUS + kind, node] += pieces.of_piece[piece, PIECE_GPUS + kind]


@kernel
def start_on_nodes(replay, job, count, now):
    """Let a job run from now on, on the nodes that were chosen."""
    running, counters, knobs = replay.running, replay.counters, replay.knobs
    begin = now + knobs[START_DELAY]
    due = begin + replay.jobs[LIMIT, job]
    counters[BEGUN] += 1
    running.of_job[EXPECTED, job] = due
    running.of_job[BEGAN, job] = counters[BEGUN]
    replay.start[job] = begin
    replay.waiting.lanes[replay.jobs[LANE, job]] -= 1
    _take_nodes(
        replay.jobs,
        replay.nodes,
        replay.free,
        replay.choice,
        replay.pieces,
        running.of_job[EXPECTED],
        replay.ready,
        counters,
        job,
        count,
    )
    _count_in_limits(replay.limits, job, 1)
    size = counters[HELD]
    end = begin + replay.jobs[RUNTIME, job] + knobs[COMPLETION_DELAY]
    put_in(running.ending, size, end, job)
    _enter_due(
        running, size, job, due, replay.choice.of_node[CHOSEN_NODE, 0] if count == 1 else NOBODY
    )
    counters[HELD] = size + 1


@kernel
def _enter_due(running, size, job, due, node):
    """Put a job among those that are due, behind all that are due no later."""
    place = size
    while place > 0 and running.due[place - 1] > due:
        _move_due(running, place, place - 1)
        place -= 1
    running.due[place] = due
    running.due_job[place] = job
    running.due_node[place] = node


@kernel
def _leave_due(running, size, job):
    """Take a job from those that are due, of whom so many are left; return its node."""
    place = 0
    while running.due_job[place] != job:
        place += 1
    node = running.due_node[place]
    for i in range(place, size):
        _move_due(running, i, i + 1)
    return node


@kernel
def expect_sooner(replay, job, due):
    """Let a job that runs be due sooner, as if it had begun now."""
    running, counters, pieces = replay.running, replay.counters, replay.pieces
    first = replay.jobs[FIRST_PIECE, job]
    for piece in range(first, first + pieces.count[job]):
        _take_out(pieces, piece)
    counters[BEGUN] += 1
    running.of_job[EXPECTED, job] = due
    running.of_job[BEGAN, job] = counters[BEGUN]
    for piece in range(first, first + pieces.count[job]):
        _hang_in(pieces, running.of_job[EXPECTED], piece)
        _note_change(replay.ready, counters, pieces.of_piece[piece, PIECE_NODE])
    node = _leave_due(running, counters[HELD] - 1, job)
    _enter_due(running, counters[HELD] - 1, job, due, node)


@kernel
def end_sooner(running, job, end):
    """Let a job that runs end in truth sooner than it would."""
    place = 0
    while running.ending[JOB, place] != job:
        place += 1
    put_in(running.ending, place, end, job)


@kernel
def end_next(jobs, free, pieces, running, ready, limits, counters):
    """Release what the job that ends first holds, and return it."""
    size = counters[HELD] - 1
    counters[HELD] = size
    job = take_first(running.ending, size)
    _leave_due(running, size, job)
    first = jobs[FIRST_PIECE, job]
    for piece in range(first, first + pieces.count[job]):
        give_back(pieces, piece, free)
        _take_out(pieces, piece)
        _note_change(ready, counters, pieces.of_piece[piece, PIECE_NODE])
    _count_in_limits(limits, job, -1)
    return job
