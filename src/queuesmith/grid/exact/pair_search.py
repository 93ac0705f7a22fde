"""A search for short makespans, guided by the prices of the machines.

The prices of the assignment LP turn the makespan into a sum. For any mapping whose machines all
finish by ``target``::

    target - bound = (extra cost of the columns used) + (priced idle time up to the target)

so that a good mapping uses columns of small extra (reduced) cost and lets all machines finish
together. A step takes two machines and some of their jobs that could as well run on the other one,
and divides these in the way in which the first machine keeps to the target and the second finishes
as early as possible. What lies beyond the target thus wanders from machine to machine, as in
simulated annealing, and shrinks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from queuesmith.grid.exact.bounds import Bound
from queuesmith.grid.exact.kernels.both import Both, anneal_both
from queuesmith.grid.exact.kernels.dividing import FlipSpace, Sums
from queuesmith.grid.exact.kernels.priced import BEST, NUMBERS, TARGET, MappingState, PricedTimes
from queuesmith.grid.exact.kernels.walk import MODEST, Habits, walk

__all__ = ["HABITS", "Both", "Habits", "PairSearch", "polish_both"]

HABITS = Habits(hot=0.06, cold=0.015, cycle=30_000.0, reach=0.1, flips=14)
#: How many of its cheapest machines each job is mostly offered.
NEAR = 5
#: Steps between two looks at the clock.
CHUNK = 500
#: For mixtures with flowtime: the first temperature, in values of a mean job, and the last over it.
HEAT, COLD = 0.1, 1e-4
#: The least price of a machine, relative to the mean.
CHEAP = 1e-3


class PairSearch:
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
        self._ground = _ground(bound, bound.matrix.makespan(machine))
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

    def run_for(
        self,
        seconds: float,
        stopped: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> float:
        """Walk until the time is over, or until told to stop; return the best makespan."""
        ends = clock() + seconds
        while clock() < ends and not stopped() and self._state.numbers[BEST] > 1.0:
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


def _ground(bound: Bound, longest: float = math.inf) -> PricedTimes:
    """Scale times by the bound; give machines without a price a small one.

    No job is offered a machine on which it would finish after ``longest``.
    """
    matrix = bound.matrix
    price = np.maximum(bound.price, CHEAP / matrix.machines)
    price /= price.sum()
    times = matrix.times / bound.value
    usable = np.isfinite(times) & (matrix.ready + matrix.times <= longest)
    with np.errstate(invalid="ignore"):
        costs = np.where(usable, times * price, np.inf)
        extra = costs - costs.min(axis=1, keepdims=True)
    near = np.argsort(extra, axis=1, kind="stable")[:, :NEAR].astype(np.int32)
    near = np.ascontiguousarray(near)
    priced = PricedTimes(times, extra, price, matrix.ready / bound.value, near)
    for part in priced:
        part.setflags(write=False)
    return priced


def _new_state(priced: PricedTimes, machine: NDArray[np.int64], seed: int) -> MappingState:
    jobs, machines = priced.times.shape
    member = np.zeros((machines, jobs), np.int32)
    place = np.zeros(jobs, np.int32)
    count = np.zeros(machines, np.int64)
    for job, own in enumerate(machine):
        member[own, count[own]] = job
        place[job] = count[own]
        count[own] += 1
    own_times = priced.times[np.arange(jobs), machine]
    load = priced.ready + np.bincount(machine, own_times, minlength=machines)
    numbers = np.zeros(NUMBERS)
    numbers[TARGET] = numbers[BEST] = load.max()
    first = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
    start = np.array(machine, dtype=np.int64)
    return MappingState(start, load, member, place, count, start.copy(), numbers, first)


def _new_room(jobs: int, flips: int) -> FlipSpace:
    size = (1 << (flips - flips // 2)) + 1  # and an end that no sum exceeds
    lists = [Sums(np.empty(size), np.empty(size), np.empty(size, np.int64)) for _ in range(3)]
    return FlipSpace(np.empty(jobs, np.int64), np.empty(flips), np.empty(flips), *lists)


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
    priced = _ground(bound)
    state = _new_state(priced, machine, seed)
    if bound.matrix.machines > 1:
        scaled = Both(aim.flow, aim.late, aim.cap / bound.value)
        hot = heat * _size(priced, state, scaled) / bound.matrix.jobs
        anneal_both(priced, state, scaled, hot, hot * COLD, steps)
    return np.array(state.best)


def _size(priced: PricedTimes, state: MappingState, aim: Both) -> float:
    """The scale of what is minimised, to set the temperature by."""
    flow = sum(
        float(np.cumsum(np.sort(priced.times[state.machine == i, i])).sum())
        for i in range(len(state.load))
    )
    return max(aim.flow * flow, 1e-300)
