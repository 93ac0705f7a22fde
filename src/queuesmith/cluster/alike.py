"""Which rows of a table are alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.workload.workload import Ints


def numbered(columns: Sequence[NDArray[Any]]) -> Ints:
    """Return the number of each row among the rows that differ, which are in order.

    Column by column: comparing whole rows takes many times as long.
    """
    numbers = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        own = np.unique(column, return_inverse=True)[1].ravel()
        both = numbers * (int(own.max(initial=0)) + 1) + own
        numbers = np.unique(both, return_inverse=True)[1].ravel()
    return numbers
