"""Prices of machines at which all of them are wanted alike, found without an LP.

Each job divides itself over the machines by their costs (its time there, times the price), the more
strictly the colder it gets. Prices of machines that are wanted too much rise until all are wanted
alike, which is the dual of the assignment LP but for the temperature. For 8,192 jobs on 256
machines the bound they prove is within some parts in ten thousand of the LP's, and they tell which
few of the two million columns that LP needs.
"""

from __future__ import annotations

import numpy as np

from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.grid.exact.kernels.prices import divide_jobs

#: Temperatures, relative to a job's cost: from where all machines are wanted to nearly the LP.
HOTTEST, COLDEST, COOLINGS = 1.0, 0.002, 14
#: Prices are changed so often at one temperature, or until no machine is off by more than this.
ROUNDS, EVEN = 15, 0.05
#: A machine that nobody wants becomes cheaper by no more than this part of the temperature.
UNWANTED = 1e-3


def balanced_prices(matrix: EtcMatrix) -> Floats:
    """Return prices, above 0 and together 1, at which all machines are wanted about alike."""
    log_times = np.log(matrix.times)
    log_times.setflags(write=False)
    log_price, load = np.zeros(matrix.machines), np.zeros(matrix.machines)
    for cold in np.geomspace(HOTTEST, COLDEST, COOLINGS):
        for _ in range(ROUNDS):
            divide_jobs(log_times, log_price, cold, load)
            wanted = matrix.ready + load
            excess = np.log(np.maximum(wanted / wanted.mean(), UNWANTED))
            log_price += cold * excess
            if np.abs(excess).max() < EVEN:
                break
    price = np.exp(log_price - log_price.max())
    return np.asarray(price / price.sum())
