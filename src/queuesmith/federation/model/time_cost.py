"""How long a job takes where: the time cost of Blanco et al., equation 1.

Without saturated links the time of a job depends only on the slowest power among its nodes, so
that `durations_by_level` says all there is to know: one row a job, one column for each of the
federation's ``levels``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.federation.model.equations import (
    all_whole_seconds,
    communication_slowdown,
    link_use,
    processing_slowdown,
    saturation_degree,
    time_cost,
    whole_seconds,
)
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs


def execution_time(
    federation: Federation,
    jobs: FederationJobs,
    job: int,
    nodes: ArrayLike,
    used_by_others: ArrayLike | None = None,
) -> float:
    """Return Te, how long a job takes on some nodes while links are used as they are (eq. 1).

    Parameters
    ----------
    federation, jobs, job
        Which job, by its position.
    nodes
        The nodes it runs on, by their numbers.
    used_by_others
        The bandwidth that other jobs consume on each link; by default none.
    """
    chosen = np.asarray(nodes, np.int64)
    on_cluster = np.bincount(federation.node_cluster[chosen], minlength=len(federation.clusters))
    own = link_use(int(jobs.tasks[job]), float(jobs.task_bandwidth[job]), on_cluster)
    others = np.zeros(own.shape) if used_by_others is None else np.asarray(used_by_others)
    processing = processing_slowdown(federation.node_power[chosen])
    communication = communication_slowdown(
        saturation_degree(federation.bandwidth, own + others), own
    )
    return float(jobs.base_time[job]) * time_cost(float(jobs.sigma[job]), processing, communication)


def duration(
    federation: Federation,
    jobs: FederationJobs,
    job: int,
    nodes: ArrayLike,
    used_by_others: ArrayLike | None = None,
) -> int:
    """Return `execution_time` in whole seconds, rounded up, as placements use it."""
    return whole_seconds(execution_time(federation, jobs, job, nodes, used_by_others))


def durations_by_level(
    federation: Federation, jobs: FederationJobs, communication: float = 1.0
) -> Ints:
    """Return the whole seconds of each job if its slowest node has each of the powers there are.

    Parameters
    ----------
    federation, jobs
        Rows are jobs; columns are ``federation.levels``, from the fastest to the slowest.
    communication
        The communication slowdown; 1 where no link is saturated.
    """
    cost = time_cost_by_level(federation, jobs, communication)
    return all_whole_seconds(jobs.base_time[:, None] * cost)


def time_cost_by_level(
    federation: Federation, jobs: FederationJobs, communication: float = 1.0
) -> Floats:
    """Return ct of each job for each of the federation's powers (eq. 2)."""
    sigma = jobs.sigma[:, None]
    return np.asarray(sigma / federation.levels + (1.0 - sigma) * communication)
