"""Quick mappings by a rule: OLB, MET, MCT, Min-Min, Max-Min, Duplex, Sufferage and others.

Everything compiled that calls each other lives in this file, so that a cached kernel can never be
stale. ``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.

Ties go to the job that comes first, then to the machine that comes first.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls, allow-any-generics

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import float64, int64, types, void
from numpy.typing import NDArray

from queuesmith.errors import UsageError
from queuesmith.grid.etc_matrix import EtcMatrix, Floats
from queuesmith.grid.mapping import Mapping
from queuesmith.workload.options import seeded

Ints = NDArray[np.int64]
Heuristic = Callable[[EtcMatrix, Ints], Ints]

njit: Any = numba.njit  # its stubs do not know all its options

#: How many of its best machines a job remembers, so that few machines are looked at again.
SHORTLIST = 8

_TABLE = types.Array(float64, 2, "C", readonly=True)
_READY = types.Array(float64, 1, "C", readonly=True)
_ORDER = types.Array(int64, 1, "C", readonly=True)
_RANKED = types.Array(int64, 2, "C", readonly=True)
_MACHINE = int64[::1]
_BY_ORDER = void(_TABLE, _READY, _ORDER, _MACHINE)
_AT_ONCE = void(_TABLE, _READY, _MACHINE)

compiled = njit(nogil=True, cache=True)


# -- one job after another -------------------------------------------------------------------------


@njit(_BY_ORDER, nogil=True, cache=True)
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


@njit(_BY_ORDER, nogil=True, cache=True)
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


# -- the pair that finishes first ------------------------------------------------------------------


@njit(void(_TABLE, _READY, _RANKED, _MACHINE), nogil=True, cache=True)
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


# -- the job that has the most to lose -------------------------------------------------------------


@compiled
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


@compiled
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


@compiled
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


@compiled
def new_shortlists(times, free):
    """Return the shortlists of all jobs: machines, times on them, and when others finish."""
    jobs, room = len(times), min(times.shape[1], SHORTLIST)
    short, seconds, rest = np.empty((jobs, room), np.int64), np.empty((jobs, room)), np.empty(jobs)
    for job in range(jobs):
        refill_shortlist(times, free, job, short, seconds, rest)
    return short, seconds, rest


@njit(_AT_ONCE, nogil=True, cache=True)
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
        chosen = 0
        for place in range(1, left):
            if earliest[waiting[place]] > earliest[waiting[chosen]]:
                chosen = place
        job = waiting[chosen]
        filled = machine[job]
        free[filled] = earliest[job]
        waiting[chosen : left - 1] = waiting[chosen + 1 : left]
        for place in range(left - 1):
            other = waiting[place]
            if machine[other] == filled:
                machine[other], _, earliest[other], _ = look_again(
                    times, free, other, short, seconds, rest, 1
                )


@compiled
def sufferage_of(earliest, later):
    """Return what a job loses on its second-best machine; endless where it has only one."""
    return later - earliest if later < np.inf else np.inf


@njit(_AT_ONCE, nogil=True, cache=True)
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


@njit(_AT_ONCE, nogil=True, cache=True)
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
        chosen = 0
        for place in range(1, left):
            if sufferage[waiting[place]] > sufferage[waiting[chosen]]:
                chosen = place
        job = waiting[chosen]
        filled = machine[job]
        free[filled] += times[job, filled]
        waiting[chosen : left - 1] = waiting[chosen + 1 : left]
        for place in range(left - 1):
            other = waiting[place]
            if machine[other] == filled or second[other] == filled:
                machine[other], second[other], earliest, later = look_again(
                    times, free, other, short, seconds, rest, 2
                )
                sufferage[other] = sufferage_of(earliest, later)


# -- long and short in turn ------------------------------------------------------------------------


@njit(void(_TABLE, _READY, _ORDER, _ORDER, _MACHINE), nogil=True, cache=True)
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


# -- by name ---------------------------------------------------------------------------------------


def olb(matrix: EtcMatrix, order: Ints) -> Ints:
    """Opportunistic load balancing: each job to the machine that is free first."""
    machine = np.empty(matrix.jobs, np.int64)
    fill_olb(matrix.times, matrix.ready, order, machine)
    return machine


def met(matrix: EtcMatrix, order: Ints) -> Ints:
    """Minimum execution time: each job to its quickest machine, however busy that is."""
    return np.asarray(np.argmin(matrix.times, axis=1), dtype=np.int64)


def mct(matrix: EtcMatrix, order: Ints) -> Ints:
    """Minimum completion time: each job in turn to the machine that finishes it first."""
    machine = np.empty(matrix.jobs, np.int64)
    fill_mct(matrix.times, matrix.ready, order, machine)
    return machine


def min_min(matrix: EtcMatrix, order: Ints) -> Ints:
    """Min-Min: always the job that can finish first."""
    machine = np.empty(matrix.jobs, np.int64)
    columns = np.ascontiguousarray(matrix.times.T)
    fill_min_min(matrix.times, matrix.ready, np.argsort(columns, axis=1, kind="stable"), machine)
    return machine


def max_min(matrix: EtcMatrix, order: Ints) -> Ints:
    """Max-Min: always the job whose earliest finish is the latest."""
    machine = np.empty(matrix.jobs, np.int64)
    fill_max_min(matrix.times, matrix.ready, machine)
    return machine


def duplex(matrix: EtcMatrix, order: Ints) -> Ints:
    """Duplex: the better of Min-Min and Max-Min by makespan."""
    both = (min_min(matrix, order), max_min(matrix, order))
    return min(both, key=lambda machine: Mapping(matrix, machine, "duplex").makespan)


def sufferage(matrix: EtcMatrix, order: Ints) -> Ints:
    """Sufferage: each round, each machine takes the job that would suffer most elsewhere."""
    machine = np.empty(matrix.jobs, np.int64)
    fill_sufferage(matrix.times, matrix.ready, machine)
    return machine


def x_sufferage(matrix: EtcMatrix, order: Ints) -> Ints:
    """XSufferage: always the one job that would suffer most, looked at anew after each."""
    machine = np.empty(matrix.jobs, np.int64)
    fill_x_sufferage(matrix.times, matrix.ready, machine)
    return machine


def ljfr_sjfr(matrix: EtcMatrix, order: Ints) -> Ints:
    """Longest job to fastest resource, then shortest job to fastest resource, in turn."""
    machine = np.empty(matrix.jobs, np.int64)
    longest = np.argsort(-_mean_where_possible(matrix, axis=1), kind="stable")
    fastest = np.argsort(_mean_where_possible(matrix, axis=0), kind="stable")
    fill_ljfr_sjfr(matrix.times, matrix.ready, longest, fastest, machine)
    return machine


def map_by_heuristic(
    matrix: EtcMatrix, name: str, *, seed: int | None = None, objective: str = "makespan"
) -> Mapping:
    """Map jobs by one of ``HEURISTICS``.

    Parameters
    ----------
    matrix
        The jobs and machines.
    name
        A name in ``HEURISTICS``, such as ``min-min``.
    seed
        Where the jobs come one after another (``olb``, ``mct``): shuffle them by this seed. By
        default they come in the order of the matrix. The other heuristics have no order.
    objective
        What the mapping is judged by; the heuristics themselves do not look at it.

    >>> from queuesmith.grid import EtcMatrix
    >>> map_by_heuristic(EtcMatrix([[3, 4], [2, 5], [4, 4]]), "min-min").makespan
    6.0
    """
    heuristic = heuristic_named(name)
    order = np.arange(matrix.jobs) if seed is None else seeded(seed).permutation(matrix.jobs)
    began = time.perf_counter()
    machine = heuristic(matrix, order)
    seconds = time.perf_counter() - began
    return Mapping(matrix, machine, name, objective, seconds=seconds)


def heuristic_named(name: str) -> Heuristic:
    """Return the heuristic of a name, or say which names there are."""
    if name not in HEURISTICS:
        raise UsageError(f"there is no heuristic '{name}'. Choose from: {', '.join(HEURISTICS)}.")
    return HEURISTICS[name]


def _mean_where_possible(matrix: EtcMatrix, axis: int) -> Floats:
    """Return the mean finite time of each job (axis 1) or machine (axis 0)."""
    possible = matrix.compatible
    total = np.where(possible, matrix.times, 0.0).sum(axis=axis)
    count = possible.sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.inf)


#: A function of the matrix and the order in which jobs come; returns the machine of each job.
HEURISTICS: dict[str, Heuristic] = {
    "olb": olb,
    "met": met,
    "mct": mct,
    "min-min": min_min,
    "max-min": max_min,
    "duplex": duplex,
    "sufferage": sufferage,
    "x-sufferage": x_sufferage,
    "ljfr-sjfr": ljfr_sjfr,
}
