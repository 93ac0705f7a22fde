"""A quick bound: what the makespan of no placement can be below."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.federation.model.equations import all_whole_seconds
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.model.time_cost import durations_by_level

PRICE_STEPS = 300
STEP_DECAY = 0.97
#: More different powers than this are rounded up to so many, which leaves the bound valid.
MOST_LEVELS = 12
#: What is taken off a bound for the rounding of the arithmetic, as a share of it.
ROUNDING = 1e-9


def simple_bound(
    federation: Federation, jobs: FederationJobs, prices: PriceBound | None = None
) -> int:
    """Return a proven lower bound on the makespan, in whole seconds.

    It is the greater of two. One job alone: no job ends before its arrival and its time on the
    fastest nodes. All jobs together: give every node a price per second. A job costs at least what
    its cheapest nodes cost for as long as the slowest of them makes it last, and all jobs together
    cost no more than all nodes until the makespan. Every choice of prices gives a bound; a few
    steps uphill find good ones. Saturated links make jobs longer, never shorter, so that it holds
    for any saturation. ``prices`` is `price_bound`, where that is known.
    """
    found = price_bound(federation, jobs) if prices is None else prices
    together = int(jobs.submit.min()) + found.value
    return max(longest_job(federation, jobs), math.ceil(together * (1 - ROUNDING)))


class PriceBound(NamedTuple):
    """The bound of all jobs together, and the prices that prove it.

    Attributes
    ----------
    value
        The bound, which is what all jobs cost at least.
    node_price
        What a second on each node costs; all nodes together cost 1.
    job_bill
        What each job costs at least.
    """

    value: float
    node_price: Floats
    job_bill: Floats


def price_bound(federation: Federation, jobs: FederationJobs) -> PriceBound:
    """Return the best bound by prices that was found, and the price of a second on each node."""
    levels = _few_levels(federation.levels)
    level = np.searchsorted(-levels, -federation.node_power, side="right") - 1
    seconds = np.stack([_seconds_at(jobs, power) for power in levels], axis=1)
    size = np.bincount(level, minlength=len(levels)).astype(np.float64)
    price = _best_prices(jobs.tasks, seconds, size)
    bill, _ = _bills(jobs.tasks, seconds, size, price)
    return PriceBound(float(bill.sum()), price[level], bill)


def _few_levels(levels: Floats) -> Floats:
    """The powers, or so few of them that each node's next higher one stands for it."""
    if len(levels) <= MOST_LEVELS:
        return levels
    return levels[np.unique(np.linspace(0, len(levels) - 1, MOST_LEVELS).astype(np.int64))]


def _seconds_at(jobs: FederationJobs, power: float) -> Floats:
    exact = jobs.base_time * (jobs.sigma / power + 1.0 - jobs.sigma)
    return all_whole_seconds(exact).astype(np.float64)


def longest_job(federation: Federation, jobs: FederationJobs) -> int:
    """Return the earliest end of the last job if each job had the federation for itself."""
    seconds = durations_by_level(federation, jobs)
    level = np.searchsorted(-federation.levels, -federation.node_power)
    slowest = np.sort(level)[jobs.tasks - 1]  # of the fastest nodes that suffice
    return int((jobs.submit + seconds[np.arange(len(jobs)), slowest]).max())


def _best_prices(tasks: Ints, seconds: Floats, size: Floats) -> Floats:
    """Climb over prices; they start where a second is worth what it does for the average job."""
    price: Floats = seconds.min(axis=1) @ (1.0 / seconds)
    best, best_price, step = 0.0, price, 0.5
    for _ in range(PRICE_STEPS if len(size) > 1 else 1):
        price = price / (price @ size)  # all nodes together cost 1 a second
        bill, used = _bills(tasks, seconds, size, price)
        if bill.sum() > best:
            best, best_price = float(bill.sum()), price
        # Levels that are asked for beyond their share become dearer, by ever smaller steps.
        share = used / size
        price = price * np.exp(step * np.clip(share / share.mean() - 1.0, -1.0, 1.0))
        step *= STEP_DECAY
    return best_price


def _bills(
    tasks: Ints, seconds: Floats, size: Floats, price: Floats
) -> tuple[Floats, NDArray[np.float64]]:
    """The least that each job costs, and the node-seconds of each level that all then take."""
    order = np.argsort(price, kind="stable")
    least = np.full(len(tasks), np.inf)
    taken = np.zeros(seconds.shape)
    for slowest in range(len(size)):
        # The cheapest nodes among those at least as fast as the slowest one allowed.
        usable = order[order <= slowest]
        before = np.concatenate([[0.0], np.cumsum(size[usable])[:-1]])
        nodes = np.clip(tasks[:, None] - before, 0.0, size[usable])
        cost = (nodes @ price[usable]) * seconds[:, slowest]
        better = (nodes.sum(axis=1) == tasks) & (cost < least)
        least[better] = cost[better]
        taken[better] = 0.0
        taken[np.ix_(better, usable)] = nodes[better] * seconds[better, slowest][:, None]
    return least, taken.sum(axis=0)
