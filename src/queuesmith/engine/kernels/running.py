"""Jobs that run: who ends next, and when cores will be free."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.arrays import INTS, SMALL
from queuesmith.engine.kernels.constants import DUE, ENDING, FREE


class Running(NamedTuple):
    """Jobs that hold cores: a heap by their true end, a sorted list by the end one must expect."""

    end: Any
    job: Any
    due: Any
    due_cores: Any


RUNNING_TYPE = types.NamedTuple([INTS, SMALL, INTS, INTS], Running)


@kernel
def push_end(running, counters, end, job):
    """Add a job to the heap of true ends."""
    child = counters[ENDING]
    counters[ENDING] = child + 1
    while child > 0:
        parent = (child - 1) >> 1
        if running.end[parent] <= end:
            break
        running.end[child] = running.end[parent]
        running.job[child] = running.job[parent]
        child = parent
    running.end[child] = end
    running.job[child] = job


@kernel
def pop_end(running, counters):
    """Take the job that ends first from the heap."""
    job = running.job[0]
    size = counters[ENDING] - 1
    counters[ENDING] = size
    end, last = running.end[size], running.job[size]
    parent = 0
    child = 1
    while child < size:
        if child + 1 < size and running.end[child + 1] < running.end[child]:
            child += 1
        if running.end[child] >= end:
            break
        running.end[parent] = running.end[child]
        running.job[parent] = running.job[child]
        parent = child
        child = 2 * parent + 1
    running.end[parent] = end
    running.job[parent] = last
    return job


@kernel
def insert_due(running, counters, due, cores):
    """Add a job to the list of expected ends, kept sorted."""
    i = counters[DUE]
    counters[DUE] = i + 1
    while i > 0 and running.due[i - 1] > due:
        running.due[i] = running.due[i - 1]
        running.due_cores[i] = running.due_cores[i - 1]
        i -= 1
    running.due[i] = due
    running.due_cores[i] = cores


@kernel
def remove_due(running, counters, due, cores):
    """Take a job from the list of expected ends; jobs alike in end and cores are one as good."""
    i = np.searchsorted(running.due[: counters[DUE]], due)
    while running.due_cores[i] != cores:
        i += 1
    last = counters[DUE] - 1
    counters[DUE] = last
    while i < last:
        running.due[i] = running.due[i + 1]
        running.due_cores[i] = running.due_cores[i + 1]
        i += 1


@kernel
def reserve(running, counters, cores):
    """Return when so many cores will be free, and how many more are free at that instant."""
    free = counters[FREE]
    i = 0
    while free < cores:
        free += running.due_cores[i]
        i += 1
    shadow = running.due[i - 1]
    while i < counters[DUE] and running.due[i] == shadow:
        free += running.due_cores[i]
        i += 1
    return shadow, free - cores
