"""The partitions behind a log: where their jobs ran, and what none of them exceeded."""

from __future__ import annotations

from collections import Counter

import numpy as np

from queuesmith.cluster.inference.history import JobHistory, NodePieces
from queuesmith.cluster.nodes import Partition


def partitions_of_lists(
    seen: JobHistory, parts: NodePieces, inferred: dict[str, str]
) -> tuple[Partition, ...]:
    """Return the partitions that jobs name, each with the nodes that its jobs ran on."""
    names = [name for name in dict.fromkeys(seen.partition) if name and "," not in name]
    nodes = {}
    for name in names:
        ran_on = np.unique(parts.node[seen.partition[parts.job] == name])
        nodes[name] = tuple(parts.names[node] for node in ran_on)
    nodes = {name: own for name, own in nodes.items() if own}
    if nodes:
        inferred["partitions"] = (
            "the nodes on which the jobs of a partition ran; no job that ended within its time "
            "asked for more time, none for more nodes"
        )
    return _limited(seen, nodes)


def partitions_of_names(
    seen: JobHistory, nodes: tuple[str, ...], inferred: dict[str, str]
) -> tuple[Partition, ...]:
    """Return the partitions that jobs name, each with all nodes."""
    names = [name for name in dict.fromkeys(seen.partition) if name and "," not in name]
    if names:
        inferred["partitions"] = (
            "names from the log; all nodes belong to each, as the log has no node lists; no job "
            "that ended within its time asked for more time"
        )
    return _limited(seen, dict.fromkeys(names, nodes))


def _limited(seen: JobHistory, nodes: dict[str, tuple[str, ...]]) -> tuple[Partition, ...]:
    """Return partitions with the longest time and most nodes that any job of each asked for."""
    found = []
    busiest = Counter(seen.partition).most_common(1)
    for name, own in nodes.items():
        jobs = seen.partition == name
        most_nodes = int(seen.numbers("nodes")[jobs].max())
        # Where it equals the runtime, a walltime may have been raised to it.
        asked = seen.workload.walltime[jobs & (seen.workload.walltime > seen.workload.runtime)]
        longest = asked if len(asked) else seen.workload.walltime[jobs]
        found.append(
            Partition(
                name,
                own,
                default=bool(busiest) and name == busiest[0][0],
                max_time=max(int(longest.max()), 1),
                max_nodes=most_nodes if most_nodes > 0 else None,
            )
        )
    return tuple(found)
