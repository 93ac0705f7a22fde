"""PITTS: whole rule bases as individuals of an evolution strategy (section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from queuesmith.base.checks import count, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.learning.encoding import Vector
from queuesmith.learning.method import Best, Learning, RuleBases, WholeRuleBases
from queuesmith.learning.species import Brood, Mutation, Species
from queuesmith.policy.features import SEVEN
from queuesmith.policy.policy import Policy
from queuesmith.policy.rulebase import RuleBase
from queuesmith.policy.strategies import STRATEGIES


@dataclass(frozen=True)
class Evolution(RuleBases):
    """What both evolution strategies of the paper have in common.

    Parameters
    ----------
    parents, offspring, generations
        A (3+21) evolution strategy over 40 generations, unless said otherwise.
    rules
        How many rules a rule base has.
    features
        What rules look at; by default the paper's seven.
    window
        Over how many past seconds the slowdown is averaged; 0 for all.
    step, weight_step, global_rate, own_rate, least_step, changed, changed_last
        How strongly children differ from their parents: see
        :class:`~queuesmith.learning.species.Mutation`.
    seeded
        How many of the first parents play one of the best fixed strategies in all states; the
        others are random. 0 is what the paper does: such parents crowd out all others early.
    fallback
        Whether the last child of all plays the best fixed strategy in all states, so that what is
        learned is never worse; and so does one child of PITTS when a quarter of a run has found
        nothing that keeps the limits. The paper has none.
    restart_after
        After how many generations without a better policy all children are random again and
        no parent survives; None for never, as in the paper.
    """

    parents: int = 3
    offspring: int = 21
    generations: int = 40
    rules: int = 10
    features: tuple[str, ...] = SEVEN
    window: int = 0
    step: float = Mutation.step
    weight_step: float = Mutation.weight_step
    global_rate: float | None = None
    own_rate: float | None = None
    least_step: float = Mutation.least_step
    changed: float = 0.1
    changed_last: float | None = 0.004
    seeded: int = 0
    fallback: bool = True
    restart_after: int | None = None

    def __post_init__(self) -> None:
        count("the number of parents", self.parents, 1, "Give for example 3.")
        count("the number of offspring", self.offspring, 1, "Give for example 21.")
        count("the number of generations", self.generations, 0, "Give for example 40.")
        whole_number("the number of seeded parents", self.seeded, 0, "Give for example 1.")
        if self.seeded > self.parents:
            raise UsageError(
                f"the number of seeded parents is {self.seeded}, but there "
                f"{'is 1 parent' if self.parents == 1 else f'are {self.parents} parents'} in all. "
                "Give at most as many, or more parents."
            )
        if self.restart_after is not None:
            whole_number("restart_after", self.restart_after, 1, "Give for example 10.")
        _ = self.mutation  # what is wrong is told now

    @property
    def mutation(self) -> Mutation:
        """How strongly children differ from their parents."""
        return Mutation(
            self.step,
            self.weight_step,
            self.global_rate,
            self.own_rate,
            self.least_step,
            self.changed,
            self.changed_last,
        )

    def done(self, generation: int) -> float:
        """Return how much of a run is done before a generation: 0 at the first, 1 at the last."""
        return min(generation / max(self.generations - 1, 1), 1.0)

    @property
    def rounds(self) -> int:
        """The first parents, and each generation."""
        return 1 + self.generations

    @property
    def evaluations(self) -> int:
        """mu + lambda times the generations: 3 + 21 * 40 = 843."""
        return self.parents + self.offspring * self.generations


class Patience:
    """Counts generations without a better policy."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.waited = 0

    def is_over(self, better: bool) -> bool:
        """Note a generation; tell whether it is time for a new start, and count afresh then."""
        self.waited = 0 if better else self.waited + 1
        if self.limit is None or self.waited < self.limit:
            return False
        self.waited = 0
        return True


@dataclass(frozen=True)
class Pittsburgh(Evolution, WholeRuleBases):
    """An evolution strategy whose individuals are complete rule bases.

    Parameters
    ----------
    strategies
        What a rule can recommend; by default the paper's thirteen.
    """

    name: ClassVar[str] = "pittsburgh"

    strategies: tuple[str, ...] = tuple(STRATEGIES)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._policy(self.encoding.random(np.random.default_rng(0)))  # what is wrong is told now

    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Let rule bases compete for all generations; return the best that was ever judged."""
        best, patience = Best(), Patience(self.restart_after)
        species = Species(self.encoding, self.mutation, self.parents)
        brood = species.founders(self._founders(generator, ranked))
        starting = True
        for generation in range(self.rounds):
            if self._is_lost(generation, best):
                brood = species.joined(brood, self._playing(generator, ranked))
            policies = [self._policy(vector) for vector in brood.vectors]
            if self.fallback and generation == self.generations:
                policies[-1] = self._policy(self._playing(generator, ranked))
            judged = yield policies
            better = best.note(policies, judged)
            (species.adopt if starting else species.compete)(brood, judged)
            starting = patience.is_over(better)
            brood = self._next(species, starting, generator, self.done(generation))
        return best.policy

    def _founders(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> list[Vector]:
        known = [p for p in ranked if p in self.offered][: self.seeded]
        playing = [self.encoding.playing(self.offered.index(p), generator) for p in known]
        others = range(self.parents - len(playing))
        return playing + [self.encoding.random(generator) for _ in others]

    def _is_lost(self, generation: int, best: Best) -> bool:
        """Tell whether nothing keeps the limits of all that a quarter of the run has found."""
        quarter = 0 < generation == self.generations // 4
        return self.fallback and quarter and not best.is_admitted

    def _playing(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Vector:
        """Return rules that always play the best fixed strategy that is offered."""
        known = next(policy for policy in (*ranked, *self.offered) if policy in self.offered)
        return self.encoding.playing(self.offered.index(known), generator)

    def _next(
        self, species: Species, starting: bool, generator: np.random.Generator, done: float
    ) -> Brood:
        if not starting:
            return species.children(self.offspring, generator, done)
        return species.founders([self.encoding.random(generator) for _ in range(self.offspring)])

    def _policy(self, vector: Vector) -> RuleBase:
        rules = self.encoding.decode(vector)
        return RuleBase(rules, self.features, self.offered, self.window, self.name)
