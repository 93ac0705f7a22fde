"""What a schedule on a federation says: who is on which node, and what the links carry."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import ScheduleError
from queuesmith.federation.model.clusters import Clusters, Floats, Ints
from queuesmith.schedule import Schedule


class LinkLoad(NamedTuple):
    """The load of the links over time, constant between two times.

    Attributes
    ----------
    time
        When the load changes; the last one is the end.
    load
        One row for each span between two times, one column for each link: the bandwidth in use.
    """

    time: Ints
    load: Floats


def clusters_of(schedule: Schedule) -> Clusters:
    """Return the clusters that a schedule runs on; an error where it runs on something else."""
    if not isinstance(schedule.cluster, Clusters):
        raise ScheduleError(
            f"schedule '{schedule.policy}' runs on '{schedule.cluster.name}', which is no "
            "federation. Give a schedule that was placed on one."
        )
    return schedule.cluster


def job_column(schedule: Schedule, name: str) -> Floats:
    """Return a column that only jobs of federations have; see `FederationJobs.workload`."""
    column: NDArray[np.float64] | None = schedule.workload.extra.get(name)
    if column is None:
        raise ScheduleError(
            f"workload '{schedule.workload.name}' has no column '{name}', which jobs of a "
            "federation have. Make it with FederationJobs(...).workload."
        )
    return column


def job_names(schedule: Schedule) -> tuple[str, ...]:
    """Return what each job is called."""
    jobs = schedule.workload
    return tuple(jobs.label("id", number) for number in jobs.id.tolist())


# -- nodes -----------------------------------------------------------------------------------------


def task_nodes(schedule: Schedule) -> Ints:
    """Return the node of each task, one job after another."""
    parts = schedule.parts
    if parts.place is None:
        raise ScheduleError(
            f"schedule '{schedule.policy}' does not tell the nodes of its jobs, but on a "
            "federation each task has one. Give pieces with places."
        )
    if (np.diff(parts.job) >= 0).all():
        return parts.place
    return parts.place[np.argsort(parts.job, kind="stable")]


def task_job(schedule: Schedule) -> Ints:
    """Return the job of each entry of `task_nodes`."""
    return np.repeat(np.arange(len(schedule)), schedule.workload.cores)


def job_nodes(schedule: Schedule) -> list[Ints]:
    """Return the nodes of each job."""
    return np.split(task_nodes(schedule), np.cumsum(schedule.workload.cores)[:-1])


def group_counts(schedule: Schedule) -> Ints:
    """Return how many nodes of each group each job has: one row a job."""
    clusters = clusters_of(schedule)
    return _counts(schedule, clusters.node_group, len(clusters.group_nodes))


def on_cluster(schedule: Schedule) -> Ints:
    """Return how many tasks of each job are on each cluster: one row a job."""
    clusters = clusters_of(schedule)
    return _counts(schedule, clusters.node_cluster, len(clusters.clusters))


def _counts(schedule: Schedule, kind_of_node: Ints, kinds: int) -> Ints:
    flat = task_job(schedule) * kinds + kind_of_node[task_nodes(schedule)]
    count = np.bincount(flat, minlength=len(schedule) * kinds)
    return count.reshape(len(schedule), kinds).astype(np.int64)


def slowest_power(schedule: Schedule) -> Floats:
    """Return the power of the slowest node of each job, which rules it (eq. 3)."""
    power = clusters_of(schedule).node_power[task_nodes(schedule)]
    first = np.cumsum(schedule.workload.cores) - schedule.workload.cores
    return np.asarray(np.minimum.reduceat(power, first))


def busy_seconds(schedule: Schedule) -> Ints:
    """Return the seconds each node is in use."""
    spent = np.repeat(schedule.end - schedule.start, schedule.workload.cores)
    count = clusters_of(schedule).nodes
    return np.bincount(task_nodes(schedule), weights=spent, minlength=count).astype(np.int64)


# -- links -----------------------------------------------------------------------------------------


def links_used(schedule: Schedule) -> Floats:
    """Return the bandwidth each job consumes on each link (eq. 4): one row a job."""
    tasks = schedule.workload.cores[:, None].astype(np.float64)
    here = on_cluster(schedule)
    share = (tasks - here) / np.maximum(tasks - 1, 1)
    return np.asarray(here * job_column(schedule, "task_bandwidth")[:, None] * share)


def link_load(schedule: Schedule, used: Floats | None = None) -> LinkLoad:
    """Return the load of the links over time; ``used`` is `links_used`, where that is known."""
    use = links_used(schedule) if used is None else used
    times = np.concatenate([schedule.start, schedule.end])
    time, place = np.unique(times, return_inverse=True)
    begins, ends = place[: len(schedule)], place[len(schedule) :]
    change, users = np.zeros((len(time), use.shape[1])), np.zeros((len(time), use.shape[1]), int)
    np.add.at(change, begins, use)
    np.add.at(change, ends, -use)
    np.add.at(users, begins, use > 0)
    np.add.at(users, ends, -(use > 0).astype(np.int64))
    # Where nobody is left, the load is 0, not what the arithmetic left over.
    load = np.where(np.cumsum(users, axis=0) > 0, np.cumsum(change, axis=0), 0.0)
    return LinkLoad(time, load[:-1])


# -- how good it is --------------------------------------------------------------------------------


def last_end(schedule: Schedule) -> int:
    """Return when the last job has ended, from second 0 (eq. 9)."""
    return int(schedule.end.max())


def compaction_percent(schedule: Schedule) -> float:
    """Return the share of the nodes' time until the last end in which they are in use."""
    total = float(busy_seconds(schedule).sum())
    return 100.0 * total / (schedule.cluster.cores * last_end(schedule))


def power_utilization(schedule: Schedule) -> float:
    """Return the share of the federation's power in use until the last end, from 0 to 1."""
    power = clusters_of(schedule).node_power
    return float((busy_seconds(schedule) * power).sum() / (power.sum() * last_end(schedule)))


def cluster_utilization(schedule: Schedule) -> dict[str, float]:
    """Return the share of each cluster's nodes in use until the last end, from 0 to 1."""
    clusters = clusters_of(schedule)
    total = np.bincount(clusters.node_cluster, weights=busy_seconds(schedule))
    share = total / (clusters.cluster_nodes * last_end(schedule))
    return dict(zip(clusters.names, share.tolist(), strict=True))


def co_allocated(schedule: Schedule) -> int:
    """Return how many jobs run on more than one cluster."""
    return int(np.count_nonzero((on_cluster(schedule) > 0).sum(axis=1) > 1))


def peak_link_load(schedule: Schedule) -> float:
    """Return the highest load of any link, as a share of its bandwidth."""
    load = link_load(schedule).load
    return float((load / clusters_of(schedule).bandwidth).max()) if load.size else 0.0


def saturation_of(schedule: Schedule) -> float:
    """Return how many times its bandwidth each link may be loaded; 1 where nothing is said."""
    return float(schedule.facts.get("saturation", 1.0))
