"""A power law through points, y = c x**k, with the confidence interval of the exponent."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from queuesmith.base.errors import UsageError
from queuesmith.knobs.bags import Floats


@dataclass(frozen=True)
class PowerLaw:
    """A line through points on two logarithmic axes.

    Parameters
    ----------
    factor, exponent
        ``c`` and ``k`` of y = c x**k.
    low, high
        The 95 % confidence interval of the exponent; infinite for two points.
    """

    factor: float
    exponent: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.factor:,.0f} x^{self.exponent:.2f} (95 %: {self.low:.2f} to {self.high:.2f})"

    def at(self, x: ArrayLike) -> Floats:
        """Return the law's values."""
        return np.asarray(self.factor * np.asarray(x, np.float64) ** self.exponent)


def fit_power_law(x: ArrayLike, y: ArrayLike) -> PowerLaw:
    """Fit by least squares of the logarithms; the interval assumes equal scatter there.

    >>> fit_power_law([1, 2, 4], [8, 4, 2]).exponent
    -1.0
    """
    log_x, log_y = (np.log(np.asarray(values, np.float64)) for values in (x, y))
    if len(log_x) < 2 or len(np.unique(log_x)) < 2 or not np.isfinite([*log_x, *log_y]).all():
        raise UsageError(
            "a power law needs two or more points of different, positive x and positive y. "
            "Give more sizes."
        )
    centred = log_x - log_x.mean()
    spread = float(np.square(centred).sum())
    exponent = float((centred * log_y).sum()) / spread
    level = float(log_y.mean() - exponent * log_x.mean())
    freedom = len(log_x) - 2
    width = math.inf
    if freedom:
        scatter = float(np.square(log_y - level - exponent * log_x).sum()) / freedom
        width = student_quantile(0.975, freedom) * math.sqrt(scatter / spread)
    exponent = round(exponent, 12)
    return PowerLaw(math.exp(level), exponent, exponent - width, exponent + width)


def student_quantile(share: float, freedom: int) -> float:
    """Return the quantile of Student's t above one half, by bisection of its integral."""
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        if 0.5 + _area(middle, freedom) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _area(limit: float, freedom: int) -> float:
    """Integrate the density from 0 to a limit; the arc tangent makes it short and smooth."""
    angle = math.atan(limit / math.sqrt(freedom))
    at = np.linspace(0.0, angle, 2001)
    density = np.cos(at) ** (freedom - 1)
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    return float(constant / math.sqrt(math.pi) * np.trapezoid(density, at))
