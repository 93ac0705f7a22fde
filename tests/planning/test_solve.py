"""The best plan in some time: never worse than a policy, never below the bound."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.base.errors import QueuesmithError
from queuesmith.cluster import Cluster
from queuesmith.planning import solve as solve_module
from queuesmith.planning.objectives import OBJECTIVES
from queuesmith.planning.problem import POLICIES, plan, violations
from queuesmith.planning.solve import METHODS, solve, solve_workload
from queuesmith.schedule.verify import verify
from queuesmith.solving.status import Status
from queuesmith.workload.synthetic import lublin
from tests.planning.twins import least_value, random_snapshot, small_snapshots


@settings(max_examples=25)
@given(small_snapshots(most=4, releases=True))
def test_few_jobs_get_the_optimum_of_all_orders(snapshot):
    for objective in OBJECTIVES:
        found = solve(snapshot, objective, 2)
        values = (plan(snapshot, name).value(objective) for name in POLICIES)
        assert found.value <= min(values) * (1 + 1e-12)
        assert violations(found.plan) == []
        assert found.status is Status.OPTIMAL
        problem = solve_module.Problem.of(snapshot, objective)
        least = least_value(snapshot, lambda start, p=problem: p.value(p.cost(start)))
        assert found.value == pytest.approx(least)


def test_seven_jobs_get_the_optimum_of_all_orders():
    step = random_snapshot(7, seed=11)
    found = solve(step, "artww", 10)
    best = min(plan(step, list(order)).value("artww") for order in permutations(range(7)))
    assert found.value == pytest.approx(best)
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("objective", list(OBJECTIVES))
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_plan_lies_between_the_bound_and_the_best_policy(objective, workers, seed):
    step = random_snapshot(25, seed=seed)
    found = solve(step, objective, 0.3, workers=workers)
    assert found.lower_bound <= found.value <= found.policy_value
    assert found.policy_value == min(plan(step, name).value(objective) for name in POLICIES)
    assert found.value == pytest.approx(found.plan.value(objective))
    assert found.loss_percent >= 0
    assert violations(found.plan) == []


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_bound_and_says_what_took_how_long(method):
    found = solve(random_snapshot(12, seed=3), "artww", 0.5, method=method)
    assert found.lower_bound <= found.value <= found.policy_value
    assert set(found.parts) <= {"policies", "search", "bound", "cpsat", "mip"}
    assert found.to_dict()["status"] in ("optimal", "feasible")


def test_the_bounds_of_all_methods_lie_below_the_values_of_all():
    step = random_snapshot(14, seed=8)
    found = [solve(step, "sldwa", 0.5, method=method) for method in METHODS]
    assert max(each.lower_bound for each in found) <= min(each.value for each in found) * (1 + 1e-9)


@pytest.mark.parametrize("part", ["Proof", "solve_cpsat", "solve_time_indexed"])
def test_a_solver_that_fails_leaves_the_best_plan_and_a_bound(monkeypatch, part):
    def fail(*_, **__):
        raise RuntimeError("out of luck")

    solve_module.load_kernels()
    monkeypatch.setattr(solve_module, part, fail)
    method = {"Proof": "branch", "solve_cpsat": "cpsat", "solve_time_indexed": "mip"}[part]
    found = solve(random_snapshot(12, seed=3), "artww", 0.3, method=method)
    assert found.lower_bound <= found.value <= found.policy_value
    assert any("out of luck" in str(fact) for fact in found.facts.values())


def test_the_makespan_of_very_many_jobs_is_only_searched(monkeypatch):
    monkeypatch.setattr(solve_module, "CPSAT_JOBS", 5)
    found = solve(random_snapshot(20, seed=4), "makespan", 0.2)
    assert "cpsat" not in found.parts
    assert found.lower_bound <= found.value


def test_a_log_is_planned_as_a_whole():
    log = lublin(60, 16, load=1.5, seed=2)
    found = solve_workload(log, Cluster(16), "response", 0.5)
    verify(found.schedule)
    assert found.lower_bound <= found.value <= found.policy_value
    assert (found.start >= found.snapshot.jobs.submit).all()


def test_the_same_seed_gives_the_same_plan_where_the_optimum_is_proven():
    step = random_snapshot(8, seed=6)
    first, second = solve(step, "artww", 5, seed=3), solve(step, "artww", 5, seed=3)
    assert first.status is second.status is Status.OPTIMAL
    assert np.array_equal(first.start, second.start)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seconds": 0}, "seconds is 0, but it must be a number above 0"),
        ({"seconds": float("nan")}, "above 0"),
        ({"workers": 0}, "workers is 0"),
        ({"method": "magic"}, "there is no method 'magic'"),
        ({"objective": "beauty"}, "there is no objective 'beauty'"),
        ({"objective": "makespan", "method": "branch"}, "not the makespan"),
    ],
)
def test_a_wrong_call_gets_one_sentence(options, sentence):
    with pytest.raises(QueuesmithError, match=sentence):
        solve(random_snapshot(20), **options)
