"""A compiled search over the orders in which jobs are placed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

import numpy as np

from queuesmith.planning.kernels.annealing import anneal
from queuesmith.planning.problem import PlanningProblem, placed
from queuesmith.workload.workload import Ints

#: Placings to see how fast they are, and the fewest and most of one annealing.
PROBE, FEWEST, MOST = 20, 200, 100_000
#: Temperatures at the beginning and the end, relative to the mean cost of a job.
HOT, COLD = 0.2, 4e-4


class OrderSearch:
    """Annealing over orders, from the best of some; the best order found is kept.

    ``order`` is replaced by a better one, never written to, so other threads may keep it.

    Parameters
    ----------
    problem
        What is to be planned.
    orders
        The orders to begin with, one at least.
    seed
        What chance follows from.
    """

    def __init__(self, problem: PlanningProblem, orders: Iterable[Ints], *, seed: int = 0) -> None:
        self.problem = problem
        self._state = problem.new_placing()
        costs = [(placed(problem, order)[0], order) for order in orders]
        self.cost, order = min(costs, key=lambda pair: pair[0])
        self.order = np.array(order)
        self.placings = len(costs)
        self._seed = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)

    def anneal(self, placings: int, *, warmth: float = 1.0) -> None:
        """Try so many changes, cooling from a temperature to a low one, from the best order."""
        scale = self.cost / len(self.order)
        if scale <= 0 or len(self.order) < 2:
            return
        found = np.empty_like(self.order)
        cost = anneal(
            self.problem.jobs,
            self.problem.stairs,
            np.array(self.order),
            np.empty_like(self.order),
            found,
            self._state,
            self._seed,
            placings,
            HOT * warmth * scale,
            COLD * scale,
        )
        self.placings += placings
        if cost < self.cost:
            self.cost, self.order = float(cost), found

    def run_for(
        self,
        seconds: float,
        stopped: Callable[[], bool] = lambda: False,
        *,
        most: float = math.inf,
    ) -> None:
        """Anneal again and again for so many seconds, the first half of them in one go.

        Parameters
        ----------
        seconds
            How long.
        stopped
            Asked between two annealings whether to end.
        most
            Placings after which to end.
        """
        ends = time.perf_counter() + seconds
        self.anneal(PROBE, warmth=0.05)  # loads what is compiled
        began = time.perf_counter()
        self.anneal(FEWEST, warmth=0.05)
        rate = FEWEST / max(time.perf_counter() - began, 1e-6)
        share = 0.5
        while (left := ends - time.perf_counter()) > 0 and self.placings < most and not stopped():
            count = int(min(rate * left * share, MOST, most))
            if count < FEWEST:
                return
            self.anneal(count, warmth=0.2 + 0.8 * share)
            share = 0.34
