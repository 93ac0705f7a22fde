"""What fuzzy and rigid rules choose for a state."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import FROZEN_INTS, FROZEN_REAL_TABLE, FROZEN_REALS, INTS, REALS

FUZZY, RIGID = range(2)


class Rules(NamedTuple):
    """Fuzzy or rigid rules, ready to choose."""

    kind: Any  # one number
    centre: Any  # fuzzy: a row a rule, a column a feature
    precision: Any  # 1 / (2 width**2)
    height: Any  # logarithm of the density at the centre, a number a rule
    weight: Any  # a row a rule, a column a choice
    bounds: Any  # rigid: a row a feature, filled up with infinity
    intervals: Any  # how many intervals each feature has
    choice: Any  # a number a class
    membership: Any  # room for one number a rule
    count: Any  # how often each rule decided


RULES_TYPE = types.NamedTuple(
    [
        FROZEN_INTS,
        FROZEN_REAL_TABLE,
        FROZEN_REAL_TABLE,
        FROZEN_REALS,
        FROZEN_REAL_TABLE,
        FROZEN_REAL_TABLE,
        FROZEN_INTS,
        FROZEN_INTS,
        REALS,
        INTS,
    ],
    Rules,
)


@kernel
def choose_fuzzily(rules, state):
    """Return the choice with the highest superposed weight (section 4.2); of equals the first.

    Memberships are relative to the highest, which changes no choice and cannot underflow to 0.
    """
    count, features = rules.centre.shape
    highest = -np.inf
    for rule in range(count):
        logarithm = rules.height[rule]
        for feature in range(features):
            distance = state[feature] - rules.centre[rule, feature]
            logarithm -= distance * distance * rules.precision[rule, feature]
        rules.membership[rule] = logarithm
        highest = max(highest, logarithm)
    for rule in range(count):
        rules.membership[rule] = math.exp(rules.membership[rule] - highest)
    best_choice, best_weight = 0, -np.inf
    for choice in range(rules.weight.shape[1]):
        weight = 0.0
        for rule in range(count):
            weight += rules.membership[rule] * rules.weight[rule, choice]
        if weight > best_weight:
            best_choice, best_weight = choice, weight
    count_deciding_rule(rules, best_choice)
    return best_choice


@kernel
def count_deciding_rule(rules, choice):
    """Note which rule contributed most to a choice."""
    deciding, most = 0, -np.inf
    for rule in range(len(rules.membership)):
        contribution = rules.membership[rule] * rules.weight[rule, choice]
        if contribution > most:
            deciding, most = rule, contribution
    rules.count[deciding] += 1


@kernel
def choose_rigidly(rules, state):
    """Return the choice of the state's class (section 4.1)."""
    rule = 0
    for feature in range(len(rules.bounds)):
        interval = 0
        while state[feature] > rules.bounds[feature, interval]:
            interval += 1
        rule = rule * rules.intervals[feature] + interval
    rules.count[rule] += 1
    return rules.choice[rule]


@kernel
def choose(rules, state):
    """Return what the rules choose for a state."""
    return choose_fuzzily(rules, state) if rules.kind[0] == FUZZY else choose_rigidly(rules, state)
