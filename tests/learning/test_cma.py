"""What CMA-ES searches: rule bases, and parametric orders."""

import subprocess
import sys

import numpy as np
import pytest

import queuesmith as qs
from queuesmith.base.errors import UsageError
from queuesmith.learning.cma_search import Cma
from queuesmith.learning.course import run
from queuesmith.learning.head_start import HeadStart
from queuesmith.learning.priority import Priority
from queuesmith.policy import Policy
from tests.learning.judges import Teacher, prefers_patience

RANKED = [Policy.parse("group"), Policy.parse("fcfs+easy")]


def learned(method, judge, seed=0):
    return run(method, method.learn(np.random.default_rng(seed), RANKED), judge)


def test_the_best_never_gets_worse_and_is_what_is_returned():
    judge = Teacher()
    method = Cma(generations=8, rules=3, features=("utilization",))
    course = learned(method, judge)
    best = [step.best for step in course.steps]
    assert best == sorted(best, reverse=True)
    assert judge.loss(course.policy) == best[-1]
    assert judge.asked == [1] + [21] * 8
    assert course.evaluations == method.evaluations


def test_rule_bases_get_better_from_one_of_a_few_seeds():
    """Where a search gets to depends on the last digit of exp and log, so on the processor.

    Three of four seeds do, of those that were tried; eight that all fail are no bad luck.
    """
    method = Cma(generations=25, rules=3, features=("utilization",))
    courses = (learned(method, Teacher(), seed) for seed in range(1, 9))
    assert any(course.steps[-1].best < 0.5 * course.steps[0].best for course in courses)


def test_it_starts_from_the_best_fixed_strategy_unless_told_otherwise():
    states = np.random.default_rng(1).random((20, 7))
    first = next(Cma().learn(np.random.default_rng(0), RANKED))[0]
    assert {str(first.strategies[first.choose(state)]) for state in states} == {"group"}
    chance = next(Cma(seeded=False).learn(np.random.default_rng(0), RANKED))[0]
    assert len({chance.choose(state) for state in states}) > 1


def test_the_priority_is_found_with_its_backfill():
    method = Priority(generations=60, offspring=12)
    course = learned(method, prefers_patience)
    assert course.policy.backfill == "list"
    assert course.policy.order.parameters["beta"] == pytest.approx(2, abs=0.2)
    assert course.policy.order.parameters["gamma"] == pytest.approx(-1, abs=0.2)
    assert course.evaluations == method.evaluations == 720


def test_a_short_search_still_tries_every_backfill():
    seen = []

    def judge(policies):
        seen.append(policies[0].backfill)
        return prefers_patience(policies)

    learned(Priority(generations=3, offspring=4), judge)
    assert seen == ["easy", "none", "list"]


def test_parameters_of_the_order_have_their_places():
    policy = Priority().policy(np.arange(7.0), "easy")
    assert policy.order.parameters["group_2"] == 1
    assert policy.order.parameters["beta"] == 1 + 5
    assert policy.order.parameters["gamma"] == 6
    assert policy.order.parameters["group_5"] == 0
    assert Policy.parse(str(policy)) == policy


def test_head_starts_are_hours_that_one_can_read():
    policy = HeadStart(most=24).policy(np.array([0.5, 0, 0, -0.1, 0.25, 0]), "plan")
    assert (
        str(policy)
        == "head_start(group_1=11.09,group_2=0,group_3=0,group_4=-2.39,walltime=0.49)+plan"
    )
    assert Policy.parse(str(policy)) == policy


def test_no_head_start_exceeds_the_most_however_far_a_search_goes():
    policy = HeadStart(most=24).policy(np.array([9, -9, 9, 9, 9, -9.0]), "easy")
    hours = policy.order.parameters
    assert (hours["group_1"], hours["group_2"], hours["walltime"], hours["cores"]) == (
        24,
        -24,
        2,
        -2,
    )


@pytest.mark.parametrize("method", [Priority, HeadStart])
def test_parametric_orders_begin_with_first_come_first_served(method):
    log = qs.demo_workload().head(300)
    first = method().policy(np.zeros(len(method.tuned)), "easy")
    assert np.array_equal(qs.simulate(log, policy=first).start, qs.simulate(log).start)


def test_head_starts_are_learned_for_a_group_and_nobody_starves():
    log = qs.demo_workload()
    tuned = qs.tune(log, objective="awrt[1]", method=HeadStart(generations=6, offspring=6))
    assert tuned.policy.order.function.__name__ == "head_start"
    assert tuned.learning.improvement_percent["baseline"] > 5
    assert not tuned.learning.starved


@pytest.mark.parametrize(
    "method", [Cma(generations=3, rules=2), Priority(generations=4), HeadStart(generations=4)]
)
def test_chance_comes_from_the_seed_alone(method):
    judge = Teacher() if isinstance(method, Cma) else prefers_patience
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - it must not change
    first = learned(method, judge, 5).policy
    np.random.standard_normal(3)  # noqa: NPY002
    changed = np.random.get_state()[1].copy()  # noqa: NPY002
    second = learned(method, judge, 5).policy
    other = learned(method, judge, 6).policy
    assert first.to_dict() == second.to_dict() != other.to_dict()
    assert np.array_equal(np.random.get_state()[1], changed)  # noqa: NPY002
    assert len(before) == len(changed)


def test_without_matplotlib_nothing_is_said():
    """pycma warns that it is not there; it is for pictures only."""
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['scipy'] = None\n"
        "import numpy as np\n"
        "from queuesmith.learning.cma_library import CmaSearch\n"
        "print(len(CmaSearch(np.zeros(2), 1.0, 4, np.random.default_rng(0)).ask()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("4\n", "")


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        (Cma, {"offspring": 1}),
        (Cma, {"generations": 0}),
        (Cma, {"step": 0}),
        (HeadStart, {"backfills": ("magic",)}),
        (HeadStart, {"most": 0}),
        (Priority, {"offspring": 1}),
        (Priority, {"generations": 0}),
        (Priority, {"step": -1}),
        (Priority, {"backfills": ()}),
        (Priority, {"backfills": ("easy", "magic")}),
    ],
)
def test_wrong_parameters_are_refused_at_once(method, wrong):
    with pytest.raises(UsageError):
        method(**wrong)
