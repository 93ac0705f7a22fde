"""A replay on nodes in progress: what jobs ask of nodes, what is free on each, who is where."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import (
    FROZEN_INT_TABLE,
    FROZEN_INTS,
    FROZEN_REALS,
    INT_TABLE,
    INTS,
    SMALL_INTS,
    TRUTH_TABLE,
)
from queuesmith.compiled.due import insert_due, remove_due
from queuesmith.engine.kernels.constants import COUNTERS, DUE, FREE, NOBODY, STARTED
from queuesmith.engine.kernels.line import LINE_TYPE, Line
from queuesmith.engine.kernels.queue import QUEUE_TYPE, Queue
from queuesmith.engine.kernels.replay import JOBS_TYPE, Jobs
from queuesmith.engine.kernels.running import RUNNING_TYPE, Running, pop_end, push_end
from queuesmith.engine.kernels.time_heap import put_in, take_first
from queuesmith.engine.kernels.usage import USAGE_TYPE, Usage, use_cores

# Columns of the table of shapes: what a job asks nodes for.
LEAST, MOST, CORES, PER_NODE, PER_TASK, MEMORY, MEMORY_PER_CORE, ALL_MEMORY = range(8)
GPUS, GPU_TYPE, EXCLUSIVE, SET, USER, PLAIN, RESERVATION = range(8, 15)
SHAPE_COLUMNS = 15
# Rows of the table of jobs: the row of a job's shape, where its pieces and limits stand, when it
# can start, who waits for it, who waits for the same job besides, how long it thinks then, and when
# its user cancels it, NEVER of most.
SHAPE, FIRST_PIECE, FIRST_LIMIT, LAST_LIMIT, ELIGIBLE, FOLLOWER, NEXT_FOLLOWER, THINK = range(8)
CANCELLED = 8
# Rows of the table of nodes; cores are given out in multiples of threads.
NODE_CORES, NODE_MEMORY, THREADS, WEIGHT, FIRST_OUTAGE, LAST_OUTAGE = range(6)
# Rows of the table of outages. Whom one concerns: everybody (-1), all but the jobs of reservation r
# (2r), or these alone (2r + 1).
BEGIN, END, PLANNED, WHOM = range(4)
# Rows of the table of what is known of nodes: the cores that a job could have there, the nodes
# where that is any, those that were chosen, and where the layers differ from the one below.
# Numbers that are handed to kernels are 64 bits wide: for a plain constant Numba would compile
# another version of the kernel.
ROOM, CANDIDATE, CHOSEN, LATER_STAMP, LEAST_STAMP, PROBE_STAMP = map(np.int64, range(6))
# Then come four layers, each of these rows. Jobs are counted downwards, and those that have the
# node for their user alone once more: so is the least of two states what both leave. A node is
# shared (-1) where jobs run and no user has it alone.
FREE_CORES, FREE_MEMORY, JOBS, OWNING, SHARED, OWNER, FREE_GPUS = range(7)
#: The first row of the first layer, what is free now.
NOW_ROWS = np.int64(6)
#: What is done with a part of a job on a node.
TAKE, GIVE_BACK = np.int64(-1), np.int64(1)
# Rows of the table of bookings: when one begins or ends, sorted; its job times two, plus one for a
# begin; and when the same ends or begins.
BOOKED_TIME, BOOKED_CODE, BOOKED_OTHER = range(3)
# Columns of a piece; the GPUs of each kind follow.
PIECE_NODE, PIECE_CORES, PIECE_GPUS = range(3)
# Places in the array of counters, behind those of all replays: the first rows of the other layers,
# what will be free, what is free all the time up to then, and a trial; the number of each.
LATER_ROWS, LEAST_ROWS, PROBE_ROWS, LATER, LEAST_LATER, PROBED, LAYERS = map(
    np.int64, range(COUNTERS, COUNTERS + 7)
)
NEXT_ARRIVAL, DEPENDENT, RELEASES, EXTRA, BOOKED_ENDS, NEXT_RETURN, STUCK = range(
    COUNTERS + 7, COUNTERS + 14
)
NEXT_CANCEL, GONE = range(COUNTERS + 14, COUNTERS + 16)  # GONE: jobs cancelled before they began
# Whose share must be left free by the job that is looked at: the number of a line, -1 of none; who
# has EASY's reservation, and the cores that are to spare when it begins.
KEEPING, HEAD, SPARE = range(COUNTERS + 16, COUNTERS + 19)
NODE_COUNTERS = COUNTERS + 19
#: The number of a layer that differs nowhere from the one below.
NO_LAYER = -1
#: Of two users who have a node for themselves at different times.
SEVERAL = -2


class Board(NamedTuple):
    """The nodes, what is free on them now and later, and which parts of jobs are there."""

    job: Any  # the table of jobs
    shapes: Any
    node: Any  # the table of nodes
    first_in_set: Any  # where the nodes of each set stand; one more entry than sets
    in_set: Any  # nodes of the sets, one after the other, those of less weight first
    member: Any  # whether a node is in a set
    outage: Any  # the table of outages, those of each node together
    returns: Any  # all instants at which outages end, sorted
    known: Any  # the table of what is known of nodes
    pieces: Any  # parts of jobs on nodes: of those that have started, and of reservations
    count: Any  # how many pieces each job has
    held: Any  # how many cores each job holds on its nodes, or will
    histogram: Any  # nodes and their room by key; all zero between two choices
    bookings: Any  # begins and ends of reservations: see below
    shares: Any  # what is kept free in each line, a part of 1; empty where no line keeps any
    counters: Any


BOARD_TYPE = types.NamedTuple(
    [
        *(FROZEN_INT_TABLE, FROZEN_INT_TABLE, FROZEN_INT_TABLE, FROZEN_INTS, FROZEN_INTS),
        *(TRUTH_TABLE, FROZEN_INT_TABLE, FROZEN_INTS, INT_TABLE, INT_TABLE, SMALL_INTS),
        *(SMALL_INTS, INT_TABLE, INT_TABLE, FROZEN_REALS, INTS),
    ],
    Board,
)


class NodeReplay(NamedTuple):
    """All that a replay on nodes consists of; the first fields are those of every replay."""

    jobs: Jobs
    line: Line
    queue: Queue
    running: Running
    usage: Usage
    counters: Any
    start: Any
    started: Any
    board: Board
    arrival: Any  # jobs that wait for no other, in the order in which they can start
    cancels: Any  # jobs that are cancelled, in that order
    newcomers: Any
    dependents: Any  # a heap of jobs whose predecessor has ended: times, jobs
    attempts: Any  # a row of each of the below, a column a shape
    released: Any  # a ring of the nodes that were released last
    limits: Any  # numbers of limits, one job after the other
    amounts: Any  # what each job counts in limits
    limit: Any  # the most of each thing, one row a limit
    used: Any


NODE_REPLAY_TYPE = types.NamedTuple(
    [
        *(JOBS_TYPE, LINE_TYPE, QUEUE_TYPE, RUNNING_TYPE, USAGE_TYPE, INTS, INTS, SMALL_INTS),
        *(BOARD_TYPE, FROZEN_INTS, FROZEN_INTS, INTS, INT_TABLE, INT_TABLE, INTS),
        *(FROZEN_INTS, FROZEN_INT_TABLE, FROZEN_INT_TABLE, INT_TABLE),
    ],
    NodeReplay,
)
# Since a shape was last looked at, at most so many nodes have room for a part, and at most so many
# cores, but for nodes that were released after the release number that was seen; and the
# reservation beside which it had no room for long. Then, where cores are kept free: when and after
# how many events it was last counted how many cores are free where such a job may run, and there.
SEEN, MOST_NODES, MOST_ROOM, REFUSED, COUNTED_AT, COUNTED_AFTER, CORES_FREE, CORES_THERE = range(8)
ATTEMPT_ROWS = 8


# -- limits ----------------------------------------------------------------------------


@kernel
def over_limit(state, job):
    """Tell whether a limit of its QOS or association keeps a job from starting."""
    of_job, amounts = state.board.job, state.amounts
    for i in range(of_job[FIRST_LIMIT, job], of_job[LAST_LIMIT, job]):
        number = state.limits[i]
        for what in range(amounts.shape[1]):
            amount = amounts[job, what]
            if amount > 0 and state.used[number, what] + amount > state.limit[number, what]:
                return True
    return False


@kernel
def count_in_limits(state, job, sign):
    """Count what a job holds in its limits, or no more."""
    of_job = state.board.job
    for i in range(of_job[FIRST_LIMIT, job], of_job[LAST_LIMIT, job]):
        for what in range(state.amounts.shape[1]):
            state.used[state.limits[i], what] += sign * state.amounts[job, what]


# -- what a job holds on a node --------------------------------------------------------


@kernel
def held_cores(ask, nodes, node, cores):
    """Return how many cores of a node a job holds that has so many of them."""
    if ask[EXCLUSIVE] == 1:
        return nodes[NODE_CORES, node]
    threads = nodes[THREADS, node]
    return cores if threads == 1 else cores + -cores % threads


@kernel
def held_memory(ask, nodes, node, cores):
    """Return how much memory of a node a job holds."""
    if ask[ALL_MEMORY] != 0:
        return nodes[NODE_MEMORY, node]
    return ask[MEMORY_PER_CORE] * cores if ask[MEMORY_PER_CORE] > 0 else ask[MEMORY]


@kernel
def apply_piece(ask, nodes, known, rows, piece, sign):
    """Take a part of a job from a layer (-1), or give it back (1)."""
    node, cores = piece[PIECE_NODE], piece[PIECE_CORES]
    known[rows + FREE_CORES, node] += sign * held_cores(ask, nodes, node, cores)
    if ask[PLAIN] != 0:
        return
    known[rows + FREE_MEMORY, node] += sign * held_memory(ask, nodes, node, cores)
    known[rows + JOBS, node] += sign
    if ask[EXCLUSIVE] == 2:
        known[rows + OWNING, node] += sign
        known[rows + OWNER, node] = ask[USER] if known[rows + OWNING, node] < 0 else NOBODY
    shared = known[rows + JOBS, node] < 0 and known[rows + OWNER, node] == NOBODY
    known[rows + SHARED, node] = -1 if shared else 0
    for kind in range(len(piece) - PIECE_GPUS):
        known[rows + FREE_GPUS + kind, node] += sign * piece[PIECE_GPUS + kind]


# -- layers ----------------------------------------------------------------------------


@kernel
def begin_layer(counters, which):
    """Let a layer differ nowhere from the one below it."""
    counters[LAYERS] += 1
    counters[which] = counters[LAYERS]


@kernel
def rows_of_layer(counters):
    """Return how many rows a layer has."""
    return counters[LATER_ROWS] - NOW_ROWS


@kernel
def copy_node(known, goal, source, count, node):
    """Copy the state of a node from one layer to another."""
    for row in range(count):
        known[goal + row, node] = known[source + row, node]


@kernel
def touch(board, stamp, number, goal, source, node):
    """Let a layer have a state of its own of a node: that of the layer below."""
    if board.known[stamp, node] != number:
        board.known[stamp, node] = number
        copy_node(board.known, goal, source, rows_of_layer(board.counters), node)


@kernel
def keep_least(board, goal, other, node):
    """Let the state of a node in one layer be no more than in another."""
    known = board.known
    mine, its = known[goal + OWNER, node], known[other + OWNER, node]
    for row in range(rows_of_layer(board.counters)):
        known[goal + row, node] = min(known[goal + row, node], known[other + row, node])
    owner = mine if its in (NOBODY, mine) else SEVERAL
    known[goal + OWNER, node] = its if mine == NOBODY else owner


# -- starts and ends -------------------------------------------------------------------


@kernel
def run_from_now(state, job, now):
    """Let a job run whose pieces are written: all that is not about nodes."""
    jobs, running, counters = state.jobs, state.running, state.counters
    state.start[job] = now
    state.started[counters[STARTED]] = job
    counters[STARTED] += 1
    push_end(running, counters, now + jobs.runtime[job], job)
    # Beside the expected end stands the job, not its cores: they are on nodes.
    counters[DUE] = insert_due(running, counters[DUE], now + jobs.walltime[job], job)
    count_in_limits(state, job, np.int64(1))
    if len(state.usage.level) > 0:
        use_cores(state.usage, jobs.user[job], jobs.cores[job], now)


@kernel
def give_back(board, released, job):
    """Give the nodes of a job back, and take note that there is more room on them."""
    counters, known = board.counters, board.known
    ask, first = board.shapes[board.job[SHAPE, job]], board.job[FIRST_PIECE, job]
    for at in range(first, first + board.count[job]):
        node = board.pieces[at, PIECE_NODE]
        counters[FREE] -= known[NOW_ROWS + FREE_CORES, node]
        apply_piece(ask, board.node, known, NOW_ROWS, board.pieces[at], GIVE_BACK)
        counters[FREE] += known[NOW_ROWS + FREE_CORES, node]
        released[counters[RELEASES] % len(released)] = node
        counters[RELEASES] += 1


@kernel
def end_on_nodes(state, now):
    """Release the nodes of the job that ends first, and return it."""
    jobs, running, counters = state.jobs, state.running, state.counters
    job = np.int64(pop_end(running, counters))  # one type of whole numbers, compiled once
    due = state.start[job] + jobs.walltime[job]
    counters[DUE] = remove_due(running, counters[DUE], due, job)
    give_back(state.board, state.released, job)
    count_in_limits(state, job, np.int64(-1))
    if len(state.usage.level) > 0:
        use_cores(state.usage, jobs.user[job], -jobs.cores[job], now)
    release_followers(state.board, state.dependents, job, now)
    return job


# -- jobs that wait for others ---------------------------------------------------------


@kernel
def release_followers(board, heap, job, now):
    """Let those who wait for a job that ends now come when they have thought."""
    counters, of_job = board.counters, board.job
    follower = of_job[FOLLOWER, job]
    while follower != NOBODY:
        time = max(of_job[ELIGIBLE, follower], now + of_job[THINK, follower])
        put_in(heap, counters[DEPENDENT], time, follower)
        counters[DEPENDENT] += 1
        follower = of_job[NEXT_FOLLOWER, follower]


@kernel
def pop_dependent(heap, counters):
    """Take the next job from the heap."""
    counters[DEPENDENT] -= 1
    return take_first(heap, counters[DEPENDENT])
