"""Jobs that run: a heap of those who end next."""

from typing import Any, NamedTuple

from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INTS, SMALL_INTS
from queuesmith.compiled.heap import rise, sink
from queuesmith.engine.kernels.constants import ENDING


class Running(NamedTuple):
    """Jobs that hold cores: a heap by their true end, a sorted list by the end one must expect."""

    end: Any
    job: Any
    due: Any
    due_cores: Any


RUNNING_TYPE = types.NamedTuple([INTS, SMALL_INTS, INTS, INTS], Running)


@kernel
def end_at(running, place):
    """Return the end by which the heap is ordered."""
    return running.end[place]


@kernel
def move_end(running, goal, source):
    """Move a job of the heap to another place."""
    running.end[goal] = running.end[source]
    running.job[goal] = running.job[source]


@kernel
def push_end(running, counters, end, job):
    """Add a job to the heap of true ends."""
    place = rise(running, counters[ENDING], end, end_at, move_end)
    counters[ENDING] += 1
    running.end[place] = end
    running.job[place] = job


@kernel
def pop_end(running, counters):
    """Take the job that ends first from the heap."""
    job = running.job[0]
    size = counters[ENDING] - 1
    counters[ENDING] = size
    end, last = running.end[size], running.job[size]
    place = sink(running, 0, size, end, end_at, move_end)
    running.end[place] = end
    running.job[place] = last
    return job
