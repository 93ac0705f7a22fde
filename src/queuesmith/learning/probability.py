"""PROB: strategies given to rigid rules at random, each as often as the others (section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import count
from queuesmith.learning.method import Best, Learning, RuleBases, as_strategy
from queuesmith.policy.policy import Policy
from queuesmith.policy.rulebase import RuleBase
from queuesmith.policy.rules import TABLE_1, RigidRules
from queuesmith.policy.strategies import STRATEGIES
from queuesmith.study.judgement import Judgement, comparable


@dataclass(frozen=True)
class Probability(RuleBases):
    """Many random rule bases; then each rule gets the strategy that did best with it.

    Parameters
    ----------
    participations
        How often each strategy is assigned to each rule; the paper's p.
    partition
        The bounds of each feature; by default the paper's Table 1.
    strategies
        What a rule can choose; by default the paper's thirteen.
    window
        Over how many past seconds the slowdown is averaged; 0 for all.
    """

    name: ClassVar[str] = "prob"

    participations: int = 50
    partition: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: dict(TABLE_1))
    strategies: tuple[str, ...] = tuple(STRATEGIES)
    window: int = 0

    def __post_init__(self) -> None:
        count("the number of participations", self.participations, 1, "Give 50.")
        self._rule_base(np.zeros(self.classes, np.int64))  # whatever is wrong is told at once

    @property
    def classes(self) -> int:
        """How many rigid rules there are."""
        return prod(len(bounds) + 1 for bounds in self.partition.values())

    @property
    def features(self) -> tuple[str, ...]:
        """What rules look at: what is partitioned."""
        return tuple(self.partition)

    @property
    def rounds(self) -> int:
        """One for each participation, and one for the rule base that comes of them."""
        return self.participations + 1

    @property
    def evaluations(self) -> int:
        """Strategies times participations, and the rule base that comes of them."""
        return len(self.strategies) * self.participations + 1

    @cached_property
    def offered(self) -> tuple[Policy, ...]:
        """The strategies."""
        return tuple(map(as_strategy, self.strategies))

    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Judge random rule bases, one of each strategy a round; then build the result."""
        choices = assignments(len(self.strategies), self.participations, self.classes, generator)
        judged: list[Judgement] = []
        drawn = Best()
        for some in np.split(choices, self.participations):
            policies = [self._rule_base(choice) for choice in some]
            some_judged = yield policies
            drawn.note(policies, some_judged)
            judged += some_judged
        composed = self._rule_base(best_choices(choices, judged, len(self.strategies)))
        (judgement,) = yield [composed]
        return composed if judgement.admitted else drawn.policy

    def _rule_base(self, choice: NDArray[np.int64]) -> RuleBase:
        rules = RigidRules(tuple(self.partition.values()), choice, len(self.strategies))
        return RuleBase(rules, self.features, self.offered, self.window, self.name)


def assignments(
    strategies: int, participations: int, classes: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return a row for each rule base, such that every column holds each strategy equally often."""
    each = np.repeat(np.arange(strategies), participations)
    return generator.permuted(np.tile(each[:, None], classes), axis=0)


def best_choices(
    choices: NDArray[np.int64], judged: Sequence[Judgement], strategies: int
) -> NDArray[np.int64]:
    """Return for each rule the strategy whose rule bases have the smallest sum of losses.

    Those of rule bases that are not admitted are of one size with the others: one huge number in a
    sum would decide every rule.
    """
    classes = choices.shape[1]
    cells = choices + strategies * np.arange(classes)
    losses = np.repeat(comparable(judged), classes)
    sums = np.bincount(cells.ravel(), weights=losses, minlength=classes * strategies)
    return np.asarray(sums.reshape(classes, strategies).argmin(axis=1))
