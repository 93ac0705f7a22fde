"""Jobs by the instant at which something happens to them: a heap in a table of two rows."""

from queuesmith.compiled import kernel
from queuesmith.compiled.heap import rise, sink

# Rows of such a table; the first to come stands at place 0.
TIME, JOB = range(2)
ROWS = 2


@kernel
def _time_at(heap, place):
    return heap[TIME, place]


@kernel
def _move(heap, goal, source):
    heap[TIME, goal] = heap[TIME, source]
    heap[JOB, goal] = heap[JOB, source]


@kernel
def put_in(heap, hole, time, job):
    """Put a job into a heap that has a hole there: at its end, or where the job stood before."""
    place = rise(heap, hole, time, _time_at, _move)
    heap[TIME, place] = time
    heap[JOB, place] = job


@kernel
def take_first(heap, left):
    """Take the job that is first from a heap, of which so many are left; return the job."""
    job = heap[JOB, 0]
    time, last = heap[TIME, left], heap[JOB, left]
    place = sink(heap, 0, left, time, _time_at, _move)
    heap[TIME, place] = time
    heap[JOB, place] = last
    return job
