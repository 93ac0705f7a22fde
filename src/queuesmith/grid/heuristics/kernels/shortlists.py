"""Mappings filled by rules that compare all waiting jobs, again after each that is taken.

Each job remembers a few of its best machines, so that few machines are looked at again. Ties go to
the job that comes first, then to the machine that comes first.
"""

import numpy as np
from numba import void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_REAL_TABLE, FROZEN_REALS, INTS

#: How many of its best machines a job remembers.
SHORTLIST = 8

# These make arrays of their own, once for each mapping.
allocating = kernel(allocates=True)
at_once = entry(void(FROZEN_REAL_TABLE, FROZEN_REALS, INTS), allocates=True)


@kernel
def refill_shortlist(times, free, job, short, seconds, rest):
    """Find the machines that finish a job first, and when the others do at the earliest.

    ``short`` holds their numbers, ``seconds`` the times that they need for the job. While it is
    filled, ``seconds`` holds when they would finish.
    """
    room = short.shape[1]
    last, outside = np.inf, np.inf  # when the last of the full list, and the next, would finish
    for m in range(len(free)):
        done = free[m] + times[job, m]
        if m >= room and done >= last:
            outside = min(outside, done)
            continue
        if m >= room:
            outside = last
        place = min(m, room - 1)
        while place > 0 and seconds[job, place - 1] > done:
            short[job, place] = short[job, place - 1]
            seconds[job, place] = seconds[job, place - 1]
            place -= 1
        short[job, place], seconds[job, place] = m, done
        if m >= room - 1:
            last = seconds[job, room - 1]
    for place in range(room):
        seconds[job, place] = times[job, short[job, place]]
    rest[job] = outside


@kernel
def best_two(free, job, short, seconds):
    """Return the best two machines of a job's shortlist, or -1, and when each would finish."""
    best, second = short[job, 0], -1
    earliest, later = free[best] + seconds[job, 0], np.inf
    for place in range(1, short.shape[1]):
        m = short[job, place]
        done = free[m] + seconds[job, place]
        if done < earliest or (done == earliest and m < best):
            second, later = best, earliest
            best, earliest = m, done
        elif second < 0 or done < later or (done == later and m < second):
            second, later = m, done
    return best, second, earliest, later


@kernel
def look_again(times, free, job, short, seconds, rest, needed):
    """Return the best two machines of a job, from its shortlist where that is still sure.

    Machines only fill up, so those outside finish at ``rest`` or later; ``needed`` is 1 where
    only the best machine matters, 2 where the second does too.
    """
    best, second, earliest, later = best_two(free, job, short, seconds)
    decisive = earliest if needed == 1 else later
    if decisive >= rest[job] and rest[job] < np.inf:
        refill_shortlist(times, free, job, short, seconds, rest)
        best, second, earliest, later = best_two(free, job, short, seconds)
    return best, second, earliest, later


@allocating
def new_shortlists(times, free):
    """Return the shortlists of all jobs: machines, times on them, and when others finish."""
    jobs, room = len(times), min(times.shape[1], SHORTLIST)
    short, seconds, rest = np.empty((jobs, room), np.int64), np.empty((jobs, room)), np.empty(jobs)
    for job in range(jobs):
        refill_shortlist(times, free, job, short, seconds, rest)
    return short, seconds, rest


@kernel
def take_highest(value, waiting, left):
    """Take the job of highest value from those who wait, so many; return it."""
    chosen = 0
    for place in range(1, left):
        if value[waiting[place]] > value[waiting[chosen]]:
            chosen = place
    job = waiting[chosen]
    for place in range(chosen, left - 1):
        waiting[place] = waiting[place + 1]
    return job


@at_once
def fill_max_min(times, ready, machine):
    """Take again and again the job whose earliest finish is the latest, to where it finishes so."""
    jobs = len(times)
    free = ready.copy()
    short, seconds, rest = new_shortlists(times, free)
    earliest = np.empty(jobs)
    waiting = np.arange(jobs)
    for job in range(jobs):
        machine[job], _, earliest[job], _ = best_two(free, job, short, seconds)
    for left in range(jobs, 0, -1):
        job = take_highest(earliest, waiting, left)
        filled = machine[job]
        free[filled] = earliest[job]
        for place in range(left - 1):
            other = waiting[place]
            if machine[other] == filled:
                machine[other], _, earliest[other], _ = look_again(
                    times, free, other, short, seconds, rest, 1
                )


@kernel
def sufferage_of(earliest, later):
    """Return what a job loses on its second-best machine; endless where it has only one."""
    return later - earliest if later < np.inf else np.inf


@at_once
def fill_sufferage(times, ready, machine):
    """In each round, each machine takes the job that would suffer most elsewhere.

    Maheswaran et al. (1999), figure 5: jobs stand for their best machine in their order; of two
    that want the same machine, the one with the larger sufferage has it, the other waits for
    the next round.
    """
    jobs = len(times)
    free = ready.copy()
    short, seconds, rest = new_shortlists(times, free)
    sufferage = np.empty(jobs)
    second = np.empty(jobs, np.int64)
    machines = len(free)
    filled = np.ones(machines, np.bool_)
    for job in range(jobs):
        machine[job], second[job], earliest, later = best_two(free, job, short, seconds)
        sufferage[job] = sufferage_of(earliest, later)
    waiting = np.arange(jobs)
    holder = np.empty(machines, np.int64)
    left = jobs
    while left > 0:
        holder[:] = -1
        for place in range(left):
            job = waiting[place]
            if filled[machine[job]] or (second[job] >= 0 and filled[second[job]]):
                machine[job], second[job], earliest, later = look_again(
                    times, free, job, short, seconds, rest, 2
                )
                sufferage[job] = sufferage_of(earliest, later)
            rival = holder[machine[job]]
            if rival < 0 or sufferage[rival] < sufferage[job]:
                holder[machine[job]] = job
        kept = 0
        for place in range(left):
            job = waiting[place]
            if holder[machine[job]] != job:
                waiting[kept] = job
                kept += 1
        left = kept
        for m in range(machines):
            filled[m] = holder[m] >= 0
            if filled[m]:
                free[m] += times[holder[m], m]


@at_once
def fill_x_sufferage(times, ready, machine):
    """Take again and again the one job that would suffer most on its second-best machine.

    Casanova et al. (2000), each machine being a site of its own.
    """
    jobs = len(times)
    free = ready.copy()
    short, seconds, rest = new_shortlists(times, free)
    sufferage = np.empty(jobs)
    second = np.empty(jobs, np.int64)
    for job in range(jobs):
        machine[job], second[job], earliest, later = best_two(free, job, short, seconds)
        sufferage[job] = sufferage_of(earliest, later)
    waiting = np.arange(jobs)
    for left in range(jobs, 0, -1):
        job = take_highest(sufferage, waiting, left)
        filled = machine[job]
        free[filled] += times[job, filled]
        for place in range(left - 1):
            other = waiting[place]
            if machine[other] == filled or second[other] == filled:
                machine[other], second[other], earliest, later = look_again(
                    times, free, other, short, seconds, rest, 2
                )
                sufferage[other] = sufferage_of(earliest, later)
