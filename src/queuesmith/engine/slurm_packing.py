"""A replay under Slurm in which nothing has happened yet, as its kernels take it."""

from __future__ import annotations

import numpy as np

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.limit_table import LimitTable
from queuesmith.cluster.node_arrays import node_arrays, reservations
from queuesmith.cluster.requests import job_requests, most_pieces
from queuesmith.cluster.reserved import from_reservations
from queuesmith.engine.cancelled import in_order_of_cancels
from queuesmith.engine.kernels.slurm_state import (
    AWAY,
    BEGAN,
    BF_MAX_TEST,
    BF_SPACE,
    CANCELLED,
    CHOSEN_CORES,
    FIRST_PIECE,
    KIND,
    KIND_TRIED,
    LEAF,
    PIECE_GPUS,
    ROW_REACHED,
    SHAPE,
    SLURM_COUNTERS,
    USER,
    Hopeful,
    JobLimits,
    NodeChoice,
    NodePieces,
    Ready,
    Reserved,
    SlurmReplay,
    SlurmRunning,
    Waiting,
)
from queuesmith.engine.kernels.time_heap import ROWS
from queuesmith.engine.slurm_jobs import job_table
from queuesmith.engine.slurm_knobs import knobs, weights
from queuesmith.engine.slurm_nodes import by_name, node_table, nothing_held
from queuesmith.engine.slurm_preempting import preemption, rules_of
from queuesmith.engine.slurm_worth import fair_shares, frozen, whole, worth
from queuesmith.policy.slurm_settings import SlurmSettings
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

#: So many instants at which nodes have room are kept, one for each node and shape of a job.
READY_TABLE = 4_000_000
#: So many runs of each job that are cut short can be noted at first.
LOST_RUNS_PER_JOB = 2


def slurm_replay(
    workload: Workload, machine: NodeCluster, settings: SlurmSettings, room: int = LOST_RUNS_PER_JOB
) -> SlurmReplay:
    """Return a replay in which nothing has happened yet, with all the room it will need.

    Of runs that are cut short it can note ``room`` for each job.
    """
    requests, nodes = job_requests(workload, machine), node_arrays(machine)
    order = by_name(machine)
    limits = LimitTable(workload, machine, requests)
    shares, association = fair_shares(workload, machine, requests)
    rules = rules_of(machine, requests, settings)
    jobs = job_table(workload, machine, requests, association, rules.group if rules else None)
    count, node_count = len(workload), len(order)
    held = min(count, int(nodes.cores.sum()))
    pieces = int(jobs[FIRST_PIECE, -1] + most_pieces(requests, node_count)[-1])
    kinds = nodes.gpus.shape[1]
    packed = node_table(workload, machine, nodes, requests, order)
    settled = knobs(workload, settings)
    records = int(min(2 * settled[BF_MAX_TEST], settled[BF_SPACE], 2 * count)) + 3
    words, job_kinds = packed.sets.shape[1], int(jobs[KIND].max()) + 1
    rows = min(int(jobs[SHAPE].max()) + 1, max(READY_TABLE // node_count, 1))
    return SlurmReplay(
        jobs=jobs,
        worth=worth(workload, machine, requests, settings),
        nodes=packed,
        free=nothing_held(packed, nodes.gpus[order]),
        later=nothing_held(packed, nodes.gpus[order]),
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
            ending=_zeros(ROWS, held + 1),
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
            first=whole(limits.first),
            numbers=whole(limits.of_jobs),
            amounts=whole(limits.amounts),
            most=frozen(limits.most),
            used=np.zeros_like(limits.most),
        ),
        waiting=Waiting(
            queue=_zeros(count + 1),
            spare=_zeros(count + 1),
            priority=_zeros(count),
            comes=from_reservations(workload, machine, requests).copy(),
            followers=np.zeros((ROWS, max(count, 1)), np.int64),
            cancels=frozen(in_order_of_cancels(jobs[CANCELLED])),
            lanes=_zeros(len(machine.partitions) + len(reservations(machine))),
        ),
        preemption=preemption(rules, room * count, room * pieces) if rules else None,
        tested=np.zeros(int(jobs[USER].max()) + 1, np.int64),
        tested_partition=np.zeros(len(machine.partitions), np.int64),
        blocked=np.zeros(len(machine.partitions) + len(reservations(machine)), np.bool_),
        knobs=settled,
        weights=weights(settings),
        counters=np.zeros(SLURM_COUNTERS, np.int64),
        start=np.full(count, -1, np.int64),
    )


def _zeros(*shape: int) -> Ints:
    return np.zeros(shape, np.int64)
