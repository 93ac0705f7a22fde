"""By which law the time of the slot model grows as slots become smaller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: The processor's seconds of HiGHS by the slot size in per cent, for one queue.
Seconds = Mapping[int, float]


class Growth(NamedTuple):
    """How well two laws fit, each with a factor of its own for each queue.

    Parameters
    ----------
    exponential, power
        The share of the variance of log seconds that is explained by the slots in a mean base time,
        and by their logarithm.
    factor
        By what the time is multiplied for one more slot in a mean base time, by the first law.
    degree
        The power of the number of slots that the time follows, by the second.
    """

    exponential: float
    power: float
    factor: float
    degree: float


def growth(queues: Sequence[Seconds]) -> Growth:
    """Fit both laws to the times of some queues, each of which ended at several slot sizes."""
    count = _centred([[100 / percent for percent in queue] for queue in queues])
    logs = _centred([[np.log(100 / percent) for percent in queue] for queue in queues])
    seconds = _centred([np.log(list(queue.values())) for queue in queues])
    slope, explained = _fit(count, seconds)
    degree, by_power = _fit(logs, seconds)
    return Growth(explained, by_power, float(np.exp(slope)), degree)


def _centred(parts: Sequence[Sequence[float] | NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([np.asarray(part) - np.mean(part) for part in parts])


def _fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Return the slope of a line through the origin, and the share of variance it explains."""
    slope = float(x @ y / (x @ x))
    return slope, 1 - float(((y - slope * x) ** 2).sum() / (y @ y))
