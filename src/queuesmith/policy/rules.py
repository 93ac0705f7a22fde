"""Rules: from a description of the state to one of several choices.

Franke, Lepping and Schwiegelshohn, "On advantages of scheduling using genetic fuzzy systems",
sections 4.1 (rigid rules) and 4.2 (fuzzy rules).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.errors import PolicyError
from queuesmith.base.words import so_many

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]

#: What a rule can say of a choice: particularly unfavourable to particularly favourable.
WEIGHTS = (-5, -1, 0, 1, 5)

#: The partitions of the paper's Table 1, by feature.
TABLE_1 = {
    "slowdown": (2.0,),
    "utilization": (0.75, 0.85),
    "group_1_share": (0.20,),
    "group_2_share": (0.20,),
    "group_3_share": (0.25,),
    "group_4_share": (0.25,),
    "group_5_share": (0.25,),
}


@dataclass(frozen=True, eq=False)
class FuzzyRules:
    """Rules that all have a say, each where its Gaussian memberships are high.

    Parameters
    ----------
    centre, width
        Mean and standard deviation of each rule's membership function for each feature: a row a
        rule, a column a feature. A very large width means that the feature does not matter.
    weight
        What each rule says of each choice: a row a rule, a column a choice.
    """

    centre: Reals
    width: Reals
    weight: Reals

    def __post_init__(self) -> None:
        for name in ("centre", "width", "weight"):
            object.__setattr__(self, name, _matrix(name, getattr(self, name)))
        if self.centre.shape != self.width.shape:
            raise PolicyError(
                f"the fuzzy rules have centres of shape {self.centre.shape} but widths of shape "
                f"{self.width.shape}. Give one width for each centre."
            )
        if len(self.weight) != len(self.centre):
            raise PolicyError(
                f"the fuzzy rules have {so_many(len(self.centre), 'row')} of centres but "
                f"{so_many(len(self.weight), 'row')} of weights. Give one row of each for every "
                "rule."
            )
        if not (self.width > 0).all():
            raise PolicyError(
                f"a width of the fuzzy rules is {self.width.min():g}, but a width must be above 0. "
                "Give a small positive number for a sharp membership."
            )

    def __len__(self) -> int:
        return len(self.centre)

    @property
    def features(self) -> int:
        """How many features a state must have."""
        return int(self.centre.shape[1])

    @property
    def choices(self) -> int:
        """How many choices there are."""
        return int(self.weight.shape[1])

    def memberships(self, state: ArrayLike) -> Reals:
        """Return how far each rule applies to a state, relative to the one that applies most.

        Densities of narrow Gaussians in many dimensions leave the range of numbers; dividing all
        by the largest changes no decision.
        """
        deviation = (np.asarray(state, dtype=np.float64) - self.centre) / self.width
        logarithm = -0.5 * (deviation**2).sum(axis=1) - np.log(
            self.width * math.sqrt(2 * math.pi)
        ).sum(axis=1)
        memberships: Reals = np.exp(logarithm - logarithm.max())
        return memberships

    def choose(self, state: ArrayLike) -> int:
        """Return the choice with the highest superposed weight; of equals the first."""
        return int(np.argmax(self._superposed(self.memberships(state))))

    def deciding_rule(self, state: ArrayLike) -> int:
        """Return the rule that contributes most to the choice; of equals the first."""
        memberships = self.memberships(state)
        choice = np.argmax(self._superposed(memberships))
        return int(np.argmax(memberships * self.weight[:, choice]))

    def _superposed(self, memberships: Reals) -> Reals:
        # Rule by rule, as the engine adds them up; a matrix product may break ties by rounding.
        total: Reals = (memberships[:, np.newaxis] * self.weight).sum(axis=0)
        return total

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        return {
            "centre": self.centre.tolist(),
            "width": self.width.tolist(),
            "weight": self.weight.tolist(),
        }


@dataclass(frozen=True, eq=False)
class RigidRules:
    """One rule for each class of states; the classes are boxes between fixed bounds.

    Parameters
    ----------
    bounds
        For each feature the values at which it is divided, ascending; a value equal to a bound
        belongs to the class below, as in the paper's Table 1.
    choice
        What to choose in each class; the last feature's interval changes fastest.
    choices
        How many choices there are.
    """

    bounds: tuple[tuple[float, ...], ...]
    choice: Ints
    choices: int
    intervals: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        bounds = tuple(tuple(float(value) for value in values) for values in self.bounds)
        for values in bounds:
            if list(values) != sorted(set(values)) or not all(map(math.isfinite, values)):
                raise PolicyError(
                    f"the bounds {list(values)} of a feature are not ascending numbers. Sort them."
                )
        object.__setattr__(self, "bounds", bounds)
        object.__setattr__(self, "intervals", tuple(len(values) + 1 for values in bounds))
        classes = math.prod(self.intervals)
        choice = _whole_numbers(self.choice)
        if choice.shape != (classes,):
            raise PolicyError(
                f"the rigid rules have {so_many(choice.size, 'choice')} for "
                f"{so_many(classes, 'class', 'classes')} of states. Give one for each class."
            )
        wrong = choice[(choice < 0) | (choice >= self.choices)]
        if len(wrong):
            raise PolicyError(
                f"a rigid rule chooses number {wrong[0]}, but choices are numbered 0 to "
                f"{self.choices - 1}. Correct the rule."
            )
        choice = choice.copy()
        choice.setflags(write=False)
        object.__setattr__(self, "choice", choice)

    def __len__(self) -> int:
        return len(self.choice)

    @property
    def features(self) -> int:
        """How many features a state must have."""
        return len(self.bounds)

    def deciding_rule(self, state: ArrayLike) -> int:
        """Return the class of a state."""
        found = 0
        for value, bounds in zip(np.asarray(state, dtype=np.float64), self.bounds, strict=True):
            found = found * (len(bounds) + 1) + int(np.searchsorted(bounds, value))
        return found

    def choose(self, state: ArrayLike) -> int:
        """Return the choice of the state's class."""
        return int(self.choice[self.deciding_rule(state)])

    def boxes(self) -> list[tuple[tuple[float, float], ...]]:
        """Return for each class the interval of each feature, infinite at the ends."""
        edges = [(-math.inf, *bounds, math.inf) for bounds in self.bounds]
        return list(itertools.product(*(list(itertools.pairwise(edge)) for edge in edges)))

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        return {"bounds": [list(values) for values in self.bounds], "choice": self.choice.tolist()}


Rules = FuzzyRules | RigidRules


def rules_from(content: Any, choices: int, features: Sequence[str]) -> Rules:
    """Read rules from what a JSON file holds, and check that they fit."""
    fuzzy, rigid = {"centre", "width", "weight"}, {"bounds", "choice"}
    if not isinstance(content, dict) or set(content) not in (fuzzy, rigid):
        raise PolicyError(
            "the rules of a rule base must be an object with 'centre', 'width' and 'weight' "
            "(fuzzy) or with 'bounds' and 'choice' (rigid). Correct the file."
        )
    try:
        rules: Rules
        if set(content) == fuzzy:
            rules = FuzzyRules(content["centre"], content["width"], content["weight"])
        else:
            rules = RigidRules(tuple(map(tuple, content["bounds"])), content["choice"], choices)
    except (TypeError, ValueError, OverflowError) as error:
        raise PolicyError(
            f"the rules of a rule base hold something that is no number: {error}. Correct the file."
        ) from error
    check_rules(rules, choices, features)
    return rules


def check_rules(rules: Rules, choices: int, features: Sequence[str]) -> None:
    """Raise where rules do not fit the features and choices that they are for."""
    if rules.features != len(features):
        raise PolicyError(
            f"the rules look at {so_many(rules.features, 'feature')}, but {len(features)} are "
            f"named: {', '.join(features)}. Name one for each column of the rules."
        )
    if rules.choices != choices:
        raise PolicyError(
            f"the rules weigh {so_many(rules.choices, 'choice')}, but there are {choices}. "
            "Give one weight for each choice."
        )


def _whole_numbers(values: ArrayLike) -> Ints:
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iu":
        raise ValueError("a choice that is no whole number")
    return numbers.astype(np.int64)


def _matrix(name: str, values: ArrayLike) -> Reals:
    try:
        matrix = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise PolicyError(
            f"the {name} of the fuzzy rules is no table of numbers with rows of one length. "
            "Correct it."
        ) from error
    if matrix.ndim != 2 or not matrix.size:
        raise PolicyError(
            f"the {name} of the fuzzy rules has the shape {matrix.shape}, but it must be a table "
            "with a row for each rule. Correct it."
        )
    if not np.isfinite(matrix).all():
        raise PolicyError(
            f"the {name} of the fuzzy rules has a value that is no finite number. Correct it."
        )
    matrix.setflags(write=False)
    return matrix
