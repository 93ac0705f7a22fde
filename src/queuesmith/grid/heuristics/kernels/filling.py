"""Mappings filled by a rule that looks at each job once, or at each machine's shortest.

Ties go to the job that comes first, then to the machine that is looked at first: ``options`` holds
the machines of each job in that order; with none they are looked at as they are numbered. ``free``,
when each machine is, begins as its ready time.
"""

import numpy as np
from numba import void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import (
    FROZEN_INT_TABLE,
    FROZEN_INTS,
    FROZEN_REAL_TABLE,
    FROZEN_REALS,
    INTS,
)

_BY_ORDER = void(FROZEN_REAL_TABLE, FROZEN_REALS, FROZEN_INTS, INTS)


@kernel
def option(options, job, i):
    """Return the machine that is looked at as the i-th; without options nothing is looked up."""
    if options is None:
        return i
    return options[job, i]


@kernel
def first_free(times, options, free, job):
    """Return the machine that is free first among those that can run a job."""
    best = -1
    for i in range(len(free)):
        m = option(options, job, i)
        if times[job, m] < np.inf and (best < 0 or free[m] < free[best]):
            best = m
    return best


@kernel
def map_by_mct(times, options, order, free, machine):
    """Give each job in turn to the machine that finishes it first."""
    for place in range(len(machine)):
        job = order[place]
        best = option(options, job, 0)
        earliest = free[best] + times[job, best]
        for i in range(1, len(free)):
            m = option(options, job, i)
            done = free[m] + times[job, m]
            if done < earliest:
                best, earliest = m, done
        machine[job] = best
        free[best] = earliest


@kernel
def map_by_min_min(times, ranked, finger, free, machine):
    """Take again and again the pair of job and machine that finishes first.

    On each machine that can only be its shortest job left: ``ranked`` holds the jobs of each
    machine by their time on it, and one ``finger`` a machine points at the shortest not yet taken.
    """
    jobs, machines = times.shape
    for m in range(machines):
        finger[m] = 0
    for job in range(jobs):
        machine[job] = -1
    for _ in range(jobs):
        best, first, earliest = -1, -1, np.inf
        for m in range(machines):
            while finger[m] < jobs and machine[ranked[m, finger[m]]] >= 0:
                finger[m] += 1
            job = ranked[m, finger[m]]
            done = free[m] + times[job, m]
            if done < earliest or (done == earliest and job < first):
                best, first, earliest = m, job, done
        machine[first] = best
        free[best] = earliest


@kernel
def map_by_ljfr_sjfr(times, options, longest, fastest, free, machine):
    """Give the longest jobs to the fastest machines; then the longest and the shortest in turn.

    Carretero et al., section 3.2.1. A machine that cannot run the job is passed over.
    """
    jobs, machines = times.shape
    low, high = 0, jobs - 1
    for step in range(jobs):
        take_longest = step < machines or (step - machines) % 2 == 0
        job = longest[low] if take_longest else longest[high]
        if take_longest:
            low += 1
        else:
            high -= 1
        chosen = fastest[step] if step < machines else -1
        if chosen < 0 or times[job, chosen] == np.inf:
            chosen = first_free(times, options, free, job)
        machine[job] = chosen
        free[chosen] += times[job, chosen]


@entry(_BY_ORDER, allocates=True)
def fill_olb(times, ready, order, machine):
    """Give each job in turn to the machine that is free first, however slow it is."""
    free = ready.copy()
    for job in order:
        best = first_free(times, None, free, job)
        machine[job] = best
        free[best] += times[job, best]


@entry(_BY_ORDER, allocates=True)
def fill_mct(times, ready, order, machine):
    """Give each job in turn to the machine that finishes it first."""
    map_by_mct(times, None, order, ready.copy(), machine)


@entry(void(FROZEN_REAL_TABLE, FROZEN_REALS, FROZEN_INT_TABLE, INTS), allocates=True)
def fill_min_min(times, ready, ranked, machine):
    """Take again and again the pair of job and machine that finishes first."""
    map_by_min_min(times, ranked, np.zeros(len(ready), np.int64), ready.copy(), machine)


@entry(void(FROZEN_REAL_TABLE, FROZEN_REALS, FROZEN_INTS, FROZEN_INTS, INTS), allocates=True)
def fill_ljfr_sjfr(times, ready, longest, fastest, machine):
    """Give the longest jobs to the fastest machines; then the longest and the shortest in turn."""
    map_by_ljfr_sjfr(times, None, longest, fastest, ready.copy(), machine)
