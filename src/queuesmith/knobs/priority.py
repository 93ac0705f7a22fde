"""The priorities of waiting jobs as equation 1 gives them, with averages, for people to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.registry import known
from queuesmith.knobs.bags import Floats
from queuesmith.knobs.setting import Knobs
from queuesmith.schedule import Schedule
from queuesmith.workload.workload import Ints

AVERAGES = ("queue", "log")


def priorities(
    schedule: Schedule, second: int, knobs: Knobs, *, averages: str = "queue"
) -> list[dict[str, Any]]:
    """Return the jobs that wait at a second of a replay, highest priority first.

    Parameters
    ----------
    schedule
        The replay.
    second
        The instant, after the starts of that instant.
    knobs
        The exponents.
    averages
        Over which jobs size and runtime are averaged: those that wait (``queue``) or all (``log``).
        The averages are the same for all jobs of a queue: they change the numbers, and how they
        compare from one instant to another, never the order within one pass.

    Notes
    -----
    A wait counts as one second at least, so that a job that has just come has a priority under any
    beta: zero to a negative power would be infinite, to the power zero undefined. An exponent of 0
    takes its factor out of the product. The logarithm is always finite; the product itself is
    infinite where it is too large for a number.
    """
    waiting = waiting_at(schedule, second)
    if not len(waiting):
        return []
    logs = log_priorities(schedule, waiting, second, knobs, averages)
    jobs, order = schedule.workload, np.argsort(-logs, kind="stable")
    with np.errstate(over="ignore"):
        products = np.exp(logs)
    return [
        {
            "job": int(jobs.id[waiting[i]]),
            "cores": int(jobs.cores[waiting[i]]),
            "wait": int(second - jobs.submit[waiting[i]]),
            "walltime": int(jobs.walltime[waiting[i]]),
            "priority": float(products[i]),
            "log_priority": float(logs[i]),
        }
        for i in order
    ]


def waiting_at(schedule: Schedule, second: int) -> Ints:
    """Return the positions of jobs that have come but not started all their tasks."""
    parts, jobs = schedule.parts, schedule.workload
    started = parts.start <= second
    cores = np.bincount(parts.job[started], weights=parts.cores[started], minlength=len(jobs))
    return np.flatnonzero((jobs.submit <= second) & (cores < jobs.cores))


def log_priorities(
    schedule: Schedule, waiting: NDArray[np.int64], second: int, knobs: Knobs, averages: str
) -> Floats:
    """Return the natural logarithms of equation 1."""
    known("average over", averages, AVERAGES)
    jobs, size = schedule.workload, schedule.workload.cores
    walltime = np.maximum(jobs.walltime, 1)
    over = waiting if averages == "queue" else slice(None)
    wait = np.maximum(second - jobs.submit[waiting], 1)
    return np.asarray(
        knobs.alpha * np.log(size[waiting] / size[over].mean())
        + knobs.beta * np.log(wait)
        + knobs.gamma * np.log(walltime[waiting] / walltime[over].mean())
    )
