"""Workloads: reading, making and reshaping tables of jobs."""

from queuesmith.workload.workload import Change, Workload

__all__ = ["Change", "Workload"]
