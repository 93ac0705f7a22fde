"""No plan is better than the bound, and where nothing is left open it is the optimum."""

import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.planning import bounds
from queuesmith.planning.bounds import BranchingProof, free_area, least_span
from queuesmith.planning.kernels import branching
from queuesmith.planning.order_search import OrderSearch
from queuesmith.planning.problem import PlanningProblem
from tests.planning.twins import least_value, random_snapshot, small_snapshots


def least_cost(problem):
    now = problem.snapshot.now
    return least_value(problem.snapshot, lambda start: problem.cost(start - now))


@settings(max_examples=50)
@given(small_snapshots(most=4, releases=True))
def test_no_plan_costs_less_than_the_bound_at_the_root(snapshot):
    for objective in ("artww", "response"):
        problem = PlanningProblem.of(snapshot, objective)
        least = least_cost(problem)
        proof = BranchingProof(problem, np.arange(len(snapshot)), cells=3)
        assert proof.bound <= least + 1e-6
        proof.plant()
        assert proof.bound <= least + 1e-6


@settings(max_examples=40)
@given(small_snapshots(most=4, releases=True))
@pytest.mark.uncompiled
def test_branching_ends_with_the_optimum_of_all_orders(snapshot):
    problem = PlanningProblem.of(snapshot, "response")
    proof = BranchingProof(problem, np.arange(len(snapshot))[::-1].copy(), cells=2)
    proof.plant()
    least = least_cost(problem)
    for _ in range(400):
        assert proof.bound <= least + 1e-6 <= proof.cost + 2e-6
        if proof.closed:
            break
        proof.branch(1)
    assert proof.closed
    assert proof.cost == proof.bound == pytest.approx(least)


@settings(max_examples=40)
@given(small_snapshots(most=4, releases=True))
def test_no_makespan_is_below_its_bound(snapshot):
    problem = PlanningProblem.of(snapshot, "makespan")
    assert least_span(problem) <= least_cost(problem)


def test_the_bound_rises_and_stays_below_every_plan_found():
    problem = PlanningProblem.of(random_snapshot(18, seed=5), "artww")
    search = OrderSearch(problem, [np.arange(18)], seed=1)
    search.anneal(20_000)
    proof = BranchingProof(problem, search.order)
    proof.plant()
    before = proof.bound
    proof.branch(60)
    assert before <= proof.bound <= proof.cost <= search.cost
    assert proof.branches <= 60


def test_a_better_order_is_taken_and_a_worse_one_is_not():
    problem = PlanningProblem.of(random_snapshot(10, seed=2), "artww")
    search = OrderSearch(problem, [np.arange(10)], seed=1)
    first = search.cost
    search.anneal(5000)
    proof = BranchingProof(problem, np.arange(10))
    proof.offer(search.order, search.cost)
    assert proof.cost == search.cost < first
    proof.offer(np.arange(10), first)
    assert proof.cost == search.cost


def test_a_full_tree_stops_and_keeps_its_bound(monkeypatch):
    monkeypatch.setattr(bounds, "MOST_BRANCHES", 3)
    problem = PlanningProblem.of(random_snapshot(18, seed=5), "artww")
    proof = BranchingProof(problem, np.arange(18))
    proof.run_until(float("inf"))
    assert proof.full or proof.closed
    assert proof.bound <= proof.cost


def test_the_grid_of_many_jobs_is_thinned(monkeypatch):
    monkeypatch.setattr(bounds, "MOST_INSTANTS", 10)
    problem = PlanningProblem.of(random_snapshot(30, seed=5), "artww")
    proof = BranchingProof(problem, np.arange(30), cells=5)
    proof.plant()
    assert 0 < proof.bound <= proof.cost


def test_free_area_adds_up_the_staircase():
    problem = PlanningProblem.of(random_snapshot(3, seed=1), "artww")
    time, free = problem.usable
    expected = sum(int(free[np.searchsorted(time, second, "right") - 1]) for second in range(5000))
    assert free_area(problem, np.array([0, 5000])).tolist() == [0, expected]


def test_the_heap_gives_the_least_bound_first():
    tree = bounds._tree(1, 1)
    numbers = np.random.default_rng(0).permutation(50)
    tree.bound[:50] = numbers
    for node in range(50):
        branching.push(tree, node)
    assert [tree.bound[branching.pop(tree)] for _ in range(50)] == sorted(numbers)


def test_the_best_order_is_not_lost_by_narrowing_windows():
    problem = PlanningProblem.of(random_snapshot(8, seed=7), "artww")
    search = OrderSearch(problem, [np.arange(8)], seed=1)
    search.anneal(20_000)
    proof = BranchingProof(problem, search.order)
    proof.run_until(float("inf"))
    assert proof.closed
    assert proof.cost == search.cost
