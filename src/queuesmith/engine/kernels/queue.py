"""Jobs that wait under an order that changes, or for a plan: the queue."""

from typing import Any, NamedTuple

from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INTS, REALS, SMALL_INTS
from queuesmith.engine.kernels.constants import FREE, HEAD, NOBODY, TAIL


class Queue(NamedTuple):
    """Waiting jobs at ``job[head:tail]``, for orders that change and for plans.

    Their cores and walltimes are kept beside them, so that long queues are read in one sweep.
    """

    job: Any
    cores: Any
    walltime: Any
    score: Any
    spare_job: Any
    spare_score: Any


QUEUE_TYPE = types.NamedTuple([SMALL_INTS, INTS, INTS, REALS, SMALL_INTS, REALS], Queue)


@kernel
def put(jobs, queue, place, job):
    """Write a job into a place of the queue."""
    queue.job[place] = job
    queue.cores[place] = jobs.cores[job]
    queue.walltime[place] = jobs.walltime[job]


@kernel
def move(queue, place, other):
    """Copy the job of another place into a place of the queue."""
    queue.job[place] = queue.job[other]
    queue.cores[place] = queue.cores[other]
    queue.walltime[place] = queue.walltime[other]


@kernel
def join_at_end(replay, job):
    """Put a job behind all others."""
    put(replay.jobs, replay.queue, replay.counters[TAIL], job)
    replay.counters[TAIL] += 1


@kernel
def join_by_rank(replay, rank, job):
    """Put a job into the queue at its place in a fixed order."""
    queue, counters = replay.queue, replay.counters
    low, high = counters[HEAD], counters[TAIL]
    if low < high and rank[queue.job[high - 1]] < rank[job]:
        low = high
    while low < high:
        middle = (low + high) >> 1
        if rank[queue.job[middle]] < rank[job]:
            low = middle + 1
        else:
            high = middle
    for i in range(counters[TAIL], low, -1):
        move(queue, i, i - 1)
    put(replay.jobs, queue, low, job)
    counters[TAIL] += 1


@kernel
def close_gap(queue, counters, kept, i):
    """Move the jobs from place ``i`` on forward to place ``kept``."""
    if kept < i:
        while i < counters[TAIL]:
            move(queue, kept, i)
            kept += 1
            i += 1
        counters[TAIL] = kept


@kernel
def fill_gap(queue, counters, place):
    """Move the last job of an unsorted queue to the place of one that left."""
    last = counters[TAIL] - 1
    move(queue, place, last)
    queue.score[place] = queue.score[last]
    counters[TAIL] = last


@kernel
def comes_before(score, job, other_score, other_job):
    """Tell whether a job stands before another: the higher score, then the earlier job."""
    return score > other_score or (score == other_score and job < other_job)


@kernel
def end_of_run(job, score, i, tail):
    """Return where the sorted run that begins at ``i`` ends."""
    i += 1
    while i < tail and not comes_before(score[i], job[i], score[i - 1], job[i - 1]):
        i += 1
    return i


@kernel
def merge(job, score, left, middle, right, to_job, to_score):
    """Merge two neighbouring sorted runs into other arrays."""
    a, b = left, middle
    for i in range(left, right):
        if b >= right or (a < middle and not comes_before(score[b], job[b], score[a], job[a])):
            to_job[i], to_score[i] = job[a], score[a]
            a += 1
        else:
            to_job[i], to_score[i] = job[b], score[b]
            b += 1


@kernel
def sort_queue(jobs, queue, counters):
    """Sort the queue by score: a natural merge sort, quick where little has changed."""
    head, tail = counters[HEAD], counters[TAIL]
    while end_of_run(queue.job, queue.score, head, tail) < tail:
        left = head
        while left < tail:
            middle = end_of_run(queue.job, queue.score, left, tail)
            right = middle
            if middle < tail:
                right = end_of_run(queue.job, queue.score, middle, tail)
            merge(queue.job, queue.score, left, middle, right, queue.spare_job, queue.spare_score)
            left = right
        for i in range(head, tail):
            put(jobs, queue, i, queue.spare_job[i])
            queue.score[i] = queue.spare_score[i]


@kernel
def some_job_fits(queue, counters):
    """Tell whether any waiting job is narrow enough to start now."""
    for i in range(counters[HEAD], counters[TAIL]):  # noqa: SIM110 (compiled)
        if queue.cores[i] <= counters[FREE]:
            return True
    return False


@kernel
def best(queue, counters):
    """Return the place of the first job in an unsorted queue that is not empty."""
    found = counters[HEAD]
    for i in range(found + 1, counters[TAIL]):
        if comes_before(queue.score[i], queue.job[i], queue.score[found], queue.job[found]):
            found = i
    return found


@kernel
def best_that_may_start(queue, counters, longest, extra):
    """Return the place of the first job in an unsorted queue that fits and is short enough or
    narrow enough, or NOBODY.
    """
    found = NOBODY
    for i in range(counters[HEAD], counters[TAIL]):
        if (
            queue.cores[i] <= counters[FREE]
            and (queue.walltime[i] <= longest or queue.cores[i] <= extra)
            and (
                found == NOBODY
                or comes_before(queue.score[i], queue.job[i], queue.score[found], queue.job[found])
            )
        ):
            found = i
    return found
