"""Replays under RLScheduler's rules: one job is chosen, and kept until it has started.

What decides a tie there decides it here. Events come one at a time, arrivals before completions of
the same instant, and a job is chosen as soon as one waits: of jobs that arrive together at an empty
queue the first is chosen before the others are seen. Of jobs that end together, the one that stands
first in the list of running jobs is released first, and others may start before the next is.
"""

from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_REALS
from queuesmith.engine.kernels.constants import (
    ARRIVED,
    CANCEL,
    ENDING,
    FREE,
    NEVER,
    STARTED,
    TAIL,
)
from queuesmith.engine.kernels.queue import best, close_gap, join_at_end
from queuesmith.engine.kernels.replay import REPLAY_TYPE, SCORER_TYPE
from queuesmith.engine.kernels.score_now import Scoring, score_waiting
from queuesmith.engine.kernels.usage import use_cores


@kernel
def begin_job(replay, job, now):
    """Let a job run from now on, as the last in the list of running jobs."""
    jobs, counters = replay.jobs, replay.counters
    cores = jobs.cores[job]
    replay.start[job] = now
    replay.started[counters[STARTED]] = job
    counters[STARTED] += 1
    counters[FREE] -= cores
    replay.running.job[counters[ENDING]] = job
    counters[ENDING] += 1
    if len(replay.usage.level) > 0:
        use_cores(replay.usage, jobs.user[job], cores, now)


@kernel
def sort_running(replay, duration):
    """Sort the running jobs by start plus duration; equals stay as they stand."""
    listed, start = replay.running.job, replay.start
    for i in range(1, replay.counters[ENDING]):
        job = listed[i]
        end = start[job] + duration[job]
        place = i
        while place > 0 and start[listed[place - 1]] + duration[listed[place - 1]] > end:
            listed[place] = listed[place - 1]
            place -= 1
        listed[place] = job


@kernel
def next_event(replay, now):
    """Let the next arrival or completion happen; returns when."""
    jobs, counters, listed = replay.jobs, replay.counters, replay.running.job
    completion = NEVER
    if counters[ENDING] > 0:
        sort_running(replay, jobs.runtime)
        completion = replay.start[listed[0]] + jobs.runtime[listed[0]]
    coming = counters[ARRIVED]
    if coming < len(jobs.submit) and jobs.submit[coming] <= completion:
        join_at_end(replay, coming)
        counters[ARRIVED] += 1
        return max(now, jobs.submit[coming])
    job = listed[0]
    counters[ENDING] -= 1
    for place in range(counters[ENDING]):
        listed[place] = listed[place + 1]
    counters[FREE] += jobs.cores[job]
    if len(replay.usage.level) > 0:
        use_cores(replay.usage, jobs.user[job], -jobs.cores[job], completion)
    return max(now, completion)


@kernel
def expected_start(replay, job):
    """Return when running jobs, if they take all their walltime, leave enough cores for a job."""
    jobs, counters, listed = replay.jobs, replay.counters, replay.running.job
    sort_running(replay, jobs.walltime)
    free, place = counters[FREE], -1
    while free < jobs.cores[job]:
        place += 1
        free += jobs.cores[listed[place]]
    return replay.start[listed[place]] + jobs.walltime[listed[place]]


@kernel
def start_early(replay, now, before):
    """Start the jobs that fit and end before an instant, in order of submission."""
    queue, counters = replay.queue, replay.counters
    place = 0
    while place < counters[TAIL]:
        job = queue.job[place]
        if now + queue.walltime[place] < before and queue.cores[place] <= counters[FREE]:
            begin_job(replay, job, now)
            close_gap(queue, counters, place, place + 1)
        else:
            place += 1


@entry(void(REPLAY_TYPE, types.FunctionType(SCORER_TYPE), FROZEN_REALS, int64, int64))
def run_committed(replay, score_queue, parameters, cores, early):
    """Replay all jobs; fills ``replay.start``."""
    jobs, queue, counters = replay.jobs, replay.queue, replay.counters
    scoring = Scoring(score_queue, parameters, cores)
    now = jobs.submit[0]
    while counters[STARTED] < len(jobs.submit) and counters[CANCEL] == 0:
        if counters[TAIL] == 0:
            now = next_event(replay, now)
            continue
        if not score_waiting(replay, scoring, now):
            return
        place = best(queue, counters)
        job = queue.job[place]
        close_gap(queue, counters, place, place + 1)
        if jobs.cores[job] > counters[FREE]:
            before = expected_start(replay, job) if early else now
            while jobs.cores[job] > counters[FREE]:
                start_early(replay, now, before)
                now = next_event(replay, now)
        begin_job(replay, job, now)
