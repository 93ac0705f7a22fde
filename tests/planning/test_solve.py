"""The best plan in some time: never worse than a policy, never below the bound."""

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.base.errors import QueuesmithError
from queuesmith.cluster import Cluster
from queuesmith.planning import solve as solve_module
from queuesmith.planning.bounds import BranchingProof
from queuesmith.planning.objectives import OBJECTIVES
from queuesmith.planning.options import METHODS
from queuesmith.planning.order_search import OrderSearch
from queuesmith.planning.plans import POLICIES, plan, plan_value
from queuesmith.planning.problem import placed
from queuesmith.planning.solution import solution_facts
from queuesmith.planning.solve import solve, solve_workload
from queuesmith.schedule.verify import verify
from queuesmith.solving.incumbent import Incumbent
from queuesmith.solving.status import Status
from queuesmith.workload.synthetic import lublin
from tests.planning.twins import least_value, random_snapshot, small_snapshots


@settings(max_examples=25)
@given(small_snapshots(most=4, releases=True))
def test_few_jobs_get_the_optimum_of_all_orders(snapshot):
    for objective in OBJECTIVES:
        found = solve(snapshot, objective, 2)
        values = (plan_value(plan(snapshot, name), objective) for name in POLICIES)
        assert found.proof.value <= min(values) * (1 + 1e-12)
        verify(found)
        assert found.status is Status.OPTIMAL
        problem = solve_module.PlanningProblem.of(snapshot, objective)
        least = least_value(snapshot, lambda start, p=problem: p.value(p.cost(start)))
        assert found.proof.value == pytest.approx(least)


def test_seven_jobs_get_the_optimum_of_all_orders():
    step = random_snapshot(7, seed=11)
    found = solve(step, "artww", 10)
    best = min(plan_value(plan(step, list(order)), "artww") for order in permutations(range(7)))
    assert found.proof.value == pytest.approx(best)
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("objective", list(OBJECTIVES))
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_plan_lies_between_the_bound_and_the_best_policy(objective, workers, seed):
    step = random_snapshot(25, seed=seed)
    found = solve(step, objective, 0.3, workers=workers)
    assert found.lower_bound <= found.proof.value <= found.facts["policy_value"]
    values = [plan_value(plan(step, name), objective) for name in POLICIES]
    assert found.facts["policy_value"] == min(values)
    assert found.proof.value == pytest.approx(plan_value(found, objective))
    assert found.facts["loss_percent"] >= 0
    verify(found)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_bound_and_says_what_took_how_long(method):
    found = solve(random_snapshot(12, seed=3), "artww", 0.5, method=method)
    assert found.lower_bound <= found.proof.value <= found.facts["policy_value"]
    facts = solution_facts(found)
    took = {name.removesuffix("_seconds") for name in facts if name.endswith("_seconds")}
    assert {"policies"} <= took <= {"policies", "search", "bound", "cpsat", "mip"}
    assert facts["status"] in ("optimal", "feasible")


def test_the_bounds_of_all_methods_lie_below_the_values_of_all():
    step = random_snapshot(14, seed=8)
    found = [solve(step, "sldwa", 0.5, method=method) for method in METHODS]
    assert max(each.lower_bound for each in found) <= min(each.proof.value for each in found) * (
        1 + 1e-9
    )


@pytest.mark.parametrize("part", ["BranchingProof", "solve_cpsat", "solve_time_indexed"])
def test_a_solver_that_fails_leaves_the_best_plan_and_a_bound(monkeypatch, part):
    def fail(*_, **__):
        raise RuntimeError("out of luck")

    solve_module.load_kernels()
    monkeypatch.setattr(solve_module, part, fail)
    methods = {"BranchingProof": "branch", "solve_cpsat": "cpsat", "solve_time_indexed": "mip"}
    found = solve(random_snapshot(12, seed=3), "artww", 30, method=methods[part])
    assert found.lower_bound <= found.proof.value <= found.facts["policy_value"]
    assert any("out of luck" in str(fact) for fact in found.facts.values())


class HalfWrittenProof(BranchingProof):
    """A proof whose kernel is caught, for a while, in the middle of writing an order."""

    def branch(self, nodes):
        """Leave half an order where the best one stands, let other threads run, then go on."""
        whole = self.order.copy()
        self.order[: len(whole) // 2] = whole[-1]
        time.sleep(0.02)
        self.order[:] = whole
        super().branch(nodes)

    plant_whole = BranchingProof.plant

    def plant(self, *seconds):
        """Do the same before the root is settled, which is when the other thread begins."""
        whole = self.order.copy()
        self.order[:] = 0
        time.sleep(0.02)
        self.order[:] = whole
        self.plant_whole(*seconds)


def test_no_thread_reads_an_order_that_a_kernel_is_writing(monkeypatch):
    solve_module.load_kernels()
    read = []

    class WatchedSearch(OrderSearch):
        def __init__(self, problem, orders, **options):
            read.extend(np.array(order) for order in orders)
            super().__init__(problem, orders, **options)

    monkeypatch.setattr(solve_module, "BranchingProof", HalfWrittenProof)
    monkeypatch.setattr(solve_module, "OrderSearch", WatchedSearch)
    for seed in range(10):
        found = solve(random_snapshot(25, seed=seed), "artww", 0.1, workers=2, seed=seed)
        assert found.proof.value <= found.facts["policy_value"]
        verify(found)
    assert len(read) > 10
    assert all(np.array_equal(np.sort(order), np.arange(25)) for order in read)


def test_the_best_order_of_two_threads_is_always_an_order_and_costs_what_is_told(monkeypatch):
    seen = []
    offer = Incumbent.offer

    def watched(self, order, value):
        better = offer(self, order, value)
        seen.append(self.snapshot())
        return better

    monkeypatch.setattr(Incumbent, "offer", watched)
    for seed in range(15):
        step = random_snapshot(20, seed=seed)
        problem = solve_module.PlanningProblem.of(step, "artww")
        solve(step, "artww", 0.06, workers=2, seed=seed)
        for order, cost in seen:
            assert np.array_equal(np.sort(order), np.arange(20))
            assert placed(problem, order)[0] == cost
        seen.clear()


def test_the_makespan_of_very_many_jobs_is_only_searched(monkeypatch):
    monkeypatch.setattr(solve_module, "CPSAT_JOBS", 5)
    found = solve(random_snapshot(20, seed=4), "makespan", 0.2)
    assert "cpsat_seconds" not in found.facts
    assert found.lower_bound <= found.proof.value


def test_a_log_is_planned_as_a_whole():
    log = lublin(60, 16, load=1.5, seed=2)
    found = solve_workload(log, Cluster(16), "response", 0.5)
    verify(found)
    assert found.lower_bound <= found.proof.value <= found.facts["policy_value"]
    assert (found.start >= found.workload.submit).all()


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
    with pytest.raises(QueuesmithError, match=sentence):  # on a slow machine, too
        solve(random_snapshot(20), **{"seconds": 1e-9, **options})
