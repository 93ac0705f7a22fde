"""Jobs that wait under an order that changes, or for a plan: the queue."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import (
    FROZEN_INT_TABLE,
    INT_TABLE,
    INTS,
    REAL_TABLE,
    REALS,
    SMALL_INTS,
)
from queuesmith.engine.kernels.constants import (
    FREE,
    NARROWEST,
    NEVER,
    NOBODY,
    TAIL,
)


class Queue(NamedTuple):
    """Waiting jobs at ``job[:tail]``, for orders that change and for plans.

    What is read of them is kept beside them, so that long queues are read in one sweep.
    """

    job: Any
    cores: Any
    walltime: Any
    whole: Any  # where jobs are scored: what else orders see of them, a row a whole number
    real: Any  # and a row a real
    score: Any
    spare_job: Any
    spare_score: Any
    asked: Any  # what else all jobs ask for, a row a field; no column where no order looks at it


QUEUE_TYPE = types.NamedTuple(
    [SMALL_INTS, INTS, INTS, INT_TABLE, REAL_TABLE, REALS, SMALL_INTS, REALS, FROZEN_INT_TABLE],
    Queue,
)
#: So many places are looked over at a time.
SWEEP = 64
ID, SUBMIT, USER, GROUP = range(4)
LOG_WALLTIME, LOG_CORES, PARTITION_FACTOR, QOS_FACTOR = range(4)
NODES, MEMORY, GPUS, PARTITION, QOS, ACCOUNT = range(6)


#: Where no order looks at what jobs ask nodes for.
NOTHING_ASKED = np.zeros((6, 0), np.int64)
NOTHING_ASKED.setflags(write=False)


def new_queue(jobs: int, *, scored: bool) -> Queue:
    """Return room for so many jobs, which are scored or not."""
    scores = jobs if scored else 0
    return Queue(
        job=np.empty(jobs, np.int32),
        cores=np.empty(jobs, np.int64),
        walltime=np.empty(jobs, np.int64),
        whole=np.empty((4, scores), np.int64),
        real=np.empty((4, scores), np.float64),
        score=np.empty(scores, np.float64),
        spare_job=np.empty(scores, np.int32),
        spare_score=np.empty(scores, np.float64),
        asked=NOTHING_ASKED,
    )


def queue_of(jobs: Any, places: Any) -> Queue:
    """Return a queue of some of all jobs, to be scored."""
    queue = new_queue(len(places), scored=True)
    queue.job[:] = places
    queue.cores[:], queue.walltime[:] = jobs.cores[places], jobs.walltime[places]
    queue.whole[ID], queue.whole[SUBMIT] = jobs.id[places], jobs.submit[places]
    queue.whole[USER], queue.whole[GROUP] = jobs.user[places], jobs.group[places]
    queue.real[LOG_WALLTIME] = jobs.log_walltime[places]
    queue.real[LOG_CORES] = jobs.log_cores[places]
    queue.real[PARTITION_FACTOR] = jobs.partition_factor[places]
    queue.real[QOS_FACTOR] = jobs.qos_factor[places]
    return queue


@kernel
def asked_for(queue, field, place):
    """Return what else a waiting job asks for; 0 where nobody looks at it."""
    return queue.asked[field, queue.job[place]] if queue.asked.shape[1] > 0 else 0


@kernel
def put(jobs, queue, place, job):
    """Write a job into a place of the queue."""
    queue.job[place] = job
    queue.cores[place] = jobs.cores[job]
    queue.walltime[place] = jobs.walltime[job]
    if len(queue.score) > 0:
        queue.whole[ID, place] = jobs.id[job]
        queue.whole[SUBMIT, place] = jobs.submit[job]
        queue.whole[USER, place] = jobs.user[job]
        queue.whole[GROUP, place] = jobs.group[job]
        queue.real[LOG_WALLTIME, place] = jobs.log_walltime[job]
        queue.real[LOG_CORES, place] = jobs.log_cores[job]
        queue.real[PARTITION_FACTOR, place] = jobs.partition_factor[job]
        queue.real[QOS_FACTOR, place] = jobs.qos_factor[job]


@kernel
def move(queue, place, other):
    """Copy the job of another place into a place of the queue."""
    queue.job[place] = queue.job[other]
    queue.cores[place] = queue.cores[other]
    queue.walltime[place] = queue.walltime[other]
    if len(queue.score) > 0:
        move_seen(queue, place, other)


@kernel
def move_seen(queue, place, other):
    """Copy what else orders see of a job."""
    for k in range(4):
        queue.whole[k, place] = queue.whole[k, other]
        queue.real[k, place] = queue.real[k, other]


@kernel
def join_at_end(replay, job):
    """Put a job behind all others."""
    counters, cores = replay.counters, replay.jobs.cores[job]
    put(replay.jobs, replay.queue, counters[TAIL], job)
    counters[TAIL] += 1
    counters[NARROWEST] = min(cores, counters[NARROWEST])


@kernel
def join_by_rank(replay, rank, job):
    """Put a job into the queue at its place in a fixed order."""
    queue, counters = replay.queue, replay.counters
    low, high = 0, counters[TAIL]
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
    gap = i - kept
    if gap == 0:
        return
    counters[TAIL] -= gap
    for place in range(kept, counters[TAIL]):
        queue.job[place] = queue.job[place + gap]
        queue.cores[place] = queue.cores[place + gap]
        queue.walltime[place] = queue.walltime[place + gap]
    if len(queue.score) > 0:
        for place in range(kept, counters[TAIL]):
            move_seen(queue, place, place + gap)


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
    tail = counters[TAIL]
    if end_of_run(queue.job, queue.score, 0, tail) >= tail:
        return
    while end_of_run(queue.job, queue.score, 0, tail) < tail:
        left = 0
        while left < tail:
            middle = end_of_run(queue.job, queue.score, left, tail)
            right = middle
            if middle < tail:
                right = end_of_run(queue.job, queue.score, middle, tail)
            merge(queue.job, queue.score, left, middle, right, queue.spare_job, queue.spare_score)
            left = right
        for i in range(tail):
            queue.job[i], queue.score[i] = queue.spare_job[i], queue.spare_score[i]
    for i in range(tail):
        put(jobs, queue, i, queue.job[i])


@kernel
def first_without_number(score, waiting):
    """Return the first place whose score is no number, or -1."""
    for i in range(waiting):
        if score[i] != score[i]:
            return i
    return -1


@kernel
def some_job_fits(queue, counters):
    """Tell whether any waiting job is narrow enough to start now.

    ``counters[NARROWEST]`` is no more than the cores of any waiting job.
    """
    free = counters[FREE]
    if free < counters[NARROWEST]:
        return False
    narrowest = NEVER
    for i in range(counters[TAIL]):
        narrowest = min(narrowest, queue.cores[i])
        if narrowest <= free:
            return True
    counters[NARROWEST] = narrowest
    return False


@kernel
def best(queue, counters):
    """Return the place of the first job in an unsorted queue that is not empty."""
    return best_of_those(queue, counters[TAIL], reaches, 0, 0, 0)


@kernel
def best_that_may_start(queue, counters, longest, extra):
    """Return the place of the first job in an unsorted queue that fits and is short enough or
    narrow enough, or NOBODY.
    """
    most = counters[FREE]
    return best_of_those(queue, counters[TAIL], leads, most, longest, min(extra, most))


@kernel
def best_of_those(queue, tail, leading, most, longest, extra):
    """Return the place of the first job of those with at most so many cores that are short enough
    or narrow enough, or NOBODY.

    Few jobs come before all earlier ones, so most sweeps are done when they have been looked over.
    """
    score, job = queue.score, queue.job
    found, top, first = NOBODY, -np.inf, NEVER
    for begin in range(0, tail, SWEEP):
        end = min(begin + SWEEP, tail)
        if end < tail and not some_lead(queue, begin, end, leading, top, most, longest, extra):
            continue
        for i in range(begin, end):
            leads_now = leading(queue, i, top, most, longest, extra)
            if leads_now and (score[i] > top or job[i] < first):
                found, top, first = i, score[i], job[i]
    return found


@kernel
def reaches(queue, i, top, most, longest, extra):
    """Tell whether a job, whichever it is, has at least that score."""
    return queue.score[i] >= top


@kernel
def leads(queue, i, top, most, longest, extra):
    """Tell whether a job has at least that score and is among those; without a branch, which
    processors could not foresee.
    """
    return (queue.score[i] >= top) & may_start(queue, i, top, most, longest, extra)


@kernel
def may_start(queue, i, top, most, longest, extra):
    """Tell whether a job is among those, whatever its score."""
    room = most if queue.walltime[i] <= longest else extra
    return queue.cores[i] <= room


@kernel
def some_lead(queue, begin, end, leading, top, most, longest, extra):
    """Tell whether a job of a sweep does so. All of them are counted: processors count several at
    once.
    """
    count = 0
    for i in range(begin, end):
        place = np.uint64(i)  # never counted from the end
        count += leading(queue, place, top, most, longest, extra)
    return count > 0
