"""Jobs, nodes, limits and shares laid out as the kernels of Slurm take them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.alike import numbered
from queuesmith.cluster.limit_table import LimitTable
from queuesmith.cluster.requests import (
    JobRequests,
    NodeArrays,
    job_requests,
    node_arrays,
    reservations,
)
from queuesmith.cluster.reserved import from_reservations, reservation_numbers
from queuesmith.engine.cancelled import cancel_times, in_order_of_cancels
from queuesmith.engine.kernels.constants import NEVER
from queuesmith.engine.kernels.slurm_sets import MASK
from queuesmith.engine.kernels.slurm_state import (
    ARRIVAL,
    ASSOCIATION,
    AWAY,
    BEGAN,
    BF_MAX_TEST,
    BF_SPACE,
    CANCELLED,
    CHOSEN_CORES,
    CORES,
    ELIGIBLE,
    ENDING_JOB,
    EXCLUSIVE,
    FIRST_PIECE,
    FOLLOWER,
    FREE_CORES,
    FREE_GPUS,
    FREE_MEMORY,
    FREE_OWNER,
    GPU_TYPE,
    GPUS,
    JOB_ROWS,
    KIND,
    KIND_TRIED,
    KNOBS,
    LANE,
    LEAF,
    LEAST,
    LEAST_LOADED,
    LIMIT,
    MEMORY_PER_CORE,
    MEMORY_PER_NODE,
    MOST,
    NEXT_FOLLOWER,
    NODE_CORES,
    NODE_MEMORY,
    NODE_SET,
    PARTITION,
    PER_NODE,
    PER_TASK,
    PIECE_GPUS,
    RESERVATION,
    ROW_REACHED,
    RUNTIME,
    SHAPE,
    SLURM_COUNTERS,
    THINK,
    TIER,
    USER,
    WHOLE_MEMORY,
    Hopeful,
    JobLimits,
    NodeChoice,
    NodePieces,
    Ready,
    Reserved,
    SlurmNodes,
    SlurmReplay,
    SlurmRunning,
    Waiting,
)
from queuesmith.engine.node_packing import followers
from queuesmith.engine.slurm_worth import Floats, fair_shares, frozen, worth
from queuesmith.policy.slurm import ENDLESS, SlurmSettings
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import predecessors
from queuesmith.workload.requests import EXCLUSIVE_USER
from queuesmith.workload.workload import Ints

#: So many instants at which nodes have room are kept, one for each node and shape of a job.
READY_TABLE = 4_000_000


def slurm_replay(workload: Workload, machine: NodeCluster, settings: SlurmSettings) -> SlurmReplay:
    """Return a replay in which nothing has happened yet, with all the room it will need."""
    requests, nodes = job_requests(workload, machine), node_arrays(machine)
    order = by_name(machine)
    limits = LimitTable(workload, machine, requests)
    shares, association = fair_shares(workload, machine, requests)
    jobs = _jobs(workload, machine, requests, association)
    count, node_count = len(workload), len(order)
    held = min(count, int(nodes.cores.sum()))
    pieces = int(jobs[FIRST_PIECE, -1] + _most_pieces(requests, node_count)[-1])
    kinds = nodes.gpus.shape[1]
    packed = _nodes(workload, machine, nodes, requests, order)
    knobs = _knobs(workload, settings)
    records = int(min(2 * knobs[BF_MAX_TEST], knobs[BF_SPACE], 2 * count)) + 3
    words, job_kinds = packed.sets.shape[1], int(jobs[KIND].max()) + 1
    rows = min(int(jobs[SHAPE].max()) + 1, max(READY_TABLE // node_count, 1))
    return SlurmReplay(
        jobs=jobs,
        worth=worth(workload, machine, requests, settings),
        nodes=packed,
        free=_free(packed, nodes.gpus[order]),
        later=_free(packed, nodes.gpus[order]),
        choice=NodeChoice(
            of_node=_zeros(CHOSEN_CORES + 1, node_count),
            sets=_zeros(AWAY + 1, words),
            switches=_zeros(4, int(packed.of_node[LEAF].max()) + 2),
        ),
        pieces=NodePieces(
            count=_zeros(count),
            of_piece=_zeros(pieces, PIECE_GPUS + kinds),
            of_node=np.array([[-1], [-1], [0]]).repeat(node_count, axis=1),
        ),
        running=SlurmRunning(
            ending=_zeros(ENDING_JOB + 1, held + 1),
            due=_zeros(held + 1),
            due_job=_zeros(held + 1),
            due_node=_zeros(held + 1),
            of_job=_zeros(BEGAN + 1, count),
        ),
        ready=Ready(
            at=_zeros(rows, node_count),
            now=_zeros(rows, words),
            order=np.tile(np.arange(node_count), (rows, 1)),
            soon=_zeros(rows, words),
            of_row=np.full((ROW_REACHED + 1, rows), -1, np.int64),
            changed=_zeros(node_count),
        ),
        reserved=Reserved(
            begin=_zeros(records),
            end=_zeros(records),
            next=_zeros(records),
            free=_zeros(records, words),
        ),
        hopeful=Hopeful(
            of_kind=_zeros(KIND_TRIED + 1, job_kinds),
            nodes=_zeros(job_kinds, words),
        ),
        shares=shares,
        limits=JobLimits(
            first=_whole(limits.first),
            numbers=_whole(limits.of_jobs),
            amounts=_whole(limits.amounts),
            most=frozen(limits.most),
            used=np.zeros_like(limits.most),
        ),
        waiting=Waiting(
            queue=_zeros(count + 1),
            spare=_zeros(count + 1),
            priority=_zeros(count),
            comes=from_reservations(workload, machine, requests).copy(),
            followers=np.zeros((2, max(count, 1)), np.int64),
            cancels=frozen(in_order_of_cancels(jobs[CANCELLED])),
            lanes=_zeros(len(machine.partitions) + len(reservations(machine))),
        ),
        tested=np.zeros(int(jobs[USER].max()) + 1, np.int64),
        tested_partition=np.zeros(len(machine.partitions), np.int64),
        blocked=np.zeros(len(machine.partitions) + len(reservations(machine)), np.bool_),
        knobs=knobs,
        weights=_weights(settings),
        counters=np.zeros(SLURM_COUNTERS, np.int64),
        start=np.full(count, -1, np.int64),
    )


def _zeros(*shape: int) -> Ints:
    return np.zeros(shape, np.int64)


def _whole(array: NDArray[Any]) -> Ints:
    return frozen(np.ascontiguousarray(array, np.int64))


def by_name(machine: NodeCluster) -> Ints:
    """Return the numbers of the nodes in the order of their names, numbers as numbers."""

    def key(name: str) -> list[tuple[int, int, str]]:
        parts = re.findall(r"[0-9]+|[^0-9]+", name)
        return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]

    names = machine.node_names
    return np.array(sorted(range(len(names)), key=lambda i: key(names[i])), np.int64)


# -- settings --------------------------------------------------------------------------


def _knobs(workload: Workload, settings: SlurmSettings) -> Ints:
    first = int(workload.submit[0]) + (workload.epoch or 0)

    def or_endless(name: str) -> int:
        return int(settings[name]) or ENDLESS

    values = [
        *(settings["bf_interval"], 60 * settings["bf_window"], settings["bf_resolution"]),
        *map(or_endless, ("bf_max_job_test", "bf_max_job_user", "bf_max_job_part")),
        *(or_endless("bf_max_job_start"), settings["bf_window_linear"]),
        *(or_endless("default_queue_depth"), settings["sched_interval"]),
        *(settings["PriorityCalcPeriod"], settings["PriorityMaxAge"], settings.fair_tree),
        *(workload.epoch or 0, settings["start_delay"], settings["completion_delay"]),
        *(settings.backfills, settings.clock_offset(first), settings["batch_sched_delay"]),
        *(or_endless("bf_node_space_size"), settings.kill_delay, not settings.before_20_02),
    ]
    assert len(values) == KNOBS
    return frozen(np.array([int(value) for value in values], np.int64))


def _weights(settings: SlurmSettings) -> Floats:
    half_life = settings["PriorityDecayHalfLife"]
    values = [
        settings["PriorityWeightAge"] if settings.multifactor else 0.0,
        settings["PriorityWeightFairshare"] if settings.multifactor else 0.0,
        0.5 ** (1.0 / half_life) if half_life > 0 else 1.0,
        settings["FairShareDampeningFactor"],
    ]
    return frozen(np.array(values, np.float64))


# -- nodes -----------------------------------------------------------------------------


def _nodes(
    workload: Workload,
    machine: NodeCluster,
    nodes: NodeArrays,
    requests: JobRequests,
    order: Ints,
) -> SlurmNodes:
    epoch = workload.epoch or 0
    away = np.zeros((len(machine.outages), len(order)), np.bool_)
    for row, outage in zip(away, machine.outages, strict=True):
        row[[machine.node_index[node] for node in outage.nodes or machine.node_names]] = True
    weight = np.unique(nodes.weight, return_inverse=True)[1].ravel()
    has = (nodes.cores, nodes.memory, nodes.threads_per_core, weight, _leaves(machine))
    outages = (
        [-NEVER if o.begin is None else o.begin - epoch for o in machine.outages],
        [NEVER if o.end is None else o.end - epoch for o in machine.outages],
        [o.planned for o in machine.outages],
        reservation_numbers(machine),
    )
    return SlurmNodes(
        of_node=_whole(np.stack(has)[:, order]),
        sets=_sets(requests.node_sets[:, order]),
        partitions=_sets(nodes.partitions[:, order]),
        outage=frozen(np.array(outages, np.int64)),
        outage_nodes=_sets(away[:, order]),
    )


def _sets(table: NDArray[np.bool_]) -> Ints:
    """Return rows of truths as sets of nodes, as the kernels take them."""
    per_word = MASK + 1
    words = -(-table.shape[1] // per_word)
    padded = np.zeros((len(table), words * per_word), np.int64)
    padded[:, : table.shape[1]] = table
    values = padded.reshape(len(table), words, per_word) << np.arange(per_word)
    return frozen(values.sum(axis=2))


def _leaves(machine: NodeCluster) -> Ints:
    """Return the switch of each node; -1 everywhere where Slurm does not look at the network."""
    leaf = np.full(len(machine.node_names), -1, np.int64)
    leaves = [switch for switch in machine.switches if switch.nodes]
    if "tree" not in machine.settings.get("TopologyPlugin", "").lower() or not leaves:
        return leaf
    # Of switches that fit alike, the one whose nodes come first by name is taken.
    place = np.empty_like(leaf)
    place[by_name(machine)] = np.arange(len(leaf))
    leaves.sort(key=lambda switch: min(place[machine.node_index[node]] for node in switch.nodes))
    for number, switch in enumerate(leaves):
        leaf[[machine.node_index[node] for node in switch.nodes]] = number
    leaf[leaf < 0] = len(leaves)
    return leaf


def _free(nodes: SlurmNodes, gpus: Ints) -> Ints:
    """Return the table of what is free before anything runs."""
    free = _zeros(FREE_GPUS + gpus.shape[1], len(gpus))
    free[FREE_CORES], free[FREE_MEMORY] = nodes.of_node[[NODE_CORES, NODE_MEMORY]]
    free[FREE_OWNER], free[FREE_GPUS:] = -1, gpus.T
    return free


# -- jobs ------------------------------------------------------------------------------


def _most_pieces(requests: JobRequests, nodes: int) -> Ints:
    """Return on how many nodes a job can be at most."""
    spread = np.minimum(requests.cores, nodes)
    by_node = -(-requests.cores // np.maximum(requests.cores_per_node, 1))
    most = np.where(requests.cores_per_node > 0, np.maximum(by_node, requests.least_nodes), spread)
    most = np.where(requests.most_nodes > 0, np.minimum(most, requests.most_nodes), most)
    return np.maximum(most, requests.least_nodes)


def _jobs(
    workload: Workload,
    machine: NodeCluster,
    requests: JobRequests,
    association: Ints,
) -> Ints:
    """Return the table of jobs, a row for everything that kernels ask of them."""
    room = _most_pieces(requests, len(machine.node_names))
    shapes = _shapes(workload, requests)
    partitions = machine.partitions
    least_loaded = "CR_LLN" in machine.settings.get("SelectTypeParameters", "").upper()
    after, think = predecessors(workload)
    follower, next_follower = followers(after)
    # Who waits for another job comes when that is known.
    eligible = np.where(after < 0, from_reservations(workload, machine, requests), NEVER)
    rows = {
        ELIGIBLE: eligible,
        ARRIVAL: np.argsort(eligible, kind="stable"),
        RUNTIME: workload.runtime,
        CANCELLED: cancel_times(workload),
        LIMIT: np.maximum(-(-workload.walltime // 60) * 60, 60),
        LEAST: np.minimum(requests.least_nodes, requests.cores),
        MOST: requests.most_nodes,
        CORES: requests.cores,
        PER_NODE: requests.cores_per_node,
        PER_TASK: requests.cores_per_task,
        MEMORY_PER_NODE: requests.memory_per_node,
        MEMORY_PER_CORE: requests.memory_per_core,
        WHOLE_MEMORY: requests.whole_memory,
        GPUS: requests.gpus_per_node,
        GPU_TYPE: requests.gpu_type,
        EXCLUSIVE: requests.exclusive,
        NODE_SET: requests.node_set,
        PARTITION: requests.partition,
        TIER: np.array([p.tier for p in partitions])[requests.partition],
        USER: np.unique(workload.user, return_inverse=True)[1].ravel(),
        ASSOCIATION: association,
        LEAST_LOADED: np.array([p.least_loaded or least_loaded for p in partitions])[
            requests.partition
        ],
        RESERVATION: requests.reservation,
        LANE: np.where(
            requests.reservation < 0,
            requests.partition,
            len(partitions) + requests.reservation,
        ),
        SHAPE: shapes,
        KIND: numbered([shapes, -(-workload.walltime // 60)]),
        FIRST_PIECE: np.cumsum(room) - room,
        FOLLOWER: follower,
        NEXT_FOLLOWER: next_follower,
        THINK: think,
    }
    table = np.empty((JOB_ROWS, len(workload)), np.int64)
    assert sorted(rows) == list(range(JOB_ROWS))
    for row, values in rows.items():
        table[row] = values
    return frozen(table)


def _shapes(workload: Workload, requests: JobRequests) -> Ints:
    """Return numbers that are the same for jobs that ask for the same."""
    columns = [
        *(requests.least_nodes, requests.most_nodes, requests.cores, requests.cores_per_node),
        *(requests.cores_per_task, requests.memory_per_node, requests.memory_per_core),
        *(requests.whole_memory, requests.gpus_per_node, requests.gpu_type, requests.exclusive),
        *(requests.node_set, requests.reservation),
    ]
    if (requests.exclusive == EXCLUSIVE_USER).any():  # then it matters whose jobs are on a node
        columns.append(workload.user)
    return numbered(columns)
