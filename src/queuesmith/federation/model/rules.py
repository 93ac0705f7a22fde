"""What a federation demands of a schedule beyond free nodes: tasks together, links, work done.

Nothing that the decider computed is trusted: links and times are recomputed from who runs where and
when. A job may hold its nodes longer than it needs them, never shorter; where links are allowed to
saturate, what it needs is what its rate over time adds up to (eq. 1-7).
"""

from __future__ import annotations

import numpy as np

from queuesmith.federation.model.clusters import Floats
from queuesmith.federation.model.equations import GRACE_SECONDS, GRACE_SHARE, link_slowdown
from queuesmith.federation.model.fitting import LINK_TOLERANCE
from queuesmith.federation.model.placed import (
    LinkLoad,
    clusters_of,
    job_column,
    job_names,
    link_load,
    links_used,
    saturation_of,
    slowest_power,
)
from queuesmith.schedule import Schedule

#: The same as GRACE_SHARE for work at changing rates, whose sums are rounded many times.
SLOWED_GRACE_SHARE = 1e-9


def broken_rules(schedule: Schedule) -> list[str]:
    """Return a sentence for each rule of federations that a schedule breaks."""
    apart = _apart(schedule)
    if apart is not None:
        return [apart]
    if not _has_a_node_for_each_task(schedule) or (schedule.end < schedule.start).any():
        return []  # said by the rules of all machines; links and times mean nothing then
    used = links_used(schedule)
    load = link_load(schedule, used)
    found = (_overloaded(schedule, load), _unfinished(schedule, used, load))
    return [sentence for sentence in found if sentence is not None]


def _apart(schedule: Schedule) -> str | None:
    parts = schedule.parts
    if parts.place is None:
        return "the nodes of the jobs are not told, but on a federation each task has one."
    together = parts.start == schedule.start[parts.job]
    together &= (parts.end == schedule.end[parts.job]) & (parts.cores == 1)
    if together.all():
        return None
    wrong = int(parts.job[np.argmin(together)])
    return (
        f"job {job_names(schedule)[wrong]} does not run one task on each of its nodes, all from "
        "its start to its end."
    )


def _has_a_node_for_each_task(schedule: Schedule) -> bool:
    parts = schedule.parts
    nodes = clusters_of(schedule).nodes
    assert parts.place is not None
    exist = ((parts.place >= 0) & (parts.place < nodes)).all()
    count = np.bincount(parts.job, minlength=len(schedule))
    return bool(exist) and np.array_equal(count, schedule.workload.cores)


def _overloaded(schedule: Schedule, load: LinkLoad) -> str | None:
    clusters, saturation = clusters_of(schedule), saturation_of(schedule)
    most = clusters.bandwidth * saturation * (1 + LINK_TOLERANCE)
    over = np.argwhere(load.load > most)
    if not over.size:
        return None
    span, link = (int(x) for x in over[0])
    return (
        f"from second {load.time[span]} the link of cluster '{clusters.names[link]}' carries "
        f"{load.load[span, link]:g}, but at most {saturation:g} times its bandwidth of "
        f"{clusters.bandwidth[link]:g} is allowed."
    )


def _unfinished(schedule: Schedule, used: Floats, load: LinkLoad) -> str | None:
    """Every job has done its work by its end."""
    sigma = job_column(schedule, "sigma")
    processing = sigma / slowest_power(schedule)
    needed = job_column(schedule, "base_time") * (processing + (1.0 - sigma))
    spent = (schedule.end - schedule.start).astype(np.float64)
    slowed = _slowed_share(schedule, used, load, processing)
    done = np.where(slowed > 0, slowed * needed, spent)
    grace = np.where(slowed > 0, SLOWED_GRACE_SHARE, GRACE_SHARE)
    short = done < needed - GRACE_SECONDS - grace * needed
    if not short.any():
        return None
    job = int(np.argmax(short))
    return (
        f"job {job_names(schedule)[job]} runs for {spent[job]:g} s, but on its nodes and links it "
        f"has then done {100 * done[job] / needed[job]:.4g} % of its work."
    )


def _slowed_share(schedule: Schedule, used: Floats, load: LinkLoad, processing: Floats) -> Floats:
    """The share of its work that each job does while some link of its own is saturated; else 0."""
    sigma, base_time = job_column(schedule, "sigma"), job_column(schedule, "base_time")
    slowdown = link_slowdown(load.load / clusters_of(schedule).bandwidth)  # eq. 5 and 6
    share = np.zeros(len(schedule))
    saturated = (slowdown > 1).any(axis=0)
    touched = (used[:, saturated] > 0).any(axis=1)
    length = np.diff(load.time)
    first = np.searchsorted(load.time, schedule.start)
    last = np.searchsorted(load.time, schedule.end)
    for job in np.flatnonzero(touched):
        spans = slice(first[job], last[job])
        worst = slowdown[spans][:, used[job] > 0].max(axis=1)  # eq. 7
        cost = processing[job] + (1.0 - sigma[job]) * worst
        share[job] = (length[spans] / (base_time[job] * cost)).sum()
    return share
