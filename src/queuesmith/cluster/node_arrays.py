"""The nodes of a machine as plain arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from queuesmith.cluster.features import Mask
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from queuesmith.cluster.node_cluster import NodeCluster

#: The memory of a node whose memory is not known: more than any job asks for.
ENDLESS = 2**40


class NodeArrays(NamedTuple):
    """The nodes of a machine, in the order of their numbers.

    Attributes
    ----------
    cores, memory, weight, threads_per_core
        Of each node; memory in MB, 0 everywhere where it is not given out to jobs.
    gpus
        By node and type of GPU; the types are ``gpu_types`` of the machine.
    partitions, features
        Which nodes belong to each partition, and have each feature, one row each.
    """

    cores: Ints
    memory: Ints
    weight: Ints
    threads_per_core: Ints
    gpus: Ints
    partitions: Mask
    features: Mask


def gpu_types(machine: NodeCluster) -> tuple[str, ...]:
    """Return the types of GPUs of a machine; an empty name where the type is not told."""
    names = (name for kind in machine.kinds for name in kind.gres)
    types = (name.partition(":")[2] for name in names if name.split(":")[0] == "gpu")
    return tuple(dict.fromkeys(types))


def node_features(machine: NodeCluster) -> tuple[str, ...]:
    """Return the features that some node has."""
    return tuple(dict.fromkeys(name for kind in machine.kinds for name in kind.features))


def reservations(machine: NodeCluster) -> tuple[str, ...]:
    """Return the names of the reservations that jobs can ask for."""
    return tuple(dict.fromkeys(each.reservation for each in machine.outages if each.reservation))


def node_arrays(machine: NodeCluster) -> NodeArrays:
    """Return the nodes of a machine as plain arrays."""
    kinds, sizes = machine.kinds, [len(kind.nodes) for kind in machine.kinds]

    def each(values: list[int]) -> Ints:
        return np.repeat(np.array(values, np.int64), sizes)

    types, features = gpu_types(machine), node_features(machine)
    counted = machine.counts_memory
    gpus = [[k.gres.get(f"gpu:{t}" if t else "gpu", 0) for t in types] for k in kinds]
    partitions = np.zeros((len(machine.partitions), sum(sizes)), np.bool_)
    for row, partition in zip(partitions, machine.partitions, strict=True):
        row[[machine.node_index[node] for node in partition.nodes]] = True
    has = [[feature in kind.features for feature in features] for kind in kinds]
    return NodeArrays(
        cores=each([kind.cores for kind in kinds]),
        memory=each([(kind.memory or ENDLESS) if counted else 0 for kind in kinds]),
        weight=each([kind.weight for kind in kinds]),
        threads_per_core=each([kind.threads_per_core for kind in kinds]),
        gpus=np.repeat(np.array(gpus, np.int64).reshape(len(kinds), -1), sizes, axis=0),
        partitions=partitions,
        features=np.repeat(np.array(has, np.bool_).reshape(len(kinds), -1), sizes, axis=0).T,
    )
