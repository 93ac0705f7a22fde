"""A proof for few jobs: all plans that could be shorter, looked through under priced bounds."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np

from queuesmith.federation.exact.configuration_bound import ConfigurationBound
from queuesmith.federation.exact.kernels.steps import BEST, MOST_NODES
from queuesmith.federation.exact.kernels.tree import Tree, fill_table, search_tree
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.search import ModePlan
from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.solving.libraries import solver_library

#: A table of all sets of jobs is made for no more jobs than this, and of no more cells than that.
MOST_JOBS = 14
MOST_CELLS = 12_000_000


class Forest:
    """The tables that bounds are read from, made once for any number of searches."""

    def __init__(self, packed: Packed, bound: ConfigurationBound) -> None:
        self.packed = packed
        count = len(packed.modes.jobs)
        cells = packed.size << count
        kept = max(1, min(1 + count, MOST_CELLS // cells))
        jobs = range(count)
        sets = [np.array([j for j in jobs if j != out]) for out in jobs][: kept - 1]
        prices = [bound.price] + [_prices_of(packed, bound, rest) for rest in sets if len(rest)]
        self.prices: Floats = np.array(prices)
        self.tables = np.zeros((len(prices), 1 << count, packed.size))
        for price, table in zip(self.prices, self.tables, strict=True):
            fill_table(packed.arrays, packed.states, packed.rate(price), table)
        self.before, self.after = _never_together(packed)

    @staticmethod
    def grows_on(packed: Packed) -> bool:
        """Return whether there are few enough jobs and states."""
        count = len(packed.modes.jobs)
        return packed.tabulated and count <= MOST_JOBS and packed.size << count <= MOST_CELLS

    def search(
        self, best: int, *, workers: int, halt: Ints, nodes: int | None = None
    ) -> tuple[ModePlan | None, bool]:
        """Look through all plans shorter than ``best``, or as far as so many nodes of the tree go.

        Returns
        -------
        The shortest of them or None, and whether none was left out.
        """
        spaces = [self.packed.step_space(self.prices[0], best, 1, halt) for _ in range(workers)]
        for space in spaces if nodes is not None else ():
            space.result[MOST_NODES] = nodes
        ended = [False] * workers

        def look(part: int) -> None:
            ended[part] = bool(
                search_tree(
                    self.packed.arrays,
                    self.packed.states,
                    spaces[part],
                    self._tree(),
                    self.before,
                    self.after,
                    part,
                    workers,
                )
            )

        threads = [threading.Thread(target=look, args=(part,)) for part in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        space = min(spaces, key=lambda each: int(each.result[BEST]))
        span = int(space.result[BEST])
        plan = ModePlan(space.best_mode, space.best_start, span) if span < best else None
        return plan, all(ended)

    def _tree(self) -> Tree:
        count, most = len(self.packed.modes.jobs), int(self.packed.modes.federation.nodes) + 1
        need = np.zeros((count + 1, len(self.prices)))
        need[0] = self.prices.sum(axis=1)
        return Tree(
            np.zeros(count + 1, np.int64),
            np.zeros(count + 1, np.int64),
            np.zeros(count + 1, np.int64),
            np.zeros(count + 1, np.int64),
            np.zeros(count + 1, np.int64),
            np.zeros(count + 1, np.int64),
            np.zeros((count + 1, most), np.int64),
            np.zeros((count + 1, most), np.int64),
            need,
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
            self.tables,
            self.prices,
            np.ascontiguousarray(self.packed.modes.shortest, np.int64),
        )


def _prices_of(packed: Packed, bound: ConfigurationBound, jobs: Ints) -> Floats:
    """Prices that are good when only these jobs are left: the LP's over the same configurations.

    Any prices prove a bound; an interior solution leaves few jobs without one.
    """
    optimize, sparse = solver_library("scipy.optimize"), solver_library("scipy.sparse")
    modes = packed.modes
    inside = np.zeros(len(modes.jobs), np.bool_)
    inside[jobs] = True
    parts = {tuple(column[inside[modes.job[column]]].tolist()) for column in bound.columns}
    columns = sorted(part for part in parts if part)
    flat = np.array(list(itertools.chain.from_iterable(columns)), np.int64)
    place = np.repeat(np.arange(len(columns)), [len(column) for column in columns])
    unit = float(modes.shortest.mean())
    rows = np.cumsum(inside) - 1
    matrix: Any = sparse.csc_matrix(
        (unit / modes.duration[flat], (rows[modes.job[flat]], place)),
        shape=(len(jobs), len(columns)),
    )
    found = optimize.linprog(
        np.ones(len(columns)), A_ub=-matrix, b_ub=-np.ones(len(jobs)), method="highs-ipm"
    )
    price = np.zeros(len(modes.jobs))
    if found.x is not None:
        price[jobs] = np.maximum(-found.ineqlin.marginals, 0.0) * unit
    return price


def _never_together(packed: Packed) -> tuple[int, int]:
    """The longest two jobs that are too wide to overlap, or -1 and -1."""
    modes = packed.modes
    tasks, nodes = modes.jobs.tasks, modes.federation.nodes
    pairs = [
        (int(modes.shortest[a] + modes.shortest[b]), a, b)
        for a, b in itertools.combinations(range(len(tasks)), 2)
        if tasks[a] + tasks[b] > nodes
    ]
    return max(pairs)[1:] if pairs else (-1, -1)
