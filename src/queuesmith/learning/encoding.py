"""Fuzzy rules as one vector of numbers, which evolution can change (section 4.2 of the paper).

Rule after rule: centre and width for each feature, then one weight for each choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import count, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.policy.features import SEVEN, find_features
from queuesmith.policy.rules import WEIGHTS, FuzzyRules

Vector = NDArray[np.float64]

#: The sharpest membership, as a share of the feature's range: sharper ones only hit single values.
SHARPEST = 0.01
#: The width that says "this feature does not matter", in ranges of the feature.
INDIFFERENT = 10.0
LADDER = np.array(WEIGHTS, dtype=np.float64)
STRONGEST = float(LADDER.max())
#: The strongest weight but one.
MILD = float(LADDER[-2])


@dataclass(frozen=True)
class Encoding:
    """How a vector stands for fuzzy rules.

    Parameters
    ----------
    rules
        How many rules there are.
    features
        Names of the features that they look at.
    choices
        Among how many choices they choose.
    """

    rules: int = 10
    features: tuple[str, ...] = SEVEN
    choices: int = 13

    def __post_init__(self) -> None:
        count("the number of rules", self.rules, 1, "Give for example 10.")
        whole_number("the number of choices", self.choices, 1, "Offer at least one.")
        if not self.features:
            raise UsageError("rules must look at a feature at least, but none is named. Name one.")
        find_features(self.features)

    def __len__(self) -> int:
        return self.rules * self.rule_length

    @property
    def rule_length(self) -> int:
        """How many numbers one rule has: 2 N_F + N_Omega."""
        return 2 * len(self.features) + self.choices

    @cached_property
    def low(self) -> Vector:
        """The lower end of each feature's range."""
        return np.array([feature.low for feature in find_features(self.features)], np.float64)

    @cached_property
    def span(self) -> Vector:
        """The length of each feature's range."""
        high = [feature.high for feature in find_features(self.features)]
        return np.array(high, np.float64) - self.low

    @cached_property
    def is_weight(self) -> NDArray[np.bool_]:
        """Which numbers of the vector are weights."""
        of_rule = np.arange(self.rule_length) >= 2 * len(self.features)
        return np.tile(of_rule, self.rules)

    @cached_property
    def scale(self) -> Vector:
        """What each number is measured in: the feature's range, or the strongest weight."""
        weights = np.full(self.choices, STRONGEST)
        return np.tile(np.concatenate([np.repeat(self.span, 2), weights]), self.rules)

    def vector(self, centre: Vector, width: Vector, weight: Vector) -> Vector:
        """Return the vector of some rules, given as tables with a row a rule."""
        conditions = np.stack([centre, width], axis=2).reshape(self.rules, -1)
        return np.concatenate([conditions, weight], axis=1).ravel()

    def encode(self, rules: FuzzyRules) -> Vector:
        """Return the vector that stands for rules."""
        return self.vector(rules.centre, rules.width, rules.weight)

    def decode(self, vector: Vector) -> FuzzyRules:
        """Return the rules that a vector stands for."""
        table = np.reshape(vector, (self.rules, self.rule_length))
        conditions = table[:, : 2 * len(self.features)]
        return FuzzyRules(
            conditions[:, 0::2], conditions[:, 1::2], table[:, 2 * len(self.features) :]
        )

    def repaired(self, vector: Vector) -> Vector:
        """Return the vector with centres within the ranges and widths that are possible.

        Centres that left their range are reflected at its ends. A width below 0 is taken as if it
        were above; it is kept between ``SHARPEST`` and ``INDIFFERENT`` ranges of its feature.
        """
        table = np.reshape(vector, (self.rules, self.rule_length)).copy()
        count = 2 * len(self.features)
        place = np.mod((table[:, 0:count:2] - self.low) / self.span, 2.0)
        table[:, 0:count:2] = self.low + self.span * np.minimum(place, 2.0 - place)
        width = np.abs(table[:, 1:count:2]) / self.span
        table[:, 1:count:2] = np.clip(width, SHARPEST, INDIFFERENT) * self.span
        return table.ravel()

    def random(self, generator: np.random.Generator) -> Vector:
        """Return random rules: conditions within the ranges, weights from the paper's five."""
        shape = (self.rules, len(self.features))
        centre = self.low + self.span * generator.random(shape)
        width = self.span * generator.random(shape)
        weight = generator.choice(LADDER, (self.rules, self.choices))
        return self.repaired(self.vector(centre, width, weight))

    def playing(self, choice: int, generator: np.random.Generator) -> Vector:
        """Return random rules, but all of them strongly for one choice and for no other.

        They always choose it; yet one step of one weight can make a rule decide otherwise.
        """
        vector = self.random(generator)
        weights = np.minimum(vector[self.is_weight], MILD).reshape(self.rules, self.choices)
        weights[:, choice] = STRONGEST
        vector[self.is_weight] = weights.ravel()
        return vector
