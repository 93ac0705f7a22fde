"""The distinct numbers of a column, by counting where that is faster than sorting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Numbers are counted, not sorted, where their range is at most so many times their count.
WIDEST = 4


def distinct(numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct whole numbers in rising order, and the position of each number there.

    The same as ``np.unique`` with ``return_inverse``, which sorts: users, groups and weeks are
    small numbers of which there are many, and a page that follows a slider asks at every move.
    """
    if len(numbers) == 0:
        return numbers, np.empty(0, np.int64)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low > WIDEST * len(numbers):
        values, position = np.unique(numbers, return_inverse=True)
        return values, position.reshape(-1)
    above = numbers - low
    present = np.zeros(high - low + 1, np.bool_)
    present[above] = True
    values = np.flatnonzero(present)
    place = np.empty(len(present), np.int64)
    place[values] = np.arange(len(values))
    return (values + low).astype(numbers.dtype, copy=False), place[above]
