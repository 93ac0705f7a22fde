"""Mappings filled by a rule that looks at each job once, or at each machine's shortest.

Ties go to the job that comes first, then to the machine that comes first.
"""

import numpy as np
from numba import void

from queuesmith.compiled import entry
from queuesmith.compiled.arrays import (
    FROZEN_INT_TABLE,
    FROZEN_INTS,
    FROZEN_REAL_TABLE,
    FROZEN_REALS,
    INTS,
)

_BY_ORDER = void(FROZEN_REAL_TABLE, FROZEN_REALS, FROZEN_INTS, INTS)


@entry(_BY_ORDER, allocates=True)
def fill_olb(times, ready, order, machine):
    """Give each job in turn to the machine that is free first, however slow it is."""
    free = ready.copy()
    for job in order:
        best = -1
        for m in range(len(free)):
            if times[job, m] < np.inf and (best < 0 or free[m] < free[best]):
                best = m
        machine[job] = best
        free[best] += times[job, best]


@entry(_BY_ORDER, allocates=True)
def fill_mct(times, ready, order, machine):
    """Give each job in turn to the machine that finishes it first."""
    free = ready.copy()
    for job in order:
        best = 0
        for m in range(1, len(free)):
            if free[m] + times[job, m] < free[best] + times[job, best]:
                best = m
        machine[job] = best
        free[best] += times[job, best]


@entry(void(FROZEN_REAL_TABLE, FROZEN_REALS, FROZEN_INT_TABLE, INTS), allocates=True)
def fill_min_min(times, ready, ranked, machine):
    """Take again and again the pair of job and machine that finishes first.

    On each machine that can only be its shortest job left: ``ranked`` holds the jobs of each
    machine by their time on it, and one finger a machine points at the shortest not yet taken.
    """
    free = ready.copy()
    jobs, machines = times.shape
    finger = np.zeros(machines, np.int64)
    machine[:] = -1
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


@entry(void(FROZEN_REAL_TABLE, FROZEN_REALS, FROZEN_INTS, FROZEN_INTS, INTS), allocates=True)
def fill_ljfr_sjfr(times, ready, longest, fastest, machine):
    """Give the longest jobs to the fastest machines; then the longest and the shortest in turn.

    Carretero et al., section 3.2.1. A machine that cannot run the job is passed over.
    """
    jobs, machines = times.shape
    free = ready.copy()
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
            chosen = -1
            for m in range(machines):
                if times[job, m] < np.inf and (chosen < 0 or free[m] < free[chosen]):
                    chosen = m
        machine[job] = chosen
        free[chosen] += times[job, chosen]
