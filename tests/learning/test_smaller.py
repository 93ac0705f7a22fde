"""A rule base without what a log never needs."""

import numpy as np
import pytest

from queuesmith import simulate
from queuesmith.learning.smaller import smaller
from queuesmith.policy import Policy, RuleBase, RuleBasePair
from queuesmith.policy.rules import TABLE_1, FuzzyRules, RigidRules
from tests.engine.random_policies import random_fuzzy
from tests.learning.test_tune import busy_log

OFFERED = tuple(map(Policy.parse, ("fcfs+easy", "sjf+easy", "group")))


@pytest.fixture(scope="module")
def log():
    return busy_log()


def rules_of(weight):
    """One rule for each row of weights, all of them alike in where they apply."""
    count = len(weight)
    return FuzzyRules(np.full((count, 1), 0.5), np.ones((count, 1)), weight)


def test_a_rule_that_never_decides_and_a_strategy_never_chosen_are_dropped(log):
    rules = rules_of([[0, 5, 0], [0, 1, 0], [0, 1, 0]])
    found = smaller(RuleBase(rules, ("utilization",), OFFERED), log, cores=16)
    assert found.rules == ((2, 3),)
    assert found.strategies == ("fcfs+easy", "group")
    assert [str(strategy) for strategy in found.policy.strategies] == ["sjf+easy"]
    assert "Without 2 rules that never decide and 2 strategies" in str(found)


def test_where_nothing_is_decided_nothing_is_said_of_what_can_go(log):
    rules = rules_of([[0, 5, 0], [0, 1, 0]])
    found = smaller(RuleBase(rules, ("utilization",), OFFERED), log.head(1), cores=16)
    assert len(found.policy.rules) == 2
    assert "Nothing was to be decided on this log" in str(found)


def test_a_rule_that_never_decides_but_sways_others_stays(log):
    # Alone the first would choose sjf+easy; both others together turn it to group.
    rules = rules_of([[0, 5, 4], [0, -1, 3], [0, -1, 2]])
    policy = RuleBase(rules, ("utilization",), OFFERED)
    found = smaller(policy, log, cores=16)
    before, after = (simulate(log, cores=16, policy=p).start for p in (policy, found.policy))
    assert before.tolist() == after.tolist()
    assert len(found.policy.rules) == 2


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_dropped_every_job_starts_as_before(log, seed):
    chance = np.random.default_rng(seed)
    features = ("utilization", "queue_length")
    pair = RuleBasePair(
        random_fuzzy(chance, features, 4), random_fuzzy(chance, features, 4), features
    )
    found = smaller(pair, log, cores=16)
    before, after = (simulate(log, cores=16, policy=p).start for p in (pair, found.policy))
    assert before.tolist() == after.tolist()


def test_rigid_rules_stay_as_they_are(log):
    rules = RigidRules(tuple(TABLE_1.values()), np.zeros(192, np.int64), 3)
    policy = RuleBase(rules, tuple(TABLE_1), OFFERED)
    found = smaller(policy, log, cores=16)
    assert found.policy is policy
    assert str(found) == "No rule and no strategy can be dropped without changing what it does."
