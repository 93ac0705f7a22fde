"""A cluster under Slurm in progress: its jobs, its nodes, and what is held of them."""

from typing import Any, NamedTuple

from numba import types

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
from queuesmith.engine.kernels.constants import COUNTERS

# Places in the array of knobs that are whole numbers.
BF_INTERVAL, BF_WINDOW, BF_RESOLUTION, BF_MAX_TEST, BF_MAX_USER, BF_MAX_PARTITION = range(6)
BF_MAX_START, WINDOW_STEP, QUEUE_DEPTH, SCHED_INTERVAL, CALC_PERIOD, MAX_AGE = range(6, 12)
FAIR_TREE, EPOCH, START_DELAY, COMPLETION_DELAY, BACKFILLS, OFFSET = range(12, 18)
BATCH_DELAY, BF_SPACE, KILL_DELAY, ALIGNED = range(18, 22)
REQUEUE_DELAY, REORDER_COUNT, STRICT_ORDER, YOUNGEST_FIRST = range(22, 26)
KNOBS = 26
# Places in the array of knobs that are real numbers.
WEIGHT_AGE, WEIGHT_FAIR_SHARE, DECAY, DAMPENING = range(4)
# Places in the array of counters, behind those of all replays.
QUEUED, HELD, PASSES, STUCK, LAST_CALC, BEGUN, CHANGES = range(COUNTERS, COUNTERS + 7)
NEXT_ARRIVAL, COMING, NEXT_CANCEL = range(COUNTERS + 7, COUNTERS + 10)
# Runs that were cut short, their pieces, and whether there was no room to note one.
LOST_RUNS, LOST_PIECES, NO_ROOM = range(COUNTERS + 10, COUNTERS + 13)
SLURM_COUNTERS = COUNTERS + 13
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
# when one cannot start: its partition, or its reservation, which are counted behind those;
CANCELLED, LANE = range(28, 30)
# and who it may stop, or who may stop it.
GROUP = 30
JOB_ROWS = 31
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

    of_node: Any  # what each has
    sets: Any
    partitions: Any
    outage: Any
    outage_nodes: Any


# Rows of the table of nodes; cores are given out in multiples of threads, weights are dense from
# 0 on, and the leaf is the switch, -1 where the network is not looked at.
NODE_CORES, NODE_MEMORY, THREADS, WEIGHT, LEAF = range(5)
# Rows of the table of outages; only jobs of the reservation may run there, and nowhere else; -1: no
# job may.
OUT_BEGIN, OUT_END, OUT_PLANNED, OUT_RESERVATION = range(4)
SLURM_NODES = types.NamedUniTuple(FROZEN_INT_TABLE, 5, SlurmNodes)
# Rows of the table of what is free on each node: how many jobs run there, the user who has the
# node for himself, -1: nobody, and then the GPUs of each kind.
FREE_CORES, FREE_MEMORY, FREE_JOBS, FREE_OWNER, FREE_GPUS = range(5)


class NodeChoice(NamedTuple):
    """Nodes chosen for a job, and what is needed on the way there."""

    of_node: Any
    sets: Any
    switches: Any  # first, last, number and cores of the nodes of each


# Rows of nodes: those with room, the cores there, and those not given out yet; those chosen, and
# the cores that are held there.
CANDIDATE, ROOM, ROOM_LEFT, CHOSEN_NODE, CHOSEN_CORES = range(5)
# Sets of nodes.
USABLE, SOON, READY, CHOSEN, AWAY = range(5)
CHOICE_TYPE = types.NamedUniTuple(INT_TABLE, 3, NodeChoice)


class NodePieces(NamedTuple):
    """The parts of jobs on nodes."""

    count: Any  # of each job
    of_piece: Any
    of_node: Any


# Columns of pieces; NEXT is the piece on the same node that is due next, and at the end come the
# GPUs of each kind.
PIECE_NODE, PIECE_CORES, PIECE_MEMORY, PIECE_JOB, PIECE_NEXT, PIECE_GPUS = range(6)
# Rows of nodes: the piece that is due first; the last piece that is gone in what will be free
# there, -1: none, and the change of the node after which that was worked out.
FIRST, GONE, KNOWN = range(3)
PIECES_TYPE = types.NamedTuple([INTS, INT_TABLE, INT_TABLE], NodePieces)


class SlurmRunning(NamedTuple):
    """Jobs that run: a heap by their true end, a list by the end that Slurm expects."""

    due: Any  # the list: when, who,
    due_job: Any
    due_node: Any  # and the node of a job that has one only, -1 of others
    ending: Any  # the heap: ends, jobs
    of_job: Any


# Rows of jobs: the end that Slurm expects, and the place among all that have begun.
EXPECTED, BEGAN = range(2)
SLURM_RUNNING = types.NamedTuple([INTS] * 3 + [INT_TABLE] * 2, SlurmRunning)


class Ready(NamedTuple):
    """When each node has room for jobs of a shape, should all that run there keep to their limits.

    There may be fewer rows than shapes: a row is then worked out anew when its shape changes.
    """

    at: Any
    now: Any  # the nodes that have room already
    order: Any  # nodes, those first that have room first
    soon: Any  # the nodes that have room by some instant
    of_row: Any
    changed: Any  # of each node, its last change


# What is told of a row: its shape, how many changes of nodes it has seen, and its order; and how
# many nodes have room soon.
ROW_SHAPE, ROW_CHECKED, ROW_ORDERED, ROW_REACHED = range(4)
READY_TYPE = types.NamedTuple([INT_TABLE] * 5 + [INTS], Ready)


class Reserved(NamedTuple):
    """The table of the backfill: from when to when which nodes are kept for nobody."""

    begin: Any
    end: Any
    next: Any
    free: Any


RESERVED_TYPE = types.NamedTuple([INTS, INTS, INTS, INT_TABLE], Reserved)


class Hopeful(NamedTuple):
    """The kinds of waiting jobs of which some could still start in a pass of the backfill."""

    of_kind: Any
    nodes: Any  # of each kind, the nodes with room that nobody has reserved


# Rows: the kinds that are; and of each kind a job, the last place in the queue, the pass that has
# looked, from when on it was tried last, and the pass that has tried.
HOPEFUL, KIND_JOB, KIND_PLACE, KIND_SEEN, KIND_BEGIN, KIND_TRIED = range(6)
HOPEFUL_TYPE = types.NamedUniTuple(INT_TABLE, 2, Hopeful)


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


class Preemption(NamedTuple):
    """Who may stop whom, who is being stopped, and the runs that were cut short."""

    rights: Any  # of a group over another
    of_job: Any
    candidates: Any
    present: Any  # of each group, whether a job of it runs
    lost: Any
    lost_pieces: Any  # nodes and cores


# Rights, which may come together: to stand before in the queue, to stop.
STANDS_BEFORE, STOPS = 1, 2
# Rows of jobs: what becomes of one that is stopped; who of the least rank is stopped first; for how
# long it is left alone, and how long it has when it is to be stopped; by when it is gone then,
# NEVER: it is not being stopped; and when it was cancelled so, NEVER: it was not.
MODE, RANK, EXEMPT, GRACE, GONE_BY, CUT_AT = range(6)
ALONE, REQUEUED, ENDED_FOR_GOOD = range(3)
# Rows of candidates: the jobs, room to sort them, and the nodes of each that were chosen.
CANDIDATES, SORTING, OVERLAP = range(3)
# Columns of runs: whose, from when to when, and how many pieces it had.
LOST_JOB, LOST_BEGIN, LOST_END, LOST_COUNT = range(4)
PREEMPTION_TYPE = types.NamedTuple(
    [FROZEN_INT_TABLE, INT_TABLE, INT_TABLE, TRUTHS, INT_TABLE, INT_TABLE], Preemption
)


class SlurmReplay(NamedTuple):
    """All that a replay under Slurm consists of.

    Every function that is handed all of it takes long to compile: small ones get what they need.
    """

    jobs: Any  # what each asks for
    worth: Any
    nodes: SlurmNodes
    free: Any  # on each node,
    later: Any  # and as jobs are gone
    choice: NodeChoice
    pieces: NodePieces
    running: SlurmRunning
    ready: Ready
    reserved: Reserved
    hopeful: Hopeful
    shares: FairShares
    limits: JobLimits
    waiting: Waiting
    preemption: Preemption | None  # None where nobody can stop anybody
    tested: Any  # jobs of each user that this pass has looked at
    tested_partition: Any
    blocked: Any
    knobs: Any
    weights: Any
    counters: Any
    start: Any


def _replay_type(preemption: types.Type) -> types.NamedTuple:
    parts = [
        *(FROZEN_INT_TABLE, FROZEN_REAL_TABLE, SLURM_NODES, INT_TABLE, INT_TABLE, CHOICE_TYPE),
        *(PIECES_TYPE, SLURM_RUNNING),
        *(READY_TYPE, RESERVED_TYPE, HOPEFUL_TYPE, SHARES_TYPE, LIMITS_TYPE),
        *(WAITING_TYPE, preemption, INTS, INTS, TRUTHS),
        *(FROZEN_INTS, FROZEN_REALS, INTS, INTS),
    ]
    return types.NamedTuple(parts, SlurmReplay)


#: Where nobody can stop anybody, and where jobs are stopped for others.
SLURM_REPLAY, PREEMPTING_REPLAY = _replay_type(types.none), _replay_type(PREEMPTION_TYPE)
