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
    GROUND_TYPE,
    IN_WINDOW,
    LINE_TYPE,
    MANNER_TYPE,
    NEVER,
    NOBODY,
    NOW,
    RUNNING,
    RUNNING_TYPE,
    SITE_TYPE,
    TOO_WIDE,
    WORK_TYPE,
    kernel,
)


@kernel
def _enter(work, line, site, window):
    """Let arrived jobs enter the window in the order of their arrival; tell whether any did."""
    counter = site.counter
    before = counter[ENTERED]
    while counter[ENTERED] < counter[ARRIVED] and counter[IN_WINDOW] < window:
        job = counter[ENTERED]
        set_leaf(line, line.rank[job], work.tasks[job])
        counter[ENTERED] += 1
        counter[IN_WINDOW] += 1
    return counter[ENTERED] > before


@kernel
def _worth_it(ground, work, site, job, manner):
    """Tell whether a job should start now, by what the free nodes would at least cost it."""
    if manner.rule != CHEAPEST or site.counter[RUNNING] == 0 or manner.patience == math.inf:
        return True
    most = manner.patience * work.bill[job] / work.base_time[job]
    for slowest in range(ground.class_power.size):
        if least_bill(ground, site, work.tasks[job], work.sigma[job], slowest) <= most:
            return True
    return False


@kernel
def _in_time(ground, work, site, draft, job, manner):
    """Tell whether a job should start as chosen, or else on the fastest nodes there are.

    It should not where it would miss the deadline now but could meet it on nodes still in use.
    """
    latest = manner.deadline - site.counter[NOW]
    base, sigma = work.base_time[job], work.sigma[job]
    if base * (sigma / slowest_of_chosen(ground, draft) + 1.0 - sigma) <= latest:
        return True
    order_by_power(ground, draft)
    tasks, each = work.tasks[job], work.task_bandwidth[job]
    fill_in_order(ground, site, draft, tasks, each, manner.limit, NOBODY)
    power = slowest_of_chosen(ground, draft)
    if base * (sigma / power + 1.0 - sigma) <= latest or site.counter[RUNNING] == 0:
        return True
    needed, place = tasks, 0
    while needed > 0:  # the slowest of the fastest nodes that suffice
        group = ground.by_power[place]
        needed -= ground.group_first[group + 1] - ground.group_first[group]
        power = ground.group_power[group]
        place += 1
    return base * (sigma / power + 1.0 - sigma) > latest


@kernel
def _pass(ground, work, line, running, site, draft, manner):
    """Start waiting jobs in their order: only the first in line, or any that fits."""
    rank = 0
    while site.counter[FREE] > 0:
        most = site.counter[FREE] if manner.fit else TOO_WIDE - 1
        rank = next_in_line(line, rank, most)
        if rank == NOBODY:
            return
        job = line.job_at[rank]
        if (
            _worth_it(ground, work, site, job, manner)
            and allocate(ground, work, site, draft, job, manner.rule, manner.limit)
            and _in_time(ground, work, site, draft, job, manner)
        ):
            occupy(ground, work, running, site, draft, job)
            begin(work, running, site, job)
            set_leaf(line, rank, TOO_WIDE)
            site.counter[IN_WINDOW] -= 1
            if _enter(work, line, site, manner.window):
                rank = 0  # whoever entered may stand before those already looked at
                continue
        elif not manner.fit:
            return
        rank += 1


@kernel
def _release(ground, work, running, site):
    """End all jobs that are due now."""
    while site.counter[RUNNING] > 0 and running.end[running.heap[0]] <= site.counter[NOW]:
        job = finish_next(work, running, site)
        site.counter[FREE] += work.tasks[job]
        for task in range(work.offset[job], work.offset[job + 1]):
            group = ground.node_group[running.nodes[task]]
            site.group_free[group] += 1
            site.class_free[ground.group_class[group]] += 1
            site.cluster_free[ground.group_cluster[group]] += 1


@entry(
    types.void(GROUND_TYPE, WORK_TYPE, LINE_TYPE, RUNNING_TYPE, SITE_TYPE, DRAFT_TYPE, MANNER_TYPE),
    error_model="numpy",
)
def run_heuristic(ground, work, line, running, site, draft, manner):
    """Replay all jobs; whoever waits is started by an order and an allocation rule."""
    counter = site.counter
    count = work.submit.size
    while counter[ARRIVED] < count or counter[RUNNING] > 0:
        now = NEVER
        if counter[ARRIVED] < count:
            now = work.submit[counter[ARRIVED]]
        if counter[RUNNING] > 0:
            now = min(now, running.end[running.heap[0]])
        counter[NOW] = now
        _release(ground, work, running, site)
        while counter[ARRIVED] < count and work.submit[counter[ARRIVED]] <= now:
            counter[ARRIVED] += 1
        _enter(work, line, site, manner.window)
        _pass(ground, work, line, running, site, draft, manner)
        new_rates(ground, work, running, site)
