"""Federations and their jobs: clusters of unequal speed, links, and what a job takes where.

``clusters`` and ``federation`` are the machine, ``jobs`` what runs on it, ``placing`` makes a
schedule of starts and nodes, ``placed`` says what a schedule does to nodes and links, and ``rules``
what it must not do. ``equations`` and ``time_cost`` are the paper's.
"""

from queuesmith.federation.model.clusters import FederationCluster
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.model.placing import as_schedule, read_placement, write_placement

__all__ = [
    "Federation",
    "FederationCluster",
    "FederationJobs",
    "as_schedule",
    "read_placement",
    "write_placement",
]
