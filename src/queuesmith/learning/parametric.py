"""Orders with parameters, found by CMA-ES: one search for each backfill, the best goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from queuesmith.base.checks import count, positive
from queuesmith.base.errors import UsageError
from queuesmith.learning.cma_library import CmaSearch, Vector
from queuesmith.learning.method import InGenerations, Learning
from queuesmith.learning.turns import in_turns
from queuesmith.policy.backfill import BACKFILLS
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.policy import Policy
from queuesmith.study.judgement import comparable


@dataclass(frozen=True)
class ParametricOrder(InGenerations):
    """A built-in order whose parameters are searched from first come, first served on.

    Every backfill has a search of its own; they take turns until half of the generations have
    passed, then the one with the best policy goes on alone.

    Parameters
    ----------
    offspring, generations
        How many policies a generation has, and how many generations there are in all.
    backfills
        The backfills that are tried.
    step
        How far the first generation spreads around first come, first served.
    """

    #: The order, and what of its parameters is tuned, with the value of first come, first served.
    #: Only differences between groups count, so the last group's weight stays 0.
    order: ClassVar[str]
    tuned: ClassVar[Mapping[str, float]]

    offspring: int = 21
    generations: int = 40
    backfills: tuple[str, ...] = ("easy",)
    step: float = 1.0

    def __post_init__(self) -> None:
        count("the number of offspring", self.offspring, 2, "Give for example 21.")
        count("the number of generations", self.generations, 1, "Give for example 40.")
        positive("the step", self.step, "Give for example 1.")
        if not self.backfills or not set(self.backfills) <= set(BACKFILLS):
            raise UsageError(
                f"the backfills to try are {', '.join(self.backfills) or '(none)'}, but they must "
                f"be some of: {', '.join(BACKFILLS)}. Correct them."
            )

    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Let the searches take turns, then the best go on; return the best policy judged."""
        searches = [self._search(backfill, generator) for backfill in self.backfills]
        half = max(math.ceil(self.generations / 2), len(searches))
        best = yield from in_turns(searches, self.generations, half)
        return best.policy

    def _search(self, backfill: str, generator: np.random.Generator) -> Learning:
        """Search with one backfill for as long as somebody judges."""
        search = CmaSearch(np.zeros(len(self.tuned)), self.step, self.offspring, generator)
        while True:
            vectors = search.ask()
            judged = yield [self.policy(vector, backfill) for vector in vectors]
            search.tell(vectors, comparable(judged))

    def policy(self, steps: Vector, backfill: str) -> Policy:
        """Return the policy that is so many steps away from first come, first served."""
        parameters = dict(zip(self.tuned, self.values(steps).tolist(), strict=True))
        return Policy(ORDERS[self.order].having(**parameters), backfill)

    def values(self, steps: Vector) -> Vector:
        """Return parameters so far from first come, first served, with digits that one can read."""
        return (np.array(list(self.tuned.values())) + steps).round(4)
