"""From an order and a mode for each job to a plan.

One job after another starts at the first second at which its nodes and links are free for as long
as it takes. Some order makes the best plan of all.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import int64, types

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import INT_TABLE, INTS, copy


class Ground(NamedTuple):
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


GROUND_TYPE = types.NamedTuple([INTS, INTS, INT_TABLE, INTS, INT_TABLE, INTS, INTS], Ground)
PROFILE_TYPE = types.NamedTuple([INTS, INT_TABLE, INT_TABLE], Profile)


@kernel
def fits_span(ground, profile, span, mode):
    """Return whether a mode's nodes and links are free from one time to the next."""
    for group in range(len(ground.nodes)):
        if ground.counts[mode, group] > profile.nodes[span, group]:
            return False
    for link in range(len(ground.limit)):
        if ground.use[mode, link] > profile.room[span, link]:
            return False
    return True


@kernel
def first_fit(ground, profile, size, mode):
    """Return the spans from the one in which a mode can start to the one after its end."""
    begin = span = 0
    while True:
        if not fits_span(ground, profile, span, mode):
            begin = span + 1
            span = begin
            continue
        span += 1
        if span >= size or profile.time[span] >= profile.time[begin] + ground.duration[mode]:
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
def decode(ground, profile, order, mode, start):
    """Plan jobs in an order; return the makespan and the jobs' mean end."""
    profile.time[0] = 0
    copy(profile.nodes[0], ground.nodes)
    copy(profile.room[0], ground.limit)
    size, span, ends = 1, int64(0), 0.0
    for job in order:
        own = mode[job]
        begin, after = first_fit(ground, profile, size, own)
        start[job] = profile.time[begin]
        end = start[job] + ground.duration[own]
        if after >= size or profile.time[after] > end:
            split_span(profile, size, after, end)
            size += 1
        for at in range(begin, after):
            for group in range(len(ground.nodes)):
                profile.nodes[at, group] -= ground.counts[own, group]
            for link in range(len(ground.limit)):
                profile.room[at, link] -= ground.use[own, link]
        span = max(span, end)
        ends += end
    return span, ends / len(order)


@entry(int64(GROUND_TYPE, PROFILE_TYPE, INTS, INTS, INTS))
def plan(ground, profile, order, mode, start):
    """Fill in the starts of jobs planned in an order; return the makespan."""
    return decode(ground, profile, order, mode, start)[0]


def new_profile(ground: Ground) -> Profile:
    """Return space for the profile of all jobs."""
    spans = len(ground.first) + 1
    return Profile(
        np.zeros(spans, np.int64),
        np.zeros((spans, len(ground.nodes)), np.int64),
        np.zeros((spans, len(ground.limit)), np.int64),
    )
