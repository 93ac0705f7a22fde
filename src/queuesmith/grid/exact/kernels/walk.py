"""A walk over mappings towards a target that falls as it is met."""

from typing import NamedTuple

from numba import float64, int64, types, uint64, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.chance import below, next_random, uniform
from queuesmith.grid.exact.kernels.dividing import FLIP_SPACE_TYPE, accept, best_flips, choose_flips
from queuesmith.grid.exact.kernels.priced import (
    BEST,
    MAPPING_STATE_TYPE,
    PRICED_TIMES_TYPE,
    STALE,
    STEP,
    TARGET,
    settle,
)

#: The target is only so little below the best makespan, relatively, once larger steps fail.
MODEST = 1e-7
#: A target too hard to meet is raised by this part of the way to the best makespan, or becomes
#: modest at once where it is so near, or where there are no more machines than usual: with many, a
#: target that is easily met invites dear columns.
RELAX, NEAR_BY = 0.1, 1e-4
#: Steps for each machine without success after which the target is raised.
PATIENCE = 250.0
#: A gap counts for no more than this, and is divided among so many machines as is usual.
WIDE, USUAL = 0.01, 16.0


class Habits(NamedTuple):
    """How a walk behaves. Temperatures and reach are in units of the gap of the best mapping.

    With more machines than usual, each has a smaller part in the gap, and the unit shrinks.
    """

    hot: float
    cold: float
    cycle: float  # steps from hot to cold, with as many machines as is usual
    reach: float  # the dearest change of columns, at most
    flips: int  # jobs divided anew in a step, at most


HABITS_TYPE = types.NamedTuple([float64] * 4 + [int64], Habits)


@kernel
def count_late(state):
    """Return how many machines finish after the target."""
    late = 0
    for load in state.load:
        late += load > state.numbers[TARGET]
    return late


@kernel
def choose_late(state):
    """Return one of the machines that finish after the target, or none: -1."""
    late = count_late(state)
    if late == 0:
        return -1
    skip = below(state.seed, late)
    for machine in range(len(state.load)):
        if state.load[machine] > state.numbers[TARGET]:
            if skip == 0:
                return machine
            skip -= 1
    return -1


@kernel
def choose_other(priced, state, machine):
    """Return another machine: one that is cheap for one of this one's jobs, or any."""
    machines = len(state.load)
    if state.count[machine] > 0 and next_random(state.seed) >> uint64(62) != 0:
        job = state.member[machine, below(state.seed, state.count[machine])]
        other = int64(priced.near[job, below(state.seed, priced.near.shape[1])])
        if other != machine:
            return other
    return (machine + 1 + below(state.seed, machines - 1)) % machines


@kernel
def temperature_of(state, habits):
    """Return the temperature now: it falls from hot to cold, again and again."""
    cycle = habits.cycle * max(1.0, len(state.load) / USUAL)
    phase = state.numbers[STEP] % cycle / cycle
    return habits.hot * (habits.cold / habits.hot) ** phase


@kernel
def step(priced, state, space, habits):
    """Divide some jobs of two machines anew."""
    machines = len(state.load)
    late = choose_late(state)
    capped = late if late >= 0 else below(state.seed, machines)
    other = choose_other(priced, state, capped)
    if next_random(state.seed) >> uint64(63) == 0:
        capped, other = other, capped
    gap = min(state.numbers[BEST] - 1.0, WIDE) * min(1.0, USUAL / machines)
    chance = uniform(state.seed)
    dearest = habits.reach * gap * chance * chance
    flips = choose_flips(priced, state, space, capped, other, dearest, habits.flips)
    if flips == 0:
        return
    room_left = state.numbers[TARGET] - state.load[capped]
    chosen = best_flips(space, flips, room_left)
    if chosen > 0:
        temperature = temperature_of(state, habits) * gap
        accept(priced, state, space, flips, chosen, capped, other, temperature)


@kernel
def succeed(priced, state):
    """Keep a mapping that meets the target, and aim lower: at half of what is idle."""
    settle(priced, state)
    span, idle = 0.0, 0.0
    for machine in range(len(state.load)):
        span = max(span, state.load[machine])
    for machine in range(len(state.load)):
        idle += priced.price[machine] * (span - state.load[machine])
    if span < state.numbers[BEST]:
        state.numbers[BEST] = span
        for job in range(len(state.machine)):
            state.best[job] = state.machine[job]
    state.numbers[STALE] = 0.0
    aim = min(state.numbers[BEST] * (1 - MODEST), span - 0.5 * idle)
    state.numbers[TARGET] = max(aim, 1.0)


@kernel
def relax(state):
    """Raise a target that proved too hard to meet, some way towards the best makespan."""
    modest = state.numbers[BEST] * (1 - MODEST)
    target = state.numbers[TARGET] + RELAX * (modest - state.numbers[TARGET])
    near = modest - target < NEAR_BY or len(state.load) <= USUAL
    state.numbers[TARGET] = max(modest if near else target, 1.0)


@entry(void(PRICED_TIMES_TYPE, MAPPING_STATE_TYPE, FLIP_SPACE_TYPE, HABITS_TYPE, int64))
def walk(priced, state, space, habits, steps):
    """Take so many steps; the best mapping and its makespan are kept in the state."""
    for _ in range(steps):
        if state.numbers[BEST] <= 1.0:
            return
        step(priced, state, space, habits)
        state.numbers[STALE] += 1.0
        state.numbers[STEP] += 1.0
        if count_late(state) == 0:
            succeed(priced, state)
        elif state.numbers[STALE] > PATIENCE * len(state.load):
            relax(state)
            state.numbers[STALE] = 0.0
