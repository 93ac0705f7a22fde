"""A cluster under Slurm in progress: its jobs, its nodes, and what is held of them."""

from typing import Any, NamedTuple

from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import (
    FROZEN_INT_TABLE,
    FROZEN_INTS,
    FROZEN_REAL_TABLE,
    FROZEN_REALS,
    INT_TABLE,
    INTS,
    REALS,
    TRUTHS,
)
from queuesmith.compiled.heap import rise, sink
from queuesmith.engine.kernels.constants import COUNTERS, NOBODY

# Places in the array of knobs that are whole numbers.
BF_INTERVAL, BF_WINDOW, BF_RESOLUTION, BF_MAX_TEST, BF_MAX_USER, BF_MAX_PARTITION = range(6)
BF_MAX_START, WINDOW_STEP, QUEUE_DEPTH, SCHED_INTERVAL, CALC_PERIOD, MAX_AGE = range(6, 12)
FAIR_TREE, EPOCH, START_DELAY, COMPLETION_DELAY, BACKFILLS, OFFSET = range(12, 18)
BATCH_DELAY, BF_SPACE, KILL_DELAY, ALIGNED = range(18, 22)
KNOBS = 22
# Places in the array of knobs that are real numbers.
WEIGHT_AGE, WEIGHT_FAIR_SHARE, DECAY, DAMPENING = range(4)
# Places in the array of counters, behind those of all replays.
QUEUED, HELD, PASSES, STUCK, LAST_CALC, BEGUN, CHANGES = range(COUNTERS, COUNTERS + 7)
NEXT_ARRIVAL, COMING, NEXT_CANCEL = range(COUNTERS + 7, COUNTERS + 10)
SLURM_COUNTERS = COUNTERS + 10
# Rows of the table of jobs, who are known by their position: when they come and how long they last;
ELIGIBLE, ARRIVAL, RUNTIME, LIMIT = range(4)  # ARRIVAL: positions, in the order of arrival
# nodes (MOST 0: any number) and cores (PER_NODE 0: spread in any way);
LEAST, MOST, CORES, PER_NODE, PER_TASK = range(4, 9)
# memory, and GPUs on each node;
MEMORY_PER_NODE, MEMORY_PER_CORE, WHOLE_MEMORY, GPUS, GPU_TYPE = range(9, 14)
# where they may run, and whose they are;
EXCLUSIVE, NODE_SET, PARTITION, TIER, USER, ASSOCIATION, LEAST_LOADED, RESERVATION = range(14, 22)
# what is the same for jobs that ask for the same, and that for as long; where their pieces stand;
SHAPE, KIND, FIRST_PIECE = range(22, 25)
# who waits for a job's end, who waits for the same besides, and how long it thinks then;
FOLLOWER, NEXT_FOLLOWER, THINK = range(25, 28)
# when its user cancels it, NEVER of most; and the lane in which the main scheduler stops for all
# when one cannot start: its partition, or its reservation, which are counted behind those.
CANCELLED, LANE = range(28, 30)
JOB_ROWS = 30
# Rows of the table of what jobs are worth: factors that never change, and a second of use.
FIXED_PRIORITY, BILLING = range(2)


class JobLimits(NamedTuple):
    """The limits of QOS and associations, and what counts in them."""

    first: Any  # where the limits of each job stand; one more entry than jobs
    numbers: Any  # those of all jobs, one job after the other
    amounts: Any  # what each job counts
    most: Any  # of each thing, one row a limit
    used: Any


LIMITS_TYPE = types.NamedTuple(
    [FROZEN_INTS, FROZEN_INTS, FROZEN_INT_TABLE, FROZEN_INT_TABLE, INT_TABLE], JobLimits
)


class SlurmNodes(NamedTuple):
    """The nodes, in the order of their names; sets of them as in ``slurm_sets``."""

    cores: Any
    memory: Any
    threads: Any  # cores are given out in multiples of this
    weight: Any  # dense: 0 for those that are taken first
    leaf: Any  # the switch of each, -1 where the network is not looked at
    gpus: Any
    sets: Any
    partitions: Any
    outage_begin: Any
    outage_end: Any
    outage_planned: Any
    outage_reservation: Any  # whose jobs may run there, and nowhere else; -1: nobody's
    outage_nodes: Any


SLURM_NODES = types.NamedTuple(
    [FROZEN_INTS] * 5 + [FROZEN_INT_TABLE] * 3 + [FROZEN_INTS] * 4 + [FROZEN_INT_TABLE],
    SlurmNodes,
)


class Free(NamedTuple):
    """What is free on each node."""

    cores: Any
    memory: Any
    gpus: Any
    jobs: Any  # how many run there
    owner: Any  # the user who has the node for himself, -1: nobody


FREE_TYPE = types.NamedTuple([INTS, INTS, INT_TABLE, INTS, INTS], Free)


class NodeChoice(NamedTuple):
    """Nodes chosen for a job, and what is needed on the way there."""

    candidate: Any  # nodes with room, the cores there, and those not given out yet
    room: Any
    left: Any
    node: Any  # those chosen, and the cores that are held there
    cores: Any
    usable: Any  # sets of nodes
    soon: Any
    ready: Any
    chosen: Any
    away: Any
    switches: Any  # first, last, number and cores of the nodes of each


CHOICE_TYPE = types.NamedTuple([INTS] * 10 + [INT_TABLE], NodeChoice)


class NodePieces(NamedTuple):
    """The parts of jobs on nodes."""

    count: Any  # of each job
    node: Any
    cores: Any
    memory: Any
    gpus: Any
    job: Any
    next: Any  # the piece on the same node that is due next
    first: Any  # of each node, the piece that is due first
    gone: Any  # of each node, the last piece that is gone in what will be free there, -1: none,
    known: Any  # and the change of the node after which that was worked out


PIECES_TYPE = types.NamedTuple([INTS] * 4 + [INT_TABLE] + [INTS] * 5, NodePieces)


class SlurmRunning(NamedTuple):
    """Jobs that run: a heap by their true end, a list by the end that Slurm expects."""

    end: Any
    job: Any
    due: Any
    due_job: Any
    due_node: Any  # the node of a job that has one only, -1 of others
    expected: Any  # of each job, the end that Slurm expects
    order: Any  # of each job, its place among all that have begun


SLURM_RUNNING = types.NamedUniTuple(INTS, 7, SlurmRunning)


class Ready(NamedTuple):
    """When each node has room for jobs of a shape, should all that run there keep to their limits.

    There may be fewer rows than shapes: a row is then worked out anew when its shape changes.
    """

    at: Any
    now: Any  # the nodes that have room already
    shape: Any  # whose row it is
    checked: Any  # how many changes of nodes the row has seen
    changed: Any  # of each node, its last change
    order: Any  # nodes, those first that have room first
    ordered: Any  # how many changes of nodes the order has seen
    soon: Any  # the nodes that have room by some instant,
    reached: Any  # and how many these are


READY_TYPE = types.NamedTuple([INT_TABLE] * 2 + [INTS] * 3 + [INT_TABLE, INTS] * 2, Ready)


class Reserved(NamedTuple):
    """The table of the backfill: from when to when which nodes are kept for nobody."""

    begin: Any
    end: Any
    next: Any
    free: Any


RESERVED_TYPE = types.NamedTuple([INTS, INTS, INTS, INT_TABLE], Reserved)


class Hopeful(NamedTuple):
    """The kinds of waiting jobs of which some could still start in a pass of the backfill."""

    kind: Any  # those that are
    job: Any  # of each kind, a job
    place: Any  # of each kind, the last place in the queue
    seen: Any  # of each kind, the pass that has looked
    nodes: Any  # of each kind, the nodes with room that nobody has reserved
    begin: Any  # of each kind, from when on it was tried last
    tried: Any  # of each kind, the pass that has tried


HOPEFUL_TYPE = types.NamedTuple([INTS] * 4 + [INT_TABLE] + [INTS] * 2, Hopeful)


class FairShares(NamedTuple):
    """The tree of shares, and who has used how much."""

    parent: Any
    shares: Any
    level_shares: Any  # of all siblings together
    path: Any  # for each user the associations from below the root down to the user
    users: Any  # the associations that are users, in the order of their rank
    spare: Any  # for sorting them
    usage: Any
    fresh: Any  # used since the last calculation by jobs that have ended
    level: Any
    effective: Any
    factor: Any


SHARES_TYPE = types.NamedTuple(
    [FROZEN_INTS] * 3 + [FROZEN_INT_TABLE, INTS, INTS] + [REALS] * 5, FairShares
)


class Waiting(NamedTuple):
    """Who waits, who will come and who will leave."""

    queue: Any  # by tier, priority, submission
    spare: Any  # for sorting it
    priority: Any
    comes: Any  # when each job comes, as far as that is known
    followers: Any  # a heap of jobs whose predecessor has ended: times, jobs
    cancels: Any  # jobs that are cancelled, in that order
    lanes: Any  # how many wait in each lane


WAITING_TYPE = types.NamedTuple([INTS] * 4 + [INT_TABLE, FROZEN_INTS, INTS], Waiting)


class SlurmReplay(NamedTuple):
    """All that a replay under Slurm consists of.

    Every function that is handed all of it takes long to compile: small ones get what they need.
    """

    jobs: Any  # what each asks for
    worth: Any
    nodes: SlurmNodes
    free: Free
    later: Free
    choice: NodeChoice
    pieces: NodePieces
    running: SlurmRunning
    ready: Ready
    reserved: Reserved
    hopeful: Hopeful
    shares: FairShares
    limits: JobLimits
    waiting: Waiting
    tested: Any  # jobs of each user that this pass has looked at
    tested_partition: Any
    blocked: Any
    knobs: Any
    weights: Any
    counters: Any
    start: Any


SLURM_REPLAY = types.NamedTuple(
    [
        *(FROZEN_INT_TABLE, FROZEN_REAL_TABLE, SLURM_NODES, FREE_TYPE, FREE_TYPE, CHOICE_TYPE),
        *(PIECES_TYPE, SLURM_RUNNING),
        *(READY_TYPE, RESERVED_TYPE, HOPEFUL_TYPE, SHARES_TYPE, LIMITS_TYPE),
        *(WAITING_TYPE, INTS, INTS, TRUTHS),
        *(FROZEN_INTS, FROZEN_REALS, INTS, INTS),
    ],
    SlurmReplay,
)


@kernel
def _end_at(running, place):
    return running.end[place]


@kernel
def _move_end(running, goal, source):
    running.end[goal] = running.end[source]
    running.job[goal] = running.job[source]


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
        return nodes.memory[node]
    if jobs[MEMORY_PER_CORE, job] > 0:
        return jobs[MEMORY_PER_CORE, job] * cores
    return jobs[MEMORY_PER_NODE, job]


@kernel
def _take_nodes(jobs, nodes, free, choice, pieces, expected, ready, counters, job, count):
    """Give a job the nodes that were chosen for it."""
    pieces.count[job] = count
    for i in range(count):
        node, cores, piece = choice.node[i], choice.cores[i], jobs[FIRST_PIECE, job] + i
        pieces.node[piece] = node
        pieces.cores[piece] = cores
        pieces.job[piece] = job
        _note_change(ready, counters, node)
        _hang_in(pieces, expected, piece)
        free.cores[node] -= cores
        pieces.memory[piece] = _memory_of(jobs, nodes, job, node, cores)
        free.memory[node] -= pieces.memory[piece]
        free.jobs[node] += 1
        if jobs[EXCLUSIVE, job] == 2:
            free.owner[node] = jobs[USER, job]
        needed = jobs[GPUS, job]
        for kind in range(nodes.gpus.shape[1]):
            if jobs[GPU_TYPE, job] == NOBODY or jobs[GPU_TYPE, job] == kind:
                taken = min(needed, free.gpus[node, kind])
                pieces.gpus[piece, kind] = taken
                free.gpus[node, kind] -= taken
                needed -= taken


@kernel
def _note_change(ready, counters, node):
    counters[CHANGES] += 1
    ready.changed[node] = counters[CHANGES]


@kernel
def _hang_in(pieces, expected, piece):
    """Put a piece into the list of its node, behind all that are due no later."""
    node, due = pieces.node[piece], expected[pieces.job[piece]]
    before, after = NOBODY, pieces.first[node]
    while after != NOBODY and expected[pieces.job[after]] <= due:
        before, after = after, pieces.next[after]
    pieces.next[piece] = after
    if before == NOBODY:
        pieces.first[node] = piece
    else:
        pieces.next[before] = piece


@kernel
def _take_out(pieces, piece):
    node = pieces.node[piece]
    if pieces.first[node] == piece:
        pieces.first[node] = pieces.next[piece]
        return
    before = pieces.first[node]
    while pieces.next[before] != piece:
        before = pieces.next[before]
    pieces.next[before] = pieces.next[piece]


@kernel
def give_back(pieces, piece, free):
    """Release a piece of a job, as a state of the nodes sees it."""
    node = pieces.node[piece]
    free.cores[node] += pieces.cores[piece]
    free.memory[node] += pieces.memory[piece]
    free.jobs[node] -= 1
    if free.jobs[node] == 0:
        free.owner[node] = NOBODY
    for kind in range(free.gpus.shape[1]):
        free.gpus[node, kind] += pieces.gpus[piece, kind]


@kernel
def start_on_nodes(replay, job, count, now):
    """Let a job run from now on, on the nodes that were chosen."""
    running, counters, knobs = replay.running, replay.counters, replay.knobs
    begin = now + knobs[START_DELAY]
    due = begin + replay.jobs[LIMIT, job]
    counters[BEGUN] += 1
    running.expected[job] = due
    running.order[job] = counters[BEGUN]
    replay.start[job] = begin
    replay.waiting.lanes[replay.jobs[LANE, job]] -= 1
    _take_nodes(
        replay.jobs,
        replay.nodes,
        replay.free,
        replay.choice,
        replay.pieces,
        running.expected,
        replay.ready,
        counters,
        job,
        count,
    )
    _count_in_limits(replay.limits, job, 1)
    size = counters[HELD]
    end = begin + replay.jobs[RUNTIME, job] + knobs[COMPLETION_DELAY]
    place = rise(running, size, end, _end_at, _move_end)
    running.end[place] = end
    running.job[place] = job
    place = size
    while place > 0 and running.due[place - 1] > due:
        _move_due(running, place, place - 1)
        place -= 1
    running.due[place] = due
    running.due_job[place] = job
    running.due_node[place] = replay.choice.node[0] if count == 1 else NOBODY
    counters[HELD] = size + 1


@kernel
def end_next(jobs, free, pieces, running, ready, limits, counters):
    """Release what the job that ends first holds, and return it."""
    job = running.job[0]
    size = counters[HELD] - 1
    counters[HELD] = size
    end, last = running.end[size], running.job[size]
    place = sink(running, 0, size, end, _end_at, _move_end)
    running.end[place] = end
    running.job[place] = last
    place = 0
    while running.due_job[place] != job:
        place += 1
    for i in range(place, size):
        _move_due(running, i, i + 1)
    first = jobs[FIRST_PIECE, job]
    for piece in range(first, first + pieces.count[job]):
        give_back(pieces, piece, free)
        _take_out(pieces, piece)
        _note_change(ready, counters, pieces.node[piece])
    _count_in_limits(limits, job, -1)
    return job
