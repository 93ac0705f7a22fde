"""Code that is written in few instructions does what Python does."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import boolean, float64, int32, int64, types, uint64

from queuesmith.compiled import entry, kernel, passes

INTS, REALS, TABLE = int64[::1], float64[::1], float64[:, ::1]


class Pair(NamedTuple):
    first: Any
    second: Any


class Box(NamedTuple):
    pair: Pair
    truths: Any
    small: Any
    table: Any
    number: Any


PAIR_TYPE = types.NamedUniTuple(INTS, 2, Pair)
BOX_TYPE = types.NamedTuple([PAIR_TYPE, boolean[::1], int32[::1], TABLE, int64], Box)


def new_box() -> Box:
    return Box(
        Pair(np.arange(10, 14), np.arange(20, 25)),
        np.array([True, False, True]),
        np.array([7, -8, 9], np.int32),
        np.arange(12.0).reshape(3, 4),
        5,
    )


@kernel
def ends(pair: Pair) -> int:
    """Read from both ends, by a number and by a constant."""
    last = len(pair.first) - 1
    return pair.first[last] + pair.first[-1] * 100 + pair.second[-2] + pair.second[0]  # type: ignore[no-any-return]


@kernel
def whole_arrays(table: Any, row: int) -> float:
    """Use what follows from the lengths: steps, sizes, rows and parts of them."""
    total = float(table.size) + 1000.0 * table.shape[1]
    for value in table[row]:
        total += value
    for value in table[1:, 2]:
        total += 10.0 * value
    return total + table[row - 3, row - 2]  # type: ignore[no-any-return]


@kernel
def count_on(box: Box, rounds: int) -> int:
    """Assign before, in and after loops, on some ways and on all."""
    found = box.number
    latest = 0
    for i in range(rounds):
        here = box.pair.second[i]
        if box.truths[i % 3]:
            latest = here
            continue
        box.pair.first[i], box.pair.first[-1] = box.pair.first[-1], box.pair.first[i]
        box.truths[i % 3] = here > 21
        box.small[i % 3] += here
        found += latest
    again = found * 2
    while again > 50:
        again -= here
    return found + again + box.small[1]  # type: ignore[no-any-return]


def from_box(box: Box, rounds: int) -> float:
    box.table[rounds % 3, -1] = rounds
    return ends(box.pair) + whole_arrays(box.table, 1) + count_on(box, rounds)  # type: ignore[no-any-return]


def as_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with its kernels as plain Python."""
    names = {name: getattr(each, "py_func", each) for name, each in function.__globals__.items()}
    return type(function)(function.__code__, names)


def test_bundles_loops_and_elements_are_as_in_python() -> None:
    compiled, ours, theirs = entry(float64(BOX_TYPE, int64))(from_box), new_box(), new_box()
    for rounds in (1, 3, 4):
        assert compiled(ours, rounds) == as_python(from_box)(theirs, rounds)
        for mine, yours in zip((*ours.pair, *ours[1:]), (*theirs.pair, *theirs[1:]), strict=True):
            np.testing.assert_array_equal(mine, yours)


def test_places_may_be_unsigned_and_arrays_of_any_layout() -> None:
    def read(array: Any, place: int) -> float:
        array[place] += 1.0
        return array[place]  # type: ignore[no-any-return]

    values = np.arange(10.0)
    assert entry(float64(REALS, uint64), kept=False)(read)(values, 3) == 4.0
    assert entry(float64(float64[:], int64), kept=False)(read)(values[::2], -1) == 9.0


def test_a_function_with_more_than_loops_and_numbers_goes_through_all_passes() -> None:
    def raising(x: int) -> int:
        if x < 0:
            raise ValueError("below 0")
        return x

    def closing(x: int) -> int:
        return (lambda y: y + x)(1)

    assert not passes.is_plain(raising.__code__) and not passes.is_plain(closing.__code__)
    assert passes.is_plain(as_python.__code__) is False and passes.is_plain(new_box.__code__)
    compiled = entry(int64(int64), kept=False)(raising)
    assert compiled(2) == 2
    with pytest.raises(ValueError, match="below 0"):
        compiled(-1)
    assert entry(int64(int64), kept=False)(closing)(4) == 5
