"""PITTS: rule bases that compete."""

import numpy as np
import pytest

from queuesmith.base.errors import PolicyError, UsageError
from queuesmith.learning.course import run
from queuesmith.learning.evolution import Patience, Pittsburgh
from queuesmith.learning.methods import make_method
from queuesmith.policy.strategies import THIRTEEN
from queuesmith.study.judgement import Judgement, Standing, admitted
from tests.learning.judges import Teacher

RANKED = [THIRTEEN[9], THIRTEEN[0], *THIRTEEN[1:9]]


def learned(method, judge, seed=0, ranked=RANKED):
    return run(method, method.learn(np.random.default_rng(seed), ranked), judge)


def test_the_paper_needs_843_replays():
    method = Pittsburgh(features=("utilization",), rules=1, strategies=("fcfs+easy", "group"))
    judge = Teacher()
    course = learned(method, judge)
    assert judge.asked == [3] + [21] * 40
    assert course.evaluations == method.evaluations == Pittsburgh().evaluations == 843
    assert method.rounds == 41


def test_it_learns_what_the_teacher_knows():
    judge = Teacher()
    method = make_method("pitts", generations=60, rules=4, features=("utilization",))
    course = learned(method, judge)
    assert course.steps[0].best > 0.3  # by chance
    assert judge.loss(course.policy) == course.steps[-1].best <= 0.1


def test_the_best_never_gets_worse_and_is_what_is_returned():
    judge = Teacher()
    course = learned(Pittsburgh(generations=8, rules=3), judge, seed=3)
    best = [step.best for step in course.steps]
    assert best == sorted(best, reverse=True)
    assert judge.loss(course.policy) == best[-1]


def test_same_seed_same_policy_and_another_seed_another():
    method = Pittsburgh(generations=3)
    first, again, other = (learned(method, Teacher(), seed).policy for seed in (1, 1, 2))
    assert first.to_dict() == again.to_dict() != other.to_dict()


def test_seeded_parents_play_the_best_fixed_strategies():
    method = Pittsburgh(seeded=2)
    first = next(method.learn(np.random.default_rng(0), RANKED))
    states = np.random.default_rng(1).random((30, 7))
    chosen = [{rule_base.choose(state) for state in states} for rule_base in first]
    assert chosen[:2] == [{9}, {0}]
    assert len(chosen) == 3


def test_the_last_child_of_all_plays_the_best_fixed_strategy_but_not_in_the_paper():
    states = np.random.default_rng(1).random((30, 7))
    for settings, plays in (({}, True), ({"fallback": False}, False)):
        method = Pittsburgh(generations=1, **settings)
        learning = method.learn(np.random.default_rng(0), RANKED)
        last = learning.send(admitted([0.0] * len(next(learning))))[-1]
        assert ({last.choose(state) for state in states} == {9}) is plays
    with pytest.raises(StopIteration):
        learning.send(admitted([0.0] * 21))


def test_where_nothing_keeps_the_limits_the_best_fixed_strategy_joins_and_has_children():
    states = np.random.default_rng(1).random((30, 7))
    for settings, joins in (({}, True), ({"fallback": False}, False)):
        learning = Pittsburgh(generations=8, **settings).learn(np.random.default_rng(0), RANKED)
        asked = [next(learning)]
        for _ in range(2):
            beyond = [Judgement(Standing.BEYOND_LIMITS, 1.0)] * len(asked[-1])
            asked.append(learning.send(beyond))
        played = [[{each.choose(s) for s in states} for each in some] for some in asked]
        assert ({9} in played[2]) is joins
        assert {9} not in played[1]
    learning = Pittsburgh(generations=8).learn(np.random.default_rng(0), RANKED)
    asked = learning.send(admitted([0.0] * len(next(learning))))
    asked = learning.send(admitted([1.0] * len(asked)))
    assert {9} not in [{each.choose(s) for s in states} for each in asked]  # no need of it


def test_strategies_that_are_not_offered_cannot_be_seeds():
    method = Pittsburgh(seeded=3, strategies=("sjf", "fcfs+easy"))
    first = next(method.learn(np.random.default_rng(0), RANKED))
    assert {first[0].choose(s) for s in np.random.default_rng(1).random((9, 7))} == {1}
    assert len(first) == 3


def test_after_long_without_success_all_children_are_by_chance():
    method = Pittsburgh(generations=6, restart_after=2, rules=2, step=1e-6, weight_step=1e-6)
    learning = method.learn(np.random.default_rng(0), [])
    asked = [next(learning)]
    asked += [learning.send(admitted([1.0] * len(asked[-1]))) for _ in range(4)]
    centres = [np.array([policy.rules.centre for policy in some]) for some in asked]
    assert [len(some) for some in asked] == [3, 21, 21, 21, 21]
    # Such small steps leave children where their parents are; after two failures all is new.
    near = [_nearest(centres[i + 1], centres[i]) < 1e-3 for i in range(4)]
    assert near == [True, True, False, True]


def _nearest(children, before):
    children, before = (each.reshape(len(each), -1) for each in (children, before))
    distance = np.abs(children[:, None] - before[None]).sum(axis=2)
    return float(np.median(distance.min(axis=1)))


def test_patience_counts_afresh_after_a_success_and_after_a_new_start():
    patience = Patience(2)
    over = [patience.is_over(better) for better in (False, True, False, False, False, False)]
    assert over == [False, False, False, True, False, True]
    assert not any(Patience(None).is_over(False) for _ in range(100))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"parents": 0}, UsageError),
        ({"offspring": 0}, UsageError),
        ({"generations": -1}, UsageError),
        ({"rules": 0}, UsageError),
        ({"rules": 2.5}, UsageError),
        ({"seeded": -1}, UsageError),
        ({"seeded": 4}, UsageError),
        ({"restart_after": 0}, UsageError),
        ({"step": -0.1}, UsageError),
        ({"features": ("luck",)}, PolicyError),
        ({"features": ("slowdown", "slowdown")}, PolicyError),
        ({"strategies": ("fcfs+conservative",)}, PolicyError),
        ({"window": -5}, PolicyError),
    ],
)
def test_wrong_parameters_are_refused_at_once(wrong, error):
    with pytest.raises(error):
        Pittsburgh(**wrong)


@pytest.mark.parametrize("what", ["rules", "parents", "offspring"])
def test_more_than_the_memory_can_hold_is_refused_in_a_sentence(what):
    told = f"the number of {what} is {10**30}, but it must be at most 1,000,000. Give for example"
    with pytest.raises(UsageError, match=told):
        Pittsburgh(**{what: 10**30})


def test_a_window_that_no_log_has_is_refused_in_a_sentence():
    with pytest.raises(PolicyError, match="seconds, but it must be at most 9,007,199,254,740"):
        Pittsburgh(window=10**30)
