"""The machine: what jobs run on."""

from queuesmith.cluster.cluster import Cluster, as_cluster
from queuesmith.cluster.limits import Amounts, Association, Limits, QualityOfService
from queuesmith.cluster.machine import AlikeCores, Machine, Places
from queuesmith.cluster.maintenance import with_maintenance
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.nodes import NodeKind, Partition, Switch
from queuesmith.cluster.outages import Outage

__all__ = [
    "AlikeCores",
    "Amounts",
    "Association",
    "Cluster",
    "Limits",
    "Machine",
    "NodeCluster",
    "NodeKind",
    "Outage",
    "Partition",
    "Places",
    "QualityOfService",
    "Switch",
    "as_cluster",
    "with_maintenance",
]
