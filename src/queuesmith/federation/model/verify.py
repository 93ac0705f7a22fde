"""An independent check: nodes, simultaneity, links and times from the placement alone."""

from __future__ import annotations

import numpy as np

from queuesmith.base.errors import ScheduleError
from queuesmith.federation.model.federation import Floats
from queuesmith.federation.model.fitting import LINK_TOLERANCE
from queuesmith.federation.model.placement import LinkLoad, Placement
from queuesmith.federation.model.time_cost import GRACE_SECONDS, GRACE_SHARE, link_slowdown

#: The same for work that was done at changing rates, whose sums are rounded many times.
SLOWED_GRACE_SHARE = 1e-9


def verify(placement: Placement) -> Placement:
    """Return the placement unchanged if it can be carried out; raise an error that says why not.

    Nothing that the decider computed is trusted: nodes, links and times are recomputed from who
    runs where and when. A job may hold its nodes longer than it needs them, never shorter; where
    links are allowed to saturate, what it needs is what its rate over time adds up to (eq. 1-7).
    """
    _check_nodes(placement)
    _check_order(placement)
    _check_overlap(placement)
    load = placement.link_load()
    _check_links(placement, load)
    _check_work(placement, load)
    return placement


def _fail(placement: Placement, what: str) -> ScheduleError:
    return ScheduleError(f"placement '{placement.method}' cannot be carried out: {what}")


def _check_nodes(placement: Placement) -> None:
    nodes, total = placement.nodes, placement.federation.nodes
    outside = (nodes < 0) | (nodes >= total)
    if outside.any():
        place = int(np.argmax(outside))
        name = placement.jobs.id[placement.task_job[place]]
        raise _fail(
            placement, f"job {name} is on node {nodes[place]}, but nodes are 0 to {total - 1}."
        )
    key = np.sort(placement.task_job * total + nodes)
    twice = np.flatnonzero(np.diff(key) == 0)
    if twice.size:
        job, node = divmod(int(key[twice[0]]), total)
        name = placement.jobs.id[job]
        raise _fail(placement, f"job {name} has two tasks on node {node}, but a node runs one.")


def _check_order(placement: Placement) -> None:
    jobs = placement.jobs
    early = placement.start < jobs.submit
    if early.any():
        job = int(np.argmax(early))
        raise _fail(
            placement,
            f"job {jobs.id[job]} starts at {placement.start[job]}, before it arrives at "
            f"{jobs.submit[job]}.",
        )
    backward = placement.end <= placement.start
    if backward.any():
        job = int(np.argmax(backward))
        raise _fail(
            placement,
            f"job {jobs.id[job]} starts at {placement.start[job]} and ends at "
            f"{placement.end[job]}, but it takes time.",
        )


def _check_overlap(placement: Placement) -> None:
    start, end = placement.start[placement.task_job], placement.end[placement.task_job]
    order = np.lexsort((start, placement.nodes))
    same = np.diff(placement.nodes[order]) == 0
    clash = np.flatnonzero(same & (start[order][1:] < end[order][:-1]))
    if clash.size:
        one, two = order[clash[0]], order[clash[0] + 1]
        names = [placement.jobs.id[placement.task_job[place]] for place in (one, two)]
        raise _fail(
            placement,
            f"jobs {names[0]} and {names[1]} are both on node {placement.nodes[one]} at second "
            f"{start[two]}.",
        )


def _check_links(placement: Placement, load: LinkLoad) -> None:
    federation = placement.federation
    most = federation.bandwidth * placement.saturation * (1 + LINK_TOLERANCE)
    over = np.argwhere(load.load > most)
    if over.size:
        span, link = (int(x) for x in over[0])
        raise _fail(
            placement,
            f"from second {load.time[span]} the link of cluster '{federation.names[link]}' "
            f"carries {load.load[span, link]:g}, but at most {placement.saturation:g} times its "
            f"bandwidth of {federation.bandwidth[link]:g} is allowed.",
        )


def _check_work(placement: Placement, load: LinkLoad) -> None:
    """Every job has done its work by its end."""
    jobs = placement.jobs
    processing = jobs.sigma / placement.slowest_power
    cost = processing + (1.0 - jobs.sigma)
    needed = jobs.base_time * cost
    spent = (placement.end - placement.start).astype(np.float64)
    slowed = _slowed_share(placement, load, processing)
    done = np.where(slowed > 0, slowed * needed, spent)
    grace = np.where(slowed > 0, SLOWED_GRACE_SHARE, GRACE_SHARE)
    short = done < needed - GRACE_SECONDS - grace * needed
    if short.any():
        job = int(np.argmax(short))
        raise _fail(
            placement,
            f"job {jobs.id[job]} runs for {spent[job]:g} s, but on its nodes and links it has "
            f"then done {100 * done[job] / needed[job]:.4g} % of its work.",
        )


def _slowed_share(placement: Placement, load: LinkLoad, processing: Floats) -> Floats:
    """The share of its work that each job does while some link of its own is saturated; else 0."""
    jobs = placement.jobs
    slowdown = link_slowdown(load.load / placement.federation.bandwidth)  # eq. 5 and 6
    share = np.zeros(len(jobs))
    saturated = (slowdown > 1).any(axis=0)
    touched = (placement.link_use[:, saturated] > 0).any(axis=1)
    length = np.diff(load.time)
    first = np.searchsorted(load.time, placement.start)
    last = np.searchsorted(load.time, placement.end)
    for job in np.flatnonzero(touched):
        spans = slice(first[job], last[job])
        links = placement.link_use[job] > 0
        worst = slowdown[spans][:, links].max(axis=1)  # eq. 7
        cost = processing[job] + (1.0 - jobs.sigma[job]) * worst
        share[job] = (length[spans] / (jobs.base_time[job] * cost)).sum()
    return share
