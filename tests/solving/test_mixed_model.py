import math

import numpy as np
import pytest

from queuesmith.solving.mixed_model import MixedModel


def cover() -> tuple[MixedModel, int]:
    """Three things of weight 3, 5 and 7; as little as possible that is 11 or more."""
    model = MixedModel()
    taken = model.new(3)
    total = model.new(1, whole=False, upper=math.inf)
    weights = list(zip((3.0, 5.0, 7.0), taken, strict=True))
    model.add(*weights, low=11)
    model.add(*weights, (-1, total), high=0)
    return model, int(total[0])


@pytest.mark.parametrize("seconds", [60, 1e300, math.inf])
def test_the_least_value_is_found_and_proven(seconds: float) -> None:
    model, total = cover()
    found = model.minimise(total, start=np.array([1.0, 1.0, 1.0, 15.0]), seconds=seconds)
    assert found.values == pytest.approx([0, 1, 1, 12])
    assert (found.optimal, found.bound) == (True, pytest.approx(12))


def test_a_start_is_what_is_left_where_time_is_up_at_once() -> None:
    model, total = cover()
    start = np.array([1.0, 1.0, 1.0, 15.0])
    found = model.minimise(total, start=start, seconds=1e-9)
    assert found.values[total] <= 15
    assert found.bound is None or found.bound <= found.values[total]


def test_a_variable_that_stands_in_a_row_twice_counts_twice() -> None:
    model = MixedModel()
    both = model.new(2, upper=9)
    model.add((2, both[0]), (3, both), low=21)
    assert model.rows == [{0: 5.0, 1: 3.0}]
    found = model.minimise(0, start=np.array([9.0, 9.0]), seconds=60)
    assert found.values[0] == pytest.approx(0)
