"""Rules: what they choose, which of them decided, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import PolicyError
from queuesmith.policy.features import SEVEN
from queuesmith.policy.rules import TABLE_1, WEIGHTS, FuzzyRules, RigidRules, rules_from
from queuesmith.testing.twin_choosing import choice_of
from tests.engine.random_policies import random_rules


def gaussian(x, mu, sigma):
    return math.exp(-((x - mu) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))


TWO = FuzzyRules([[0.2, 5.0], [0.8, 5.0]], [[0.1, 2.0], [0.3, 2.0]], [[5, -1, 0], [-5, 1, 0]])


def test_memberships_are_the_papers_densities_up_to_one_factor():
    state = (0.35, 4.0)
    products = [
        gaussian(0.35, 0.2, 0.1) * gaussian(4, 5, 2),
        gaussian(0.35, 0.8, 0.3) * gaussian(4, 5, 2),
    ]
    assert TWO.memberships(state) == pytest.approx(np.array(products) / max(products))


def test_the_highest_superposed_weight_is_chosen():
    assert TWO.choose((0.2, 5)) == 0
    assert TWO.choose((0.9, 5)) == 1
    assert TWO.deciding_rule((0.2, 5)) == 0
    assert TWO.deciding_rule((0.9, 5)) == 1


def test_of_equal_weights_the_first_is_chosen():
    rules = FuzzyRules([[0.0]], [[1.0]], [[-1, 0, 5, 5]])
    assert rules.choose([0.3]) == 2


def test_states_far_from_all_rules_still_have_an_answer():
    rules = FuzzyRules([[0.0] * 7, [1.0] * 7], [[1e-3] * 7, [1e-3] * 7], [[1, 0], [0, 1]])
    assert rules.choose([900.0] * 7) == 1
    assert rules.choose([-900.0] * 7) == 0


def test_a_very_large_width_means_that_a_feature_does_not_matter():
    rules = FuzzyRules([[0.5, 0.0], [0.9, 0.0]], [[0.1, 1e9], [0.1, 1e9]], [[1, 0], [0, 1]])
    assert rules.choose([0.5, -1e6]) == rules.choose([0.5, 1e6]) == 0


def test_the_papers_table_1_has_192_classes():
    rules = RigidRules(tuple(TABLE_1[name] for name in SEVEN), np.zeros(192, int), 13)
    assert len(rules) == 192
    assert rules.intervals == (2, 3, 2, 2, 2, 2, 2)


def test_a_value_at_a_bound_belongs_to_the_class_below():
    rules = RigidRules(((0.5,), (1.0, 2.0)), range(6), 6)
    assert rules.choose([0.5, 1.0]) == 0
    assert rules.choose([0.5, 1.1]) == 1
    assert rules.choose([0.6, 2.1]) == 5


def test_boxes_stand_in_the_order_of_the_classes():
    rules = RigidRules(((0.5,), (1.0, 2.0)), range(6), 6)
    assert rules.boxes()[4] == ((0.5, math.inf), (1.0, 2.0))
    for number, box in enumerate(rules.boxes()):
        inside = [min(high, 9.0) for _, high in box]
        assert rules.deciding_rule(inside) == number


def test_rules_without_bounds_are_one_rule_for_all():
    rules = RigidRules(((), ()), [1], 2)
    assert rules.choose([5, 5]) == 1


@given(st.integers(0, 2**32 - 1))
def test_rules_choose_what_the_twin_chooses(seed):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, SEVEN, int(rng.integers(1, 14)))
    for state in rng.uniform(0, 2, (5, 7)):
        assert (rules.choose(state), rules.deciding_rule(state)) == choice_of(rules, state)


@given(st.integers(0, 2**32 - 1))
def test_rules_survive_a_file(seed):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, SEVEN, 5)
    again = rules_from(rules.to_dict(), 5, SEVEN)
    assert type(again) is type(rules)
    assert again.to_dict() == rules.to_dict()


def test_rules_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        TWO.weight[0, 0] = 3
    with pytest.raises(ValueError, match="read-only"):
        RigidRules(((),), [0], 1).choice[0] = 1


def test_weights_are_those_of_the_paper():
    assert WEIGHTS == (-5, -1, 0, 1, 5)


@pytest.mark.parametrize(
    ("centre", "width", "weight", "message"),
    [
        ([[1, 2]], [[1]], [[1]], r"centres of shape \(1, 2\) but widths of shape \(1, 1\)"),
        ([[1]], [[1]], [[1], [2]], "1 row of centres but 2 rows of weights"),
        ([[1]], [[0]], [[1]], "a width of the fuzzy rules is 0, but a width must be above 0"),
        ([[1]], [[-2]], [[1]], "a width of the fuzzy rules is -2"),
        ([1], [1], [1], r"centre of the fuzzy rules has the shape \(1,\), but it must be a table"),
        ([], [], [], "must be a table with a row for each rule"),
        ([[1], [1, 2]], [[1]], [[1]], "is no table of numbers with rows of one length"),
        ([["a"]], [[1]], [[1]], "is no table of numbers"),
        ([[math.nan]], [[1]], [[1]], "centre of the fuzzy rules has a value that is no finite"),
        ([[1]], [[math.inf]], [[1]], "width of the fuzzy rules has a value that is no finite"),
    ],
)
def test_bad_fuzzy_rules_are_refused(centre, width, weight, message):
    with pytest.raises(PolicyError, match=message):
        FuzzyRules(centre, width, weight)


@pytest.mark.parametrize(
    ("bounds", "choice", "choices", "message"),
    [
        (((2.0, 1.0),), [0, 0, 0], 1, r"bounds \[2.0, 1.0\] of a feature are not ascending"),
        (((1.0, 1.0),), [0, 0, 0], 1, "are not ascending numbers. Sort them"),
        (((math.nan,),), [0, 0], 1, "are not ascending numbers"),
        (((1.0,),), [0], 1, "have 1 choice for 2 classes of states. Give one for each class"),
        (((1.0,),), [0, 3], 2, "chooses number 3, but choices are numbered 0 to 1"),
        (((1.0,),), [-1, 0], 2, "chooses number -1, but choices are numbered 0 to 1"),
    ],
)
def test_bad_rigid_rules_are_refused(bounds, choice, choices, message):
    with pytest.raises(PolicyError, match=message):
        RigidRules(bounds, choice, choices)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "must be an object with 'centre', 'width' and 'weight'"),
        ([], "must be an object with"),
        ({}, "must be an object with"),
        ({"centre": [[1]], "width": [[1]]}, "must be an object with"),
        ({"bounds": [[1]], "choice": [0, 0], "width": 1}, "must be an object with"),
        ({"bounds": 3, "choice": [0]}, "hold something that is no number"),
        ({"bounds": [["a"]], "choice": [0, 0]}, "hold something that is no number"),
        ({"bounds": [[1]], "choice": ["a", 0]}, "hold something that is no number"),
        (
            {"bounds": [[1], [2]], "choice": [0] * 4},
            "look at 2 features, but 1 are named: slowdown",
        ),
        ({"centre": [[1]], "width": [[1]], "weight": [[1]]}, "weigh 1 choice, but there are 2"),
        ({"centre": [[None]], "width": [[1]], "weight": [[1]]}, "no finite number"),
    ],
)
def test_bad_rules_in_a_file_are_refused(content, message):
    with pytest.raises(PolicyError, match=message):
        rules_from(content, 2, ["slowdown"])


@pytest.mark.parametrize(
    "content",
    [
        {"bounds": [[0.5]], "choice": [0, float("inf")]},
        {"bounds": [[0.5]], "choice": [0, float("nan")]},
        {"bounds": [[0.5]], "choice": [0, 1.5]},
        {"bounds": [[0.5]], "choice": [0, 10**30]},
        {"bounds": [[float("inf")]], "choice": [0, 1]},
        {"bounds": [[10**400]], "choice": [0, 1]},
        {"centre": [[float("inf")]], "width": [[1.0]], "weight": [[1.0]]},
        {"centre": [[10**400]], "width": [[1.0]], "weight": [[1.0]]},
    ],
)
def test_numbers_that_are_none_get_one_sentence(content):
    """An Infinity among the choices of rigid rules gave a traceback."""
    with pytest.raises(PolicyError, match=r"no number|no finite|not ascending|no table"):
        rules_from(content, 2, ["utilization"])
