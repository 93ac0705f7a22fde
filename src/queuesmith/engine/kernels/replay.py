"""A replay in progress, and what happens in it: arrivals, starts, completions."""

from typing import Any, NamedTuple

import numpy as np
from numba import int64, types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import FROZEN_INTS, FROZEN_REALS, INTS, SMALL_INTS
from queuesmith.compiled.due import insert_due, remove_due
from queuesmith.engine.kernels.constants import (
    ARRIVED,
    BAD_JOB,
    COUNTERS,
    DEPTH,
    DUE,
    ENDING,
    FREE,
    MOST_WORK,
    NEVER,
    NEXT_START,
    NOBODY,
    STARTED,
    TOO_LONG,
)
from queuesmith.engine.kernels.line import LINE_TYPE, Line, new_lines, nothing_kept
from queuesmith.engine.kernels.queue import NOTHING_ASKED, QUEUE_TYPE, Queue, new_queue
from queuesmith.engine.kernels.running import (
    RUNNING_TYPE,
    Running,
    pop_end,
    push_end,
)
from queuesmith.engine.kernels.usage import USAGE_TYPE, Usage, use_cores


class Jobs(NamedTuple):
    """The columns of all jobs, in the order of submission, then id."""

    id: Any
    submit: Any
    runtime: Any
    walltime: Any  # at least one second
    cores: Any
    user: Any  # dense: 0 to users - 1
    group: Any
    log_walltime: Any
    log_cores: Any
    partition_factor: Any
    qos_factor: Any


JOBS_TYPE = types.NamedTuple([FROZEN_INTS] * 7 + [FROZEN_REALS] * 4, Jobs)


class Replay(NamedTuple):
    """All that a replay in progress consists of."""

    jobs: Jobs
    line: Line
    queue: Queue
    running: Running
    usage: Usage
    counters: Any
    start: Any
    started: Any  # jobs in the order of their starts


REPLAY_TYPE = types.NamedTuple(
    [
        JOBS_TYPE,
        LINE_TYPE,
        QUEUE_TYPE,
        RUNNING_TYPE,
        USAGE_TYPE,
        INTS,
        INTS,
        SMALL_INTS,
    ],
    Replay,
)
SCORER_TYPE = int64(QUEUE_TYPE, USAGE_TYPE, int64, int64, int64, int64, FROZEN_REALS)


def new_replay(
    jobs: Jobs,
    cores: int,
    usage: Usage,
    *,
    rank: Any | None = None,
    keep: Any | None = None,
    scored: bool = False,
    planned: bool = False,
    bookings: int = 0,
    asked: Any = NOTHING_ASKED,
) -> Replay:
    """Return a replay in which nothing has happened yet, with all the room it will need.

    Parameters
    ----------
    rank
        Each job's place in the one line, where there is one.
    keep
        What is kept free in that line, if anything.
    scored
        Whether jobs are scored while they wait.
    planned
        Whether plans are made of those who wait.
    bookings
        How many reservations may come.
    asked
        What jobs ask for besides cores and time, where they are scored by it.
    """
    count = len(jobs.submit)
    running = most_running(jobs, cores, bookings)
    counters = np.zeros(COUNTERS, np.int64)
    counters[FREE] = cores
    counters[NEXT_START] = NEVER
    counters[BAD_JOB] = NOBODY
    counters[MOST_WORK] = counters[DEPTH] = counters[TOO_LONG] = NEVER
    lines = new_lines(
        np.empty((1, 0), np.int64) if rank is None else rank[np.newaxis],
        nothing_kept(1) if keep is None else keep[np.newaxis],
    )
    return Replay(
        jobs,
        Line(lines.cores[0], lines.walltime[0], lines.job[0], lines.keep[0]),
        new_queue(count if planned or scored else 0, scored=scored)._replace(asked=asked),
        Running(
            end=np.empty(running, np.int64),
            job=np.empty(running, np.int32),
            due=np.empty(running, np.int64),
            due_cores=np.empty(running, np.int64),
        ),
        usage,
        counters,
        np.full(count, -1, np.int64),
        np.empty(count, np.int32),
    )


def most_running(jobs: Jobs, cores: int, bookings: int = 0) -> int:
    """Return how many jobs and reservations hold cores at once, at most."""
    return min(len(jobs.submit) + bookings, cores)


@kernel
def start_job(replay, job, now):
    """Let a job run from now on."""
    jobs, running, counters = replay.jobs, replay.running, replay.counters
    cores = jobs.cores[job]
    replay.start[job] = now
    replay.started[counters[STARTED]] = job
    counters[STARTED] += 1
    counters[FREE] -= cores
    push_end(running, counters, now + jobs.runtime[job], job)
    due = now + jobs.walltime[job]
    counters[DUE] = insert_due(running, counters[DUE], due, cores)
    if len(replay.usage.level) > 0:
        use_cores(replay.usage, jobs.user[job], cores, now)


@kernel
def end_job(replay, now):
    """Release the cores of the job that ends first, and return it."""
    jobs, running, counters = replay.jobs, replay.running, replay.counters
    job = pop_end(running, counters)
    cores = jobs.cores[job]
    counters[FREE] += cores
    due = replay.start[job] + jobs.walltime[job]
    counters[DUE] = remove_due(running, counters[DUE], due, cores)
    if len(replay.usage.level) > 0:
        use_cores(replay.usage, jobs.user[job], -cores, now)
    return job


@kernel
def next_instant(replay):
    """Return when something happens next: an arrival, a completion, a reserved start."""
    counters, submit = replay.counters, replay.jobs.submit
    arrival = submit[counters[ARRIVED]] if counters[ARRIVED] < len(submit) else NEVER
    completion = replay.running.end[0] if counters[ENDING] > 0 else NEVER
    return min(arrival, completion, counters[NEXT_START])


@kernel
def end_all(replay, now, end_first):
    """End all jobs that end now, by a kernel that ends the first; tells whether there was any."""
    counters = replay.counters
    before = counters[ENDING]
    while counters[ENDING] > 0 and replay.running.end[0] == now:
        end_first(replay, now)
    return counters[ENDING] < before


@kernel
def arrive(replay, now):
    """Take note of the jobs that arrive now: they are those from the first returned up to, not
    including, the last.
    """
    counters, submit = replay.counters, replay.jobs.submit
    first = counters[ARRIVED]
    last = first
    while last < len(submit) and submit[last] == now:
        last += 1
    counters[ARRIVED] = last
    return first, last
