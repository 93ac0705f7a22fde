"""A population of vectors with their own mutation strengths: one species of an evolution strategy.

Beyer and Schwefel, "Evolution strategies: a comprehensive introduction" (2002): plus selection,
non-isotropic self-adaptive mutation, no recombination. Weights, which take five values only, are
mutated as Rudolph (1994) mutates whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from queuesmith.base.checks import count, number, positive
from queuesmith.base.errors import UsageError
from queuesmith.learning.encoding import LADDER, Encoding, Vector
from queuesmith.study.judgement import Judgement

#: Where a child differs in fewer numbers, it is its parent again.
LEAST_CHANGED = 0.001


@dataclass(frozen=True)
class Mutation:
    """How strongly children differ from their parents.

    Parameters
    ----------
    step
        The strength at the beginning for centres and widths, as a share of the feature's range.
    weight_step
        The strength at the beginning for weights: about how many places of the ladder
        -5, -1, 0, 1, 5 a weight moves.
    global_rate, own_rate
        The learning rates tau_0 and tau_1 of the strengths; by default 1 / sqrt(2 u) and
        1 / sqrt(2 sqrt(u)) for vectors of u numbers, as in the paper.
    least_step
        Strengths never fall below this share of their first value.
    changed
        The share of its numbers, drawn at random, in which a child may differ from its parent at
        all; 1 is what the paper does. A rule base that is good by many numbers at once is seldom
        better after all of them have moved.
    changed_last
        The same in the last generation; the share falls evenly by its logarithm in between. None
        where it stays.
    """

    step: float = 0.1
    weight_step: float = 0.4
    global_rate: float | None = None
    own_rate: float | None = None
    least_step: float = 0.01
    changed: float = 1.0
    changed_last: float | None = None

    def __post_init__(self) -> None:
        positive("the step", self.step, "Give for example 0.1.")
        positive("the step of the weights", self.weight_step, "Give for example 0.4.")
        number("the least step", self.least_step, 0, 1, "Give for example 0.01.")
        number("the share that is changed", self.changed, LEAST_CHANGED, 1, "Give for example 0.1.")
        if self.changed_last is not None:
            name = "the share that is changed in the last generation"
            number(name, self.changed_last, LEAST_CHANGED, 1, "Give for example 0.01.")
        for name in ("global_rate", "own_rate"):
            if getattr(self, name) is not None:
                number(name, getattr(self, name), 0, 10, "Give None for the paper's.")

    def share(self, done: float) -> float:
        """Return the share of numbers that may change where so much of a run is done, 0 to 1."""
        last = self.changed if self.changed_last is None else self.changed_last
        return float(self.changed ** (1 - done) * last**done)

    def rates(self, length: int) -> tuple[float, float]:
        """Return tau_0 and tau_1 for vectors of a length."""
        tau_0 = 1 / math.sqrt(2 * length) if self.global_rate is None else self.global_rate
        tau_1 = 1 / math.sqrt(2 * math.sqrt(length)) if self.own_rate is None else self.own_rate
        return tau_0, tau_1


@dataclass(frozen=True)
class Brood:
    """Vectors, one a row, and the mutation strength of each of their numbers."""

    vectors: Vector
    steps: Vector

    def __len__(self) -> int:
        return len(self.vectors)


class Species:
    """Parents of one kind, and how they have children.

    Parameters
    ----------
    encoding
        What the vectors stand for.
    mutation
        How strongly children differ.
    parents
        How many survive each generation; mu.
    """

    def __init__(self, encoding: Encoding, mutation: Mutation, parents: int) -> None:
        self.encoding = encoding
        self.mutation = mutation
        self.size = count("the number of parents", parents, 1, "Give for example 3.")
        self._first = np.where(
            encoding.is_weight, mutation.weight_step, mutation.step * encoding.scale
        )
        self._parents: Brood | None = None
        self.judged: list[Judgement] = []

    @property
    def parents(self) -> Brood:
        """Those who survived so far, the best first."""
        if self._parents is None:
            raise UsageError("a species needs its first parents before it can go on. Adopt some.")
        return self._parents

    def founders(self, vectors: list[Vector]) -> Brood:
        """Return a first brood, with the strengths of the beginning."""
        return Brood(np.array(vectors), np.tile(self._first, (len(vectors), 1)))

    def joined(self, brood: Brood, vector: Vector) -> Brood:
        """Return a brood whose last child is this one, with the strengths of the beginning."""
        founder = self.founders([vector])
        vectors = np.concatenate([brood.vectors[:-1], founder.vectors])
        return Brood(vectors, np.concatenate([brood.steps[:-1], founder.steps]))

    def children(self, count: int, generator: np.random.Generator, done: float = 0.0) -> Brood:
        """Return mutated copies of parents drawn at random, where so much of a run is done."""
        drawn = generator.integers(len(self.parents), size=count)
        steps = self._mutated_steps(self.parents.steps[drawn], generator)
        vectors = self.parents.vectors[drawn]
        moved = vectors + steps * generator.standard_normal(vectors.shape)
        weights = self.encoding.is_weight
        moved[:, weights] = mutated_weights(vectors[:, weights], steps[:, weights], generator)
        changed = self.mutation.share(done)
        if changed < 1:
            same = generator.random(vectors.shape) >= changed
            copies = np.flatnonzero(same.all(axis=1))  # who would be their parents again
            same[copies, generator.integers(vectors.shape[1], size=len(copies))] = False
            moved = np.where(same, vectors, moved)
            steps = np.where(same, self.parents.steps[drawn], steps)
        return Brood(np.array([self.encoding.repaired(vector) for vector in moved]), steps)

    def _mutated_steps(self, steps: Vector, generator: np.random.Generator) -> Vector:
        tau_0, tau_1 = self.mutation.rates(len(self.encoding))
        common = tau_0 * generator.standard_normal((len(steps), 1))
        own = tau_1 * generator.standard_normal(steps.shape)
        return np.maximum(steps * np.exp(common + own), self.mutation.least_step * self._first)

    def adopt(self, brood: Brood, judged: Sequence[Judgement]) -> None:
        """Let a brood be the parents, whatever was before."""
        self._parents, self.judged = None, []
        self.compete(brood, judged)

    def compete(self, brood: Brood, judged: Sequence[Judgement]) -> None:
        """Keep the best of parents and children; of equals the younger, so that it drifts."""
        if self._parents is not None:
            brood = Brood(
                np.concatenate([brood.vectors, self._parents.vectors]),
                np.concatenate([brood.steps, self._parents.steps]),
            )
        everyone = [*judged, *self.judged]
        best = sorted(range(len(everyone)), key=everyone.__getitem__)[: self.size]
        self._parents = Brood(brood.vectors[best], brood.steps[best])
        self.judged = [everyone[i] for i in best]


def mutated_weights(weights: Vector, steps: Vector, generator: np.random.Generator) -> Vector:
    """Return weights that moved along the ladder -5, -1, 0, 1, 5.

    The move is the difference of two geometric variables, as long as the strength on average
    (Rudolph 1994): small moves are likely, large ones possible, and no direction is preferred. A
    weight that would leave the ladder is reflected at its end.
    """
    place = np.searchsorted(LADDER, weights)
    stay = 1.0 - steps / (1.0 + np.sqrt(1.0 + steps**2))
    up, down = generator.geometric(stay), generator.geometric(stay)
    last = len(LADDER) - 1
    moved = np.mod(place + up - down, 2 * last)
    return np.asarray(LADDER[np.minimum(moved, 2 * last - moved)])
