import pytest

from queuesmith import compare, demo_workload, simulate_many, tune
from queuesmith.learning.methods import make_method
from queuesmith.study.spreading import LostWorkError, spread
from tests.study.inline_engine import InlineEngine
from tests.study.test_engines import double, fail


@pytest.fixture(scope="module")
def log():
    return demo_workload().head(150)


def test_results_come_in_the_order_of_the_items_whoever_goes_away():
    engine = InlineEngine(3, lose=(0, 4, 5))
    assert spread(engine, double, range(6)) == [0, 2, 4, 6, 8, 10]
    assert engine.submitted == 9


def test_work_that_takes_its_worker_with_it_again_and_again_is_given_up():
    with pytest.raises(LostWorkError, match="lost its worker 6 times"):
        spread(InlineEngine(lose=range(100)), double, [1])


def test_an_error_of_the_work_itself_is_not_repeated():
    engine = InlineEngine()
    with pytest.raises(ValueError, match="no"):
        spread(engine, fail, [1])
    assert engine.submitted == 1


def test_replays_elsewhere_are_the_same(log):
    policies = ["fcfs+easy", "sjf+easy"]
    here = simulate_many(log, policies=policies)
    there = simulate_many(log, policies=policies, engine=InlineEngine(2))
    assert [s.start.tolist() for s in there] == [s.start.tolist() for s in here]
    assert [s.policy for s in there] == policies


def test_a_comparison_elsewhere_is_the_same(log):
    here = compare(log, policies=["fcfs", "fcfs+easy"])
    there = compare(log, policies=["fcfs", "fcfs+easy"], engine=InlineEngine(2))
    assert here.values == there.values


def test_what_is_learned_elsewhere_is_the_same(log):
    method = make_method("pittsburgh", generations=1, parents=2, offspring=4)
    options = {"objective": "mean_wait", "method": method, "seed": 3, "split": None}
    here = tune(log, **options)
    there = tune(log, **options, engine=InlineEngine(3))
    assert there.policy.to_dict() == here.policy.to_dict()
    assert [step.best for step in there.history] == [step.best for step in here.history]
