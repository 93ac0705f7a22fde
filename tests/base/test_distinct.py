"""Distinct numbers are those that sorting finds, whichever way they are found."""

import numpy as np
import pytest

from queuesmith.base.distinct import distinct


@pytest.mark.parametrize(
    "numbers",
    [
        [3, 1, 3, 2, 1],
        [-4, 7, -4, 0],
        [5],
        [],
        [2**62, -(2**62), 0, 2**62],  # too far apart to be counted
        [10**9 + 3, 10**9, 10**9 + 3],
    ],
)
def test_distinct_numbers_are_those_that_sorting_finds(numbers):
    numbers = np.array(numbers, dtype=np.int64)
    values, position = distinct(numbers)
    expected, where = np.unique(numbers, return_inverse=True)
    assert values.tolist() == expected.tolist() and values.dtype == numbers.dtype
    assert position.tolist() == where.reshape(-1).tolist()
    assert values[position].tolist() == numbers.tolist()
