"""PROB: balanced assignments, and the best strategy of each rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import PolicyError, UsageError
from queuesmith.learning.course import run
from queuesmith.learning.probability import Probability, assignments, best_choices
from queuesmith.study.judgement import GIVEN_UP, Judgement, Standing, admitted
from tests.learning.judges import Teacher


def beyond(shortfall):
    return Judgement(Standing.BEYOND_LIMITS, shortfall)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 20), st.integers(0, 2**32))
def test_each_strategy_is_assigned_to_each_rule_equally_often(strategies, often, classes, seed):
    choices = assignments(strategies, often, classes, np.random.default_rng(seed))
    assert choices.shape == (strategies * often, classes)
    for column in choices.T:
        assert np.bincount(column, minlength=strategies).tolist() == [often] * strategies


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 9), st.integers(0, 2**32))
def test_the_best_choice_of_a_rule_has_the_smallest_sum(strategies, often, classes, seed):
    chance = np.random.default_rng(seed)
    choices = assignments(strategies, often, classes, chance)
    losses = chance.integers(0, 4, len(choices)).astype(float)
    for rule, best in enumerate(best_choices(choices, admitted(losses), strategies)):
        sums = [losses[choices[:, rule] == s].sum() for s in range(strategies)]
        assert best == sums.index(min(sums))


def test_a_rule_base_that_was_given_up_counts_as_the_worst_of_the_others():
    choices = np.array([[0], [0], [1], [1]])
    one, nine = admitted([1.0]), admitted([9.0, 9.0])
    # Strategy 0 is better on the whole, though one of its rule bases was given up.
    assert best_choices(choices, [*one, GIVEN_UP, *nine], 2).tolist() == [0]
    assert best_choices(
        choices, [*admitted([-8.0]), GIVEN_UP, *admitted([-2.0, -2.0])], 2
    ).tolist() == [0]
    assert best_choices(choices, [GIVEN_UP] * 4, 2).tolist() == [0]


def test_a_rule_base_that_is_not_admitted_counts_as_worse_than_the_others_by_how_far_it_fails():
    choices = np.array([[0], [0], [1], [1]])
    # Strategy 1 is admitted with both of its rule bases, strategy 0 with one.
    assert best_choices(
        choices, [*admitted([1.0]), beyond(0.1), *admitted([5.0, 6.0])], 2
    ).tolist() == [1]
    # One that is not admitted does not decide alone.
    one, nine = admitted([1.0, 9.0])
    assert best_choices(choices, [one, beyond(0.1), nine, beyond(0.1)], 2).tolist() == [0]
    assert best_choices(choices, [beyond(x) for x in (3, 3, 1, 4)], 2).tolist() == [1]
    assert best_choices(choices, [beyond(3), GIVEN_UP, beyond(1), GIVEN_UP], 2).tolist() == [1]


def test_a_composed_rule_base_that_is_not_admitted_yields_to_the_best_drawn():
    method = Probability(
        participations=3, partition={"utilization": (0.5,)}, strategies=("fcfs+easy", "group")
    )
    learning = method.learn(np.random.default_rng(1), [])
    policies = next(learning)
    drawn = policies[1]
    for answers in ([7.0, 2.0], [5.0, 5.0]):
        policies = learning.send(admitted(answers))
    (composed,) = learning.send(admitted([5.0, 5.0]))
    with pytest.raises(StopIteration) as end:
        learning.send([beyond(0.1)])
    assert composed is not drawn
    assert end.value.value is drawn


def test_the_paper_needs_650_replays_for_192_classes():
    method = Probability()
    assert method.classes == 192
    assert method.evaluations == 650 + 1
    assert method.offered[0] == method.offered[0].parse("fcfs+easy")


def test_it_finds_which_strategy_belongs_to_which_class():
    method = Probability(
        participations=40,
        partition={"utilization": (0.5,)},
        strategies=("fcfs+easy", "group", "sjf"),
    )
    teacher = Teacher()
    course = run(method, method.learn(np.random.default_rng(1), []), teacher)
    assert course.policy.rules.choice.tolist() == [0, 1]
    assert teacher.loss(course.policy) == 0
    assert teacher.asked == [3] * 40 + [1]
    assert course.evaluations == method.evaluations


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"participations": 0}, UsageError),
        ({"strategies": ("magic",)}, PolicyError),
        ({"partition": {"luck": (0.5,)}}, PolicyError),
        ({"partition": {"utilization": (0.5, 0.2)}}, PolicyError),
        ({"window": -1}, PolicyError),
    ],
)
def test_wrong_parameters_are_refused_at_once(wrong, error):
    with pytest.raises(error):
        Probability(**wrong)
