"""Rule bases in words."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.policy import Policy
from queuesmith.policy.rulebase import RuleBase, RuleBasePair
from queuesmith.policy.rules import FuzzyRules, RigidRules
from queuesmith.policy.sentences import explain, sentences, strategy_words

OFFERED = tuple(Policy.parse(text) for text in ("fcfs+easy", "group+easy", "sjf", "greedy"))


def fuzzy(centre, width, weight, features=("utilization", "group_1_share")):
    return RuleBase(FuzzyRules(centre, width, weight), features, OFFERED)


def rigid(bounds, choice, features):
    return RuleBase(RigidRules(bounds, choice, len(OFFERED)), features, OFFERED)


def test_a_rule_reads_as_in_the_issue():
    policy = fuzzy([[0.9, 0.05]], [[0.1, 0.2]], [[0, 5, -1, 0]])
    (sentence,) = sentences(policy)
    assert str(sentence) == (
        "when utilization is about 0.9 and group 1 holds little of the queue: "
        "group order with EASY."
    )


def test_features_that_hardly_matter_are_left_out():
    policy = fuzzy([[0.9, 0.05], [0.5, 0.5]], [[0.1, 9], [8, 7]], [[0, 5, 0, 0], [0, 0, 1, 0]])
    assert [sentence.condition for sentence in sentences(policy)] == [
        "when utilization is about 0.9",
        "in all states",
    ]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([5, 5, 0, 0], "first come, first served with EASY or group order with EASY"),
        ([0, 1, 0, 0], "rather group order with EASY"),
        ([0, 0, 5, -5], "short jobs first without backfilling; never Greedy"),
        ([1, 1, 1, 1], "no preference"),
        ([-5, -5, -5, 0], "rather Greedy; never first come, first served with EASY or "),
        ([0.4, 3.7, -4, 0], "group order with EASY; never short jobs first without"),
    ],
)
def test_weights_become_words(weights, words):
    assert sentences(fuzzy([[0.5, 0.5]], [[1, 1]], [weights]))[0].choice.startswith(words)


@pytest.mark.parametrize(("share", "words"), [(0.1, "little"), (0.3, "about 30 %"), (0.9, "most")])
def test_shares_become_words(share, words):
    policy = fuzzy([[0.5, share]], [[9, 0.1]], [[5, 0, 0, 0]])
    assert sentences(policy)[0].condition == f"when group 1 holds {words} of the queue"


def test_rules_that_decided_most_come_first():
    policy = fuzzy([[0.1, 0.5], [0.9, 0.5]], [[0.1, 9]] * 2, [[5, 0, 0, 0], [0, 5, 0, 0]])
    found = sentences(policy, [[25, 75]])
    assert [(s.rules, s.count, s.share) for s in found] == [((2,), 75, 0.75), ((1,), 25, 0.25)]
    assert str(found[0]).startswith(" 75.0 %  when utilization is about 0.9")


def test_a_pair_tells_its_two_parts():
    order = FuzzyRules([[0.9]], [[0.1]], [[0, 0, 0, 5]])
    algorithm = FuzzyRules([[0.2]], [[0.1]], [[0, 5, 0, 0]])
    text = explain(RuleBasePair(order, algorithm, ("utilization",)))
    assert "For the order:\n  when utilization is about 0.9: group order." in text
    assert "For the algorithm:\n  when utilization is about 0.2: without backfilling." in text


def test_neighbouring_classes_that_choose_alike_are_one_sentence():
    policy = rigid(((0.75, 0.85), (0.2,)), [0, 0, 0, 0, 1, 2], ("utilization", "group_2_share"))
    assert [str(sentence) for sentence in sentences(policy)] == [
        "when utilization is at most 0.85: first come, first served with EASY.",
        "when utilization is above 0.85 and group 2 holds at most 20 % of the queue: "
        "group order with EASY.",
        "when utilization is above 0.85 and group 2 holds more than 20 % of the queue: "
        "short jobs first without backfilling.",
    ]


def test_an_interval_in_the_middle_has_two_ends():
    policy = rigid(((0.75, 0.85),), [0, 1, 0], ("utilization",))
    conditions = [sentence.condition for sentence in sentences(policy)]
    assert "when utilization is above 0.75 and at most 0.85" in conditions


def test_classes_that_never_occurred_are_left_out_and_bridge_others():
    policy = rigid(((0.75, 0.85),), [0, 1, 0], ("utilization",))
    (sentence,) = sentences(policy, [[3, 0, 1]])
    assert (sentence.condition, sentence.rules, sentence.count) == ("in all states", (1, 3), 4)


@given(st.integers(0, 2**32), st.booleans())
def test_each_class_is_told_once_and_truly(seed, counted):
    chance = np.random.default_rng(seed)
    bounds = ((0.75, 0.85), (0.2,), (2.0,))
    choice = chance.integers(0, 3, 12)
    counts = chance.integers(0, 3, 12)
    policy = rigid(bounds, choice, ("utilization", "group_1_share", "slowdown"))
    found = sentences(policy, [counts] if counted else None)
    told = sorted(itertools.chain.from_iterable(sentence.rules for sentence in found))
    assert told == (np.flatnonzero(counts) + 1 if counted else np.arange(1, 13)).tolist()
    for sentence in found:
        words = {strategy_words(OFFERED[choice[rule - 1]]) for rule in sentence.rules}
        assert words == {sentence.choice}
    if counted:
        assert sum(sentence.count for sentence in found) == counts.sum()


def test_any_other_policy_is_one_sentence():
    assert explain(Policy.parse("sjf+list")) == (
        "Policy 'sjf+list':\n  always: short jobs first with list scheduling.\n"
        "  the order sjf: shortest walltime first.\n"
        "  the backfill list: any job that fits may start, in queue order."
    )
    assert strategy_words(Policy.parse("power(alpha=2)+easy")) == "order power(alpha=2) with EASY"


def test_sentences_are_ready_for_json():
    row = sentences(fuzzy([[0.5, 0.5]], [[1, 1]], [[5, 0, 0, 0]]), [[7]])[0].to_dict()
    assert row == {
        "part": "strategy",
        "rules": [1],
        "condition": "in all states",
        "choice": "first come, first served with EASY",
        "count": 7,
        "share": 1.0,
    }
