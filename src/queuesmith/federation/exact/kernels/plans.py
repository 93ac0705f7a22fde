"""From an order and a mode for each job to a plan.

One job after another starts at the first second at which its nodes and links are free for as long
as it takes. Some order makes the best plan of all.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import int64, types

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import INT_TABLE, INTS, copy


class ModeArrays(NamedTuple):
    """The modes, packed: see `modes.Modes`."""

    first: Any
    job: Any
    counts: Any
    duration: Any
    use: Any
    nodes: Any  # of each group
    limit: Any  # of each link


class Profile(NamedTuple):
    """What is free from each time to the next."""

    time: Any
    nodes: Any
    room: Any


MODES_TYPE = types.NamedTuple([INTS, INTS, INT_TABLE, INTS, INT_TABLE, INTS, INTS], ModeArrays)
PROFILE_TYPE = types.NamedTuple([INTS, INT_TABLE, INT_TABLE], Profile)


@kernel
def fits_span(modes, profile, span, mode):
    """Return whether a mode's nodes and links are free from one time to the next."""
    for group in range(len(modes.nodes)):
        if modes.counts[mode, group] > profile.nodes[span, group]:
            return False
    for link in range(len(modes.limit)):
        if modes.use[mode, link] > profile.room[span, link]:
            return False
    return True


@kernel
def first_fit(modes, profile, size, mode):
    """Return the spans from the one in which a mode can start to the one after its end."""
    begin = span = 0
    while True:
        if not fits_span(modes, profile, span, mode):
            begin = span + 1
            span = begin
            continue
        span += 1
        if span >= size or profile.time[span] >= profile.time[begin] + modes.duration[mode]:
            return begin, span


@kernel
def split_span(profile, size, at, time):
    """Let a new span begin at a time, a copy of the one before it."""
    for span in range(size, at, -1):
        profile.time[span] = profile.time[span - 1]
        copy(profile.nodes[span], profile.nodes[span - 1])
        copy(profile.room[span], profile.room[span - 1])
    profile.time[at] = time
    copy(profile.nodes[at], profile.nodes[at - 1])
    copy(profile.room[at], profile.room[at - 1])


@kernel
def decode(modes, profile, order, mode, start):
    """Plan jobs in an order; return the makespan and the jobs' mean end."""
    profile.time[0] = 0
    copy(profile.nodes[0], modes.nodes)
    copy(profile.room[0], modes.limit)
    size, span, ends = 1, int64(0), 0.0
    for job in order:
        own = mode[job]
        begin, after = first_fit(modes, profile, size, own)
        start[job] = profile.time[begin]
        end = start[job] + modes.duration[own]
        if after >= size or profile.time[after] > end:
            split_span(profile, size, after, end)
            size += 1
        for at in range(begin, after):
            for group in range(len(modes.nodes)):
                profile.nodes[at, group] -= modes.counts[own, group]
            for link in range(len(modes.limit)):
                profile.room[at, link] -= modes.use[own, link]
        span = max(span, end)
        ends += end
    return span, ends / len(order)


@entry(int64(MODES_TYPE, PROFILE_TYPE, INTS, INTS, INTS))
def plan(modes, profile, order, mode, start):
    """Fill in the starts of jobs planned in an order; return the makespan."""
    return decode(modes, profile, order, mode, start)[0]


def new_profile(modes: ModeArrays) -> Profile:
    """Return space for the profile of all jobs."""
    spans = len(modes.first) + 1
    return Profile(
        np.zeros(spans, np.int64),
        np.zeros((spans, len(modes.nodes)), np.int64),
        np.zeros((spans, len(modes.limit)), np.int64),
    )
