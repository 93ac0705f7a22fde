"""EASY backfilling by predicted runtimes, the shortest first in the backfill.

A prediction orders and plans. A job that outlives it goes on running, and is then expected to end
later: when it must, or some steps later.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_INTS, INTS
from queuesmith.engine.kernels.constants import ARRIVED, CANCEL, NEVER
from queuesmith.prediction.kernels.learner import LEARNER_TYPE, Learner, learn, predict

#: What becomes of a prediction that is outlived: the request, or the request in steps (EASY++,
#: Tsafrir, Etsion and Feitelson 2007), in seconds.
TO_REQUEST, BY_STEPS = range(2)
MINUTE, HOUR = 60, 3600
STEPS = np.array(
    [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE]
    + [hours * HOUR for hours in (1, 2, 5, 10, 20, 50, 100)],
    np.int64,
)


class PredictedJobs(NamedTuple):
    """The columns that such a replay looks at, by job, and each job's place in the queue."""

    submit: Any
    runtime: Any
    request: Any
    cores: Any
    user: Any
    rank: Any


class PredictedReplay(NamedTuple):
    """All that such a replay consists of."""

    jobs: PredictedJobs
    learner: Learner
    predicted: Any  # by job: the seconds foretold, or by now corrected
    corrections: Any  # by job: how often
    queue: Any  # jobs that wait, in the order of their ranks
    short: Any  # the same, the shortest prediction first
    end: Any  # running jobs, the first to end first
    due: Any  # running jobs, the first that is expected to end first
    start: Any
    counters: Any


JOBS_TYPE = types.NamedUniTuple(FROZEN_INTS, 6, PredictedJobs)
REPLAY_TYPE = types.NamedTuple([JOBS_TYPE, LEARNER_TYPE, *[INTS] * 8], PredictedReplay)


@kernel
def due_of(replay, job):
    """Return when a running job is expected to end."""
    return replay.start[job] + replay.predicted[job]


@kernel
def comes_before(replay, which, first, second):
    """Tell which of two jobs stands first in a list: 0 the queue, 1 the shortest, 2 ends, 3 due."""
    rank, jobs = replay.jobs.rank, replay.jobs
    if which == 0:
        return rank[first] < rank[second]
    if which == 1:
        a, b = replay.predicted[first], replay.predicted[second]
    elif which == 2:
        a = replay.start[first] + jobs.runtime[first]
        b = replay.start[second] + jobs.runtime[second]
    else:
        a, b = due_of(replay, first), due_of(replay, second)
    return a < b or (a == b and rank[first] < rank[second])


@kernel
def insert(replay, which, line, count, job):
    """Put a job into a sorted list of so many."""
    i = count
    while i > 0 and comes_before(replay, which, job, line[i - 1]):
        line[i] = line[i - 1]
        i -= 1
    line[i] = job


@kernel
def remove(line, count, job):
    """Take a job from a list of so many."""
    i = 0
    while line[i] != job:
        i += 1
    while i < count - 1:
        line[i] = line[i + 1]
        i += 1


@kernel
def begin(replay, job, now, waiting, running):
    """Let a waiting job run."""
    remove(replay.queue, waiting, job)
    remove(replay.short, waiting, job)
    replay.start[job] = now
    insert(replay, 2, replay.end, running, job)
    insert(replay, 3, replay.due, running, job)


@kernel
def corrected(replay, job, correction):
    """Return how long a job is expected to run that has outlived what was foretold."""
    request = replay.jobs.request[job]
    if correction == TO_REQUEST:
        return max(request, replay.predicted[job] + 1)
    number = replay.corrections[job]
    later = replay.predicted[job] + STEPS[min(number, len(STEPS) - 1)]
    replay.corrections[job] = number + 1
    # Past its request a job ends any second.
    return later if later < request else max(request, replay.predicted[job] + 1)


@kernel
def correct(replay, now, running, correction):
    """Expect all jobs to end later that should have ended by now."""
    while running > 0 and due_of(replay, replay.due[0]) <= now:
        job = replay.due[0]
        remove(replay.due, running, job)
        replay.predicted[job] = corrected(replay, job, correction)
        insert(replay, 3, replay.due, running - 1, job)


@kernel
def reservation(replay, running, free, cores):
    """Return when so many cores are expected to be free, and how many more are then."""
    i = 0
    shadow = NEVER
    while free < cores and i < running:
        shadow = due_of(replay, replay.due[i])
        free += replay.jobs.cores[replay.due[i]]
        i += 1
    while i < running and due_of(replay, replay.due[i]) == shadow:
        free += replay.jobs.cores[replay.due[i]]
        i += 1
    return shadow, free - cores


@kernel
def backfill(replay, now, waiting, running, free, shortest):
    """Let jobs overtake the first that do not delay it; return how many wait, run, are free."""
    cores, predicted = replay.jobs.cores, replay.predicted
    first = replay.queue[0]
    shadow, extra = reservation(replay, running, free, cores[first])
    i = 0 if shortest else 1
    while i < waiting and free > 0:
        job = replay.short[i] if shortest else replay.queue[i]
        in_time = now + predicted[job] <= shadow
        if job != first and cores[job] <= free and (in_time or cores[job] <= extra):
            begin(replay, job, now, waiting, running)
            free -= cores[job]
            extra -= 0 if in_time else cores[job]
            waiting, running = waiting - 1, running + 1
        else:
            i += 1
    return waiting, running, free


@entry(void(REPLAY_TYPE, int64, int64, int64, int64))
def run_predicted(replay, cores, kind, correction, shortest):
    """Replay all jobs; fills ``replay.start``."""
    jobs, learner, counters = replay.jobs, replay.learner, replay.counters
    count = len(jobs.submit)
    waiting, running, free, arrived = 0, 0, cores, 0
    while (arrived < count or waiting > 0) and counters[CANCEL] == 0:
        now = jobs.submit[arrived] if arrived < count else NEVER
        if running > 0:
            ending = replay.end[0]
            now = min(now, replay.start[ending] + jobs.runtime[ending])
            now = min(now, due_of(replay, replay.due[0]))
        while running > 0 and replay.start[replay.end[0]] + jobs.runtime[replay.end[0]] <= now:
            job = replay.end[0]
            remove(replay.end, running, job)
            remove(replay.due, running, job)
            running -= 1
            free += jobs.cores[job]
            learn(learner, kind, job, jobs.user[job], jobs.runtime[job])
        correct(replay, now, running, correction)
        while arrived < count and jobs.submit[arrived] == now:
            request, user = jobs.request[arrived], jobs.user[arrived]
            replay.predicted[arrived] = predict(
                learner, kind, arrived, user, request, jobs.cores[arrived], jobs.runtime[arrived]
            )
            insert(replay, 0, replay.queue, waiting, arrived)
            insert(replay, 1, replay.short, waiting, arrived)
            waiting += 1
            arrived += 1
        counters[ARRIVED] = arrived
        while waiting > 0 and jobs.cores[replay.queue[0]] <= free:
            job = replay.queue[0]
            begin(replay, job, now, waiting, running)
            free -= jobs.cores[job]
            waiting, running = waiting - 1, running + 1
        if waiting > 1 and free > 0:
            waiting, running, free = backfill(replay, now, waiting, running, free, shortest)
