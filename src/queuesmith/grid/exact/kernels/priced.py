"""What searches guided by prices know, and a mapping that can be changed job by job."""

from typing import Any, NamedTuple

from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import (
    BITS,
    FROZEN_REAL_TABLE,
    FROZEN_REALS,
    FROZEN_SMALL_TABLE,
    INTS,
    REALS,
    SMALL_INTS,
    SMALL_TABLE,
)

# Places in the array of numbers that a search changes.
TARGET, BEST, STALE, STEP, FLOW, SPAN = range(6)
NUMBERS = 6


class PricedTimes(NamedTuple):
    """What does not change: times over the bound, extra costs, prices."""

    times: Any  # jobs x machines
    extra: Any  # the reduced cost of each column; infinite where a machine cannot run a job
    price: Any  # above 0, together 1
    ready: Any  # over the bound
    near: Any  # the cheapest machines of each job


class MappingState(NamedTuple):
    """A mapping in the making, and the best one so far."""

    machine: Any
    load: Any
    member: Any  # machines x jobs: those on each machine, in any order
    place: Any  # of each job in that list
    count: Any
    best: Any
    numbers: Any
    seed: Any


PRICED_TIMES_TYPE = types.NamedTuple(
    [FROZEN_REAL_TABLE, FROZEN_REAL_TABLE, FROZEN_REALS, FROZEN_REALS, FROZEN_SMALL_TABLE],
    PricedTimes,
)
MAPPING_STATE_TYPE = types.NamedTuple(
    [INTS, REALS, SMALL_TABLE, SMALL_INTS, INTS, INTS, REALS, BITS], MappingState
)


@kernel
def settle(priced, state):
    """Compute the loads afresh, free of rounding gathered on the way."""
    for machine in range(len(state.load)):
        total = priced.ready[machine]
        for i in range(state.count[machine]):
            total += priced.times[state.member[machine, i], machine]
        state.load[machine] = total


@kernel
def move(state, job, machine):
    """Put a job on another machine; loads are the caller's."""
    old = state.machine[job]
    last = state.member[old, state.count[old] - 1]
    state.member[old, state.place[job]] = last
    state.place[last] = state.place[job]
    state.count[old] -= 1
    state.member[machine, state.count[machine]] = job
    state.place[job] = state.count[machine]
    state.count[machine] += 1
    state.machine[job] = machine


@kernel
def beyond(priced, state, machine, load):
    """Return the price of what a machine does after the target, if it finishes at ``load``."""
    late = load - state.numbers[TARGET]
    return priced.price[machine] * late if late > 0 else 0.0
