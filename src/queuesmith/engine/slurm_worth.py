"""What jobs under Slurm are worth: factors of their priority, what is billed, and the shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.billing import billing_weights
from queuesmith.cluster.limit_table import counted_amounts
from queuesmith.cluster.limits import share_tree
from queuesmith.cluster.node_arrays import node_arrays
from queuesmith.cluster.requests import JobRequests
from queuesmith.engine.kernels.slurm_state import FairShares
from queuesmith.policy.slurm_settings import SlurmSettings
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

Floats = NDArray[np.float64]


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as one that is only read."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def whole(array: NDArray[Any]) -> Ints:
    """Return an array of whole numbers that is only read."""
    return frozen(np.ascontiguousarray(array, np.int64))


def worth(
    workload: Workload, machine: NodeCluster, requests: JobRequests, settings: SlurmSettings
) -> Floats:
    """Return what never changes of each job's priority, and what a second of it counts."""
    factor = np.array([*(qos.usage_factor for qos in machine.qos), 1.0])[requests.qos]
    fixed = _fixed_priority(workload, machine, requests, settings)
    return frozen(np.stack([fixed, billed(machine, requests, settings) * factor]))


def billed(machine: NodeCluster, requests: JobRequests, settings: SlurmSettings) -> Floats:
    """Return what a second of each job counts in fair-share: its cores, or as it is billed."""
    amounts = counted_amounts(requests)
    names = {"cpu": 0, "node": 1, "mem": 2, "gres/gpu": 3}
    counted = requests.cores.astype(np.float64)
    for number, partition in enumerate(machine.partitions):
        weights = billing_weights(partition.billing, f"partition '{partition.name}'")
        if not weights:
            continue
        parts = [w * amounts[:, names[n]] for n, w in weights.items() if n in names]
        several = np.stack([np.zeros(len(amounts)), *parts])
        one = several.max(axis=0) if "MAX_TRES" in settings.flags else several.sum(axis=0)
        counted = np.where(requests.partition == number, one, counted)
    return counted


def _fixed_priority(
    workload: Workload, machine: NodeCluster, requests: JobRequests, settings: SlurmSettings
) -> Floats:
    """Return what never changes of priorities: size, partition, QOS, resources, the site's part."""
    if not settings.multifactor:
        return np.zeros(len(workload))
    priority = settings["PriorityWeightJobSize"] * _size(workload, machine, settings)
    for weight, values, number in (
        ("PriorityWeightPartition", [p.priority for p in machine.partitions], requests.partition),
        ("PriorityWeightQOS", [float(q.priority) for q in machine.qos], requests.qos),
    ):
        factors = np.array([*values, 0.0])  # the last is that of jobs without any
        priority = priority + settings[weight] * (factors / (factors.max() or 1.0))[number]
    site: Ints = workload.extra.get("site_factor", np.zeros(len(workload), np.int64))
    total: Floats = priority + _resources(machine, requests, settings) + site
    return total


def asked_cores(workload: Workload) -> Ints:
    """Return the cores that jobs ask for, also where they hold more: a node for themselves."""
    asked: Ints = workload.extra.get("requested_cores", workload.cores)
    return np.where(asked > 0, np.minimum(asked, workload.cores), workload.cores)


def _size(workload: Workload, machine: NodeCluster, settings: SlurmSettings) -> Floats:
    cores = asked_cores(workload)
    if "SMALL_RELATIVE_TO_TIME" in settings.flags:
        minutes = np.maximum(workload.walltime / 60.0, 1.0)
        return np.minimum(cores / minutes / machine.cores, 1.0)
    # Without --nodes a job asks for one node at least, however many its tasks will need.
    stated = workload.extra.get("requested_nodes", np.ones(len(workload), np.int64))
    nodes = np.maximum(stated, 1) / len(machine.node_names)
    both: Floats = (nodes + cores / machine.cores) / 2.0
    return np.clip(1.0 - both if settings.favours_small else both, 0.0, 1.0)


def _resources(machine: NodeCluster, requests: JobRequests, settings: SlurmSettings) -> Floats:
    """Return the part of PriorityWeightTRES: amounts asked for, over those of the machine."""
    amounts = counted_amounts(requests)
    names = {"cpu": 0, "node": 1, "mem": 2, "gres/gpu": 3, "billing": 0}
    nodes = node_arrays(machine)
    totals = [machine.cores, len(nodes.cores), nodes.memory.sum(), nodes.gpus.sum()]
    priority = np.zeros(len(requests.cores))
    for name, weight in settings.tres_weights.items():
        if name in names:
            column = names[name]
            whole = 1 if "NO_NORMAL_TRES" in settings.flags else max(int(totals[column]), 1)
            priority = priority + weight * amounts[:, column] / whole
    return priority


def fair_shares(
    workload: Workload, machine: NodeCluster, requests: JobRequests
) -> tuple[FairShares, Ints]:
    """Return the tree of shares; where none is known, all users have the same share."""
    if machine.associations:
        tree = share_tree(machine.associations)
        parent, shares, is_user = tree.parent, tree.shares, tree.is_user
        association = requests.association
    else:
        user = np.unique(workload.user, return_inverse=True)[1].ravel()
        count = int(user.max()) + 1
        parent = np.array([-1, *[0] * count], np.int64)
        shares = np.ones(count + 1, np.int64)
        is_user = np.array([False, *[True] * count], np.bool_)
        association = user + 1
    level = np.zeros(len(parent), np.int64)
    for i, above in enumerate(parent):
        if above >= 0 and shares[i] > 0:
            level[above] += shares[i]
    level_shares = np.where(parent >= 0, level[parent], 1)
    paths = [_path(i, parent) for i in range(len(parent))]
    path = np.full((len(parent), max(map(len, paths)) + 1), -1, np.int64)
    for row, steps in zip(path, paths, strict=True):
        row[: len(steps)] = steps
    reals = [np.zeros(len(parent)) for _ in range(5)]
    users = np.flatnonzero(is_user).astype(np.int64)
    return (
        FairShares(
            *(frozen(parent), frozen(shares), frozen(level_shares), frozen(path)),
            *(users, np.zeros_like(users), *reals),
        ),
        association,
    )


def _path(number: int, parent: Ints) -> list[int]:
    path: list[int] = []
    while number > 0:
        path.insert(0, number)
        number = int(parent[number])
    return path
