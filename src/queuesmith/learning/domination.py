"""Which of many points are better than which, and how much of the space they dominate.

Points are rows of losses: lower is better in every column.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from queuesmith.compiled.pareto import undominated

Floats = NDArray[np.float64]

#: Directions along which a volume of more than two dimensions is measured.
DIRECTIONS = 16_384


def dominated_by(point: Floats, others: Floats) -> NDArray[np.bool_]:
    """Tell which others are at least as good in every column and better in one."""
    return np.asarray(np.all(others <= point, axis=1) & np.any(others < point, axis=1))


def dominated_volume(points: Floats) -> float:
    """Return the share of the unit cube that points dominate: their hypervolume to (1, ..., 1).

    Exact for two columns. For more, an average over directions from the corner (Deng and Zhang
    2019): the volume is a ball's, whose radius in each direction is how far the points reach. The
    directions are the same in each call.
    """
    inside = points[np.all(points < 1.0, axis=1)]
    if not len(inside):
        return 0.0
    return _area(inside) if points.shape[1] == 2 else _volume(inside)


def _area(points: Floats) -> float:
    best = points[undominated(points)]
    best = best[np.argsort(best[:, 0])]
    tops = np.concatenate([[1.0], best[:-1, 1]])
    return float(np.sum((1.0 - best[:, 0]) * (tops - best[:, 1])))


def _volume(points: Floats) -> float:
    columns = points.shape[1]
    generator = np.random.default_rng(0)
    directions = np.abs(generator.standard_normal((DIRECTIONS, columns)))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    reach = np.zeros(DIRECTIONS)
    for point in points:
        np.maximum(reach, ((1.0 - point) / directions).min(axis=1), out=reach)
    ball = math.pi ** (columns / 2) / math.gamma(columns / 2 + 1)
    return float(ball / 2**columns * np.mean(reach**columns))
