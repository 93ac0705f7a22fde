"""Arrivals that follow the hours of the day (Lublin and Feitelson 2003, the arrival model).

Gaps between jobs are drawn as they are on average over the day. A clock that runs fast in busy
half-hours and slowly at night then turns the sum of the gaps into the time of day.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SLOTS = 48
SLOT_SECONDS = 1800
DAY = SLOTS * SLOT_SECONDS

#: The gamma distribution of arrivals is fitted to a day that begins with this slot, 5:00 to 5:30,
#: counted from 1.
FIRST_SLOT = 11


def gamma_cdf(x: float, shape: float, scale: float) -> float:
    """Return the probability that a gamma variable is at most ``x``, by its power series."""
    z = x / scale
    if z <= 0:
        return 0.0
    term = total = 1 / shape
    step = shape
    while term > total * 1e-15:
        step += 1
        term *= z / step
        total += term
    return min(1.0, total * math.exp(-z + shape * math.log(z) - math.lgamma(shape)))


def slot_weights(shape: float, scale: float) -> Floats:
    """Return how busy each half-hour of the day is, from midnight; the mean is 1."""
    weights: Floats = np.empty(SLOTS)
    for slot in range(FIRST_SLOT, FIRST_SLOT + SLOTS):
        share = gamma_cdf(slot + 0.5, shape, scale) - gamma_cdf(slot - 0.5, shape, scale)
        weights[(slot - 1) % SLOTS] = share
    # A half-hour without any arrivals would stop the clock for good.
    weights = np.maximum(weights, 1e-9 * weights.max())
    weights /= weights.mean()
    return weights


@dataclass(frozen=True)
class DailyClock:
    """Turns seconds of an even day into seconds of a day with rush hours, from midnight."""

    weights: Floats

    def __call__(self, even_seconds: Floats) -> Floats:
        """Return when each instant of the even day comes; rising inputs give rising outputs."""
        ticks = np.concatenate([[0.0], np.cumsum(self.weights)]) * SLOT_SECONDS
        ticks[-1] = DAY
        day, within = np.divmod(even_seconds, DAY)
        times: Floats = np.interp(within, ticks, np.arange(SLOTS + 1) * float(SLOT_SECONDS))
        times += day * DAY
        return times
