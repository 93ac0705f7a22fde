"""The compiled part of the environment: a cluster that moves from decision to decision.

At one instant completions release cores first, then arrivals join the queue, as everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.compiled.decorators import entry, kernel

Ints = NDArray[np.int64]

#: Places in ``State.clock``.
NOW, FREE, ARRIVED, WAITING, RUNNING, STARTED = range(6)
CLOCK = 6
#: What is told of a waiting job: its wait, walltime, cores, whether it fits, the free cores, that
#: it is there.
FEATURES, THERE = 6, 5
HOUR = 3600.0
NEVER = 2**62


#: How many lists a state has.
LISTS = 5


class Episode(NamedTuple):
    """The jobs of an episode in the order of their submission."""

    submit: Ints
    runtime: Ints
    walltime: Ints
    cores: Ints


class State(NamedTuple):
    """Where an episode stands; lists are as long as there are jobs, their counts are in clock."""

    clock: Ints
    start: Ints  # of each job, -1 until it has one
    waiting: Ints  # jobs in the order of their arrival
    running: Ints
    expected: Ints  # room for the walltimes' ends of running jobs, sorted
    order: Ints


@kernel
def _arrive(jobs, state):
    """Let all jobs join the queue that have been submitted by now."""
    clock = state.clock
    while clock[ARRIVED] < len(jobs.submit) and jobs.submit[clock[ARRIVED]] <= clock[NOW]:
        state.waiting[clock[WAITING]] = clock[ARRIVED]
        clock[WAITING] += 1
        clock[ARRIVED] += 1


@kernel
def _release(jobs, state):
    """Give back the cores of all jobs that have ended by now."""
    clock, kept = state.clock, 0
    for place in range(clock[RUNNING]):
        job = state.running[place]
        if state.start[job] + jobs.runtime[job] <= clock[NOW]:
            clock[FREE] += jobs.cores[job]
        else:
            state.running[kept] = job
            kept += 1
    clock[RUNNING] = kept


@kernel
def _advance(jobs, state):
    """Go on to the next completion or arrival."""
    clock, next_event = state.clock, NEVER
    for place in range(clock[RUNNING]):
        job = state.running[place]
        next_event = min(next_event, state.start[job] + jobs.runtime[job])
    if clock[ARRIVED] < len(jobs.submit):
        next_event = min(next_event, jobs.submit[clock[ARRIVED]])
    clock[NOW] = next_event
    _release(jobs, state)
    _arrive(jobs, state)


@kernel
def _start(jobs, state, place, bound):
    """Start the job at a place of the queue; return its bounded slowdown."""
    clock, job = state.clock, state.waiting[place]
    for after in range(place, clock[WAITING] - 1):
        state.waiting[after] = state.waiting[after + 1]
    clock[WAITING] -= 1
    state.start[job] = clock[NOW]
    state.running[clock[RUNNING]] = job
    clock[RUNNING] += 1
    clock[FREE] -= jobs.cores[job]
    clock[STARTED] += 1
    response = clock[NOW] - jobs.submit[job] + jobs.runtime[job]
    return max(1.0, response / max(float(jobs.runtime[job]), bound))


@kernel
def _backfill(jobs, state, chosen, bound):
    """Start jobs that do not delay the chosen one, in the order of their arrival (EASY)."""
    clock, count = state.clock, state.clock[RUNNING]
    for place in range(count):  # sort by when they end at the latest
        job = state.running[place]
        end = max(state.start[job] + jobs.walltime[job], clock[NOW])
        at = place
        while at > 0 and state.expected[at - 1] > end:
            state.expected[at] = state.expected[at - 1]
            state.order[at] = state.order[at - 1]
            at -= 1
        state.expected[at] = end
        state.order[at] = job
    room, shadow, place = clock[FREE], clock[NOW], 0
    while room < jobs.cores[chosen]:
        shadow = state.expected[place]
        while place < count and state.expected[place] == shadow:
            room += jobs.cores[state.order[place]]
            place += 1
    extra, lost, place = room - jobs.cores[chosen], 0.0, 0
    while place < clock[WAITING]:
        job = state.waiting[place]
        in_time = clock[NOW] + jobs.walltime[job] <= shadow
        if (
            job != chosen
            and jobs.cores[job] <= clock[FREE]
            and (in_time or jobs.cores[job] <= extra)
        ):
            if not in_time:
                extra -= jobs.cores[job]
            lost += _start(jobs, state, place, bound)
        else:
            place += 1
    return lost


@kernel
def _episode(table):
    """Return the columns of the jobs: a call with one table is quicker than with many arrays."""
    return Episode(table[0], table[1], table[2], table[3])


@kernel
def _state(clock, lists):
    """Return the lists of a state, likewise."""
    return State(clock, lists[0], lists[1], lists[2], lists[3], lists[4])


@entry()
def begin(table, clock, lists, machine, observation):
    """Set everything back to the instant of the first submission, and look."""
    jobs, state = _episode(table), _state(clock, lists)
    state.clock[:] = 0
    state.clock[FREE] = machine
    state.clock[NOW] = jobs.submit[0]
    state.start[:] = -1
    _arrive(jobs, state)
    _look(jobs, state, machine, observation)


@entry()
def step(table, clock, lists, machine, action, easy, bound, observation):
    """Start a waiting job as soon as there is room, go on to the next choice, and look.

    Returns the bounded slowdowns, added up, of all jobs that were started meanwhile.
    """
    jobs, state = _episode(table), _state(clock, lists)
    chosen, lost = state.waiting[action], 0.0
    while jobs.cores[chosen] > clock[FREE]:
        if easy:
            lost += _backfill(jobs, state, chosen, bound)
        _advance(jobs, state)
    place = 0
    while state.waiting[place] != chosen:
        place += 1
    lost += _start(jobs, state, place, bound)
    while clock[WAITING] == 0 and clock[ARRIVED] < len(jobs.submit):
        _advance(jobs, state)
    _look(jobs, state, machine, observation)
    return lost


@kernel
def _look(jobs, state, machine, observation):
    """Tell of each waiting job of the window what a scheduler knows, all between 0 and 1."""
    clock = state.clock
    observation[:] = 0.0
    for place in range(min(clock[WAITING], len(observation))):
        job = state.waiting[place]
        wait = float(clock[NOW] - jobs.submit[job])
        observation[place, 0] = wait / (wait + HOUR)
        observation[place, 1] = jobs.walltime[job] / (jobs.walltime[job] + HOUR)
        observation[place, 2] = jobs.cores[job] / machine
        observation[place, 3] = 1.0 if jobs.cores[job] <= clock[FREE] else 0.0
        observation[place, 4] = clock[FREE] / machine
        observation[place, 5] = 1.0
