"""Running jobs: a heap by end, and rates that change with the load of links."""

import math

from queuesmith.compiled.heap import rise, sink
from queuesmith.federation.replay.kernels.site import (
    LINK_TOLERANCE,
    LINKED,
    NOBODY,
    NOW,
    RUNNING,
    STARTED,
    kernel,
)

# See time_cost.py and fitting.py.
GRACE_SECONDS = 1e-6
GRACE_SHARE = 1e-12


@kernel
def _whole_seconds(seconds):
    return math.ceil(seconds - GRACE_SECONDS - GRACE_SHARE * seconds)


@kernel
def _end_at(running, place):
    """By what the heap is ordered: the end, then the job."""
    job = running.heap[place]
    return running.end[job], job


@kernel
def _put(running, place, job):
    running.heap[place] = job
    running.heap_place[job] = place


@kernel
def _move(running, goal, source):
    _put(running, goal, running.heap[source])


@kernel
def _settle(running, site, place):
    """Move the job at a place of the heap to where it belongs."""
    job, key = running.heap[place], _end_at(running, place)
    place = rise(running, place, key, _end_at, _move)
    place = sink(running, place, site.counter[RUNNING], key, _end_at, _move)
    _put(running, place, job)


@kernel
def _worst_slowdown(running, site, job):
    """SC of a job: that of the most saturated link it uses (eq. 7)."""
    worst = 1.0
    for link in range(site.slowdown.size):
        if running.use[job, link] > 0 and site.slowdown[link] > worst:
            worst = site.slowdown[link]
    return worst


@kernel
def _cost(jobs, running, site, job):
    """ct of a job as things are (eq. 2)."""
    sigma = jobs.sigma[job]
    return sigma / running.slowest[job] + (1.0 - sigma) * _worst_slowdown(running, site, job)


@kernel
def begin(jobs, running, site, job):
    """Let a job run from now on; its nodes and its use of links are known."""
    counter = site.counter
    now = counter[NOW]
    uses = False
    for link in range(site.load.size):
        if running.use[job, link] > 0:
            uses = True
            site.load[link] += running.use[job, link]
            site.users[link] += 1
    if uses:
        running.linked[counter[LINKED]] = job
        running.linked_place[job] = counter[LINKED]
        counter[LINKED] += 1
    else:
        running.linked_place[job] = NOBODY
    running.start[job] = now
    running.since[job] = now
    running.remaining[job] = jobs.base_time[job]
    running.cost[job] = _cost(jobs, running, site, job)
    running.end[job] = now + max(_whole_seconds(jobs.base_time[job] * running.cost[job]), 1)
    _put(running, counter[RUNNING], job)
    counter[RUNNING] += 1
    _settle(running, site, counter[RUNNING] - 1)
    counter[STARTED] += 1


@kernel
def finish_next(jobs, running, site):
    """Take the next job to end off its nodes and links."""
    counter = site.counter
    job = running.heap[0]
    counter[RUNNING] -= 1
    if counter[RUNNING] > 0:
        _put(running, 0, running.heap[counter[RUNNING]])
        _settle(running, site, 0)
    place = running.linked_place[job]
    if place != NOBODY:
        counter[LINKED] -= 1
        last = running.linked[counter[LINKED]]
        running.linked[place] = last
        running.linked_place[last] = place
        for link in range(site.load.size):
            if running.use[job, link] > 0:
                site.users[link] -= 1
                # Where nobody is left, the load is 0, not what the arithmetic left over.
                left = site.load[link] - running.use[job, link]
                site.load[link] = left if site.users[link] > 0 else 0.0
    for task in range(jobs.offset[job], jobs.offset[job + 1]):
        site.node_free[running.nodes[task]] = 1
    return job


@kernel
def new_rates(layout, jobs, running, site):
    """Let running jobs go on at the rates that the links now allow (eq. 5 to 7)."""
    now = site.counter[NOW]
    changed = False
    for link in range(site.load.size):
        share = site.load[link] / layout.bandwidth[link]
        slowdown = share if share > 1.0 + LINK_TOLERANCE else 1.0
        if slowdown != site.slowdown[link]:
            site.slowdown[link] = slowdown
            changed = True
    if not changed:
        return
    for place in range(site.counter[LINKED]):
        job = running.linked[place]
        cost = _cost(jobs, running, site, job)
        if cost == running.cost[job]:
            continue
        running.remaining[job] -= (now - running.since[job]) / running.cost[job]
        running.since[job] = now
        running.cost[job] = cost
        running.end[job] = now + max(_whole_seconds(running.remaining[job] * cost), 1)
        _settle(running, site, running.heap_place[job])
