"""A cluster under Slurm in progress: its jobs, its nodes, and what is held of them."""

from typing import Any, NamedTuple

from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import (
    FROZEN_INT_TABLE,
    FROZEN_INTS,
    FROZEN_REALS,
    INT_TABLE,
    INTS,
    REALS,
    TRUTH_TABLE,
    TRUTHS,
)
from queuesmith.compiled.heap import rise, sink
from queuesmith.engine.kernels.constants import COUNTERS, NOBODY

# Places in the array of knobs that are whole numbers.
BF_INTERVAL, BF_WINDOW, BF_RESOLUTION, BF_MAX_TEST, BF_MAX_USER, BF_MAX_PARTITION = range(6)
BF_MAX_START, WINDOW_STEP, QUEUE_DEPTH, SCHED_INTERVAL, CALC_PERIOD, MAX_AGE = range(6, 12)
FAIR_TREE, EPOCH, START_DELAY, COMPLETION_DELAY, BACKFILLS, OFFSET = range(12, 18)
KNOBS = 18
# Places in the array of knobs that are real numbers.
WEIGHT_AGE, WEIGHT_FAIR_SHARE, DECAY, DAMPENING = range(4)
# Places in the array of counters, behind those of all replays.
QUEUED, HELD, PASSES, STUCK, LAST_CALC = range(COUNTERS, COUNTERS + 5)
SLURM_COUNTERS = COUNTERS + 5
#: What limits count: cores, nodes, memory, GPUs, jobs.
COUNTED = 5


class SlurmJobs(NamedTuple):
    """What each job asks for; jobs are known by their position."""

    eligible: Any
    arrival: Any  # positions in the order in which jobs become eligible
    runtime: Any
    limit: Any  # the walltime, in whole minutes, as seconds
    least: Any
    most: Any  # 0: any number of nodes
    cores: Any
    per_node: Any  # 0: spread in any way
    per_task: Any
    memory_per_node: Any
    memory_per_core: Any
    whole_memory: Any
    gpus: Any  # on each node
    gpu_type: Any
    exclusive: Any
    node_set: Any
    partition: Any
    tier: Any
    user: Any
    association: Any
    least_loaded: Any
    kind: Any  # the same for jobs that ask for the same
    first_piece: Any  # where its pieces stand
    first_limit: Any  # where its limits stand; one more entry than jobs
    limits: Any  # the numbers of the limits of all jobs, one job after the other
    amounts: Any  # what it counts in limits
    fixed_priority: Any  # all factors that never change, weighted
    billing: Any  # what a second of it counts in fair-share


SLURM_JOBS = types.NamedTuple(
    [FROZEN_INTS] * 25 + [FROZEN_INT_TABLE, FROZEN_REALS, FROZEN_REALS], SlurmJobs
)


class SlurmNodes(NamedTuple):
    """The nodes, in the order of their names."""

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
    outage_nodes: Any


SLURM_NODES = types.NamedTuple(
    [FROZEN_INTS] * 5
    + [FROZEN_INT_TABLE, TRUTH_TABLE, TRUTH_TABLE]
    + [FROZEN_INTS] * 3
    + [TRUTH_TABLE],
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

    room: Any  # the cores of each node that a job could have
    node: Any
    cores: Any
    usable: Any
    spare: Any
    switches: Any  # first, last, number and cores of the nodes of each


CHOICE_TYPE = types.NamedTuple([INTS, INTS, INTS, TRUTHS, TRUTHS, INT_TABLE], NodeChoice)


class NodePieces(NamedTuple):
    """The parts of jobs on nodes."""

    count: Any  # of each job
    node: Any
    cores: Any
    gpus: Any


PIECES_TYPE = types.NamedTuple([INTS, INTS, INTS, INT_TABLE], NodePieces)


class SlurmRunning(NamedTuple):
    """Jobs that run: a heap by their true end, a list by the end that Slurm expects."""

    end: Any
    job: Any
    due: Any
    due_job: Any


SLURM_RUNNING = types.NamedUniTuple(INTS, 4, SlurmRunning)


class Reserved(NamedTuple):
    """The table of the backfill: from when to when which nodes are kept for nobody."""

    begin: Any
    end: Any
    next: Any
    free: Any


RESERVED_TYPE = types.NamedTuple([INTS, INTS, INTS, TRUTH_TABLE], Reserved)


class FairShares(NamedTuple):
    """The tree of shares, and who has used how much."""

    parent: Any
    shares: Any
    level_shares: Any  # of all siblings together
    path: Any  # for each user the associations from below the root down to the user
    users: Any  # the associations that are users, in the order of their rank
    usage: Any
    fresh: Any  # used since the last calculation by jobs that have ended
    level: Any
    effective: Any
    factor: Any


SHARES_TYPE = types.NamedTuple(
    [FROZEN_INTS] * 3 + [FROZEN_INT_TABLE, INTS] + [REALS] * 5, FairShares
)


class SlurmReplay(NamedTuple):
    """All that a replay under Slurm consists of."""

    jobs: SlurmJobs
    nodes: SlurmNodes
    free: Free
    later: Free
    choice: NodeChoice
    pieces: NodePieces
    running: SlurmRunning
    reserved: Reserved
    shares: FairShares
    limit: Any  # the most of each thing, one row a limit
    used: Any
    queue: Any
    priority: Any
    tested: Any  # jobs of each user that this pass has looked at
    tested_partition: Any
    blocked: Any
    tried: Any  # in which pass, and from when on, a kind of job was tried last
    knobs: Any
    weights: Any
    counters: Any
    start: Any


SLURM_REPLAY = types.NamedTuple(
    [
        *(SLURM_JOBS, SLURM_NODES, FREE_TYPE, FREE_TYPE, CHOICE_TYPE, PIECES_TYPE, SLURM_RUNNING),
        *(RESERVED_TYPE, SHARES_TYPE, FROZEN_INT_TABLE, INT_TABLE, INTS, INTS, INTS, INTS, TRUTHS),
        *(INT_TABLE, FROZEN_INTS, FROZEN_REALS, INTS, INTS),
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
def over_limit(replay, job):
    """Tell whether a limit of its QOS or association keeps a job from starting."""
    jobs = replay.jobs
    for i in range(jobs.first_limit[job], jobs.first_limit[job + 1]):
        number = jobs.limits[i]
        for what in range(COUNTED):
            amount = replay.used[number, what] + jobs.amounts[job, what]
            if jobs.amounts[job, what] > 0 and amount > replay.limit[number, what]:
                return True
    return False


@kernel
def _count_in_limits(replay, job, sign):
    jobs = replay.jobs
    for i in range(jobs.first_limit[job], jobs.first_limit[job + 1]):
        for what in range(COUNTED):
            replay.used[jobs.limits[i], what] += sign * jobs.amounts[job, what]


@kernel
def _memory_of(jobs, nodes, job, node, cores):
    if jobs.whole_memory[job]:
        return nodes.memory[node]
    if jobs.memory_per_core[job] > 0:
        return jobs.memory_per_core[job] * cores
    return jobs.memory_per_node[job]


@kernel
def take_nodes(replay, job, count):
    """Give a job the nodes that were chosen for it."""
    jobs, nodes, free, choice, pieces = (
        replay.jobs,
        replay.nodes,
        replay.free,
        replay.choice,
        replay.pieces,
    )
    pieces.count[job] = count
    for i in range(count):
        node, cores, at = choice.node[i], choice.cores[i], jobs.first_piece[job] + i
        pieces.node[at] = node
        pieces.cores[at] = cores
        free.cores[node] -= cores
        free.memory[node] -= _memory_of(jobs, nodes, job, node, cores)
        free.jobs[node] += 1
        if jobs.exclusive[job] == 2:
            free.owner[node] = jobs.user[job]
        needed = jobs.gpus[job]
        for kind in range(nodes.gpus.shape[1]):
            if jobs.gpu_type[job] == NOBODY or jobs.gpu_type[job] == kind:
                taken = min(needed, free.gpus[node, kind])
                pieces.gpus[at, kind] = taken
                free.gpus[node, kind] -= taken
                needed -= taken


@kernel
def give_back(replay, job, free):
    """Release what a job holds, as a state of the nodes sees it."""
    jobs, nodes, pieces = replay.jobs, replay.nodes, replay.pieces
    first = jobs.first_piece[job]
    for at in range(first, first + pieces.count[job]):
        node, cores = pieces.node[at], pieces.cores[at]
        free.cores[node] += cores
        free.memory[node] += _memory_of(jobs, nodes, job, node, cores)
        free.jobs[node] -= 1
        if free.jobs[node] == 0:
            free.owner[node] = NOBODY
        for kind in range(nodes.gpus.shape[1]):
            free.gpus[node, kind] += pieces.gpus[at, kind]


@kernel
def start_on_nodes(replay, job, count, now):
    """Let a job run from now on, on the nodes that were chosen."""
    running, counters, knobs = replay.running, replay.counters, replay.knobs
    take_nodes(replay, job, count)
    _count_in_limits(replay, job, 1)
    begin = now + knobs[START_DELAY]
    replay.start[job] = begin
    size = counters[HELD]
    end = begin + replay.jobs.runtime[job] + knobs[COMPLETION_DELAY]
    place = rise(running, size, end, _end_at, _move_end)
    running.end[place] = end
    running.job[place] = job
    due = begin + replay.jobs.limit[job]
    place = size
    while place > 0 and running.due[place - 1] > due:
        running.due[place] = running.due[place - 1]
        running.due_job[place] = running.due_job[place - 1]
        place -= 1
    running.due[place] = due
    running.due_job[place] = job
    counters[HELD] = size + 1


@kernel
def end_next(replay):
    """Release what the job that ends first holds, and return it."""
    running, counters = replay.running, replay.counters
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
        running.due[i] = running.due[i + 1]
        running.due_job[i] = running.due_job[i + 1]
    give_back(replay, job, replay.free)
    _count_in_limits(replay, job, -1)
    return job
