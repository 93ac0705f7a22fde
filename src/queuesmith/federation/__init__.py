"""Federations: parallel jobs across clusters of different speed, joined by links."""

from queuesmith.federation.model.federation import Federation, FederationCluster
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.model.placement import Placement

__all__ = ["Federation", "FederationCluster", "FederationJobs", "Placement"]
