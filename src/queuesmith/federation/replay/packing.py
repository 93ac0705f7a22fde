"""From a federation and its jobs to the plain arrays of the compiled replay."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.replay.kernels.site import (
    COUNTERS,
    FREE,
    TOO_WIDE,
    Draft,
    JobArrays,
    Line,
    NodeLayout,
    Running,
    Site,
)


def pack_layout(federation: Federation, node_price: Floats | None = None) -> NodeLayout:
    """Return the federation as arrays.

    Parameters
    ----------
    federation
        The clusters.
    node_price
        What a second on each node costs, for the rule that takes the cheapest; by default the
        node's power. Nodes of one price form a class.
    """
    size = federation.group_nodes
    clusters = np.arange(len(federation.clusters) + 1)
    price = federation.node_power if node_price is None else node_price
    classes = _classes(
        federation, np.array([price[nodes[0]] for nodes in federation.group_members])
    )
    return NodeLayout(
        group_cluster=_own(federation.group_cluster, np.int64),
        group_power=_own(federation.group_power, np.float64),
        group_first=_own(np.concatenate([[0], np.cumsum(size)]), np.int64),
        members=_own(np.concatenate(federation.group_members), np.int64),
        node_group=_own(federation.node_group, np.int64),
        by_power=_own(np.argsort(-federation.group_power, kind="stable"), np.int64),
        cluster_group=_own(np.searchsorted(federation.group_cluster, clusters), np.int64),
        bandwidth=_own(federation.bandwidth, np.float64),
        group_class=_own(classes.of_group, np.int64),
        class_power=_own(classes.power, np.float64),
        class_price=_own(classes.price, np.float64),
        by_price=_own(np.argsort(classes.price, kind="stable"), np.int64),
    )


class _Classes(NamedTuple):
    of_group: Ints
    power: Floats
    price: Floats


def _classes(federation: Federation, price: Floats) -> _Classes:
    """Groups of one price, the class of the fastest first."""
    values, member = np.unique(price, return_inverse=True)
    power = np.zeros(len(values))
    np.maximum.at(power, member, federation.group_power)
    order = np.argsort(-power, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return _Classes(place[member], power[order], values[order])


def pack_jobs(jobs: FederationJobs, bill: Floats | None = None) -> JobArrays:
    """Return the jobs as arrays."""
    return JobArrays(
        submit=_own(jobs.submit, np.int64),
        tasks=_own(jobs.tasks, np.int64),
        base_time=_own(jobs.base_time, np.float64),
        task_bandwidth=_own(jobs.task_bandwidth, np.float64),
        sigma=_own(jobs.sigma, np.float64),
        offset=_own(jobs.offset, np.int64),
        bill=_own(np.zeros(len(jobs)) if bill is None else bill, np.float64),
    )


def empty_line(order: Ints) -> Line:
    """Return a line without waiting jobs; ``order`` are the jobs from the first to the last."""
    count = len(order)
    leaves = 1 << max(count - 1, 1).bit_length()
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    tree = np.full(2 * leaves, TOO_WIDE, np.int64)
    return Line(tree=tree, job_at=_own(order, np.int64), rank=rank)


def nobody_running(federation: Federation, jobs: FederationJobs) -> Running:
    """Return the state of jobs of which none has started."""
    count, clusters = len(jobs), len(federation.clusters)
    ints = {name: np.full(count, -1, np.int64) for name in ("start", "end", "since")}
    places = ("heap", "heap_place", "linked", "linked_place")
    return Running(
        **ints,
        nodes=np.full(int(jobs.offset[-1]), -1, np.int64),
        use=np.zeros((count, clusters)),
        slowest=np.ones(count),
        remaining=np.zeros(count),
        cost=np.ones(count),
        **{name: np.full(count, -1, np.int64) for name in places},
    )


def empty_site(federation: Federation, layout: NodeLayout) -> Site:
    """Return the federation with all nodes free and nothing on its links."""
    clusters = len(federation.clusters)
    counter = np.zeros(COUNTERS, np.int64)
    counter[FREE] = federation.nodes
    return Site(
        node_free=np.ones(federation.nodes, np.uint8),
        group_free=_own(federation.group_nodes, np.int64),
        cluster_free=_own(federation.cluster_nodes, np.int64),
        class_free=np.bincount(layout.group_class, federation.group_nodes).astype(np.int64),
        load=np.zeros(clusters),
        users=np.zeros(clusters, np.int64),
        slowdown=np.ones(clusters),
        counter=counter,
    )


def empty_draft(federation: Federation) -> Draft:
    """Return room for one decision."""
    groups, clusters = len(federation.group_nodes), len(federation.clusters)
    sizes = (groups, groups, groups, clusters, clusters, clusters, clusters)
    return Draft(*(np.zeros(size, np.int64) for size in sizes))


def _own(values: Any, kind: Any) -> Any:
    """A copy that compiled code may have: of the type it expects, and writable."""
    return np.array(values, dtype=kind, order="C")
