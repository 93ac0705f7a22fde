"""Prices of machines: those that prove a bound, and how jobs divide themselves by them."""

import math

import numpy as np
from numba import float64, int64, void

from queuesmith.compiled import entry
from queuesmith.compiled.arrays import FROZEN_REAL_TABLE, FROZEN_REALS, REALS, copy

#: Costs above a job's least by so many temperatures do not count: exp(-15) is 3e-7.
REACH = 15.0


@entry(float64(FROZEN_REAL_TABLE, FROZEN_REALS, int64, REALS, REALS, REALS))
def find_prices(times, ready, rounds, prices, best_prices, load):
    """Raise the prices of machines that finish late until none gains; return the bound they prove.

    Whatever the prices, no makespan is below the priced work of all jobs, each where it is
    cheapest: the dual of the assignment LP. Each round changes the prices by the loads they cause.
    """
    jobs, machines = times.shape
    best = -1.0
    for machine in range(machines):
        prices[machine] = 1.0 / machines
    for step in range(rounds):
        bound = 0.0
        for machine in range(machines):
            load[machine] = ready[machine]
            bound += prices[machine] * ready[machine]
        for job in range(jobs):
            cheapest = 0
            least = math.inf
            for machine in range(machines):
                cost = prices[machine] * times[job, machine]
                if cost < least:
                    cheapest, least = machine, cost
            load[cheapest] += times[job, cheapest]
            bound += least
        if bound > best:
            best = bound
            copy(best_prices, prices)
        rate = 0.5 / (1.0 + 0.05 * step)
        total = 0.0
        for machine in range(machines):
            surplus = min(max(load[machine] / bound - 1.0, -2.0), 2.0)
            prices[machine] *= math.exp(rate * surplus)
            total += prices[machine]
        for machine in range(machines):
            prices[machine] /= total
    return best


@entry(void(FROZEN_REAL_TABLE, REALS, float64, REALS), allocates=True)
def divide_jobs(log_times, log_price, cold, load):
    """Add up what each machine is given if all jobs divide themselves by cost."""
    jobs, machines = log_times.shape
    near = np.empty(machines, np.int64)
    cost = np.empty(machines)
    load[:] = 0.0
    for job in range(jobs):
        least = np.inf
        for machine in range(machines):
            cost[machine] = log_times[job, machine] + log_price[machine]
            least = min(least, cost[machine])
        found = 0
        for machine in range(machines):
            near[found] = machine
            found += cost[machine] < least + REACH * cold
        total = 0.0
        for machine in near[:found]:
            cost[machine] = math.exp((least - cost[machine]) / cold)
            total += cost[machine]
        for machine in near[:found]:
            load[machine] += cost[machine] / total * math.exp(log_times[job, machine])
