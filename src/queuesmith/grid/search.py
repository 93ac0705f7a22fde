# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
"""A search for short makespans, guided by the prices of the machines.

The prices of the assignment LP turn the makespan into a sum. For any mapping whose machines all
finish by ``target``::

    target - bound = (extra cost of the columns used) + (priced idle time up to the target)

so that a good mapping uses columns of small extra (reduced) cost and lets all machines finish
together. A step takes two machines and some of their jobs that could as well run on the other one.
All ``2 ** flips`` ways of dividing those jobs are looked at, by meeting in the middle: half of the
jobs give one sorted list of sums, the other half a second, and one sweep over both finds the way
in which the first machine keeps to the target and the second finishes as early as possible. What
lies beyond the target thus wanders from machine to machine, as in simulated annealing, and shrinks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types, uint64, void
from numpy.typing import NDArray

from queuesmith.compiled import entry, kernel
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
from queuesmith.compiled.chance import below, next_random, uniform
from queuesmith.grid.bounds import Bound

# Places in the array of numbers that a walk changes.
TARGET, BEST, STALE, STEP, FLOW, SPAN = range(6)
NUMBERS = 6

#: The target is only so little below the best makespan, relatively, once larger steps fail.
MODEST = 1e-7
#: A target too hard to meet is raised by this part of the way to the best makespan, or becomes
#: modest at once where it is so near, or where there are no more machines than usual: with many, a
#: target that is easily met invites dear columns.
RELAX, NEAR_BY = 0.1, 1e-4
#: Steps for each machine without success after which the target is raised.
PATIENCE = 250.0


class Ground(NamedTuple):
    """What does not change: times over the bound, extra costs, prices."""

    times: Any  # jobs x machines
    extra: Any  # the reduced cost of each column; infinite where a machine cannot run a job
    price: Any  # above 0, together 1
    ready: Any  # over the bound
    near: Any  # the cheapest machines of each job


class State(NamedTuple):
    """A mapping in the making, and the best one so far."""

    machine: Any
    load: Any
    member: Any  # machines x jobs: those on each machine, in any order
    place: Any  # of each job in that list
    count: Any
    best: Any
    numbers: Any
    seed: Any


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


class Habits(NamedTuple):
    """How a walk behaves. Temperatures and reach are in units of the gap of the best mapping.

    With more machines than usual, each has a smaller part in the gap, and the unit shrinks.
    """

    hot: float
    cold: float
    cycle: float  # steps from hot to cold, with as many machines as is usual
    reach: float  # the dearest change of columns, at most
    flips: int  # jobs divided anew in a step, at most


HABITS = Habits(hot=0.06, cold=0.015, cycle=30_000.0, reach=0.1, flips=14)
#: How many of its cheapest machines each job is mostly offered.
NEAR = 5
#: A gap counts for no more than this, and is divided among so many machines as is usual.
WIDE, USUAL = 0.01, 16.0
#: Steps between two looks at the clock.
CHUNK = 500
#: For mixtures with flowtime: the first temperature, in values of a mean job, and the last over it.
HEAT, COLD = 0.1, 1e-4
#: The least price of a machine, relative to the mean.
CHEAP = 1e-3


# -- the mapping -----------------------------------------------------------------------------------


@kernel
def settle(ground, state):
    """Compute the loads afresh, free of rounding gathered on the way."""
    for machine in range(len(state.load)):
        total = ground.ready[machine]
        for i in range(state.count[machine]):
            total += ground.times[state.member[machine, i], machine]
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
def beyond(ground, state, machine, load):
    """Return the price of what a machine does after the target, if it finishes at ``load``."""
    late = load - state.numbers[TARGET]
    return ground.price[machine] * late if late > 0 else 0.0


@kernel
def all_beyond(ground, state):
    """Return the price of what all machines do after the target."""
    total = 0.0
    for machine in range(len(state.load)):
        total += beyond(ground, state, machine, state.load[machine])
    return total


# -- one step --------------------------------------------------------------------------------------


@kernel
def choose_late(state):
    """Return one of the machines that finish after the target, or none: -1."""
    late = 0
    for machine in range(len(state.load)):
        late += state.load[machine] > state.numbers[TARGET]
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


@kernel
def choose_other(ground, state, machine):
    """Return another machine: one that is cheap for one of this one's jobs, or any."""
    machines = len(state.load)
    if state.count[machine] > 0 and next_random(state.seed) >> uint64(62) != 0:
        job = state.member[machine, below(state.seed, state.count[machine])]
        other = int64(ground.near[job, below(state.seed, ground.near.shape[1])])
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
def step(ground, state, room, habits):
    """Divide some jobs of two machines anew."""
    machines = len(state.load)
    late = choose_late(state)
    capped = late if late >= 0 else below(state.seed, machines)
    other = choose_other(ground, state, capped)
    if next_random(state.seed) >> uint64(63) == 0:
        capped, other = other, capped
    gap = min(state.numbers[BEST] - 1.0, WIDE) * min(1.0, USUAL / machines)
    chance = uniform(state.seed)
    dearest = habits.reach * gap * chance * chance
    flips = choose_flips(ground, state, room, capped, other, dearest, habits.flips)
    room_left = state.numbers[TARGET] - state.load[capped]
    chosen = best_flips(room, flips, room_left)
    if chosen > 0:
        temperature = temperature_of(state, habits) * gap
        accept(ground, state, room, flips, chosen, capped, other, temperature)


# -- the walk --------------------------------------------------------------------------------------


@kernel
def succeed(ground, state):
    """Keep a mapping that meets the target, and aim lower: at half of what is idle."""
    settle(ground, state)
    span, idle = 0.0, 0.0
    for machine in range(len(state.load)):
        span = max(span, state.load[machine])
    for machine in range(len(state.load)):
        idle += ground.price[machine] * (span - state.load[machine])
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


_SUMS = types.NamedTuple([REALS, REALS, INTS], Sums)
GROUND_TYPE = types.NamedTuple(
    [FROZEN_REAL_TABLE, FROZEN_REAL_TABLE, FROZEN_REALS, FROZEN_REALS, FROZEN_SMALL_TABLE], Ground
)
STATE_TYPE = types.NamedTuple(
    [INTS, REALS, SMALL_TABLE, SMALL_INTS, INTS, INTS, REALS, BITS], State
)
ROOM_TYPE = types.NamedTuple([INTS, REALS, REALS, _SUMS, _SUMS, _SUMS], Room)
HABITS_TYPE = types.NamedTuple([float64] * 4 + [int64], Habits)


@entry(void(GROUND_TYPE, STATE_TYPE, ROOM_TYPE, HABITS_TYPE, int64))
def walk(ground, state, room, habits, steps):
    """Take so many steps; the best mapping and its makespan are kept in the state."""
    for _ in range(steps):
        if state.numbers[BEST] <= 1.0:
            return
        step(ground, state, room, habits)
        state.numbers[STALE] += 1.0
        state.numbers[STEP] += 1.0
        if all_beyond(ground, state) == 0.0:
            succeed(ground, state)
        elif state.numbers[STALE] > PATIENCE * len(state.load):
            relax(state)
            state.numbers[STALE] = 0.0


# -- makespan and flowtime together ----------------------------------------------------------------


class Both(NamedTuple):
    """What is minimised: ``flow * flowtime + late * max(0, makespan - cap)``.

    Where there is a cap, no makespan above it may rise; 0 stands for no cap.
    """

    flow: float
    late: float
    cap: float


@kernel
def delay(ground, state, job, machine, without):
    """Return what a job adds to the flowtime of a machine, one of whose jobs is taken away.

    Short jobs run first, so that of two jobs on one machine the shorter delays the longer: the
    flowtime is the sum of all times and of the shorter time of each pair.
    """
    own = ground.times[job, machine]
    total = ground.ready[machine] + own
    for i in range(state.count[machine]):
        peer = state.member[machine, i]
        if peer not in (job, without):
            total += min(own, ground.times[peer, machine])
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
def try_change(ground, state, aim, job, goal, peer, current, temperature):
    """Move a job, or swap it with a peer, by Metropolis' rule; return the new value."""
    home = state.machine[job]
    flow = delay(ground, state, job, goal, peer) - delay(ground, state, job, home, -1)
    leaving = state.load[home] - ground.times[job, home]
    arriving = state.load[goal] + ground.times[job, goal]
    if peer >= 0:
        flow += delay(ground, state, peer, home, job) - delay(ground, state, peer, goal, -1)
        leaving += ground.times[peer, home]
        arriving -= ground.times[peer, goal]
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
def propose(ground, state, aim, current, temperature):
    """Choose a job at random and a machine that can run it, at times a peer to swap with."""
    machines = len(state.load)
    job = below(state.seed, len(state.machine))
    home = state.machine[job]
    goal = (home + 1 + below(state.seed, machines - 1)) % machines
    if ground.extra[job, goal] == np.inf:
        return current
    peer = -1
    if state.count[goal] > 0 and next_random(state.seed) >> uint64(63) == 0:
        peer = state.member[goal, below(state.seed, state.count[goal])]
        if ground.extra[peer, home] == np.inf:
            return current
    return try_change(ground, state, aim, job, goal, peer, current, temperature)


@kernel
def whole_flowtime(ground, state):
    """Return the flowtime, computed afresh."""
    total = 0.0
    for machine in range(len(state.load)):
        for i in range(state.count[machine]):
            job = state.member[machine, i]
            own = ground.times[job, machine]
            total += ground.ready[machine] + own
            for k in range(i):
                total += min(own, ground.times[state.member[machine, k], machine])
    return total


@entry(
    void(GROUND_TYPE, STATE_TYPE, types.NamedUniTuple(float64, 3, Both), float64, float64, int64)
)
def anneal_both(ground, state, aim, hot, cold, steps):
    """Minimise a mixture of flowtime and makespan while it cools; the best is kept."""
    settle(ground, state)
    state.numbers[FLOW] = whole_flowtime(ground, state)
    span = span_with(state, 0, state.load[0], 0, state.load[0])
    state.numbers[SPAN] = span
    current = aim.flow * state.numbers[FLOW] + aim.late * max(0.0, span - aim.cap)
    best = current
    temperature = hot
    cooling = (cold / hot) ** (1.0 / max(steps, 1))
    for _ in range(steps):
        current = propose(ground, state, aim, current, temperature)
        temperature *= cooling
        if current < best:
            best = current
            for job in range(len(state.machine)):
                state.best[job] = state.machine[job]


# -- the way in ------------------------------------------------------------------------------------


class Search:
    """A walk over mappings that can be continued, seeded, on one core.

    Parameters
    ----------
    bound
        The bound, and the prices that guide the walk.
    machine
        The mapping to start from.
    seed
        What chance follows from.
    habits
        How the walk behaves.
    """

    def __init__(
        self, bound: Bound, machine: NDArray[np.int64], *, seed: int = 0, habits: Habits = HABITS
    ) -> None:
        self.habits = habits
        self._unit = bound.value
        self._ground = _ground(bound)
        self._state = _new_state(self._ground, machine, seed)
        self._room = _new_room(bound.matrix.jobs, habits.flips)

    @property
    def machine(self) -> NDArray[np.int64]:
        """The machine of each job in the best mapping."""
        return np.array(self._state.best)

    @property
    def makespan(self) -> float:
        """The makespan of the best mapping, but for rounding."""
        return float(self._state.numbers[BEST]) * self._unit

    def behave(self, habits: Habits) -> None:
        """Go on with other habits."""
        self.habits = habits
        self._room = _new_room(len(self._state.machine), habits.flips)

    def run(self, steps: int) -> float:
        """Take so many steps; return the best makespan."""
        if self._ground.times.shape[1] > 1:
            walk(self._ground, self._state, self._room, self.habits, steps)
        return self.makespan

    def run_for(self, seconds: float, stopped: Callable[[], bool] = lambda: False) -> float:
        """Walk until the time is over, or until told to stop; return the best makespan."""
        ends = time.perf_counter() + seconds
        while time.perf_counter() < ends and not stopped() and self._state.numbers[BEST] > 1.0:
            self.run(CHUNK)
        return self.makespan

    def restart(self, machine: NDArray[np.int64]) -> None:
        """Continue from another mapping, which becomes the best if it is better."""
        numbers = np.array(self._state.numbers)
        best = self._state.best
        self._state = _new_state(self._ground, machine, int(self._state.seed[0] >> 2))
        if numbers[BEST] < self._state.numbers[BEST]:
            self._state.best[:] = best
            self._state.numbers[BEST] = numbers[BEST]
            self._state.numbers[TARGET] = numbers[BEST] * (1 - MODEST)


def _ground(bound: Bound) -> Ground:
    """Scale times by the bound; give machines without a price a small one."""
    matrix = bound.matrix
    price = np.maximum(bound.price, CHEAP / matrix.machines)
    price /= price.sum()
    times = matrix.times / bound.value
    with np.errstate(invalid="ignore"):
        costs = np.where(np.isfinite(times), times * price, np.inf)
        extra = costs - costs.min(axis=1, keepdims=True)
    near = np.argsort(extra, axis=1, kind="stable")[:, :NEAR].astype(np.int32)
    near = np.ascontiguousarray(near)
    ground = Ground(times, extra, price, matrix.ready / bound.value, near)
    for part in ground:
        part.setflags(write=False)
    return ground


def _new_state(ground: Ground, machine: NDArray[np.int64], seed: int) -> State:
    jobs, machines = ground.times.shape
    member = np.zeros((machines, jobs), np.int32)
    place = np.zeros(jobs, np.int32)
    count = np.zeros(machines, np.int64)
    for job, own in enumerate(machine):
        member[own, count[own]] = job
        place[job] = count[own]
        count[own] += 1
    own_times = ground.times[np.arange(jobs), machine]
    load = ground.ready + np.bincount(machine, own_times, minlength=machines)
    numbers = np.zeros(NUMBERS)
    numbers[TARGET] = numbers[BEST] = load.max()
    first = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
    start = np.array(machine, dtype=np.int64)
    return State(start, load, member, place, count, start.copy(), numbers, first)


def _new_room(jobs: int, flips: int) -> Room:
    size = 1 << (flips - flips // 2)
    lists = [Sums(np.empty(size), np.empty(size), np.empty(size, np.int64)) for _ in range(3)]
    return Room(np.empty(jobs, np.int64), np.empty(flips), np.empty(flips), *lists)


def polish_both(
    bound: Bound,
    machine: NDArray[np.int64],
    aim: Both,
    *,
    steps: int,
    seed: int = 0,
    heat: float = HEAT,
) -> NDArray[np.int64]:
    """Return a mapping of less flowtime and makespan, as weighted, never a worse one.

    Parameters
    ----------
    bound
        The jobs, machines and prices.
    machine
        The mapping to start from.
    aim
        What is minimised, in the matrix's own units.
    steps
        How many changes are tried.
    seed
        What chance follows from.
    heat
        The first temperature, relative to the value that a job has on average.
    """
    ground = _ground(bound)
    state = _new_state(ground, machine, seed)
    if bound.matrix.machines > 1:
        scaled = Both(aim.flow, aim.late, aim.cap / bound.value)
        hot = heat * _size(ground, state, scaled) / bound.matrix.jobs
        anneal_both(ground, state, scaled, hot, hot * COLD, steps)
    return np.array(state.best)


def _size(ground: Ground, state: State, aim: Both) -> float:
    """The scale of what is minimised, to set the temperature by."""
    flow = sum(
        float(np.cumsum(np.sort(ground.times[state.machine == i, i])).sum())
        for i in range(len(state.load))
    )
    return max(aim.flow * flow, 1e-300)
