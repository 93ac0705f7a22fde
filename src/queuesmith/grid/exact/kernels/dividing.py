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
from queuesmith.grid.exact.kernels.ground import beyond, move


class Sums(NamedTuple):
    """All ways of flipping some jobs: what each adds to both machines, ascending by the first."""

    first: Any
    second: Any
    flips: Any  # one bit a job


class Room(NamedTuple):
    """Space to work in."""

    job: Any
    first: Any
    second: Any
    left: Sums
    right: Sums
    spare: Sums


_SUMS = types.NamedTuple([REALS, REALS, INTS], Sums)
ROOM_TYPE = types.NamedTuple([INTS, REALS, REALS, _SUMS, _SUMS, _SUMS], Room)


@kernel
def gather(ground, state, room, found, source, goal, dearest):
    """List the jobs of a machine that could run on another at little extra cost."""
    for i in range(state.count[source]):
        job = state.member[source, i]
        if ground.extra[job, goal] - ground.extra[job, source] <= dearest:
            room.job[found] = job
            found += 1
    return found


@kernel
def choose_flips(ground, state, room, capped, other, dearest, most):
    """Choose jobs of two machines that may change sides; return how many."""
    found = gather(ground, state, room, 0, capped, other, dearest)
    found = gather(ground, state, room, found, other, capped, dearest)
    flips = min(found, most)
    for i in range(flips):
        at = i + below(state.seed, found - i)
        job = room.job[at]
        room.job[at] = room.job[i]
        room.job[i] = job
        leaves = state.machine[job] == capped
        room.first[i] = -ground.times[job, capped] if leaves else ground.times[job, capped]
        room.second[i] = ground.times[job, other] if leaves else -ground.times[job, other]
    return flips


@kernel
def copy_sum(goal, to, source, at, first, second, flip):
    """Write one way of flipping, with one more job flipped or none."""
    goal.first[to] = source.first[at] + first
    goal.second[to] = source.second[at] + second
    goal.flips[to] = source.flips[at] | flip


@kernel
def list_sums(room, sums, begin, end):
    """List all ways of flipping the jobs from ``begin`` to ``end``, sorted; return how many."""
    spare = room.spare
    sums.first[0], sums.second[0], sums.flips[0] = 0.0, 0.0, 0
    size = 1
    for i in range(begin, end):
        first, second, flip = room.first[i], room.second[i], 1 << i
        kept = flipped = 0
        for to in range(2 * size):
            keeps = flipped == size
            if not keeps and kept < size:
                keeps = sums.first[kept] <= sums.first[flipped] + first
            if keeps:
                copy_sum(spare, to, sums, kept, 0.0, 0.0, 0)
                kept += 1
            else:
                copy_sum(spare, to, sums, flipped, first, second, flip)
                flipped += 1
        size *= 2
        for to in range(size):
            copy_sum(sums, to, spare, to, 0.0, 0.0, 0)
    return size


@kernel
def keep_least(sums, size):
    """Let each entry stand for the best of all up to it, by what it adds to the second machine."""
    for i in range(1, size):
        if sums.second[i] >= sums.second[i - 1]:
            sums.second[i] = sums.second[i - 1]
            sums.flips[i] = sums.flips[i - 1]


@kernel
def best_flips(room, flips, most):
    """Return which flips add least to the second machine, at most ``most`` to the first; or -1."""
    half = flips // 2
    lefts = list_sums(room, room.left, 0, half)
    rights = list_sums(room, room.right, half, flips)
    keep_least(room.right, rights)
    right = rights - 1
    best, least = -1, np.inf
    for left in range(lefts):
        while right >= 0 and room.left.first[left] + room.right.first[right] > most:
            right -= 1
        if right < 0:
            break
        added = room.left.second[left] + room.right.second[right]
        if added < least:
            least = added
            best = room.left.flips[left] | room.right.flips[right]
    return best


@kernel
def change_of(room, flips, chosen):
    """Return what the chosen flips add to both machines."""
    first = second = 0.0
    for i in range(flips):
        if chosen >> i & 1:
            first += room.first[i]
            second += room.second[i]
    return first, second


@kernel
def accept(ground, state, room, flips, chosen, capped, other, temperature):
    """Flip the chosen jobs if that is better, or with Metropolis' probability."""
    first, second = change_of(room, flips, chosen)
    before = beyond(ground, state, capped, state.load[capped])
    before += beyond(ground, state, other, state.load[other])
    after = beyond(ground, state, capped, state.load[capped] + first)
    after += beyond(ground, state, other, state.load[other] + second)
    worse = after - before
    if worse > 0 and uniform(state.seed) >= math.exp(-worse / temperature):
        return
    for i in range(flips):
        if chosen >> i & 1:
            job = room.job[i]
            move(state, job, capped + other - state.machine[job])
    state.load[capped] += first
    state.load[other] += second
