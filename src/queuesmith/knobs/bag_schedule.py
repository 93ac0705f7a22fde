"""Schedules of bags of tasks: their pieces are chunks, so many tasks of one job started together.

The workload of such a schedule says in ``extra`` how many cores a task has and how many a job may
hold at once; see `TaskJobs.in_tasks`.
"""

from __future__ import annotations

import numpy as np

from queuesmith.base.errors import MetricError
from queuesmith.cluster import Cluster
from queuesmith.knobs.bags import TaskJobs
from queuesmith.schedule import Schedule
from queuesmith.schedule.measures import CLASSES
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.timeline import Spells, Steps, as_steps
from queuesmith.workload.workload import Ints, task_cores

#: What the summary of a bag schedule tells, in this order.
SHOWN = (
    "makespan",
    "mean_wait",
    "mean_response",
    "expansion_factor",
    *(f"expansion_factor[{name}]" for name in CLASSES),
    "utilization",
)


def bag_schedule(
    jobs: TaskJobs,
    cluster: Cluster,
    chunk_job: Ints,
    chunk_start: Ints,
    chunk_tasks: Ints,
    policy: str,
    seconds: float | None = None,
) -> Schedule:
    """Return the schedule of chunks: each job lasts from its first task to its last.

    Parameters
    ----------
    jobs, cluster
        What ran, and on what.
    chunk_job, chunk_start, chunk_tasks
        Of each chunk, the position of its job, the second it began, and how many tasks it has.
    policy, seconds
        What decided it, and how long that took to compute.
    """
    workload = jobs.in_tasks()
    chunk_end = chunk_start + workload.runtime[chunk_job]
    first = np.full(len(jobs), np.iinfo(np.int64).max)
    last = np.full(len(jobs), np.iinfo(np.int64).min)
    np.minimum.at(first, chunk_job, chunk_start)
    np.maximum.at(last, chunk_job, chunk_end)
    pieces = Pieces(chunk_job, chunk_start, chunk_end, chunk_tasks * jobs.width[chunk_job])
    return Schedule(workload, cluster, first, policy, seconds, own_end=last, pieces=pieces)


def chunk_tasks(schedule: Schedule) -> Ints:
    """Return how many tasks each piece of a schedule has; a rigid job is one task."""
    parts = schedule.parts
    return parts.cores // task_cores(schedule.workload)[parts.job]


def bag_summary(schedule: Schedule) -> dict[str, float | int | str | None]:
    """Return what one looks at first, ready for JSON; None for what no job has a value of."""
    return {
        "policy": schedule.policy,
        "jobs": len(schedule),
        "tasks": int((schedule.workload.cores // task_cores(schedule.workload)).sum()),
        "chunks": len(schedule.parts),
        "dropped": schedule.workload.dropped,
        "cores": schedule.cluster.cores,
        **{name: value_or_none(schedule, name) for name in SHOWN},
        "seconds": schedule.seconds,
    }


def value_or_none(schedule: Schedule, metric: str) -> float | None:
    """Return a metric; None where it has no value, such as that of a class without jobs."""
    try:
        return schedule.value(metric)
    except MetricError:
        return None


def running_tasks(schedule: Schedule) -> Steps:
    """Return how many tasks run over time."""
    parts = schedule.parts
    return as_steps(schedule, Spells(parts.start, parts.end, chunk_tasks(schedule).astype(float)))


def running_jobs(schedule: Schedule) -> Steps:
    """Return how many jobs have at least one task running, over time."""
    parts = schedule.parts
    lasting = parts.end > parts.start
    job, start, end = parts.job[lasting], parts.start[lasting], parts.end[lasting]
    order = np.lexsort((start, job))
    job, start, end = job[order], start[order], end[order]
    # Within a job all chunks are equally long, so ends stand in the order of starts.
    new = np.ones(len(job), np.bool_)
    new[1:] = (job[1:] != job[:-1]) | (start[1:] > end[:-1])
    last = np.append(new[1:], np.ones(min(len(job), 1), np.bool_))
    return as_steps(schedule, Spells(start[new], end[last], np.ones(np.count_nonzero(new))))
