"""The machine behind a log: the nodes, partitions, limits and outages that its jobs let one see.

What is inferred is the least that the jobs prove: a node is as large as what ran on it at once, a
limit holds where it was reached by several and exceeded by none while jobs waited. It is marked as
inferred, and meant to be looked at and corrected.
"""

from __future__ import annotations

from queuesmith.cluster.inference.history import JobHistory
from queuesmith.cluster.inference.limits import accounts_of, capped, partition_caps, user_qos
from queuesmith.cluster.inference.nodes import kinds_of_lists, kinds_of_widths
from queuesmith.cluster.inference.outages import outages_of
from queuesmith.cluster.inference.partitions import partitions_of_lists, partitions_of_names
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.workload import Workload


def infer_machine(workload: Workload) -> NodeCluster:
    """Return the machine that a log lets one see.

    Parameters
    ----------
    workload
        Jobs of which is known when they really began. Node lists, memory, GPUs, constraints,
        partitions, QOS and accounts are used where the log has them.
    """
    seen = JobHistory(workload)
    inferred: dict[str, str] = {}
    if seen.pieces is not None:
        kinds = kinds_of_lists(seen, seen.pieces, inferred)
        partitions = partitions_of_lists(seen, seen.pieces, inferred)
    else:
        kinds = kinds_of_widths(seen, inferred)
        names = tuple(node for kind in kinds for node in kind.nodes)
        partitions = partitions_of_names(seen, names, inferred)
    cores = sum(kind.cores * len(kind.nodes) for kind in kinds)
    caps = partition_caps(seen, partitions, cores, inferred) if seen.pieces is None else {}
    return NodeCluster(
        kinds=kinds,
        name=workload.name,
        partitions=tuple(capped(each, caps) for each in partitions),
        qos=(*user_qos(seen, cores, inferred), *caps.values()),
        associations=accounts_of(seen, inferred),
        outages=outages_of(seen, inferred),
        inferred=inferred,
    )
