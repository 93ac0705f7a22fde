"""When jobs come to Slurm's queue, as submitted or as others end, and when they leave it."""

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import ARRIVED, NEVER, NOBODY
from queuesmith.engine.kernels.slurm_priority import insert_sorted, prioritize
from queuesmith.engine.kernels.slurm_state import (
    ARRIVAL,
    CANCELLED,
    COMING,
    ELIGIBLE,
    FOLLOWER,
    LANE,
    NEXT_ARRIVAL,
    NEXT_CANCEL,
    NEXT_FOLLOWER,
    QUEUED,
    THINK,
)
from queuesmith.engine.kernels.time_heap import TIME, put_in, take_first


@kernel
def release_followers(jobs, waiting, counters, job, now):
    """Let those who wait for a job that ends now come when they have thought."""
    comes, follower = waiting.comes, jobs[FOLLOWER, job]
    while follower != NOBODY:
        come_later(waiting, counters, follower, max(comes[follower], now + jobs[THINK, follower]))
        follower = jobs[NEXT_FOLLOWER, follower]


@kernel
def come_later(waiting, counters, job, time):
    """Let a job come to the queue at an instant."""
    waiting.comes[job] = time
    put_in(waiting.followers, counters[COMING], time, job)
    counters[COMING] += 1


@kernel
def next_arrival(jobs, waiting, counters):
    """Return when the next job comes, as far as that is known."""
    instant = NEVER
    if counters[NEXT_ARRIVAL] < jobs.shape[1]:
        instant = jobs[ELIGIBLE, jobs[ARRIVAL, counters[NEXT_ARRIVAL]]]
    return min(instant, waiting.followers[TIME, 0]) if counters[COMING] > 0 else instant


@kernel
def _pop_next(jobs, waiting, counters):
    """Take the next job that comes, from either list."""
    heap = waiting.followers
    if counters[COMING] == 0 or next_arrival(jobs, waiting, counters) < heap[TIME, 0]:
        counters[NEXT_ARRIVAL] += 1
        return jobs[ARRIVAL, counters[NEXT_ARRIVAL] - 1]
    counters[COMING] -= 1
    return take_first(heap, counters[COMING])


@kernel
def admit_due(jobs, worth, waiting, rights, factor, knobs, weights, counters, now):
    """Let jobs join the queue that come now; tell whether any did."""
    before, standing = counters[ARRIVED], (jobs, waiting.priority, rights)
    while next_arrival(jobs, waiting, counters) == now:
        job = _pop_next(jobs, waiting, counters)
        counters[ARRIVED] += 1
        if jobs[CANCELLED, job] <= now:
            continue
        prioritize(jobs, worth, waiting, factor, knobs, weights, job, now)
        insert_sorted(standing, waiting.queue, job, counters[QUEUED])
        counters[QUEUED] += 1
        waiting.lanes[jobs[LANE, job]] += 1
    return counters[ARRIVED] > before


@kernel
def next_cancel(jobs, waiting, counters):
    """Return when the next job is cancelled."""
    if counters[NEXT_CANCEL] == len(waiting.cancels):
        return NEVER
    return jobs[CANCELLED, waiting.cancels[counters[NEXT_CANCEL]]]


@kernel
def cancel_due(jobs, waiting, counters, start, now):
    """Take jobs out of the queue that are cancelled now; tell whether any was in it.

    Who waits for one of them comes now.
    """
    queue, before = waiting.queue, counters[QUEUED]
    while next_cancel(jobs, waiting, counters) == now:
        job = waiting.cancels[counters[NEXT_CANCEL]]
        counters[NEXT_CANCEL] += 1
        if start[job] == NOBODY:
            release_followers(jobs, waiting, counters, job, now)
        left = 0
        for place in range(counters[QUEUED]):
            queue[left] = queue[place]
            left += queue[place] != job
        waiting.lanes[jobs[LANE, job]] -= counters[QUEUED] - left
        counters[QUEUED] = left
    return counters[QUEUED] < before
