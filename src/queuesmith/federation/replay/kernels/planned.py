"""Replays that carry out a plan."""

from numba import float64, int64, types

from queuesmith.compiled import entry
from queuesmith.compiled.arrays import INTS
from queuesmith.federation.replay.kernels.running import begin, finish_next, new_rates
from queuesmith.federation.replay.kernels.site import (
    ENTERED,
    IN_WINDOW,
    JOBS_TYPE,
    LAYOUT_TYPE,
    LINK_TOLERANCE,
    NEVER,
    NOW,
    RUNNING,
    RUNNING_TYPE,
    SITE_TYPE,
    STARTED,
    kernel,
)


@kernel
def _can_begin(layout, jobs, running, site, job, limit):
    """Tell whether the planned nodes of a job are free, unclaimed, and its links have room."""
    for task in range(jobs.offset[job], jobs.offset[job + 1]):
        if site.node_free[running.nodes[task]] != 1:
            return False
    for link in range(site.load.size):
        use = running.use[job, link]
        most = limit * layout.bandwidth[link] * (1 + LINK_TOLERANCE)
        if use > 0 and site.load[link] + use > most:
            return False
    return True


@kernel
def _mark(jobs, running, site, job, before, after):
    for task in range(jobs.offset[job], jobs.offset[job + 1]):
        node = running.nodes[task]
        if site.node_free[node] == before:
            site.node_free[node] = after


@kernel
def _start_due(layout, jobs, running, site, waiting, limit):
    """Start due jobs in planned order; one that cannot start keeps its nodes from later ones."""
    counter = site.counter
    kept = 0
    for place in range(counter[IN_WINDOW]):
        job = waiting[place]
        if _can_begin(layout, jobs, running, site, job, limit):
            _mark(jobs, running, site, job, 1, 0)
            begin(jobs, running, site, job)
        else:
            _mark(jobs, running, site, job, 1, 2)
            waiting[kept] = job
            kept += 1
    counter[IN_WINDOW] = kept
    for place in range(kept):
        _mark(jobs, running, site, waiting[place], 2, 1)


@kernel
def _ends_by(running, site, until):
    """Tell whether somebody ends by then."""
    return site.counter[RUNNING] > 0 and running.end[running.heap[0]] <= until


@entry(
    types.void(
        LAYOUT_TYPE, JOBS_TYPE, RUNNING_TYPE, SITE_TYPE, INTS, INTS, INTS, int64, float64, int64
    ),
    error_model="numpy",
)
def run_plan(layout, jobs, running, site, order, due, waiting, planned, limit, until):
    """Carry out a plan: each job on its nodes, once it is due and they are free, in order.

    ``order[:planned]`` are the planned jobs; ``ENTERED`` of them have become due so far, and
    ``waiting[:IN_WINDOW]`` of these have not started. Stops when all planned jobs have started and
    nobody ends up to the second ``until``; and where nothing can happen any more.
    """
    counter = site.counter
    while counter[STARTED] < planned or _ends_by(running, site, until):
        now = NEVER
        if counter[ENTERED] < planned:
            now = due[order[counter[ENTERED]]]
        if counter[RUNNING] > 0:
            now = min(now, running.end[running.heap[0]])
        if now == NEVER:  # somebody is due, but the links never have room for it
            return
        counter[NOW] = max(now, counter[NOW])
        while counter[RUNNING] > 0 and running.end[running.heap[0]] <= counter[NOW]:
            finish_next(jobs, running, site)
        while counter[ENTERED] < planned and due[order[counter[ENTERED]]] <= counter[NOW]:
            waiting[counter[IN_WINDOW]] = order[counter[ENTERED]]
            counter[IN_WINDOW] += 1
            counter[ENTERED] += 1
        _start_due(layout, jobs, running, site, waiting, limit)
        new_rates(layout, jobs, running, site)
