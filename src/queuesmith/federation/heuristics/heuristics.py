"""The heuristics of the literature: an order of the queue, and a rule that allocates nodes.

FCFS, SJF (fewest tasks first), BJF (most tasks first), SPT and LPT (shortest and longest base time
first) start the first job in line or nobody. FPFS (Aida, Kasahara and Narita, 1998) keeps the order
of arrival and starts every job that fits the free nodes. ``NAME-fit`` does so for another order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from queuesmith.base.errors import UsageError
from queuesmith.compiled import load
from queuesmith.federation.model.federation import Federation, Floats, Ints
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.model.placement import Placement
from queuesmith.federation.replay.kernels.heuristic import run_heuristic
from queuesmith.federation.replay.kernels.site import (
    CHEAPEST,
    FASTEST,
    LINK_AWARE,
    MOST_FREE,
    ONE_CLUSTER,
    Manner,
    Running,
)
from queuesmith.federation.replay.packing import (
    empty_draft,
    empty_line,
    empty_site,
    nobody_running,
    pack_ground,
    pack_work,
)


def arrival(jobs: FederationJobs) -> Floats:
    """First come, first served."""
    return np.zeros(len(jobs))


def fewest_tasks(jobs: FederationJobs) -> Floats:
    """Small jobs first."""
    return jobs.tasks.astype(np.float64)


def most_tasks(jobs: FederationJobs) -> Floats:
    """Big jobs first."""
    return -jobs.tasks.astype(np.float64)


def shortest_time(jobs: FederationJobs) -> Floats:
    """Short base times first."""
    return jobs.base_time


def longest_time(jobs: FederationJobs) -> Floats:
    """Long base times first."""
    return -jobs.base_time


def largest_area(jobs: FederationJobs) -> Floats:
    """Most work first: tasks times base time."""
    return -jobs.tasks * jobs.base_time


#: Who is first in line: the job of the least value; equal values in the order of arrival.
ORDERS: dict[str, Callable[[FederationJobs], Floats]] = {
    "arrival": arrival,
    "fewest-tasks": fewest_tasks,
    "most-tasks": most_tasks,
    "shortest": shortest_time,
    "longest": longest_time,
    "largest-area": largest_area,
}

#: Which nodes a job gets.
ALLOCATIONS = {
    "fastest": FASTEST,  # the fastest free nodes, wherever they are
    "most-free": MOST_FREE,  # clusters with most free nodes first
    "one-cluster": ONE_CLUSTER,  # co-allocated only where no cluster has room
    "link-aware": LINK_AWARE,  # the same, and then so that links are least loaded
    "cheapest": CHEAPEST,  # least power wasted: see `large_queue`
}


class Heuristic(NamedTuple):
    """An order of the queue, and whether any job that fits may start."""

    order: str
    fit: bool


HEURISTICS = {
    "fcfs": Heuristic("arrival", fit=False),
    "sjf": Heuristic("fewest-tasks", fit=False),
    "bjf": Heuristic("most-tasks", fit=False),
    "fpfs": Heuristic("arrival", fit=True),
    "spt": Heuristic("shortest", fit=False),
    "lpt": Heuristic("longest", fit=False),
    "sjf-fit": Heuristic("fewest-tasks", fit=True),
    "bjf-fit": Heuristic("most-tasks", fit=True),
    "spt-fit": Heuristic("shortest", fit=True),
    "lpt-fit": Heuristic("longest", fit=True),
    "area-fit": Heuristic("largest-area", fit=True),
}


def place_by_heuristic(
    federation: Federation,
    jobs: FederationJobs,
    heuristic: str = "fcfs",
    allocation: str = "fastest",
    *,
    saturation: float = 1.0,
    window: int | None = None,
) -> Placement:
    """Place jobs as they arrive, by a heuristic.

    Parameters
    ----------
    federation, jobs
        Where, and what. Jobs are known from their arrival on.
    heuristic
        A name in ``HEURISTICS``.
    allocation
        A name in ``ALLOCATIONS``.
    saturation
        How many times its bandwidth each link may be loaded; infinite for any load. Jobs on links
        above 1 are slowed as equations 5 to 7 say.
    window
        How many waiting jobs are looked at, the first to arrive; by default all.
    """
    chosen = named_heuristic(heuristic)
    order = queue_order(ORDERS[chosen.order](jobs))
    load(run_heuristic)
    began = time.perf_counter()
    manner = Manner(
        rule=named_allocation(allocation),
        fit=int(chosen.fit),
        limit=float(saturation),
        window=len(jobs) if window is None else window,
        deadline=math.inf,
        patience=math.inf,
    )
    found = run_order(federation, jobs, order, manner)
    return Placement(
        federation,
        jobs,
        found.start,
        found.end,
        found.nodes,
        heuristic,
        saturation=saturation,
        seconds=time.perf_counter() - began,
        facts={"allocation": allocation},
    )


def run_order(federation: Federation, jobs: FederationJobs, order: Ints, manner: Manner) -> Running:
    """Replay jobs in a given order of the queue, and return what became of each."""
    running = nobody_running(federation, jobs)
    ground = pack_ground(federation)
    run_heuristic(
        ground,
        pack_work(jobs),
        empty_line(order),
        running,
        empty_site(federation, ground),
        empty_draft(federation),
        manner,
    )
    return running


def queue_order(key: Floats) -> Ints:
    """Return the jobs from the first in line to the last."""
    return np.argsort(key, kind="stable").astype(np.int64)


def named_heuristic(name: str) -> Heuristic:
    """Return a heuristic, or say which there are."""
    if name not in HEURISTICS:
        raise UsageError(f"there is no heuristic '{name}'. Choose from: {', '.join(HEURISTICS)}.")
    return HEURISTICS[name]


def named_allocation(name: str) -> int:
    """Return the number of an allocation rule, or say which there are."""
    if name not in ALLOCATIONS:
        raise UsageError(
            f"there is no allocation rule '{name}'. Choose from: {', '.join(ALLOCATIONS)}."
        )
    return ALLOCATIONS[name]
