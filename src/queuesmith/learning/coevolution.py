"""CCA: two species that evolve apart and are judged together (section 4.2).

One species' rules choose the order, the other's the algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.registry import known
from queuesmith.learning.encoding import Encoding, Vector
from queuesmith.learning.evolution import Evolution, Patience
from queuesmith.learning.method import Best, Learning
from queuesmith.learning.species import Brood, Species
from queuesmith.policy.policy import Policy
from queuesmith.policy.rulebase import RuleBasePair
from queuesmith.policy.strategies import FOUR_ORDERS, GREEDY, THREE_ALGORITHMS

PAIRINGS = ("random", "best")
#: Stands for the best parent where a child's partner is not a child.
PARENT = -1

Members = NDArray[np.int64]


@dataclass(frozen=True)
class Coevolution(Evolution):
    """Cooperative coevolution of rules for the order and rules for the algorithm.

    Parameters
    ----------
    orders, algorithms
        What the rules of each species can recommend; by default the paper's four each.
    pairing
        ``random``: each generation, the children of both species are paired at random, one with
        one, so that a generation costs as many replays as one species has children, as in the
        paper. ``best``: each child is paired with the other species' best parent, which
        costs twice as many.
    """

    name: ClassVar[str] = "coevolution"

    orders: tuple[str, ...] = FOUR_ORDERS
    algorithms: tuple[str, ...] = (*THREE_ALGORITHMS, GREEDY)
    pairing: str = "random"

    def __post_init__(self) -> None:
        super().__post_init__()
        known("pairing", self.pairing, PAIRINGS)
        _ = self._any_pair  # what is wrong is told now

    @property
    def evaluations(self) -> int:
        """As many as one species needs; with ``best`` up to twice as many."""
        pairs = self.offspring if self.pairing == "random" else 2 * self.offspring
        return self.parents + pairs * self.generations

    @cached_property
    def encodings(self) -> tuple[Encoding, Encoding]:
        """How vectors stand for the rules of each species; 180 numbers by default."""
        return (
            Encoding(self.rules, self.features, len(self.orders)),
            Encoding(self.rules, self.features, len(self.algorithms)),
        )

    @cached_property
    def offered(self) -> tuple[Policy, ...]:
        """All pairs of an order and an algorithm."""
        return tuple(dict.fromkeys(self._any_pair.strategies))

    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Let both species evolve; return the best pair that was ever judged."""
        best, patience = Best(), Patience(self.restart_after)
        both = tuple(Species(code, self.mutation, self.parents) for code in self.encodings)
        broods = self._founders(both, self.parents, generator, ranked[: self.seeded])
        couples = np.tile(np.arange(self.parents), (2, 1))
        starting = True
        for generation in range(self.rounds):
            policies = self._policies(both, broods, couples)
            if self.fallback and generation == self.generations:
                policies[-1] = self._playing(generator, ranked)
            judged = yield policies
            better = best.note(policies, judged)
            for species, brood, members in zip(both, broods, couples, strict=True):
                children = np.flatnonzero(members != PARENT)
                own = [judged[i] for i in children[np.argsort(members[children])]]
                (species.adopt if starting else species.compete)(brood, own)
            starting = patience.is_over(better)
            if starting:
                broods = self._founders(both, self.offspring, generator, ())
            else:
                done = self.done(generation)
                broods = [species.children(self.offspring, generator, done) for species in both]
            couples = self._couples(starting, generator)
        return best.policy

    def _playing(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> RuleBasePair:
        """Return a pair that always plays the best fixed strategy that it can."""
        known = next(policy for policy in (*ranked, *self.offered) if policy in self.offered)
        order, algorithm = self._places(known)
        assert algorithm is not None
        return self._pair(
            self.encodings[0].playing(order, generator),
            self.encodings[1].playing(algorithm, generator),
        )

    def _couples(self, starting: bool, generator: np.random.Generator) -> Members:
        """Return which child of each species, a row each, takes part in each pair."""
        everyone, parent = np.arange(self.offspring), np.full(self.offspring, PARENT)
        if self.pairing == "random" or starting:
            return np.array([everyone, generator.permutation(self.offspring)])
        return np.array([np.append(everyone, parent), np.append(parent, everyone)])

    def _policies(
        self, both: Sequence[Species], broods: Sequence[Brood], couples: Members
    ) -> list[RuleBasePair]:
        def vector(of: int, member: int) -> Vector:
            brood = both[of].parents if member == PARENT else broods[of]
            return np.asarray(brood.vectors[0 if member == PARENT else member])

        return [self._pair(vector(0, order), vector(1, how)) for order, how in couples.T]

    def _founders(
        self,
        both: Sequence[Species],
        count: int,
        generator: np.random.Generator,
        known: Sequence[Policy],
    ) -> list[Brood]:
        """Return first broods: those who play known strategies first, then random others."""
        vectors: list[list[Vector]] = [[], []]
        for policy in known:
            order, algorithm = self._places(policy)
            if algorithm is not None and len(vectors[0]) < count:
                vectors[0].append(self.encodings[0].playing(order, generator))
                vectors[1].append(self.encodings[1].playing(algorithm, generator))
        for mine, encoding in zip(vectors, self.encodings, strict=True):
            mine += [encoding.random(generator) for _ in range(count - len(mine))]
        return [species.founders(mine) for species, mine in zip(both, vectors, strict=True)]

    def _places(self, policy: Policy) -> tuple[int, int | None]:
        """Return which order and which algorithm make a strategy; None where none does."""
        for place, strategy in enumerate(self._any_pair.strategies):
            if strategy == policy:
                return divmod(place, len(self.algorithms))
        return 0, None

    @cached_property
    def _any_pair(self) -> RuleBasePair:
        chance = np.random.default_rng(0)
        return self._pair(*(encoding.random(chance) for encoding in self.encodings))

    def _pair(self, order_rules: Vector, algorithm_rules: Vector) -> RuleBasePair:
        return RuleBasePair(
            self.encodings[0].decode(order_rules),
            self.encodings[1].decode(algorithm_rules),
            self.features,
            self.orders,
            self.algorithms,
            self.window,
            self.name,
        )
