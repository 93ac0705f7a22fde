"""Runs: what is asked, told, recorded and resumed."""

import numpy as np
import pytest

from queuesmith.base.errors import UsageError
from queuesmith.learning.cma_search import Cma
from queuesmith.learning.coevolution import Coevolution
from queuesmith.learning.course import run
from queuesmith.learning.evolution import Pittsburgh
from queuesmith.learning.priority import Priority
from queuesmith.learning.probability import Probability
from queuesmith.policy import Policy
from queuesmith.study.judgement import GIVEN_UP, admitted
from queuesmith.study.store import Store
from tests.learning.judges import Teacher, prefers_patience

RANKED = [Policy.parse("group"), Policy.parse("fcfs+easy")]
METHODS = [
    Pittsburgh(generations=4, offspring=4, rules=2),
    Pittsburgh(generations=5, offspring=3, rules=2, restart_after=1),
    Coevolution(generations=4, offspring=4, rules=2),
    Coevolution(generations=3, offspring=3, rules=2, pairing="best"),
    Probability(participations=4, partition={"utilization": (0.5,)}),
    Cma(generations=4, offspring=4, rules=2),
    Priority(generations=5, offspring=4),
]


class StopHereError(Exception):
    pass


def judge_of(method):
    return prefers_patience if isinstance(method, Priority) else Teacher()


def begun(method, seed=3):
    return method.learn(np.random.default_rng(seed), RANKED)


def stopping(judge, after):
    """Judge a few rounds, then stop as Ctrl-C does."""
    left = [after]

    def judging(policies):
        if left[0] == 0:
            raise StopHereError
        left[0] -= 1
        return judge(policies)

    return judging


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_stopped_after_any_round_and_resumed_it_gives_the_same(method, tmp_path):
    judge = judge_of(method)
    whole = run(method, begun(method), judge)
    for after in range(method.rounds):
        with Store(tmp_path / f"{after}.sqlite", method.settings()) as store:
            with pytest.raises(StopHereError):
                run(method, begun(method), stopping(judge, after), store=store)
            assert len(store) == after
        with Store(tmp_path / f"{after}.sqlite", method.settings()) as store:
            resumed = run(method, begun(method), judge, store=store)
        assert resumed.policy.to_dict() == whole.policy.to_dict()
        assert resumed.steps == whole.steps
        assert resumed.evaluations == whole.evaluations == method.evaluations


def test_what_is_recorded_is_not_judged_again(tmp_path):
    method = METHODS[0]
    with Store(tmp_path / "run.sqlite", method.settings()) as store:
        first = run(method, begun(method), Teacher(), store=store)
        again = run(method, begun(method), stopping(Teacher(), 0), store=store)
    assert again.policy.to_dict() == first.policy.to_dict()
    assert again.seconds == pytest.approx(first.seconds)


def test_a_record_whose_questions_differ_is_refused(tmp_path):
    method = METHODS[0]
    with Store(tmp_path / "run.sqlite", {}) as store:
        run(method, begun(method), Teacher(), store=store)
        with pytest.raises(UsageError, match=r"run\.sqlite' cannot be resumed: round 0"):
            run(method, begun(method, seed=4), Teacher(), store=store)


def test_the_course_shows_best_and_mean_of_each_round():
    method = Pittsburgh(generations=2, parents=2, offspring=2, rules=1, seeded=0)
    told = map(admitted, [[3.0, 5.0], [4.0, 6.0], [1.0, 2.0]])
    course = run(method, begun(method), lambda policies: next(told))
    assert [step.to_dict() for step in course.steps] == [
        {"evaluations": 2, "best": 3.0, "mean": 4.0},
        {"evaluations": 4, "best": 3.0, "mean": 5.0},
        {"evaluations": 6, "best": 1.0, "mean": 1.5},
    ]


def test_policies_that_were_given_up_are_not_in_the_mean():
    method = Pittsburgh(generations=1, parents=2, offspring=2, rules=1, seeded=0)
    told = iter([[GIVEN_UP, *admitted([5.0])], [GIVEN_UP, GIVEN_UP]])
    course = run(method, begun(method), lambda policies: next(told))
    assert [(step.best, step.mean) for step in course.steps] == [(5.0, 5.0), (5.0, None)]


def test_where_higher_is_better_the_course_shows_values_not_losses():
    method = Pittsburgh(generations=1, parents=2, offspring=2, rules=1)
    told = map(admitted, [[-0.3, -0.5], [-0.9, -0.1]])
    course = run(method, begun(method), lambda some: next(told), higher_is_better=True)
    assert [(step.best, step.mean) for step in course.steps] == [(0.5, 0.4), (0.9, 0.5)]


def test_progress_tells_round_best_rate_and_time_left():
    method = METHODS[0]
    heard = []
    run(method, begun(method), Teacher(), progress=heard.append)
    assert [state.round for state in heard] == [1, 2, 3, 4, 5]
    assert heard[-1].share == 1
    assert heard[-1].seconds_left == 0
    assert all(state.rate > 0 for state in heard)
    assert heard[0].seconds_left == pytest.approx(16 / heard[0].rate)
    assert str(heard[0]).startswith("round 1 of 5, best ")
    assert "evaluations a second" in str(heard[0])
