"""Federations: parallel jobs across clusters of different speed, joined by links."""

from queuesmith.federation.federation import Federation, FederationCluster
from queuesmith.federation.jobs import FederationJobs
from queuesmith.federation.placement import Placement

__all__ = ["Federation", "FederationCluster", "FederationJobs", "Placement"]
