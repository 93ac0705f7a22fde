"""Several clusters of different speed and their links, as one machine that schedules run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from queuesmith.base.errors import ClusterError
from queuesmith.base.files import AnyPath, write_bytes
from queuesmith.base.toml import check_keys, read_toml, toml_text
from queuesmith.base.words import so_many
from queuesmith.cluster.machine import Places
from queuesmith.federation.model.clusters import Clusters, FederationCluster
from queuesmith.federation.model.placed import co_allocated, peak_link_load, power_utilization
from queuesmith.federation.model.rules import broken_rules

CLUSTER_KEYS = ("name", "nodes", "power", "bandwidth")
#: What can be measured on federations alone.
MEASURES: Mapping[str, Callable[[Any], float]] = {
    "power_utilization": power_utilization,
    "peak_link_load": peak_link_load,
    "co_allocated": co_allocated,
}


class Federation(Clusters):
    """Clusters of different speed and their links: what jobs are placed on; see `Clusters`.

    To a schedule it is a machine of one core a node: ``places`` are its nodes, called
    ``cluster:number``, and ``violations`` are the rules of links and speeds.
    """

    # -- a machine -----------------------------------------------------------------------------

    @property
    def cores(self) -> int:
        """One for each node: a node runs one task at a time."""
        return self.nodes

    @cached_property
    def places(self) -> Places:
        """The nodes, by their numbers."""
        names = [
            f"{cluster.name}:{number}"
            for cluster in self.clusters
            for number in range(cluster.nodes)
        ]
        return Places(names, np.ones(self.nodes, np.int64))

    @property
    def measures(self) -> Mapping[str, Callable[[Any], float]]:
        """How much of the power, and of the links, a schedule uses."""
        return MEASURES

    def violations(self, schedule: Any) -> list[str]:
        """Return a sentence for each rule of links and speeds that a schedule breaks."""
        return broken_rules(schedule)

    # -- files ---------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: AnyPath) -> Federation:
        """Read a federation from TOML: a table ``[[cluster]]`` for each cluster.

        Each has ``name``, ``nodes``, ``power`` (a number, or a list with one for each node) and
        ``bandwidth``.
        """
        content = read_toml(path, error=ClusterError)
        return cls(_clusters_of(content, path), name=Path(path).stem)

    def write(self, path: AnyPath) -> None:
        """Write the federation as TOML; it reads back as the same."""
        write_bytes(path, toml_text({"cluster": [*map(_table, self.clusters)]}).encode())

    def __repr__(self) -> str:
        count = len(self.clusters)
        return (
            f"<Federation '{self.name}': {so_many(count, 'cluster')}, "
            f"{so_many(self.nodes, 'node')}>"
        )


def _clusters_of(content: dict[str, Any], path: AnyPath) -> list[FederationCluster]:
    check_keys(content, ["cluster"], f"'{path}'", error=ClusterError)
    tables = content.get("cluster", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ClusterError(
            f"'{path}' has one [cluster], but clusters are a list. Write [[cluster]] for each."
        )
    return [_cluster_of(table, number, path) for number, table in enumerate(tables, 1)]


def _cluster_of(table: dict[str, Any], number: int, path: AnyPath) -> FederationCluster:
    called = f"cluster {number} ('{table['name']}')" if "name" in table else f"cluster {number}"
    check_keys(table, CLUSTER_KEYS, f"{called} of '{path}'", error=ClusterError)
    for key in CLUSTER_KEYS:
        if key not in table:
            raise ClusterError(
                f"{called} of '{path}' has no '{key}', but a cluster has "
                f"{', '.join(CLUSTER_KEYS)}. Add it."
            )
    return FederationCluster(**table)


def _table(cluster: FederationCluster) -> dict[str, Any]:
    power = cluster.power[0] if cluster.alike else cluster.power
    return {key: power if key == "power" else getattr(cluster, key) for key in CLUSTER_KEYS}
