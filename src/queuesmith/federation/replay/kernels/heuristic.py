"""Replays in which whoever waits is started by an order and an allocation rule."""

import math

from numba import types

from queuesmith.compiled import entry
from queuesmith.federation.replay.kernels.allocation import (
    allocate,
    fill_in_order,
    least_bill,
    occupy,
    order_by_power,
    slowest_of_chosen,
)
from queuesmith.federation.replay.kernels.line import next_in_line, set_leaf
from queuesmith.federation.replay.kernels.running import begin, finish_next, new_rates
from queuesmith.federation.replay.kernels.site import (
    ARRIVED,
    CHEAPEST,
    DRAFT_TYPE,
    ENTERED,
    FREE,
    IN_WINDOW,
    JOBS_TYPE,
    LAYOUT_TYPE,
    LINE_TYPE,
    MANNER_TYPE,
    NEVER,
    NOBODY,
    NOW,
    RUNNING,
    RUNNING_TYPE,
    SITE_TYPE,
    TOO_WIDE,
    kernel,
)


@kernel
def _enter(jobs, line, site, window):
    """Let arrived jobs enter the window in the order of their arrival; tell whether any did."""
    counter = site.counter
    before = counter[ENTERED]
    while counter[ENTERED] < counter[ARRIVED] and counter[IN_WINDOW] < window:
        job = counter[ENTERED]
        set_leaf(line, line.rank[job], jobs.tasks[job])
        counter[ENTERED] += 1
        counter[IN_WINDOW] += 1
    return counter[ENTERED] > before


@kernel
def _worth_it(layout, jobs, site, job, manner):
    """Tell whether a job should start now, by what the free nodes would at least cost it."""
    if manner.rule != CHEAPEST or site.counter[RUNNING] == 0 or manner.patience == math.inf:
        return True
    most = manner.patience * jobs.bill[job] / jobs.base_time[job]
    for slowest in range(layout.class_power.size):
        if least_bill(layout, site, jobs.tasks[job], jobs.sigma[job], slowest) <= most:
            return True
    return False


@kernel
def _in_time(layout, jobs, site, draft, job, manner):
    """Tell whether a job should start as chosen, or else on the fastest nodes there are.

    It should not where it would miss the deadline now but could meet it on nodes still in use.
    """
    latest = manner.deadline - site.counter[NOW]
    base, sigma = jobs.base_time[job], jobs.sigma[job]
    if base * (sigma / slowest_of_chosen(layout, draft) + 1.0 - sigma) <= latest:
        return True
    order_by_power(layout, draft)
    tasks, each = jobs.tasks[job], jobs.task_bandwidth[job]
    fill_in_order(layout, site, draft, tasks, each, manner.limit, NOBODY)
    power = slowest_of_chosen(layout, draft)
    if base * (sigma / power + 1.0 - sigma) <= latest or site.counter[RUNNING] == 0:
        return True
    needed, place = tasks, 0
    while needed > 0:  # the slowest of the fastest nodes that suffice
        group = layout.by_power[place]
        needed -= layout.group_first[group + 1] - layout.group_first[group]
        power = layout.group_power[group]
        place += 1
    return base * (sigma / power + 1.0 - sigma) > latest


@kernel
def _pass(layout, jobs, line, running, site, draft, manner):
    """Start waiting jobs in their order: only the first in line, or any that fits."""
    rank = 0
    while site.counter[FREE] > 0:
        most = site.counter[FREE] if manner.fit else TOO_WIDE - 1
        rank = next_in_line(line, rank, most)
        if rank == NOBODY:
            return
        job = line.job_at[rank]
        if (
            _worth_it(layout, jobs, site, job, manner)
            and allocate(layout, jobs, site, draft, job, manner.rule, manner.limit)
            and _in_time(layout, jobs, site, draft, job, manner)
        ):
            occupy(layout, jobs, running, site, draft, job)
            begin(jobs, running, site, job)
            set_leaf(line, rank, TOO_WIDE)
            site.counter[IN_WINDOW] -= 1
            if _enter(jobs, line, site, manner.window):
                rank = 0  # whoever entered may stand before those already looked at
                continue
        elif not manner.fit:
            return
        rank += 1


@kernel
def _release(layout, jobs, running, site):
    """End all jobs that are due now."""
    while site.counter[RUNNING] > 0 and running.end[running.heap[0]] <= site.counter[NOW]:
        job = finish_next(jobs, running, site)
        site.counter[FREE] += jobs.tasks[job]
        for task in range(jobs.offset[job], jobs.offset[job + 1]):
            group = layout.node_group[running.nodes[task]]
            site.group_free[group] += 1
            site.class_free[layout.group_class[group]] += 1
            site.cluster_free[layout.group_cluster[group]] += 1


@entry(
    types.void(LAYOUT_TYPE, JOBS_TYPE, LINE_TYPE, RUNNING_TYPE, SITE_TYPE, DRAFT_TYPE, MANNER_TYPE),
    error_model="numpy",
)
def run_heuristic(layout, jobs, line, running, site, draft, manner):
    """Replay all jobs; whoever waits is started by an order and an allocation rule."""
    counter = site.counter
    count = jobs.submit.size
    while counter[ARRIVED] < count or counter[RUNNING] > 0:
        now = NEVER
        if counter[ARRIVED] < count:
            now = jobs.submit[counter[ARRIVED]]
        if counter[RUNNING] > 0:
            now = min(now, running.end[running.heap[0]])
        counter[NOW] = now
        _release(layout, jobs, running, site)
        while counter[ARRIVED] < count and jobs.submit[counter[ARRIVED]] <= now:
            counter[ARRIVED] += 1
        _enter(jobs, line, site, manner.window)
        _pass(layout, jobs, line, running, site, draft, manner)
        new_rates(layout, jobs, running, site)
