"""Two formulations, CP-SAT and the time-indexed model, and the branching agree."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.planning import time_indexed
from queuesmith.planning.cpsat import solve_cpsat
from queuesmith.planning.problem import PlanningProblem, placed
from queuesmith.planning.time_indexed import solve_time_indexed
from tests.planning.twins import least_value, random_snapshot, small_snapshots


@settings(max_examples=12)
@given(small_snapshots(most=4, releases=True))
def test_both_formulations_find_the_optimum_of_all_orders(snapshot):
    for objective in ("artww", "makespan"):
        problem = PlanningProblem.of(snapshot, objective)
        least = least_value(snapshot, problem.cost)
        order = np.arange(len(snapshot))
        found = solve_cpsat(problem, order, 10)
        assert found.status == "optimal"
        assert found.bound == pytest.approx(least)
        assert placed(problem, found.order)[0] == pytest.approx(least)
        if objective == "artww":
            exact = solve_time_indexed(problem, order, 10, step=1)
            assert exact.status == "optimal"
            assert exact.bound == pytest.approx(least, rel=1e-5, abs=1e-6)
            assert placed(problem, exact.order)[0] == pytest.approx(least)


@settings(max_examples=12)
@given(small_snapshots(most=4, releases=True))
def test_the_rounded_down_model_is_a_bound_on_any_grid(snapshot):
    problem = PlanningProblem.of(snapshot, "response")
    least = least_value(snapshot, problem.cost)
    for step in (2, 3, 5):
        found = solve_time_indexed(problem, np.arange(len(snapshot)), 10, step=step)
        assert found.bound <= least + 1e-6


def test_the_grid_is_as_fine_as_the_variables_allow(monkeypatch):
    problem = PlanningProblem.of(random_snapshot(5, seed=3), "artww")
    monkeypatch.setattr(time_indexed, "MOST_VARIABLES", 300)
    found = solve_time_indexed(problem, np.arange(5), 20)
    best = solve_cpsat(problem, np.arange(5), 20)
    assert best.status == "optimal"
    assert 0 < found.bound <= best.bound + 1e-6


def test_weights_that_are_no_whole_numbers_are_rounded_down():
    step = random_snapshot(5, seed=3)
    jobs = step.jobs.replaced(extra={"weight": np.array([0.1, 0.7, 1.3, 0.25, 2.0])})
    problem = PlanningProblem.of(
        type(step)(step.now, jobs, step.time, step.free, step.cores), "response"
    )
    found = solve_cpsat(problem, np.arange(5), 20)
    cost = placed(problem, found.order)[0]
    assert found.bound <= cost * (1 + 1e-9)
    assert found.bound == pytest.approx(cost, rel=1e-4)


def test_no_time_gives_no_bound_but_no_error():
    problem = PlanningProblem.of(random_snapshot(40, seed=1), "artww")
    found = solve_time_indexed(problem, np.arange(40), 0.0)
    assert found.bound <= placed(problem, np.arange(40))[0]
    hurried = solve_cpsat(problem, np.arange(40), 0.0)
    assert hurried.order is None or len(hurried.order) == 40
    assert hurried.bound < math.inf
