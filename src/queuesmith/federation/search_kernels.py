# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
"""Annealing over the order and the modes of jobs.

An order and a mode for each job make a plan: one job after another starts at the first second at
which its nodes and links are free for as long as it takes. Some order makes the best plan of all.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, float64, int64, types

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import BITS, INT_TABLE, INTS, copy
from queuesmith.compiled.chance import below, uniform

#: The weight of the jobs' mean end beside the makespan: of two plans equally long, the one that
#: leaves more room at its end is nearer to a shorter one.
MEAN_END = 0.05


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


class Walk(NamedTuple):
    """A plan in the making, and the best one so far."""

    order: Any
    mode: Any
    start: Any
    trial_order: Any
    trial_mode: Any
    best_order: Any
    best_mode: Any
    best: Any  # its makespan
    seed: Any
    halt: Any  # 1 once someone wants the walk to end


GROUND_TYPE = types.NamedTuple([INTS, INTS, INT_TABLE, INTS, INT_TABLE, INTS, INTS], Ground)
PROFILE_TYPE = types.NamedTuple([INTS, INT_TABLE, INT_TABLE], Profile)
WALK_TYPE = types.NamedTuple([*[INTS] * 8, BITS, INTS], Walk)


# -- from an order to a plan -----------------------------------------------------------------------


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


# -- annealing -------------------------------------------------------------------------------------


@kernel
def move_job(order, source, goal):
    """Let a job be planned earlier or later."""
    job = order[source]
    step = 1 if goal > source else -1
    for place in range(source, goal, step):
        order[place] = order[place + step]
    order[goal] = job


@kernel
def change_mode(ground, walk):
    """Give a job another mode."""
    job = below(walk.seed, len(walk.order))
    count = ground.first[job + 1] - ground.first[job]
    walk.trial_mode[job] = ground.first[job] + below(walk.seed, count)


@kernel
def change(ground, walk):
    """Change a trial plan a little: its order, its modes, or both."""
    kind = uniform(walk.seed)
    one, two = below(walk.seed, len(walk.order)), below(walk.seed, len(walk.order))
    if kind < 0.35:
        job = walk.trial_order[one]
        walk.trial_order[one] = walk.trial_order[two]
        walk.trial_order[two] = job
    elif kind < 0.6:
        move_job(walk.trial_order, one, two)
    if kind >= 0.55:
        change_mode(ground, walk)
    if kind >= 0.9:
        change_mode(ground, walk)


@entry(boolean(GROUND_TYPE, PROFILE_TYPE, WALK_TYPE, float64, float64, int64))
def anneal(ground, profile, walk, hot, cold, steps):
    """Cool from hot to cold, in seconds; keep the best plan; return whether it got to the end."""
    temperature = hot
    cooling = (cold / hot) ** (1.0 / max(steps, 1))
    span, mean = decode(ground, profile, walk.order, walk.mode, walk.start)
    cost = span + MEAN_END * mean
    for _ in range(steps):
        if walk.halt[0]:
            return False
        copy(walk.trial_order, walk.order)
        copy(walk.trial_mode, walk.mode)
        change(ground, walk)
        span, mean = decode(ground, profile, walk.trial_order, walk.trial_mode, walk.start)
        worse = span + MEAN_END * mean - cost
        temperature *= cooling
        if worse > 0 and uniform(walk.seed) >= math.exp(-worse / temperature):
            continue
        cost += worse
        copy(walk.order, walk.trial_order)
        copy(walk.mode, walk.trial_mode)
        if span < walk.best[0]:
            walk.best[0] = span
            copy(walk.best_order, walk.order)
            copy(walk.best_mode, walk.mode)
    return True


# -- making them -----------------------------------------------------------------------------------


def new_profile(ground: Ground) -> Profile:
    """Return space for the profile of all jobs."""
    spans = len(ground.first) + 1
    return Profile(
        np.zeros(spans, np.int64),
        np.zeros((spans, len(ground.nodes)), np.int64),
        np.zeros((spans, len(ground.limit)), np.int64),
    )
