"""Nodes, sets of them and their outages laid out as the kernels of Slurm take them."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.node_arrays import NodeArrays
from queuesmith.cluster.requests import JobRequests
from queuesmith.cluster.reserved import reservation_numbers
from queuesmith.engine.kernels.constants import NEVER
from queuesmith.engine.kernels.slurm_sets import MASK
from queuesmith.engine.kernels.slurm_state import (
    FREE_CORES,
    FREE_GPUS,
    FREE_MEMORY,
    FREE_OWNER,
    NODE_CORES,
    NODE_MEMORY,
    SlurmNodes,
)
from queuesmith.engine.slurm_worth import frozen, whole
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints


def by_name(machine: NodeCluster) -> Ints:
    """Return the numbers of the nodes in the order of their names, numbers as numbers."""

    def key(name: str) -> list[tuple[int, int, str]]:
        parts = re.findall(r"[0-9]+|[^0-9]+", name)
        return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]

    names = machine.node_names
    return np.array(sorted(range(len(names)), key=lambda i: key(names[i])), np.int64)


def node_table(
    workload: Workload,
    machine: NodeCluster,
    nodes: NodeArrays,
    requests: JobRequests,
    order: Ints,
) -> SlurmNodes:
    """Return the nodes in the order of their names, with outages in seconds of the log."""
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
        of_node=whole(np.stack(has)[:, order]),
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


def nothing_held(nodes: SlurmNodes, gpus: Ints) -> Ints:
    """Return the table of what is free before anything runs."""
    free = np.zeros((FREE_GPUS + gpus.shape[1], len(gpus)), np.int64)
    free[FREE_CORES], free[FREE_MEMORY] = nodes.of_node[[NODE_CORES, NODE_MEMORY]]
    free[FREE_OWNER], free[FREE_GPUS:] = -1, gpus.T
    return free
