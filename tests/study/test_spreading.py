import numpy as np
import pytest

from queuesmith import compare, demo_workload, pareto_front, simulate_many, sweep, tune
from queuesmith.knobs import quick_search
from queuesmith.learning.methods import make_method
from queuesmith.learning.pareto import FrontSearch
from queuesmith.planning.gap import gap
from queuesmith.study.spreading import LostWorkError, spread
from tests.planning.twins import random_snapshot
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


def test_who_watches_hears_of_each_result_as_it_comes():
    heard = []
    spread(InlineEngine(2, lose=(0,)), double, [5, 6], watch=lambda *told: heard.append(told))
    assert sorted(heard) == [(0, 10), (1, 12)]


@pytest.mark.parametrize("lost", [(), (1, 2)])
def test_a_sweep_elsewhere_is_the_same_whoever_goes_away(log, tmp_path, lost):
    options = {"ranges": "-1:1:0.5", "cores": log.cores.max()}
    here = sweep(log, **options)
    shares = []
    there = sweep(
        log,
        **options,
        engine=InlineEngine(3, lose=lost),
        keep=tmp_path / "kept",
        progress=shares.append,
    )
    again = sweep(log, **options, engine=InlineEngine(lose=range(99)), keep=tmp_path / "kept")
    for found in (there, again):  # the second takes up what the first kept, and asks nobody
        assert np.array_equal(found.costs, here.costs)
        assert found.replays == here.replays
    assert shares == sorted(shares) and shares[-1] == 1


def test_a_quick_search_elsewhere_is_the_same(log):
    options = {"ranges": "-1:1:0.5", "budget": 0.2, "seed": 2}
    here = quick_search(log, **options)
    there = quick_search(log, **options, engine=InlineEngine(3))
    assert np.array_equal(there.settings, here.settings)
    assert np.array_equal(there.costs, here.costs)


def test_a_front_elsewhere_is_the_same(log):
    pytest.importorskip("pymoo")
    options = {"search": FrontSearch(population=8, generations=2), "seed": 4}
    here = pareto_front(log, **options)
    there = pareto_front(log, **options, engine=InlineEngine(3))
    assert [p.to_dict() for p in there.points] == [p.to_dict() for p in here.points]


def test_steps_solved_elsewhere_come_in_their_order_with_the_same_optima():
    steps = [random_snapshot(jobs, seed=jobs) for jobs in (3, 4, 5, 6, 7)]
    told = []
    here = gap(steps, seconds=5)
    there = gap(steps, seconds=5, engine=InlineEngine(2), progress=told.append)
    assert told == sorted(told)  # how many are told of at once hangs on the clock
    assert told[-1] == 5
    for name in ("jobs", "policy", "value", "lower_bound", "status"):
        assert there.column(name).tolist() == here.column(name).tolist()
    assert set(here.column("status")) == {"optimal"}


def test_what_is_learned_elsewhere_is_the_same(log):
    method = make_method("pittsburgh", generations=1, parents=2, offspring=4)
    options = {"objective": "mean_wait", "method": method, "seed": 3, "split": None}
    here = tune(log, **options)
    there = tune(log, **options, engine=InlineEngine(3))
    assert there.policy.to_dict() == here.policy.to_dict()
    assert [step.best for step in there.history] == [step.best for step in here.history]
