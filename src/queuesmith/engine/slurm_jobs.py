"""Jobs laid out as the kernels of Slurm take them: a table with a row for all they ask of it."""

from __future__ import annotations

import numpy as np

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.alike import numbered
from queuesmith.cluster.requests import JobRequests, most_pieces
from queuesmith.cluster.reserved import from_reservations
from queuesmith.engine.cancelled import cancel_times
from queuesmith.engine.kernels.constants import NEVER
from queuesmith.engine.kernels.slurm_state import (
    ARRIVAL,
    ASSOCIATION,
    CANCELLED,
    CORES,
    ELIGIBLE,
    EXCLUSIVE,
    FIRST_PIECE,
    FOLLOWER,
    GPU_TYPE,
    GPUS,
    GROUP,
    JOB_ROWS,
    KIND,
    LANE,
    LEAST,
    LEAST_LOADED,
    LIMIT,
    MEMORY_PER_CORE,
    MEMORY_PER_NODE,
    MOST,
    NEXT_FOLLOWER,
    NODE_SET,
    PARTITION,
    PER_NODE,
    PER_TASK,
    RESERVATION,
    RUNTIME,
    SHAPE,
    THINK,
    TIER,
    USER,
    WHOLE_MEMORY,
)
from queuesmith.engine.node_packing import followers
from queuesmith.engine.slurm_worth import frozen
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import predecessors
from queuesmith.workload.requests import EXCLUSIVE_USER
from queuesmith.workload.workload import Ints


def job_table(
    workload: Workload,
    machine: NodeCluster,
    requests: JobRequests,
    association: Ints,
    group: Ints | None = None,
) -> Ints:
    """Return the table of jobs, a row for everything that kernels ask of them.

    The group tells who may stop it; None where nobody can.
    """
    room = most_pieces(requests, len(machine.node_names))
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
        KIND: numbered([shapes, -(-workload.walltime // 60), *([] if group is None else [group])]),
        FIRST_PIECE: np.cumsum(room) - room,
        FOLLOWER: follower,
        NEXT_FOLLOWER: next_follower,
        THINK: think,
        GROUP: np.zeros(len(workload), np.int64) if group is None else group,
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
