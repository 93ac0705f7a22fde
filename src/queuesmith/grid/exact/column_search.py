"""A search for short makespans on many machines: annealing along the cheap columns.

Two of many machines share few jobs, so that dividing those anew, as ``pair_search`` does, soon runs
dry. Here single jobs move, mostly along the columns of least extra (reduced) cost, and a machine
pays the price of what it does after a target. While that cools, loads even out just below the
target. On the most machines, one that stays late pays more and more: at the LP's prices some would
be late for good, since all their jobs are much dearer elsewhere. At the end the target rises a
little, and the later a machine is, the more steeply it pays, so that what is left beyond the target
is spread over many machines.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.grid.etc.matrix import Floats
from queuesmith.grid.exact.bounds import Bound
from queuesmith.grid.exact.kernels.columns import (
    JOB,
    MACHINE,
    Columns,
    ColumnState,
    anneal_columns,
)

#: How many columns there are for each job, about, the cheapest of all; and each has at least.
FEW, LEAST = 5.5, 4
#: Of columns that take at most so much of the bound, each job has so many, the cheapest: slow
#: machines are cheap for long jobs, and those must also fit in elsewhere.
BRIEF, SOME = 0.1, 2
#: The temperature at first and from ``TURN`` on, in units of a mean job's price.
HOT, COLD = 0.1, 0.01
#: The part of the time after which the target rises, by ``RISE`` of its distance from the bound,
#: and lateness is paid more steeply.
TURN, RISE = 0.7, 0.3
#: The first part of the time shows how much extra cost is hard to avoid; the rest aims above that.
PILOT, ABOVE = 0.2, 1.5
#: Steps between two looks at the clock and at the makespan.
CHUNK = 20_000
#: What lateness costs at least, relative to the mean price, at first and at last: a slow machine,
#: whose price is low and whose jobs are long, had better be idle than late.
CHEAP, DEAR = 0.3, 30.0
#: Prices rise at their full rate where a machine is late by ``NOTICED`` of the bound, and become
#: ``MOST`` times what they were at most.
NOTICED, MOST = 0.001, 100.0
#: Rows of jobs are longer by this, or lists of many machines would share few lines of a cache.
PADDING = 24


class Ending(NamedTuple):
    """How late machines are treated: from ``TURN`` on, or, as for swaps and prices, all the time.

    Lateness is paid by the factor ``1 + steep * lateness``, over the bound, and it becomes colder
    once more, by the factor ``frozen``. A share of the moves that are refused become swaps with a
    job of the other machine: one of a few long jobs is late for good if they can only leave one by
    one. The price of a machine that is late rises by the part ``urgent`` from one look to the next,
    and falls as fast while it is in time, back to the LP's.
    """

    steep: float
    frozen: float
    swaps: float
    urgent: float


#: With up to so many machines, and with more: there a few late ones decide the makespan.
FEW_MACHINES = 64
ENDINGS = (Ending(1_000.0, 1.0, 0.1, 0.0), Ending(20_000.0, 0.2, 0.1, 0.002))


class ColumnSearch:
    """A search on many machines that can be continued, seeded, on one core.

    Parameters
    ----------
    bound
        The bound, and the prices that guide the search.
    machine
        The mapping to start from.
    seed
        What chance follows from.
    """

    def __init__(self, bound: Bound, machine: NDArray[np.int64], *, seed: int = 0) -> None:
        self._unit = bound.value
        self._best = np.array(machine, dtype=np.int64)
        self._span = bound.matrix.makespan(self._best) / bound.value
        start = _shortened(bound, self._best)
        self._columns = _cheap_columns(bound, start)
        self._state = _new_state(bound, self._columns, start, seed)
        self._ending = ENDINGS[bound.matrix.machines > FEW_MACHINES]
        self._urgency = np.zeros(bound.matrix.machines)

    @property
    def machine(self) -> NDArray[np.int64]:
        """The machine of each job in the best mapping."""
        return np.array(self._best)

    @property
    def makespan(self) -> float:
        """The makespan of the best mapping, but for rounding."""
        return self._span * self._unit

    @property
    def last(self) -> NDArray[np.int64]:
        """The machine of each job now: few machines may be late, and all others even."""
        return np.asarray(self._columns.pair[self._state.column, MACHINE], np.int64)

    @property
    def extra(self) -> float:
        """The extra cost of the columns in use now, relative to the bound."""
        return float(self._columns.extra[self._state.column].sum())

    def run(self, steps: int) -> float:
        """Take about so many steps in all; return the best makespan."""
        pilot = int(PILOT * steps)
        self.anneal(_counted(pilot), aim=0.0)
        return self.anneal(_counted(steps - pilot), aim=ABOVE * self.extra)

    def run_for(
        self,
        seconds: float,
        stopped: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> float:
        """Anneal until the time is over, or until told to stop; return the best makespan."""
        self.anneal(_timed(PILOT * seconds, stopped, clock), aim=0.0)
        return self.anneal(_timed((1 - PILOT) * seconds, stopped, clock), aim=ABOVE * self.extra)

    def anneal(self, progress: Callable[[], float], *, aim: float) -> float:
        """Anneal towards a target above the bound by ``aim`` of it; return the best makespan.

        ``progress`` is asked before each few steps, and tells which part of the work is done.
        """
        jobs = len(self._state.column)
        while (part := progress()) < 1.0:
            end = max(0.0, (part - TURN) / (1 - TURN))
            heat = HOT * (COLD / HOT) ** min(part / TURN, 1.0) * self._ending.frozen**end / jobs
            floor = CHEAP * (DEAR / CHEAP) ** part / len(self._state.load)
            target = 1.0 + aim * (1 + RISE * end)
            if aim > 0:
                self._urge(target)
            price = np.maximum(self._columns.price, floor) * np.exp(self._urgency)
            anneal_columns(
                self._columns._replace(price=price),
                self._state,
                target,
                self._ending.steep * end,
                heat,
                self._ending.swaps,
                CHUNK,
            )
            self._keep()
        return self.makespan

    def _urge(self, target: float) -> None:
        """Raise the prices of machines that are late and later than most; let the others fall."""
        load = self._state.load
        late = np.clip((load - max(target, load.mean())) / NOTICED, -1, 1)
        self._urgency = np.clip(self._urgency + self._ending.urgent * late, 0, np.log(MOST))

    def _keep(self) -> None:
        """Keep the mapping if it is the best so far."""
        span = float(self._state.load.max())
        if span < self._span:
            self._span = span
            self._best = self.last


def _counted(steps: int) -> Callable[[], float]:
    """Return the progress of so many steps, each time a chunk further."""
    chunks = itertools.count()
    return lambda: next(chunks) * CHUNK / max(steps, 1)


def _timed(
    seconds: float, stopped: Callable[[], bool], clock: Callable[[], float]
) -> Callable[[], float]:
    """Return the progress by the clock from now on; what is to be stopped is done."""
    began = clock()
    return lambda: 1.0 if stopped() else (clock() - began) / max(seconds, 1e-9)


def _shortened(bound: Bound, machine: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the mapping with jobs that take too long moved to where they cost least."""
    long = np.isinf(bound.extra[np.arange(len(machine)), machine])
    return np.where(long, bound.extra.argmin(axis=1), machine)


def _cheap_columns(bound: Bound, machine: NDArray[np.int64]) -> Columns:
    """Choose the columns of least extra cost of all, and those of the mapping to start from."""
    matrix, extra = bound.matrix, bound.extra / bound.value
    brief = np.where(matrix.times <= BRIEF * bound.value, extra, np.inf)
    count = min(int(FEW * matrix.jobs), extra.size) - 1
    dearest = np.partition(extra, count, axis=None)[count]
    chosen = (extra <= np.maximum(dearest, _dearest_of(extra, LEAST))) & np.isfinite(extra)
    chosen |= (brief <= _dearest_of(brief, SOME)) & np.isfinite(brief)
    chosen[np.arange(matrix.jobs), machine] = True
    return _sorted_columns(bound, *np.nonzero(chosen))


def _sorted_columns(bound: Bound, job: NDArray[np.int64], own: NDArray[np.int64]) -> Columns:
    """Return some columns by ascending extra cost, and where each job has one."""
    extra = bound.extra[job, own] / bound.value
    order = np.argsort(extra, kind="stable")
    job, own = job[order], own[order]
    first = np.zeros(bound.matrix.jobs + 1, np.int64)
    first[1:] = np.cumsum(np.bincount(job, minlength=bound.matrix.jobs))
    offered = np.zeros((bound.matrix.jobs, -(-bound.matrix.machines // 64)), np.uint64)
    np.bitwise_or.at(offered, (job, own >> 6), np.uint64(1) << (own & 63).astype(np.uint64))
    return Columns(
        np.stack([job, own], axis=1).astype(np.int32),
        bound.matrix.times[job, own] / bound.value,
        extra[order],
        np.argsort(job, kind="stable").astype(np.int32),
        first,
        offered,
        bound.price,
    )


def _dearest_of(extra: Floats, count: int) -> Floats:
    """Return the extra cost of the dearest of each job's few cheapest columns."""
    last = min(count, extra.shape[1]) - 1
    return np.partition(extra, last, axis=1)[:, last : last + 1]


def _new_state(
    bound: Bound, columns: Columns, machine: NDArray[np.int64], seed: int
) -> ColumnState:
    job, own = columns.pair[:, JOB], columns.pair[:, MACHINE]
    in_use = np.flatnonzero(own == machine[job])
    uses = np.empty(len(machine), np.int32)
    uses[job[in_use]] = in_use
    ready = bound.matrix.ready / bound.value
    load = ready + np.bincount(machine, columns.time[uses], minlength=len(ready))
    count = np.bincount(machine, minlength=len(ready)).astype(np.int64)
    by_machine = np.argsort(machine, kind="stable").astype(np.int32)
    place = np.empty(len(machine), np.int32)
    place[by_machine] = np.arange(len(machine)) - np.repeat(np.cumsum(count) - count, count)
    member = np.zeros((len(ready), len(machine) + PADDING), np.int32)
    member[machine, place] = np.arange(len(machine))
    first = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
    return ColumnState(uses, load, member, place, count, first)
