"""What fuzzy and rigid rules choose for a state."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import (
    FROZEN_INTS,
    FROZEN_REAL_TABLE,
    FROZEN_REALS,
    INT_TABLE,
    REAL_TABLE,
    REALS,
)

FUZZY, RIGID = range(2)
NOTHING_LEFT = -750.0  # the exponential of less is 0


class Rules(NamedTuple):
    """Fuzzy or rigid rules, ready to choose."""

    kind: Any  # one number
    centre: Any  # fuzzy: a row a feature, a column a rule, so that rules are computed side by side
    precision: Any  # 1 / (2 width**2)
    height: Any  # logarithm of the density at the centre, a number a rule
    weight: Any  # a row a rule, a column a choice
    bounds: Any  # rigid: a row a feature, filled up with infinity
    intervals: Any  # how many intervals each feature has
    choice: Any  # a number a class
    membership: Any  # room for one number a rule
    total: Any  # room for one number a choice
    count: Any  # a row a rule, a column a choice: how often it decided, and that was chosen
    seen: Any  # a row a rule, a column a feature: the sum over the states in which it decided


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
        REALS,
        INT_TABLE,
        REAL_TABLE,
    ],
    Rules,
)


@kernel
def choose_fuzzily(rules, state):
    """Return the choice with the highest superposed weight (section 4.2); of equals the first.

    Memberships are relative to the highest, which changes no choice and cannot underflow to 0.
    """
    weigh_rules(rules, state)
    total = rules.total
    total[:] = 0.0
    for rule in range(len(rules.membership)):
        membership = rules.membership[rule]
        if membership > 0.0:
            for choice in range(len(total)):
                total[choice] += membership * rules.weight[rule, choice]
    best_choice = 0
    for choice in range(1, len(total)):
        if total[choice] > total[best_choice]:
            best_choice = choice
    note_decision(rules, deciding_rule(rules, best_choice), best_choice, state)
    return best_choice


@kernel
def weigh_rules(rules, state):
    """Compute how far the state fits each rule, as a share of the one that it fits most."""
    membership = rules.membership
    for rule in range(len(membership)):
        membership[rule] = rules.height[rule]
    for feature in range(len(rules.centre)):
        value = state[feature]
        for rule in range(len(membership)):
            distance = value - rules.centre[feature, rule]
            membership[rule] -= distance * distance * rules.precision[feature, rule]
    highest = -np.inf
    for rule in range(len(membership)):
        highest = max(highest, membership[rule])
    for rule in range(len(membership)):
        distance = membership[rule] - highest
        membership[rule] = math.exp(distance) if distance > NOTHING_LEFT else 0.0


@kernel
def note_decision(rules, rule, choice, state):
    """Note which rule decided in a state, and what was chosen."""
    rules.count[rule, choice] += 1
    for feature in range(len(state)):
        rules.seen[rule, feature] += state[feature]


@kernel
def deciding_rule(rules, choice):
    """Return which rule contributed most to a choice; of equals the first."""
    deciding, most = 0, -np.inf
    for rule in range(len(rules.membership)):
        contribution = rules.membership[rule] * rules.weight[rule, choice]
        if contribution > most:
            deciding, most = rule, contribution
    return deciding


@kernel
def choose_rigidly(rules, state):
    """Return the choice of the state's class (section 4.1)."""
    rule = 0
    for feature in range(len(rules.bounds)):
        interval = 0
        while state[feature] > rules.bounds[feature, interval]:
            interval += 1
        rule = rule * rules.intervals[feature] + interval
    choice = rules.choice[rule]
    note_decision(rules, rule, choice, state)
    return choice


@kernel
def choose(rules, state):
    """Return what the rules choose for a state."""
    return choose_fuzzily(rules, state) if rules.kind[0] == FUZZY else choose_rigidly(rules, state)
