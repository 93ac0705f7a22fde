"""Annealing over the order and the modes of jobs."""

import math
from typing import Any, NamedTuple

from numba import boolean, float64, int64, types

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import BITS, INTS, copy
from queuesmith.compiled.chance import below, uniform
from queuesmith.federation.exact.kernels.plans import MODES_TYPE, PROFILE_TYPE, decode

#: The weight of the jobs' mean end beside the makespan: of two plans equally long, the one that
#: leaves more room at its end is nearer to a shorter one.
MEAN_END = 0.05


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


WALK_TYPE = types.NamedTuple([*[INTS] * 8, BITS, INTS], Walk)


@kernel
def move_job(order, source, goal):
    """Let a job be planned earlier or later."""
    job = order[source]
    step = 1 if goal > source else -1
    for place in range(source, goal, step):
        order[place] = order[place + step]
    order[goal] = job


@kernel
def change_mode(modes, walk):
    """Give a job another mode."""
    job = below(walk.seed, len(walk.order))
    count = modes.first[job + 1] - modes.first[job]
    walk.trial_mode[job] = modes.first[job] + below(walk.seed, count)


@kernel
def change(modes, walk):
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
        change_mode(modes, walk)
    if kind >= 0.9:
        change_mode(modes, walk)


@entry(boolean(MODES_TYPE, PROFILE_TYPE, WALK_TYPE, float64, float64, int64))
def anneal(modes, profile, walk, hot, cold, steps):
    """Cool from hot to cold, in seconds; keep the best plan; return whether it got to the end."""
    temperature = hot
    cooling = (cold / hot) ** (1.0 / max(steps, 1))
    span, mean = decode(modes, profile, walk.order, walk.mode, walk.start)
    cost = span + MEAN_END * mean
    for _ in range(steps):
        if walk.halt[0]:
            return False
        copy(walk.trial_order, walk.order)
        copy(walk.trial_mode, walk.mode)
        change(modes, walk)
        span, mean = decode(modes, profile, walk.trial_order, walk.trial_mode, walk.start)
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
