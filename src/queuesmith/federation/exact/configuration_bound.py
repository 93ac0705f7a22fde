"""The configuration LP: a bound on the makespan, and prices of the jobs that guide searches.

A **configuration** is a set of modes that can run at one time: nodes and links suffice. Any plan
lets configurations run one after another, and in each second a job in mode ``m`` gets one
``duration[m]``-th of itself done. So the least total time of configurations that get every job
done, jobs free to change their mode and to pause, is a bound. Its dual prices every job::

    makespan >= sum of prices / (the most that any configuration earns a second)

which holds for any prices whatever. The LP only proposes prices; configurations are found as they
are needed, by an exact search with what it proves where it is given up; and the bound is computed
from the two, so that no tolerance of a solver can make it too high.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from queuesmith.federation.exact.kernels.earning import Pricing, earn_most
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.solving.libraries import solver_library

#: The share of the best prices so far in those that configurations are sought for (Wentges 1997).
SMOOTHING = 0.7
#: Nodes of the tree in which the best configuration is sought.
MOST_NODES = 500_000
#: Further configurations sought in a round, of jobs that are in none of the round's others.
MOST_COLUMNS = 40
#: What is taken off a bound for the rounding of the arithmetic, as a share of it.
ROUNDING = 1e-9
#: A configuration is worth a column where it earns more than 1 by so much.
WORTH = 1e-9


@dataclass(frozen=True, eq=False)
class ConfigurationBound:
    """A proven bound on the makespan.

    Parameters
    ----------
    value
        What no makespan is below, in whole seconds.
    price
        The prices of the jobs that prove it.
    columns
        The configurations that were looked at, as modes.
    converged
        Whether the LP was solved to its end.
    seconds
        How long it took.
    """

    value: int
    price: Floats
    columns: tuple[Ints, ...] = field(repr=False)
    converged: bool
    seconds: float


def configuration_bound(
    packed: Packed, *, seconds: float = 60.0, columns: tuple[Ints, ...] = ()
) -> ConfigurationBound:
    """Solve the configuration LP by column generation, for so many seconds at most.

    Parameters
    ----------
    packed
        The modes; they must be tabulated.
    seconds
        How long it may take; the bound holds whenever it ends.
    columns
        Configurations to begin with, such as those of a good plan.
    """
    master = _Master(packed, columns)
    began = time.perf_counter()
    center, best, converged = master.price, 0.0, False
    while not converged and time.perf_counter() - began < seconds:
        master.solve()
        new = False
        for price in (SMOOTHING * center + (1 - SMOOTHING) * master.price, master.price):
            found = best_configurations(packed, price, MOST_COLUMNS)
            if found.bound > best:
                best, center = found.bound, price
            new = master.add(found.columns)
            if new:
                break
        converged = not new or best >= master.value - 0.5
    longest = int(packed.modes.shortest.max())
    value = max(longest, math.ceil(best * (1 - ROUNDING)))
    spent = time.perf_counter() - began
    return ConfigurationBound(value, center, tuple(master.columns), converged, spent)


@dataclass(frozen=True)
class Found:
    """The bound that prices prove, and configurations that earn much at them."""

    bound: float
    columns: list[Ints]


def best_configurations(packed: Packed, price: Floats, most: int = 1) -> Found:
    """Find the configuration that earns most, then one of the other jobs, and so on.

    Only the first search proves something.
    """
    arrays, states = packed.arrays, packed.states
    rate = packed.rate(price)
    best = np.maximum.reduceat(rate, packed.modes.first[:-1])
    # Jobs that earn much for each node first: good configurations are found early.
    order = np.argsort(-best / packed.modes.jobs.tasks, kind="stable")
    left = order[price[order] > 0].astype(np.int64)
    columns: list[Ints] = []
    bound = 0.0
    while len(left) and len(columns) < most:
        space = _space(packed, rate, left)
        _, proven = earn_most(arrays, states, space, MOST_NODES)
        if not columns and proven > 0:
            bound = float(price.sum()) / proven
        columns.append(np.sort(space.found[space.found >= 0]))
        left = left[~np.isin(left, packed.modes.job[columns[-1]])]
    return Found(bound, columns)


def _space(packed: Packed, rate: Floats, order: Ints) -> Pricing:
    count, links = len(order), len(packed.arrays.limit)
    return Pricing(
        rate,
        order,
        np.zeros((count + 1, packed.size)),
        np.zeros((count + 1, links), np.int64),
        np.zeros(count + 1, np.int64),
        np.zeros(count + 1),
        np.zeros(count + 1, np.int64),
        np.full(count, -1, np.int64),
        np.full(count, -1, np.int64),
    )


class _Master:
    """The LP over the configurations so far."""

    def __init__(self, packed: Packed, columns: tuple[Ints, ...]) -> None:
        modes = packed.modes
        self.packed = packed
        self.columns: list[Ints] = []
        self.known: set[tuple[int, ...]] = set()
        self.unit = float(modes.shortest.mean())  # durations near 1 suit the solver
        self.price: Floats = np.asarray(modes.shortest, np.float64)
        self.value = math.inf
        alone = [
            np.array([first + np.argmin(modes.duration[first:last])])
            for first, last in zip(modes.first[:-1], modes.first[1:], strict=True)
        ]
        for column in (*alone, *columns):
            self._append(column)

    def _append(self, column: Ints) -> None:
        key = tuple(column.tolist())
        if key not in self.known:
            self.known.add(key)
            self.columns.append(column)

    def add(self, columns: list[Ints]) -> bool:
        """Take the configurations that earn more than 1 at the LP's prices; return if any does."""
        rate = self.packed.rate(self.price)
        before = len(self.columns)
        for column in columns:
            if rate[column].sum() > 1 + WORTH:
                self._append(column)
        return len(self.columns) > before

    def solve(self) -> None:
        """Find the best times for the configurations, and the prices that prove them best."""
        optimize, sparse = solver_library("scipy.optimize"), solver_library("scipy.sparse")
        modes = self.packed.modes
        flat = np.concatenate(self.columns)
        place = np.repeat(np.arange(len(self.columns)), [len(c) for c in self.columns])
        done = self.unit / modes.duration[flat]
        shape = (len(modes.jobs), len(self.columns))
        matrix: Any = sparse.csc_matrix((done, (modes.job[flat], place)), shape=shape)
        found = optimize.linprog(
            np.ones(shape[1]), A_ub=-matrix, b_ub=-np.ones(shape[0]), method="highs-ds"
        )
        if found.x is not None:
            self.price = np.maximum(-found.ineqlin.marginals, 0.0) * self.unit
            self.value = float(found.fun) * self.unit
