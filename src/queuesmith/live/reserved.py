"""Reservations of a running Slurm: which last now, and whose jobs may run there."""

from __future__ import annotations

from dataclasses import replace

from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.outages import Outage
from queuesmith.live.jobs import LiveJob
from queuesmith.live.state import ClusterState


def lasts(outage: Outage, now: int) -> bool:
    """Tell whether an outage, or a reservation, has begun and is not over."""
    begun = outage.begin is None or outage.begin <= now
    return begun and (outage.end is None or now < outage.end)


def reserved_nodes(machine: NodeCluster, now: int) -> dict[str, Outage]:
    """Return the nodes that are kept for jobs of a reservation now, and that reservation."""
    kept = [each for each in machine.outages if each.reservation and lasts(each, now)]
    others = [each for each in machine.outages if not each.reservation and lasts(each, now)]
    gone = {node for each in others for node in (each.nodes or machine.node_names)}
    return {
        node: each
        for each in kept
        for node in (each.nodes or machine.node_names)
        if node not in gone
    }


def begun_before(outage: Outage, begin: int, now: int) -> Outage:
    """Let a reservation that lasts have begun when running jobs are submitted."""
    if not outage.reservation or outage.begin is None or not lasts(outage, now):
        return outage
    return replace(outage, begin=min(outage.begin, begin))


def has_reservation(job: LiveJob, state: ClusterState) -> bool:
    """Tell whether a job names a reservation that is not over."""
    return bool(job.reservation) and any(
        each.reservation == job.reservation and (each.end is None or state.now < each.end)
        for each in state.machine.outages
    )
