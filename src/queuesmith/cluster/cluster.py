"""What jobs run on: a number of identical processors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from queuesmith.base.checks import table
from queuesmith.base.errors import ClusterError
from queuesmith.base.words import so_many
from queuesmith.cluster.machine import AlikeCores
from queuesmith.workload import Workload
from queuesmith.workload.busy import peak_cores
from queuesmith.workload.columns import LARGEST_WIDTH
from queuesmith.workload.workload import checked_workload


@dataclass(frozen=True)
class Cluster(AlikeCores):
    """A machine of identical processors.

    Parameters
    ----------
    cores
        How many processors there are.
    name
        What messages and figures call the machine.
    partition_priority, qos_priority
        The priority of each partition (``PriorityJobFactor`` in slurm.conf) and of each
        quality of service, by name; only the ``multifactor`` order looks at them.
    maintenance
        Windows in which no job may run, by seconds of the log: ``with_maintenance`` makes them.
    """

    cores: int
    name: str = "cluster"
    partition_priority: Mapping[str, float] = field(default_factory=dict)
    qos_priority: Mapping[str, float] = field(default_factory=dict)
    maintenance: tuple[tuple[int, int], ...] = ()

    def violations(self, schedule: Any) -> list[str]:
        """Return a sentence for each window of maintenance in which a job runs."""
        broken = []
        for first, last in self.maintenance:
            inside = (schedule.start < last) & (schedule.end > first)
            if inside.any():
                job = schedule.workload.id[int(np.argmax(inside))]
                broken.append(
                    f"job {job} runs in the maintenance from second {first} to {last}, in which "
                    "nothing may run."
                )
        return broken

    def __post_init__(self) -> None:
        if not _is_whole(self.cores):
            raise ClusterError(
                f"cluster '{self.name}' has {self.cores!r} cores, but a number of cores is whole. "
                "Give a whole number."
            )
        if not 1 <= self.cores <= LARGEST_WIDTH:
            raise ClusterError(
                f"cluster '{self.name}' has {self.cores} cores, but a cluster has between 1 and "
                f"{LARGEST_WIDTH:,}. Give the number of processors of the machine."
            )
        for kind in ("partition_priority", "qos_priority"):
            way_out = "Give for example {'short': 10}."
            priorities: dict[str, Any] = table(kind, getattr(self, kind), way_out)
            for label, priority in priorities.items():
                if not _is_number(priority) or not 0 <= priority < float("inf"):
                    raise ClusterError(
                        f"{kind} of '{label}' is {priority}, but a priority is a number from 0 up. "
                        "Correct it."
                    )


def _is_whole(cores: float) -> bool:
    """Return whether a number of cores is one, and whole; 64.0 is."""
    return _is_number(cores) and math.isfinite(cores) and int(cores) == cores


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def as_cluster(workload: Workload, cluster: Cluster | None, cores: int | None) -> Cluster:
    """Return the cluster that is meant: given, made of a number of cores, or the log's own."""
    checked_workload(workload)
    if cluster is not None and not isinstance(cluster, Cluster):
        raise ClusterError(
            f"the machine is {cluster!r}, but it must be a Cluster. Give Cluster(...), a number as "
            "cores=N, or a policy as policy=..."
        )
    if cluster is not None and cores is not None and cluster.cores != cores:
        raise ClusterError(
            f"cluster '{cluster.name}' has {so_many(cluster.cores, 'core')}, but cores={cores} was "
            "given too. Give one of them."
        )
    if cluster is not None:
        return cluster
    if cores is None:
        cores = workload.machine_cores
    if cores is None:
        raise ClusterError(
            f"the log '{workload.name}' does not say how many cores its machine has. "
            f"Give --cores N (cores=N in Python){_at_least(workload)}."
        )
    return Cluster(cores, workload.name)


def _at_least(workload: Workload) -> str:
    """Say how many cores were really busy at once, where the log tells."""
    if workload.real_start is None:
        return ""
    return f"; {peak_cores(workload):,} were really busy at once"
