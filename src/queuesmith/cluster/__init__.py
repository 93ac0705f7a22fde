"""The machine: what jobs run on."""

from queuesmith.cluster.cluster import Cluster, as_cluster
from queuesmith.cluster.machine import Machine, Places

__all__ = ["Cluster", "Machine", "Places", "as_cluster"]
