"""Windows of maintenance: times in which no job may run, known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from queuesmith.base.errors import ClusterError
from queuesmith.cluster.cluster import Cluster
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.nodes import NodeKind
from queuesmith.cluster.outages import Outage
from queuesmith.workload import Workload
from queuesmith.workload.moments import Moment, second_of


def with_maintenance(
    machine: Cluster | NodeCluster, log: Workload, windows: Sequence[tuple[Moment, Moment]]
) -> Cluster | NodeCluster:
    """Return the machine with further windows of maintenance, in which none of it may run a job.

    No job is started that could still run when a window begins, under any backfill.

    Parameters
    ----------
    machine
        A number of cores, or a machine of nodes.
    log
        The log whose moments are meant.
    windows
        From when up to when: seconds of the log, or dates.

    Examples
    --------
    >>> log = Workload(submit=[0], runtime=[10], walltime=[10], cores=[1])
    >>> with_maintenance(Cluster(4), log, [(100, 200)]).maintenance
    ((100, 200),)
    """
    found = [
        (second_of(first, log.epoch, log.name), second_of(last, log.epoch, log.name))
        for first, last in windows
    ]
    for first, last in found:
        if last <= first:
            raise ClusterError(
                f"maintenance ends at second {last}, but it begins at {first}. Let it end later."
            )
    if isinstance(machine, Cluster):
        return replace(machine, maintenance=(*machine.maintenance, *found))
    epoch = log.epoch or 0
    outages = [Outage((), a + epoch, b + epoch, "maintenance") for a, b in found]
    return replace(machine, outages=(*machine.outages, *outages))


def as_one_node(machine: Cluster, log: Workload) -> NodeCluster:
    """Return a number of cores as one node that has them all, with the same maintenance."""
    epoch = log.epoch or 0
    return NodeCluster(
        (NodeKind(("node",), machine.cores),),
        machine.name,
        outages=tuple(Outage((), a + epoch, b + epoch) for a, b in machine.maintenance),
    )


def check_no_maintenance(machine: Cluster, what: str) -> Cluster:
    """Return the machine; raise where it has maintenance, which not all computations know."""
    if machine.maintenance:
        raise ClusterError(
            f"cluster '{machine.name}' has windows of maintenance, which {what} does not know. "
            "Leave them out, or use simulate, compare or tune."
        )
    return machine
