"""The heap against Python's own."""

import heapq
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.compiled import kernel
from queuesmith.compiled.heap import rise, sink

pytestmark = pytest.mark.uncompiled


class Heap(NamedTuple):
    key: Any
    item: Any


@kernel
def key_at(heap, place):
    return heap.key[place]


@kernel
def move(heap, goal, source):
    heap.key[goal] = heap.key[source]
    heap.item[goal] = heap.item[source]


@kernel
def push(heap, size, key, item):
    place = rise(heap, size, key, key_at, move)
    heap.key[place] = key
    heap.item[place] = item


@kernel
def pop(heap, size):
    key, item = heap.key[size - 1], heap.item[size - 1]
    place = sink(heap, 0, size - 1, key, key_at, move)
    heap.key[place] = key
    heap.item[place] = item


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5)), max_size=60))
def test_the_least_key_comes_first_whatever_enters_and_leaves(steps: list[int | None]) -> None:
    heap = Heap(np.zeros(60, np.int64), np.zeros(60, np.int64))
    twin: list[int] = []
    for step in steps:
        if step is not None:
            push(heap, len(twin), step, 100 + step)
            heapq.heappush(twin, step)
        elif twin:
            assert heap.key[0] == twin[0]
            assert heap.item[0] == 100 + twin[0]
            pop(heap, len(twin))
            heapq.heappop(twin)
    assert sorted(heap.key[: len(twin)]) == sorted(twin)
