"""The machine: what jobs run on."""

from queuesmith.cluster.cluster import Cluster, as_cluster

__all__ = ["Cluster", "as_cluster"]
