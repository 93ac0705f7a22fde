"""A parametric order tuned by CMA-ES, so that users see whether rules are worth it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from queuesmith.base.checks import positive, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.learning.cma_library import CmaSearch, Vector
from queuesmith.learning.method import Best, InGenerations, Learning
from queuesmith.policy.backfill import BACKFILLS
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.policy import Policy
from queuesmith.study.judgement import comparable

#: The order whose parameters are tuned, and those parameters. Only differences between groups
#: count, so the last group's weight stays 0.
ORDER = "group_power"
TUNED = ("group_1", "group_2", "group_3", "group_4", "alpha", "beta", "gamma")


@dataclass(frozen=True)
class Priority(InGenerations):
    """The order ``group_power``, its weights and powers found by CMA-ES.

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

    name: ClassVar[str] = "priority"

    offspring: int = 21
    generations: int = 40
    backfills: tuple[str, ...] = ("easy", "none", "list")
    step: float = 1.0

    def __post_init__(self) -> None:
        whole_number("the number of offspring", self.offspring, 2, "Give for example 21.")
        whole_number("the number of generations", self.generations, 1, "Give for example 40.")
        positive("the step", self.step, "Give for example 1.")
        if not self.backfills or not set(self.backfills) <= set(BACKFILLS):
            raise UsageError(
                f"the backfills to try are {', '.join(self.backfills) or '(none)'}, but they must "
                f"be some of: {', '.join(BACKFILLS)}. Correct them."
            )

    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Let the searches take turns, then the best go on; return the best policy judged."""
        start = np.array([1.0 if name == "beta" else 0.0 for name in TUNED])
        searches = [CmaSearch(start, self.step, self.offspring, generator) for _ in self.backfills]
        found = [Best() for _ in self.backfills]
        for round in range(self.generations):
            turn = round % len(searches)
            if 2 * round >= self.generations and round >= len(searches):
                turn = min(range(len(found)), key=lambda place: found[place].judgement)
            vectors = searches[turn].ask()
            policies = [parametric(vector, self.backfills[turn]) for vector in vectors]
            judged = yield policies
            found[turn].note(policies, judged)
            searches[turn].tell(vectors, comparable(judged))
        return min(found, key=lambda best: best.judgement).policy


def parametric(vector: Vector, backfill: str) -> Policy:
    """Return the policy that a vector of the tuned parameters stands for."""
    values = {name: float(value) for name, value in zip(TUNED, vector, strict=True)}
    return Policy(ORDERS[ORDER].having(**values), backfill)
