"""Jobs of two machines divided anew, in the best of all ways.

All ``2 ** flips`` ways of dividing some jobs are looked at, by meeting in the middle: half of the
jobs give one sorted list of sums, the other half a second, and one sweep over both finds the way
in which the first machine keeps to the target and the second finishes as early as possible.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INTS, REALS
from queuesmith.compiled.chance import below, uniform
from queuesmith.grid.exact.kernels.priced import beyond, move


class Sums(NamedTuple):
    """All ways of flipping some jobs: what each adds to both machines, ascending by the first."""

    first: Any
    second: Any
    flips: Any  # one bit a job


class FlipSpace(NamedTuple):
    """Space to work in."""

    job: Any
    first: Any
    second: Any
    left: Sums
    right: Sums
    spare: Sums


_SUMS = types.NamedTuple([REALS, REALS, INTS], Sums)
FLIP_SPACE_TYPE = types.NamedTuple([INTS, REALS, REALS, _SUMS, _SUMS, _SUMS], FlipSpace)


@kernel
def gather(priced, state, space, found, source, goal, dearest):
    """List the jobs of a machine that could run on another at little extra cost."""
    for i in range(state.count[source]):
        job = state.member[source, i]
        space.job[found] = job  # the next takes its place unless it counts
        found += priced.extra[job, goal] - priced.extra[job, source] <= dearest
    return found


@kernel
def choose_flips(priced, state, space, capped, other, dearest, most):
    """Choose jobs of two machines that may change sides; return how many."""
    found = gather(priced, state, space, 0, capped, other, dearest)
    found = gather(priced, state, space, found, other, capped, dearest)
    flips = min(found, most)
    for i in range(flips):
        at = i + below(state.seed, found - i)
        job = space.job[at]
        space.job[at] = space.job[i]
        space.job[i] = job
        leaves = state.machine[job] == capped
        space.first[i] = -priced.times[job, capped] if leaves else priced.times[job, capped]
        space.second[i] = priced.times[job, other] if leaves else -priced.times[job, other]
    return flips


@kernel
def add_job(goal, source, size, first, second, flip):
    """List each way once without one more job flipped and once with it, ascending as before.

    It is a merge whose outcome is chance, so it is written without branches: a processor would
    guess every second one wrongly.
    """
    source.first[size] = np.inf
    kept = flipped = 0
    for to in range(2 * size):
        low, high = source.first[kept], source.first[flipped] + first
        keeps = low <= high
        at = kept if keeps else flipped
        goal.first[to] = low if keeps else high
        goal.second[to] = source.second[at] + (0.0 if keeps else second)
        goal.flips[to] = source.flips[at] | (0 if keeps else flip)
        kept += keeps
        flipped += not keeps


@kernel
def list_sums(space, sums, begin, end):
    """List all ways of flipping the jobs from ``begin`` to ``end``, sorted; return how many."""
    goal, source = sums, space.spare
    if (end - begin) % 2 == 0:  # the last job is added from the one to the other
        goal, source = source, goal
    source.first[0], source.second[0], source.flips[0] = 0.0, 0.0, 0
    size = 1
    for i in range(begin, end):
        add_job(goal, source, size, space.first[i], space.second[i], 1 << i)
        goal, source = source, goal
        size *= 2
    return size


@kernel
def keep_least(sums, size):
    """Let each entry stand for the best of all up to it, by what it adds to the second machine."""
    for i in range(1, size):
        if sums.second[i] >= sums.second[i - 1]:
            sums.second[i] = sums.second[i - 1]
            sums.flips[i] = sums.flips[i - 1]


@kernel
def best_flips(space, flips, most):
    """Return which flips add least to the second machine, at most ``most`` to the first; or -1."""
    half = flips // 2
    lefts = list_sums(space, space.left, 0, half)
    rights = list_sums(space, space.right, half, flips)
    keep_least(space.right, rights)
    left, right = 0, rights - 1
    best, least = -1, np.inf
    while left < lefts and right >= 0:
        fits = space.left.first[left] + space.right.first[right] <= most
        added = space.left.second[left] + space.right.second[right]
        if fits and added < least:
            least = added
            best = space.left.flips[left] | space.right.flips[right]
        left += fits
        right -= not fits
    return best


@kernel
def change_of(space, flips, chosen):
    """Return what the chosen flips add to both machines."""
    first = second = 0.0
    for i in range(flips):
        if chosen >> i & 1:
            first += space.first[i]
            second += space.second[i]
    return first, second


@kernel
def accept(priced, state, space, flips, chosen, capped, other, temperature):
    """Flip the chosen jobs if that is better, or with Metropolis' probability."""
    first, second = change_of(space, flips, chosen)
    before = beyond(priced, state, capped, state.load[capped])
    before += beyond(priced, state, other, state.load[other])
    after = beyond(priced, state, capped, state.load[capped] + first)
    after += beyond(priced, state, other, state.load[other] + second)
    worse = after - before
    if worse > 0 and uniform(state.seed) >= math.exp(-worse / temperature):
        return
    for i in range(flips):
        if chosen >> i & 1:
            job = space.job[i]
            move(state, job, capped + other - state.machine[job])
    state.load[capped] += first
    state.load[other] += second
