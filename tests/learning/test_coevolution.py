"""CCA: two species, judged together."""

import numpy as np
import pytest

from queuesmith.base.errors import PolicyError, UsageError
from queuesmith.learning.coevolution import Coevolution
from queuesmith.learning.course import run
from queuesmith.learning.methods import make_method
from queuesmith.policy import Policy
from queuesmith.study.judgement import admitted
from tests.learning.judges import Teacher

RANKED = [Policy.parse(text) for text in ("greedy", "group", "fcfs+easy")]


def test_both_species_need_as_many_replays_as_one():
    method = Coevolution()
    assert [len(code) for code in method.encodings] == [180, 180]
    assert method.evaluations == 843
    assert len(method.offered) == 13


@pytest.mark.parametrize(("pairing", "asked"), [("random", [3, 6, 6]), ("best", [3, 12, 12])])
def test_pairings_cost_what_they_say(pairing, asked):
    judge = Teacher()
    method = Coevolution(generations=2, offspring=6, rules=2, pairing=pairing)
    course = run(method, method.learn(np.random.default_rng(0), RANKED), judge)
    assert judge.asked == asked
    assert course.evaluations == method.evaluations == sum(asked)


@pytest.mark.parametrize("pairing", ["random", "best"])
def test_it_learns_what_the_teacher_knows(pairing):
    judge = Teacher()
    method = make_method("cca", generations=60, rules=4, features=("utilization",), pairing=pairing)
    course = run(method, method.learn(np.random.default_rng(2), RANKED[1:]), judge)
    assert judge.loss(course.policy) == course.steps[-1].best <= 0.2


def test_random_pairs_use_each_child_once():
    method = Coevolution(generations=1, offspring=9)
    learning = method.learn(np.random.default_rng(0), [])
    next(learning)
    children = learning.send(admitted([3.0, 1.0, 2.0]))
    for part in (0, 1):
        assert len({policy.parts[part].centre.tobytes() for policy in children}) == 9


def test_with_the_best_partner_each_child_meets_the_best_parent():
    method = Coevolution(generations=1, offspring=4, pairing="best", fallback=False)
    learning = method.learn(np.random.default_rng(0), [])
    founders = next(learning)
    children = learning.send(admitted([3.0, 1.0, 2.0]))
    best = founders[1]
    for policy in children[:4]:
        assert np.array_equal(policy.algorithm_rules.centre, best.algorithm_rules.centre)
    for policy in children[4:]:
        assert np.array_equal(policy.order_rules.centre, best.order_rules.centre)


def test_a_child_is_credited_with_the_value_of_its_own_pair():
    """The best pair's two members both become parents, wherever the partner stood."""
    method = Coevolution(generations=2, offspring=8)
    learning = method.learn(np.random.default_rng(0), [])
    next(learning)
    children = learning.send(admitted([9.0, 9.0, 9.0]))
    losses = [5.0] * 8
    losses[3] = 1.0
    learning.send(admitted(losses))
    species = learning.gi_frame.f_locals["both"]
    for part, one in enumerate(species):
        best = one.encoding.decode(one.parents.vectors[0])
        assert one.judged[0].value == 1.0
        assert np.array_equal(best.centre, children[3].parts[part].centre)


def test_seeds_play_the_best_fixed_strategies():
    method = Coevolution(seeded=3)
    first = next(method.learn(np.random.default_rng(0), RANKED))
    states = np.random.default_rng(1).random((20, 7))
    played = [{str(p.strategies[p.choose(state)]) for state in states} for p in first]
    assert played == [{"greedy"}, {"group"}, {"fcfs+easy"}]


def test_a_new_start_forgets_both_species():
    method = Coevolution(generations=4, restart_after=1, offspring=5, rules=2)
    learning = method.learn(np.random.default_rng(0), [])
    course = run(method, learning, lambda some: admitted([1.0] * len(some)))
    assert course.evaluations == 3 + 4 * 5


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"pairing": "friends"}, UsageError),
        ({"orders": ("magic",)}, PolicyError),
        ({"algorithms": ("conservative",)}, PolicyError),
        ({"generations": -2}, UsageError),
    ],
)
def test_wrong_parameters_are_refused_at_once(wrong, error):
    with pytest.raises(error):
        Coevolution(**wrong)
