"""The rule bases of PITTS, searched by CMA-ES instead of the paper's evolution strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from queuesmith.base.checks import count, positive
from queuesmith.learning.cma_library import CmaSearch
from queuesmith.learning.encoding import Vector
from queuesmith.learning.method import Best, Learning, WholeRuleBases
from queuesmith.policy.features import SEVEN
from queuesmith.policy.policy import Policy
from queuesmith.policy.rulebase import RuleBase
from queuesmith.policy.strategies import STRATEGIES
from queuesmith.study.judgement import comparable


@dataclass(frozen=True)
class Cma(WholeRuleBases):
    """CMA-ES over fuzzy rule bases, all of whose numbers are continuous.

    Every number is measured in the range of its feature, or in the strongest weight; weights are
    used as they come, so they are not restricted to the paper's five.

    Parameters
    ----------
    offspring, generations
        How many rule bases a generation has, and how many generations there are.
    rules, features, strategies, window
        As for :class:`~queuesmith.learning.evolution.Pittsburgh`.
    step
        How far the first generation spreads around its start.
    diagonal
        Whether only variances are learned, no correlations (separable CMA-ES).
    seeded
        Whether it starts from rules that all play the best fixed strategy, not from chance.
    """

    name: ClassVar[str] = "cma"

    offspring: int = 21
    generations: int = 40
    rules: int = 10
    features: tuple[str, ...] = SEVEN
    window: int = 0
    step: float = 0.2
    diagonal: bool = True
    seeded: bool = True
    strategies: tuple[str, ...] = tuple(STRATEGIES)

    def __post_init__(self) -> None:
        count("the number of offspring", self.offspring, 2, "Give for example 21.")
        count("the number of generations", self.generations, 1, "Give for example 40.")
        positive("the step", self.step, "Give for example 0.2.")
        self._policy(self.encoding.random(np.random.default_rng(0)))  # what is wrong is told now

    @property
    def rounds(self) -> int:
        """The start, and each generation."""
        return 1 + self.generations

    @property
    def evaluations(self) -> int:
        """The start, and lambda in each generation."""
        return 1 + self.offspring * self.generations

    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Let CMA-ES search; return the best rule base that was ever judged."""
        best, start = Best(), self._start(generator, ranked)
        first = [self._policy(start)]
        best.note(first, (yield first))
        scale = self.encoding.scale
        search = CmaSearch(
            start / scale, self.step, self.offspring, generator, diagonal=self.diagonal
        )
        for _ in range(self.generations):
            vectors = search.ask()
            policies = [self._policy(vector * scale) for vector in vectors]
            judged = yield policies
            best.note(policies, judged)
            search.tell(vectors, comparable(judged))
        return best.policy

    def _start(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Vector:
        known = [policy for policy in ranked if policy in self.offered] if self.seeded else []
        if not known:
            return self.encoding.random(generator)
        vector = self.encoding.playing(self.offered.index(known[0]), generator)
        # Only just strong enough: one step must be able to change a rule's mind.
        vector[self.encoding.is_weight] *= self.step
        return vector

    def _policy(self, vector: Vector) -> RuleBase:
        rules = self.encoding.decode(self.encoding.repaired(vector))
        return RuleBase(rules, self.features, self.offered, self.window, self.name)
