"""What nothing beats: the front of points that are to be small in every column."""

from __future__ import annotations

import numpy as np
from numba import int64
from numpy.typing import ArrayLike, NDArray

from queuesmith.compiled.arrays import INTS, REAL_TABLE
from queuesmith.compiled.decorators import entry


@entry(int64(REAL_TABLE, INTS))
def find_front(points, front):
    """Put the rows that no other row equals or beats in every column into ``front``; count them.

    Rows are different and sorted. A row that beats another stands before it, and whatever beats a
    row is itself on the front or beaten by one that is: so each row need only be compared with the
    front so far.
    """
    size = 0
    for i in range(len(points)):
        beaten = False
        for k in range(size):
            beaten = True
            for c in range(points.shape[1]):
                if points[front[k], c] > points[i, c]:
                    beaten = False
                    break
            if beaten:
                break
        if not beaten:
            front[size] = i
            size += 1
    return size


def undominated(points: ArrayLike) -> NDArray[np.int64]:
    """Return the rows that no other row equals or beats in every column, in their order.

    Lower is better; of equal rows the first counts.

    >>> undominated([[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [2.0, 2.0]]).tolist()
    [0, 1]
    """
    table = np.asarray(points, dtype=np.float64)
    distinct, first = np.unique(table, axis=0, return_index=True)
    front = np.empty(len(distinct), np.int64)
    size = find_front(np.ascontiguousarray(distinct), front)
    return np.sort(first[front[:size]])
