"""What jobs must have asked for by ``--constraint``, as who was let past them shows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.node_arrays import node_arrays, node_features
from queuesmith.engine.passed_over import PassedOver, Starts
from queuesmith.policy.slurm import Slurm
from queuesmith.workload import Workload

#: A feature explains why a job was passed over where it does so but for this share of the times.
UNEXPLAINED = 0.1


def can_infer(workload: Workload, machine: NodeCluster) -> bool:
    """Tell whether a log leaves constraints out, and shows enough to infer some of them."""
    told = {"constraint", "excluded_nodes"} & workload.extra.keys()
    kinds = {kind.features for kind in machine.kinds}
    shown = {"node_list", "real_start"} <= workload.extra.keys()
    return shown and not told and len(kinds) > 1


def inferred_constraints(
    workload: Workload, machine: NodeCluster, policy: Slurm | None = None
) -> list[str]:
    """Return the feature that each job must have asked for, empty where none is proven.

    A job is bound where others that stood behind it in Slurm's queue were let on nodes that would
    have had room for it, and a feature that its own nodes share keeps it from there. Of several
    such features the one that leaves it the most nodes is taken. Jobs that were bound and of which
    nobody could see it stay free.

    Parameters
    ----------
    workload
        Jobs that fit the machine, with the columns ``node_list`` and ``real_start``.
    machine
        The nodes that they ran on, with features.
    policy
        How Slurm was set up, where that differs from the machine's own settings.
    """
    features = node_arrays(machine).features
    found = [""] * len(workload)
    starts = Starts(workload, machine, (policy or Slurm()).settings(machine.settings))
    if starts.known:
        for each in starts.passed_over():
            number = _explaining(each, features, starts)
            if number is not None:
                found[each.job] = node_features(machine)[number]
    return found


def _explaining(each: PassedOver, features: NDArray[np.bool_], starts: Starts) -> int | None:
    """Return the feature that explains best why a job was passed over; None where none does."""
    asks, own = starts.asks, starts.nodes_of(each.job)
    allowed = asks.node_sets[asks.node_set[each.job]]
    left = features & allowed
    binds = left[:, own].all(axis=1) & (left != allowed).any(axis=1)
    if not binds.any():
        return None
    against = [((each.nodes & nodes).sum(axis=1) >= each.needed).sum() for nodes in left]
    rank = np.lexsort((-left.sum(axis=1), against, ~binds))
    best = int(rank[0])
    return best if against[best] <= UNEXPLAINED * len(each.nodes) else None
