"""Rule bases as policies: made, saved, loaded, refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import PolicyError
from queuesmith.policy import Policy, RuleBase, RuleBasePair, as_policy, load_policy
from queuesmith.policy.rules import FuzzyRules, RigidRules
from queuesmith.policy.strategies import FOUR_ORDERS, GREEDY, STRATEGIES, THIRTEEN
from tests.engine.random_policies import random_rule_base

ONE = FuzzyRules(np.zeros((1, 7)), np.ones((1, 7)), np.zeros((1, 13)))


def small(**options):
    rules = FuzzyRules([[0.0]], [[1.0]], [[1, 0]])
    offered = (Policy.parse("fcfs+easy"), Policy.parse("sjf"))
    return RuleBase(**{"rules": rules, "features": ("slowdown",), "offered": offered, **options})


def test_the_thirteen_strategies_are_four_orders_with_three_algorithms_and_greedy():
    assert len(THIRTEEN) == len(STRATEGIES) == 13
    assert {strategy.order.name for strategy in THIRTEEN} == {*FOUR_ORDERS, GREEDY}
    assert {strategy.backfill for strategy in THIRTEEN} == {"none", "easy", "plan"}
    assert str(THIRTEEN[0]) == "fcfs+easy"


def test_a_rule_base_chooses_among_the_thirteen_by_default():
    rules = RuleBase(ONE)
    assert rules.strategies == THIRTEEN
    assert rules.choose([0.0] * 7) == 0
    assert str(rules) == "rules"


def test_a_pair_chooses_an_order_and_an_algorithm():
    features = ("utilization",)
    orders = RigidRules(((0.5,),), [2, 3], 4)
    algorithms = RigidRules(((0.8,),), [1, 3], 4)
    pair = RuleBasePair(orders, algorithms, features)
    chosen = [str(pair.strategies[pair.choose([value])]) for value in (0.3, 0.7, 0.9)]
    assert chosen == ["sjf", "group", "greedy"]
    assert pair.parts == (orders, algorithms)


@given(seed=st.integers(0, 2**32 - 1))
def test_a_rule_base_survives_its_file(tmp_path_factory, seed):
    path = tmp_path_factory.mktemp("policy") / "rules.json"
    policy = random_rule_base(np.random.default_rng(seed))
    policy.save(path)
    again = as_policy(str(path))
    assert type(again) is type(policy)
    assert again.to_dict() == policy.to_dict()
    assert [str(s) for s in again.strategies] == [str(s) for s in policy.strategies]
    assert again.window == policy.window


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ()}, r"names the features \(none\), but it must name at least one"),
        ({"features": ("slowdown", "slowdown")}, "slowdown, slowdown, but it must name .* once"),
        ({"features": ("utilization", "slowdown")}, "look at 1 feature, but 2 are named"),
        ({"features": ("hello",)}, "there is no feature 'hello'"),
        ({"offered": (Policy.parse("fcfs"),)}, "weigh 2 choices, but there are 1"),
        (
            {"offered": (Policy.parse("fcfs"), Policy.parse("sjf+conservative"))},
            "offers 'sjf.conservative', but reservations .* Write sjf.plan",
        ),
        ({"window": -1}, "window of rule base 'rules' is -1 seconds, but it must be at least 0"),
    ],
)
def test_a_rule_base_that_does_not_fit_is_refused(options, message):
    with pytest.raises(PolicyError, match=message):
        small(**options)


def test_a_pair_with_unknown_parts_is_refused():
    one = FuzzyRules([[0.0]], [[1.0]], [[1]])
    with pytest.raises(PolicyError, match="there is no order 'fcsf'"):
        RuleBasePair(one, one, ("slowdown",), ("fcsf",), ("easy",))
    with pytest.raises(PolicyError, match="there is no backfill 'hard'"):
        RuleBasePair(one, one, ("slowdown",), ("fcfs",), ("hard",))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": None}, "has no 'features': it must have features, kind, rules, strategies"),
        ({"rules": None}, "has no 'rules'"),
        ({"rulez": 1}, "has an unknown 'rulez'"),
        ({"features": "slowdown"}, "'features' of the rule base must be a list of texts"),
        ({"features": [1]}, "'features' of the rule base must be a list of texts"),
        ({"strategies": [["fcfs"], "sjf"]}, "'strategies' of the rule base must be a list of"),
        ({"strategies": ["fcfs"]}, "weigh 2 choices, but there are 1"),
        ({"strategies": ["fcfs", "hello"]}, "there is no order 'hello'"),
        ({"features": ["slowdown", "utilization"]}, "look at 1 feature, but 2 are named"),
        ({"window": 1.5}, "'window' of the rule base is 1.5, but it must be a whole number"),
        ({"window": True}, "'window' of the rule base is True"),
        ({"kind": "hello"}, "is of the kind 'hello', which is not known. Choose from: rule base"),
        ({"kind": "pair of rule bases"}, "has no 'algorithm_rules'"),
    ],
)
def test_a_bad_file_is_named_and_answered(tmp_path, change, message):
    content = {**small().to_dict(), **change}
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({k: v for k, v in content.items() if v is not None}))
    with pytest.raises(PolicyError, match=message) as error:
        load_policy(path)
    assert str(error.value).startswith(f"policy file '{path}'")


def test_there_are_no_parameters_to_set():
    with pytest.raises(PolicyError, match="policy 'rules' has no parameter 'alpha'"):
        small().having(alpha=1)
