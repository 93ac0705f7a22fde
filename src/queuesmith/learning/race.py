"""Rules, weights and head starts learn in turns, and the best of them goes on alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from queuesmith.base.checks import count
from queuesmith.learning.evolution import Pittsburgh
from queuesmith.learning.head_start import HeadStart
from queuesmith.learning.method import Best, Learning, Method
from queuesmith.learning.priority import Priority
from queuesmith.learning.turns import in_turns
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.features import SEVEN
from queuesmith.policy.policy import Policy
from queuesmith.policy.strategies import STRATEGIES

#: How many methods there are in a race.
CONTENDERS = 3


@dataclass(frozen=True)
class Race(Method):
    """Three methods share the replays of one: which of them fits a log is not known before.

    Rule bases, weights and head starts take turns until half of the rounds have passed; then the
    method that has found the best policy goes on alone. What is learned is never worse than the
    best fixed strategy, on the jobs learned from.

    Parameters
    ----------
    parents, offspring, generations
        As for an evolution strategy; all methods together have these generations.
    rules, features, strategies, window
        Of the rule bases: see :class:`~queuesmith.learning.evolution.Pittsburgh`.
    most
        Of the head starts: see :class:`~queuesmith.learning.head_start.HeadStart`.
    """

    name: ClassVar[str] = "race"

    parents: int = 3
    offspring: int = 21
    generations: int = 40
    rules: int = 10
    features: tuple[str, ...] = SEVEN
    strategies: tuple[str, ...] = tuple(STRATEGIES)
    window: int = 0
    most: float = HeadStart.most

    def __post_init__(self) -> None:
        count("the number of generations", self.generations, 2, "Give for example 40.")
        _ = self.contenders  # what is wrong is told now

    @property
    def rounds(self) -> int:
        """The best fixed strategy, the first parents, and each generation."""
        return 2 + self.generations

    @property
    def evaluations(self) -> int:
        """Those of an evolution strategy, and the best fixed strategy."""
        return 1 + self.parents + self.offspring * self.generations

    @property
    def together(self) -> int:
        """In how many rounds they take turns: half of them, and at least one for each."""
        return max(self.rounds // 2, CONTENDERS)

    @cached_property
    def contenders(self) -> tuple[Pittsburgh, Priority, HeadStart]:
        """The methods, each with as many generations as it has if it goes on alone."""
        alone = self.rounds - 1 - self.together
        turns = [alone + len(range(k, self.together, CONTENDERS)) for k in range(CONTENDERS)]
        rule_bases = Pittsburgh(
            parents=self.parents,
            offspring=self.offspring,
            generations=turns[0] - 1,
            rules=self.rules,
            features=self.features,
            strategies=self.strategies,
            window=self.window,
        )
        weights = Priority(offspring=self.offspring, generations=turns[1])
        head_starts = HeadStart(offspring=self.offspring, generations=turns[2], most=self.most)
        return rule_bases, weights, head_starts

    @cached_property
    def offered(self) -> tuple[AnyPolicy, ...]:
        """All that one of the methods can choose among."""
        return tuple(dict.fromkeys(each for method in self.contenders for each in method.offered))

    def played(self, strategy: AnyPolicy) -> AnyPolicy:
        """Return a rule base that always plays a strategy, where rules can choose it."""
        return self.contenders[0].played(strategy)

    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Let the methods take turns, then the best go on; return the best policy judged."""
        best_fixed, known = ranked[:1], Best()
        known.note(best_fixed, (yield best_fixed))
        chances = generator.spawn(CONTENDERS)
        learnings = [
            method.learn(chance, ranked)
            for method, chance in zip(self.contenders, chances, strict=True)
        ]
        found = yield from in_turns(learnings, self.rounds - 1, self.together)
        return min(known, found, key=lambda best: best.judgement).policy
