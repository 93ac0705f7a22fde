"""How long a job takes where: the time cost of Blanco et al., equations 1 to 7.

H. Blanco, F. Guirado, J. L. Lérida, V. M. Albornoz: MIP Model Scheduling for Multi-Clusters.

Without saturated links the time of a job depends only on the slowest power among its nodes, so
that `durations_by_level` says all there is to know: one row a job, one column for each of the
federation's ``levels``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from queuesmith.federation.model.federation import Federation, Floats, Ints
from queuesmith.federation.model.fitting import LINK_TOLERANCE
from queuesmith.federation.model.jobs import FederationJobs

#: What a job may still lack, in seconds and as a share of its time, when it counts as done: the
#: rounding of the arithmetic must not cost it another second.
GRACE_SECONDS = 1e-6
GRACE_SHARE = 1e-12


def whole_seconds(seconds: float) -> int:
    """Return a time rounded up to whole seconds, forgiving the rounding of the arithmetic.

    >>> whole_seconds(100 * (0.7 / 0.5 + 0.3)), whole_seconds(170.01)
    (170, 171)
    """
    return math.ceil(seconds - GRACE_SECONDS - GRACE_SHARE * seconds)


def processing_slowdown(power: ArrayLike) -> float:
    """Return SP of a job on nodes of such powers: the slowest rules (eq. 3)."""
    return float(1.0 / np.min(power))


def link_use(tasks: int, task_bandwidth: float, on_cluster: ArrayLike) -> Floats:
    """Return BW, the bandwidth a job consumes on each link (eq. 4).

    Parameters
    ----------
    tasks, task_bandwidth
        Of the job.
    on_cluster
        How many of its tasks are on each cluster. A job of one task talks to nobody.

    >>> link_use(4, 100.0, [1, 3, 0]).tolist()
    [100.0, 100.0, 0.0]
    """
    here = np.asarray(on_cluster, np.float64)
    return np.asarray(here * task_bandwidth * (tasks - here) / max(tasks - 1, 1))


def saturation_degree(bandwidth: ArrayLike, used: ArrayLike) -> Floats:
    """Return SAT of each link, bandwidth over use (eq. 5); infinite where nobody uses it."""
    room, load = np.asarray(bandwidth, np.float64), np.asarray(used, np.float64)
    degree = np.full(load.shape, np.inf)
    np.divide(room, load, out=degree, where=load > 0)
    return degree


def communication_slowdown(degree: ArrayLike, own_use: ArrayLike) -> float:
    """Return SC of a job: that of the most saturated link it uses, at least 1 (eq. 6 and 7)."""
    used = np.asarray(degree, np.float64)[np.asarray(own_use) > 0]
    return float(link_slowdown(1.0 / used).max()) if used.size else 1.0


def link_slowdown(load_share: ArrayLike) -> Floats:
    """Return SC of links whose load is such a share of their bandwidth (eq. 6).

    A load above the bandwidth by no more than the rounding of the arithmetic slows nobody.
    """
    share = np.asarray(load_share, np.float64)
    return np.where(share > 1.0 + LINK_TOLERANCE, share, 1.0)


def time_cost(sigma: float, processing: float, communication: float = 1.0) -> float:
    """Return ct: how many times its base time a job takes (eq. 2)."""
    return sigma * processing + (1.0 - sigma) * communication


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
    exact = jobs.base_time[:, None] * cost
    return np.ceil(exact - GRACE_SECONDS - GRACE_SHARE * exact).astype(np.int64)


def time_cost_by_level(
    federation: Federation, jobs: FederationJobs, communication: float = 1.0
) -> Floats:
    """Return ct of each job for each of the federation's powers (eq. 2)."""
    sigma = jobs.sigma[:, None]
    return np.asarray(sigma / federation.levels + (1.0 - sigma) * communication)


def duration_of_counts(
    federation: Federation, jobs: FederationJobs, job: int, counts: ArrayLike
) -> int:
    """Return the whole seconds of a job with so many nodes of each group, no link saturated."""
    slowest = federation.group_power[np.asarray(counts) > 0].min()
    cost = time_cost(float(jobs.sigma[job]), processing_slowdown(slowest))
    return whole_seconds(float(jobs.base_time[job]) * cost)


def link_use_of_counts(
    federation: Federation, jobs: FederationJobs, job: int, counts: ArrayLike
) -> Floats:
    """Return the bandwidth a job with so many nodes of each group consumes on each link."""
    weights = np.asarray(counts, np.float64)
    clusters = len(federation.clusters)
    on_cluster = np.bincount(federation.group_cluster, weights=weights, minlength=clusters)
    return link_use(int(jobs.tasks[job]), float(jobs.task_bandwidth[job]), on_cluster)
