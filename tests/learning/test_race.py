"""Methods that share the replays of one: they take turns, then the best goes on."""

from collections.abc import Sequence

import numpy as np
import pytest

import queuesmith as qs
from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.learning.course import run
from queuesmith.learning.methods import make_method
from queuesmith.learning.race import Race
from queuesmith.learning.turns import in_turns
from queuesmith.policy import AnyPolicy, Policy
from queuesmith.policy.rulebase import RuleBased
from queuesmith.study.judgement import Judgement, admitted

RANKED = [Policy.parse("group"), Policy.parse("fcfs+easy")]


class Liking:
    """Judges by what kind of policy it is: 0 for the kind that it likes, 1 for all others."""

    def __init__(self, liked: str) -> None:
        self.liked = liked
        self.kinds: list[str] = []

    def __call__(self, policies: Sequence[AnyPolicy]) -> list[Judgement]:
        self.kinds.append(kind(policies[0]))
        return admitted(float(kind(policy) != self.liked) for policy in policies)


def kind(policy: AnyPolicy) -> str:
    if isinstance(policy, RuleBased):
        return "rules"
    assert isinstance(policy, Policy)
    return "best fixed" if policy == RANKED[0] else policy.order.name


def raced(method: Race, judge: Liking):
    return run(method, method.learn(np.random.default_rng(0), RANKED), judge)


@pytest.mark.parametrize("liked", ["rules", "group_power", "head_start"])
def test_they_take_turns_then_the_best_goes_on(liked):
    judge, method = Liking(liked), Race(generations=10, offspring=4)
    course = raced(method, judge)
    turns = ["rules", "group_power", "head_start"] * 2
    assert judge.kinds == ["best fixed", *turns, *[liked] * 5]
    assert kind(course.policy) == liked
    assert course.evaluations == method.evaluations == 1 + 3 + 4 * 10


def test_the_best_fixed_strategy_stays_where_nothing_is_better():
    course = raced(Race(generations=3, offspring=2), Liking("best fixed"))
    assert kind(course.policy) == "best fixed"


def test_the_shortest_race_has_a_turn_for_each():
    judge = Liking("head_start")
    raced(Race(generations=2, offspring=2), judge)
    assert judge.kinds == ["best fixed", "rules", "group_power", "head_start"]


@pytest.mark.parametrize("generations", range(2, 9))
def test_no_method_ends_before_the_race_does(generations):
    for liked in ("rules", "group_power", "head_start"):
        method = Race(generations=generations, offspring=2)
        assert raced(method, Liking(liked)).evaluations == method.evaluations


def test_what_is_learned_is_no_worse_than_all_that_was_offered():
    log = qs.demo_workload()
    method = Race(generations=4, offspring=4, rules=3)
    tuned = qs.tune(log, method=method, seed=2)
    assert {"head_start+easy", "head_start+plan", "group"} <= {str(p) for p in method.offered}
    assert tuned.learning.improvement_percent["best_fixed"] >= 0
    assert not tuned.learning.starved
    assert tuned.settings["method"] == "race"


def test_the_same_seed_gives_the_same_policy_and_another_one_another():
    log = qs.demo_workload().head(400)
    first, second, other = (
        qs.tune(log, method=Race(generations=2, offspring=3), seed=seed, split=None)
        for seed in (5, 5, 6)
    )
    assert [step.mean for step in first.history] == [step.mean for step in second.history]
    assert [step.mean for step in first.history] != [step.mean for step in other.history]


def test_a_learner_is_told_what_it_asked_before_it_asks_again():
    told: dict[str, list[Sequence[Judgement]]] = {"easy": [], "plan": []}

    def learner(backfill):
        while True:
            told[backfill].append((yield [Policy.parse(f"fcfs+{backfill}")]))

    def judge():
        """Count down: whoever asks later is better."""
        racing = in_turns([learner("easy"), learner("plan")], 5, 4)
        asked = next(racing)
        for loss in (4.0, 3.0, 2.0, 1.0):
            yield asked[0].backfill
            asked = racing.send(admitted([loss]))
        yield asked[0].backfill
        with pytest.raises(StopIteration) as end:
            racing.send(admitted([0.0]))
        assert end.value.value.policy.backfill == "plan"

    assert list(judge()) == ["easy", "plan", "easy", "plan", "plan"]
    assert told == {"easy": [admitted([4.0])], "plan": [admitted([3.0]), admitted([1.0])]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"generations": 1},
        {"parents": 0},
        {"offspring": 1},
        {"rules": 0},
        {"strategies": ("fcfs+magic",)},
        {"features": ("colour",)},
        {"most": 0},
    ],
)
def test_wrong_parameters_are_refused_at_once(wrong):
    with pytest.raises(QueuesmithError):
        Race(**wrong)


def test_what_only_one_of_them_takes_is_refused_with_what_it_takes():
    with pytest.raises(UsageError, match=r"race.*weight_step"):
        make_method("race", weight_step=0.3)
