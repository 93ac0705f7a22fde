"""The free cores over time, and the insertion of jobs into them, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types, void
from numpy.typing import NDArray

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_INTS, INT_TABLE, INTS

Ints = NDArray[np.int64]

#: How many instants a block holds; full ones are divided.
BLOCK = 128


class Profile(NamedTuple):
    """The free cores over time, in blocks of instants, so that changes move little memory.

    Parameters
    ----------
    time, free
        A row for each block: instants, and the cores that are free from there on.
    size, most
        How many instants a block has, and the most free cores among them.
    line
        The blocks in the order of time.
    blocks
        How many blocks there are, as an array of one.
    """

    time: Ints
    free: Ints
    size: Ints
    most: Ints
    line: Ints
    blocks: Ints


PROFILE_TYPE = types.NamedTuple((INT_TABLE, INT_TABLE, INTS, INTS, INTS, INTS), Profile)


def empty_profile(jobs: int, cores: int) -> Profile:
    """Return a profile of a free machine, with room for the two instants of each job."""
    room = 4 * (2 * jobs + 2) // BLOCK + 2
    profile = Profile(
        time=np.zeros((room, BLOCK), np.int64),
        free=np.zeros((room, BLOCK), np.int64),
        size=np.zeros(room, np.int64),
        most=np.zeros(room, np.int64),
        line=np.zeros(room, np.int64),
        blocks=np.ones(1, np.int64),
    )
    profile.time[0, 0] = np.iinfo(np.int64).min
    profile.free[0, 0] = profile.most[0] = cores
    profile.size[0] = 1
    return profile


@entry(void(PROFILE_TYPE, FROZEN_INTS, FROZEN_INTS, FROZEN_INTS, FROZEN_INTS, INTS))
def insert_all(profile, submit, runtime, cores, order, start):
    """Give each job, in the order, the earliest room at or after its submission."""
    for job in order:
        begin = _earliest(profile, submit[job], runtime[job], cores[job])
        _take(profile, begin, begin + runtime[job], cores[job])
        start[job] = begin


@kernel
def _earliest(profile, submit, runtime, cores):
    """Return the first second from the submission on at which there is room for the job."""
    place, slot = _find(profile, submit)
    begin, found = submit, False
    while place < profile.blocks[0]:
        block = profile.line[place]
        if not found and profile.most[block] < cores:
            place, slot = place + 1, 0
            continue
        for i in range(slot, profile.size[block]):
            instant = profile.time[block, i]
            if found and instant - begin >= runtime:
                return begin
            if profile.free[block, i] < cores:
                found = False
            elif not found:
                begin, found = max(instant, submit), True
        place, slot = place + 1, 0
    return begin  # after the last instant all cores are free


@kernel
def _take(profile, begin, end, cores):
    """Let cores be taken from one second to another."""
    _cut(profile, end)
    _cut(profile, begin)
    place, slot = _find(profile, begin)
    while place < profile.blocks[0]:
        block = profile.line[place]
        for i in range(slot, profile.size[block]):
            if profile.time[block, i] >= end:
                _note(profile, block)
                return
            profile.free[block, i] -= cores
        _note(profile, block)
        place, slot = place + 1, 0


@kernel
def _find(profile, instant):
    """Return the place in the line and the slot of the last instant at or before this one."""
    low, high = 0, profile.blocks[0]
    while high - low > 1:
        middle = (low + high) // 2
        if profile.time[profile.line[middle], 0] <= instant:
            low = middle
        else:
            high = middle
    block = profile.line[low]
    first, last = 0, profile.size[block]
    while last - first > 1:
        middle = (first + last) // 2
        if profile.time[block, middle] <= instant:
            first = middle
        else:
            last = middle
    return low, first


@kernel
def _cut(profile, instant):
    """Let the profile have this instant; nothing changes there yet."""
    place, slot = _find(profile, instant)
    block = profile.line[place]
    if profile.time[block, slot] == instant:
        return
    if profile.size[block] == BLOCK:
        _divide(profile, place)
        place, slot = _find(profile, instant)
        block = profile.line[place]
    for i in range(profile.size[block], slot + 1, -1):
        profile.time[block, i] = profile.time[block, i - 1]
        profile.free[block, i] = profile.free[block, i - 1]
    profile.time[block, slot + 1] = instant
    profile.free[block, slot + 1] = profile.free[block, slot]
    profile.size[block] += 1


@kernel
def _divide(profile, place):
    """Move the later half of a full block into a new one behind it."""
    block, fresh = profile.line[place], profile.blocks[0]
    half = BLOCK // 2
    for i in range(half, BLOCK):
        profile.time[fresh, i - half] = profile.time[block, i]
        profile.free[fresh, i - half] = profile.free[block, i]
    profile.size[block], profile.size[fresh] = half, BLOCK - half
    for i in range(profile.blocks[0], place + 1, -1):
        profile.line[i] = profile.line[i - 1]
    profile.line[place + 1] = fresh
    profile.blocks[0] += 1
    _note(profile, block)
    _note(profile, fresh)


@kernel
def _note(profile, block):
    """Look up the most free cores of a block."""
    most = profile.free[block, 0]
    for i in range(1, profile.size[block]):
        most = max(most, profile.free[block, i])
    profile.most[block] = most
