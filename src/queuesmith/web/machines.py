"""The machine that a column is tried on: the given one, with more or fewer cores or nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from queuesmith.base.errors import UsageError
from queuesmith.cluster import Cluster, NodeCluster, NodeKind, as_cluster
from queuesmith.web.state import Column
from queuesmith.workload import Workload

AnyCluster = Cluster | NodeCluster


def machine_of(column: Column, workload: Workload, given: AnyCluster | None) -> AnyCluster:
    """Return the machine of a column.

    Parameters
    ----------
    column
        What may ask for another number of cores or nodes.
    workload
        The log, which may say how large its machine is.
    given
        The machine that was named when the page was started.
    """
    if isinstance(given, NodeCluster):
        return resized(given, dict(column.nodes)) if column.nodes else given
    own = as_cluster(workload, given, None)
    return own if column.cores is None else replace(own, cores=column.cores)


def resized(machine: NodeCluster, counts: Mapping[str, int]) -> NodeCluster:
    """Return a machine with another number of nodes of some kinds.

    Nodes that are added are in the partitions in which the first node of their kind is; nodes that
    are taken away are the last ones.

    Parameters
    ----------
    machine
        The machine as it is.
    counts
        How many nodes of a kind there are to be, by the name of its first node.
    """
    kinds = {kind.nodes[0]: kind for kind in machine.kinds}
    for name, count in counts.items():
        if name not in kinds:
            raise UsageError(
                f"machine '{machine.name}' has no kind of nodes that begins with '{name}'. "
                f"Choose from: {', '.join(kinds)}."
            )
        if not 0 <= count <= 1_000_000:
            raise UsageError(f"{count} nodes of '{name}' are asked for. Give 0 to 1,000,000.")
    sized = [_sized(kind, counts.get(name, len(kind.nodes))) for name, kind in kinds.items()]
    left = tuple(kind for kind in sized if kind is not None)
    if not left:
        raise UsageError(f"machine '{machine.name}' would have no nodes left. Leave some.")
    return _with_nodes(machine, left)


def _sized(kind: NodeKind, count: int) -> NodeKind | None:
    if count == 0:
        return None
    more = range(len(kind.nodes), count)
    added = tuple(f"{kind.nodes[0]}-more-{number + 1}" for number in more)
    return replace(kind, nodes=(*kind.nodes[:count], *added))


def _with_nodes(machine: NodeCluster, kinds: tuple[NodeKind, ...]) -> NodeCluster:
    there = {node for kind in kinds for node in kind.nodes}
    added = {
        kind.nodes[0]: tuple(node for node in kind.nodes if node not in machine.node_index)
        for kind in kinds
    }
    partitions = []
    for each in machine.partitions:
        more = [node for first, nodes in added.items() if first in each.nodes for node in nodes]
        nodes = (*(node for node in each.nodes if node in there), *more)
        if nodes:
            partitions.append(replace(each, nodes=nodes))
    outages = [
        replace(each, nodes=tuple(node for node in each.nodes if node in there))
        for each in machine.outages
        if not each.nodes or there.intersection(each.nodes)  # of no nodes: of all
    ]
    return replace(
        machine,
        kinds=kinds,
        partitions=tuple(partitions),
        outages=tuple(outages),
        switches=(),  # new nodes have no place in the network
    )
