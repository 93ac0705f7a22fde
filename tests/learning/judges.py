"""Judges that need no replay: what a policy chooses in some states, against what it should."""

from collections.abc import Sequence

import numpy as np

from queuesmith.policy import AnyPolicy, Policy
from queuesmith.policy.features import FEATURES
from queuesmith.policy.rulebase import RuleBased
from queuesmith.policy.rules import FuzzyRules
from queuesmith.study.judgement import Judgement, admitted

STATES = 60


class Teacher:
    """Knows which strategy is right in which state; the loss is the share of wrong choices.

    Where utilization is above a half it wants ``group``, else ``fcfs+easy``.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.asked: list[int] = []

    def __call__(self, policies: Sequence[AnyPolicy]) -> list[Judgement]:
        self.asked.append(len(policies))
        return admitted(self.loss(policy) for policy in policies)

    def loss(self, policy: AnyPolicy) -> float:
        assert isinstance(policy, RuleBased)
        ranges = np.array([(FEATURES[name].low, FEATURES[name].high) for name in policy.features])
        states = np.random.default_rng(self.seed).uniform(*ranges.T, (STATES, len(ranges)))
        busy = states[:, policy.features.index("utilization")] > 0.5
        names = np.array([str(strategy) for strategy in policy.strategies])
        chosen = np.zeros(STATES, int)
        for rules in policy.parts:
            chosen = chosen * rules.choices + choices(rules, states)
        return float(np.mean(names[chosen] != np.where(busy, "group", "fcfs+easy")))


def choices(rules, states: np.ndarray) -> np.ndarray:
    """Return what rules choose in each state, all fuzzy rules at once."""
    if not isinstance(rules, FuzzyRules):
        return np.array([rules.choose(state) for state in states])
    deviation = (states[:, None, :] - rules.centre) / rules.width
    logarithm = -0.5 * (deviation**2).sum(axis=2) - np.log(rules.width).sum(axis=1)
    memberships = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
    return np.argmax(memberships @ rules.weight, axis=1)


def prefers_patience(policies: Sequence[AnyPolicy]) -> list[Judgement]:
    """Judge parametric orders: the best has beta 2, gamma -1, all others 0, and list scheduling."""
    losses = []
    for policy in policies:
        assert isinstance(policy, Policy)
        wanted = {"beta": 2.0, "gamma": -1.0}
        values = policy.order.parameters
        distance = sum((values[name] - wanted.get(name, 0.0)) ** 2 for name in values)
        losses.append(distance + (policy.backfill != "list"))
    return admitted(losses)
