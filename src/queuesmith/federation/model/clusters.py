"""Clusters of different speed, each joined by one link to a central switch: their nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import all_of_kind
from queuesmith.base.errors import ClusterError
from queuesmith.base.words import so_many

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_NODES = 2**20
#: The range of powers whose slowdowns still leave every time exact to the second.
POWERS = (1e-6, 1e6)


@dataclass(frozen=True)
class FederationCluster:
    """A cluster of a federation.

    Parameters
    ----------
    name
        What files, messages and figures call it.
    nodes
        How many nodes it has. A node runs one task at a time.
    power
        The effective power of its nodes: 1 runs tasks at full speed, 0.5 takes twice as long. One
        number for all, or one for each node.
    bandwidth
        Of its link to the central switch, in the unit of the jobs' bandwidth; may be infinite.
    """

    name: str
    nodes: int
    power: tuple[float, ...]
    bandwidth: float

    def __init__(
        self, name: str, nodes: int, power: float | Sequence[float] = 1.0, bandwidth: float = 1000.0
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ClusterError(
                f"a cluster is called {name!r}, but it needs a name. Give for example 'north'."
            )
        _check_nodes(name, nodes)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "nodes", int(nodes))
        object.__setattr__(self, "power", _powers(name, int(nodes), power))
        object.__setattr__(self, "bandwidth", _bandwidth(name, bandwidth))

    @property
    def alike(self) -> bool:
        """Whether all its nodes have the same power."""
        return len(set(self.power)) == 1


@dataclass(frozen=True)
class Clusters:
    """Clusters and their links: what a federation is made of. Nodes are numbered from 0.

    Nodes of one cluster and one power are interchangeable; they form a **group**. Where the nodes
    of every cluster are alike, groups are the clusters. Groups are ordered by cluster and, within
    a cluster, from the fastest to the slowest; they are what placements are decided over.

    Parameters
    ----------
    clusters
        At least one, each with a name of its own.
    name
        What messages and figures call the federation.
    """

    clusters: tuple[FederationCluster, ...]
    name: str = "federation"

    def __init__(self, clusters: Iterable[FederationCluster], *, name: str = "federation") -> None:
        way_out = "Make each with FederationCluster(...)."
        members = all_of_kind("clusters", clusters, FederationCluster, way_out)
        _check_clusters(members, name)
        object.__setattr__(self, "clusters", members)
        object.__setattr__(self, "name", name)

    # -- nodes -----------------------------------------------------------------------------

    @cached_property
    def nodes(self) -> int:
        """How many nodes all clusters have together."""
        return sum(cluster.nodes for cluster in self.clusters)

    @cached_property
    def alike(self) -> bool:
        """Whether the nodes of each cluster are alike, so that groups are the clusters."""
        return all(cluster.alike for cluster in self.clusters)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the clusters."""
        return tuple(cluster.name for cluster in self.clusters)

    @cached_property
    def cluster_nodes(self) -> Ints:
        """How many nodes each cluster has."""
        return _frozen(np.array([cluster.nodes for cluster in self.clusters], np.int64))

    @cached_property
    def bandwidth(self) -> Floats:
        """The bandwidth of each cluster's link."""
        return _frozen(np.array([cluster.bandwidth for cluster in self.clusters], np.float64))

    @cached_property
    def node_cluster(self) -> Ints:
        """The cluster of each node, by its number."""
        return _frozen(np.repeat(np.arange(len(self.clusters)), self.cluster_nodes))

    @cached_property
    def node_power(self) -> Floats:
        """The effective power of each node."""
        return _frozen(np.concatenate([cluster.power for cluster in self.clusters]))

    # -- groups of interchangeable nodes -----------------------------------------------------

    @cached_property
    def group_members(self) -> tuple[Ints, ...]:
        """The nodes of each group."""
        order = np.lexsort((np.arange(self.nodes), -self.node_power, self.node_cluster))
        new = np.diff(self.node_cluster[order]) + np.abs(np.diff(self.node_power[order])) > 0
        return tuple(_frozen(part) for part in np.split(order, np.flatnonzero(new) + 1))

    @cached_property
    def group_nodes(self) -> Ints:
        """How many nodes each group has."""
        return _frozen(np.array([len(nodes) for nodes in self.group_members], np.int64))

    @cached_property
    def group_cluster(self) -> Ints:
        """The cluster of each group."""
        return _frozen(np.array([self.node_cluster[n[0]] for n in self.group_members], np.int64))

    @cached_property
    def group_power(self) -> Floats:
        """The effective power of each group's nodes."""
        return _frozen(np.array([self.node_power[n[0]] for n in self.group_members], np.float64))

    @cached_property
    def node_group(self) -> Ints:
        """The group of each node."""
        group = np.empty(self.nodes, np.int64)
        for number, members in enumerate(self.group_members):
            group[members] = number
        return _frozen(group)

    @cached_property
    def levels(self) -> Floats:
        """The different powers there are, from the fastest to the slowest."""
        return _frozen(np.unique(self.node_power)[::-1].copy())

    @cached_property
    def group_level(self) -> Ints:
        """The place of each group's power in ``levels``."""
        return _frozen(np.searchsorted(-self.levels, -self.group_power).astype(np.int64))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _check_nodes(name: str, nodes: int) -> None:
    is_whole = isinstance(nodes, (int, np.integer)) and not isinstance(nodes, bool)
    if not is_whole or not 1 <= int(nodes) <= LARGEST_NODES:
        raise ClusterError(
            f"cluster '{name}' has {nodes!r} nodes, but it must have a whole number of them from 1 "
            f"to {LARGEST_NODES:,}. Correct it, or leave the cluster out."
        )


def _powers(name: str, nodes: int, power: float | Sequence[float]) -> tuple[float, ...]:
    given = power if isinstance(power, (Sequence, np.ndarray)) else [power] * nodes
    if isinstance(power, str) or not all(_is_number(value) for value in given):
        raise ClusterError(
            f"cluster '{name}' has the power {power!r}, but power is a number, or a list of them "
            "with one for each node. Give for example 0.75."
        )
    if len(given) != nodes:
        raise ClusterError(
            f"cluster '{name}' has {so_many(len(given), 'power')} for {so_many(nodes, 'node')}, "
            "but each node has one. Give one for each node, or a single number for all."
        )
    for value in given:
        if not POWERS[0] <= float(value) <= POWERS[1]:
            raise ClusterError(
                f"cluster '{name}' has a node of power {value}, but a node that runs tasks has a "
                f"power above 0, from {POWERS[0]:g} to {POWERS[1]:g}. Leave dead nodes out."
            )
    return tuple(float(value) for value in given)


def _bandwidth(name: str, bandwidth: float) -> float:
    if not _is_number(bandwidth) or not float(bandwidth) > 0:
        raise ClusterError(
            f"the link of cluster '{name}' has the bandwidth {bandwidth!r}, but a link needs "
            "a number above 0 to carry anything. Give it in the unit of the jobs', or inf."
        )
    return float(bandwidth)


def _is_number(value: object) -> bool:
    is_real = isinstance(value, (int, float, np.integer, np.floating))
    return is_real and not isinstance(value, bool) and not math.isnan(float(value))  # type: ignore[arg-type]


def _check_clusters(clusters: tuple[FederationCluster, ...], name: str) -> None:
    if not clusters:
        raise ClusterError(
            f"federation '{name}' has no cluster, but it needs one. Add [[cluster]]."
        )
    seen: set[str] = set()
    for cluster in clusters:
        if cluster.name in seen:
            raise ClusterError(
                f"federation '{name}' has two clusters called '{cluster.name}', but names tell "
                "them apart. Rename one."
            )
        seen.add(cluster.name)
