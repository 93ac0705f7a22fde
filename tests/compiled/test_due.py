"""The list of expected ends against a sorted list of pairs."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.compiled.due import insert_due, remove_due, reserve

pytestmark = pytest.mark.uncompiled


class Running(NamedTuple):
    due: Any
    due_cores: Any


RUNNERS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 4)), min_size=1, max_size=12)


def started(runners: list[tuple[int, int]]) -> tuple[Running, int]:
    running = Running(np.zeros(12, np.int64), np.zeros(12, np.int64))
    count = 0
    for due, cores in runners:
        count = insert_due(running, count, due, cores)
    return running, count


def listed(running: Running, count: int) -> list[tuple[int, int]]:
    pairs = zip(running.due[:count].tolist(), running.due_cores[:count].tolist(), strict=True)
    return list(pairs)


@given(RUNNERS, st.data())
def test_whoever_comes_and_goes_the_list_stays_sorted(
    runners: list[tuple[int, int]], data: st.DataObject
) -> None:
    running, count = started(runners)
    for due, cores in data.draw(st.permutations(runners)):
        instants = [instant for instant, _ in listed(running, count)]
        assert instants == sorted(instants)
        assert (due, cores) in listed(running, count)
        count = remove_due(running, count, due, cores)
    assert count == 0


@given(RUNNERS, st.data())
def test_a_reservation_is_at_the_first_instant_with_enough_cores(
    runners: list[tuple[int, int]], data: st.DataObject
) -> None:
    running, count = started(runners)
    free = data.draw(st.integers(0, 3))
    total = free + sum(cores for _, cores in runners)
    wanted = data.draw(st.integers(free + 1, total))
    shadow, extra = reserve(running, count, free, wanted)

    def free_at(instant: int) -> int:
        return free + sum(cores for due, cores in runners if due <= instant)

    first = min(due for due, _ in runners if free_at(due) >= wanted)
    assert (shadow, extra) == (first, free_at(first) - wanted)
