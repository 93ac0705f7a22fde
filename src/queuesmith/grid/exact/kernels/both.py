"""Makespan and flowtime together, by moves and swaps of single jobs while it cools."""

import math
from typing import NamedTuple

import numpy as np
from numba import float64, int64, types, uint64, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.chance import below, next_random, uniform
from queuesmith.grid.exact.kernels.priced import (
    FLOW,
    MAPPING_STATE_TYPE,
    PRICED_TIMES_TYPE,
    SPAN,
    move,
    settle,
)


class Both(NamedTuple):
    """What is minimised: ``flow * flowtime + late * max(0, makespan - cap)``.

    Where there is a cap, no makespan above it may rise; 0 stands for no cap.
    """

    flow: float
    late: float
    cap: float


BOTH_TYPE = types.NamedUniTuple(float64, 3, Both)


@kernel
def delay(priced, state, job, machine, without):
    """Return what a job adds to the flowtime of a machine, one of whose jobs is taken away.

    Short jobs run first, so that of two jobs on one machine the shorter delays the longer: the
    flowtime is the sum of all times and of the shorter time of each pair.
    """
    own = priced.times[job, machine]
    total = priced.ready[machine] + own
    for i in range(state.count[machine]):
        peer = state.member[machine, i]
        if peer not in (job, without):
            total += min(own, priced.times[peer, machine])
    return total


@kernel
def span_with(state, first, first_load, second, second_load):
    """Return the makespan if two machines had other loads."""
    span = max(first_load, second_load)
    for machine in range(len(state.load)):
        if machine not in (first, second):
            span = max(span, state.load[machine])
    return span


@kernel
def try_change(priced, state, aim, job, goal, peer, current, temperature):
    """Move a job, or swap it with a peer, by Metropolis' rule; return the new value."""
    home = state.machine[job]
    flow = delay(priced, state, job, goal, peer) - delay(priced, state, job, home, -1)
    leaving = state.load[home] - priced.times[job, home]
    arriving = state.load[goal] + priced.times[job, goal]
    if peer >= 0:
        flow += delay(priced, state, peer, home, job) - delay(priced, state, peer, goal, -1)
        leaving += priced.times[peer, home]
        arriving -= priced.times[peer, goal]
    span = span_with(state, home, leaving, goal, arriving)
    if aim.cap > 0 and span > max(aim.cap, state.numbers[SPAN]):
        return current
    now_flow = state.numbers[FLOW] + flow
    value = aim.flow * now_flow + aim.late * max(0.0, span - aim.cap)
    worse = value - current
    if worse > 0 and uniform(state.seed) >= math.exp(-worse / temperature):
        return current
    move(state, job, goal)
    if peer >= 0:
        move(state, peer, home)
    state.load[home] = leaving
    state.load[goal] = arriving
    state.numbers[FLOW] = now_flow
    state.numbers[SPAN] = span
    return value


@kernel
def propose(priced, state, aim, current, temperature):
    """Choose a job at random and a machine that can run it, at times a peer to swap with."""
    machines = len(state.load)
    job = below(state.seed, len(state.machine))
    home = state.machine[job]
    goal = (home + 1 + below(state.seed, machines - 1)) % machines
    if priced.extra[job, goal] == np.inf:
        return current
    peer = -1
    if state.count[goal] > 0 and next_random(state.seed) >> uint64(63) == 0:
        peer = state.member[goal, below(state.seed, state.count[goal])]
        if priced.extra[peer, home] == np.inf:
            return current
    return try_change(priced, state, aim, job, goal, peer, current, temperature)


@kernel
def whole_flowtime(priced, state):
    """Return the flowtime, computed afresh."""
    total = 0.0
    for machine in range(len(state.load)):
        for i in range(state.count[machine]):
            job = state.member[machine, i]
            own = priced.times[job, machine]
            total += priced.ready[machine] + own
            for k in range(i):
                total += min(own, priced.times[state.member[machine, k], machine])
    return total


@entry(void(PRICED_TIMES_TYPE, MAPPING_STATE_TYPE, BOTH_TYPE, float64, float64, int64))
def anneal_both(priced, state, aim, hot, cold, steps):
    """Minimise a mixture of flowtime and makespan while it cools; the best is kept."""
    settle(priced, state)
    state.numbers[FLOW] = whole_flowtime(priced, state)
    span = span_with(state, 0, state.load[0], 0, state.load[0])
    state.numbers[SPAN] = span
    current = aim.flow * state.numbers[FLOW] + aim.late * max(0.0, span - aim.cap)
    best = current
    temperature = hot
    cooling = (cold / hot) ** (1.0 / max(steps, 1))
    for _ in range(steps):
        current = propose(priced, state, aim, current, temperature)
        temperature *= cooling
        if current < best:
            best = current
            for job in range(len(state.machine)):
                state.best[job] = state.machine[job]
