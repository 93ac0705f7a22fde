"""Which of many points no other one beats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def undominated(points: ArrayLike) -> NDArray[np.int64]:
    """Return the places of the points that no other dominates; of equal points the first.

    Points are rows of losses: lower is better in every column. One dominates another where it is
    at least as good in every column and better in one.

    >>> undominated([[1, 5], [2, 2], [3, 4], [2, 2]]).tolist()
    [0, 1]
    """
    losses = np.asarray(points, dtype=np.float64)
    _, first = np.unique(losses, axis=0, return_index=True)
    # Sorted by all columns in turn: whoever dominates a point stands before it, and is itself on
    # the front or dominated by one that is, so each is compared with the front so far alone.
    kept: list[int] = []
    for place in first:
        if not np.all(losses[kept] <= losses[place], axis=1).any():
            kept.append(int(place))
    return np.array(sorted(kept), dtype=np.int64)
