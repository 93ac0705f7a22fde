"""Placing jobs in an order, and what plans are judged by."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import QueuesmithError
from queuesmith.cluster import Cluster
from queuesmith.planning import Snapshot
from queuesmith.planning.objectives import OBJECTIVES
from queuesmith.planning.problem import POLICIES, Plan, Problem, best_policy, plan, violations
from queuesmith.schedule import Schedule
from tests.planning.twins import place_slowly, random_snapshot, small_snapshots


@settings(max_examples=150)
@given(small_snapshots(releases=True), st.randoms())
def test_jobs_are_placed_where_the_slow_twin_places_them(snapshot, chance):
    order = list(range(len(snapshot)))
    chance.shuffle(order)
    found = plan(snapshot, order)
    assert found.start.tolist() == place_slowly(snapshot, order)
    assert violations(found) == []


def test_the_three_policies_are_orders():
    step = Snapshot.make(
        now=0, cores=1, staircase=[(0, 1)], submit=[0, 1, 2], walltime=[2, 1, 3], width=[1, 1, 1]
    )
    step = Snapshot(2, step.jobs, np.array([2]), np.array([1]), 1)
    starts = {name: (plan(step, name).start - 2).tolist() for name in POLICIES}
    assert starts == {"fcfs": [0, 2, 3], "sjf": [1, 0, 3], "ljf": [3, 5, 0]}
    assert best_policy(step, "response").method == "sjf"


def test_objectives_are_the_metrics_of_the_schedule():
    step = random_snapshot(12)
    found = plan(step, "sjf")
    schedule = Schedule(step.jobs, Cluster(step.cores), found.start, "sjf")
    assert found.value("artww") == pytest.approx(schedule.value("artww"))
    assert found.value("sldwa") == pytest.approx(schedule.value("sldwa"))
    assert found.value("response") == pytest.approx(schedule.value("mean_response"))
    assert found.value("makespan") == found.end.max() - step.now


def test_slowdown_by_area_and_response_by_width_differ_by_a_factor():
    step = random_snapshot(12)
    plans = [plan(step, name) for name in POLICIES]
    ratios = [each.value("sldwa") / each.value("artww") for each in plans]
    assert ratios == pytest.approx([ratios[0]] * 3)


def test_costs_differ_by_whole_steps():
    step = Snapshot.make(
        now=0, cores=8, staircase=[(0, 8)], submit=[0, 0], walltime=[5, 5], width=[4, 6]
    )
    assert Problem.of(step, "artww").step == 2
    assert Problem.of(step, "response").step == 1
    assert Problem.of(step, "makespan").step == 1
    uneven = Snapshot.make(
        now=0, cores=8, staircase=[(0, 8)], submit=[0], walltime=[5], width=[4], weight=[0.3]
    )
    assert Problem.of(uneven, "response").step == 0


@pytest.mark.parametrize("order", ["random", [0, 0], [0], [1, 2]])
def test_an_order_must_name_each_job_once(order):
    step = Snapshot.make(
        now=0, cores=1, staircase=[(0, 1)], submit=[0, 0], walltime=[1, 1], width=[1, 1]
    )
    with pytest.raises(QueuesmithError, match=r"once|there is no policy 'random'"):
        plan(step, order)


def test_an_unknown_objective_gets_one_sentence():
    with pytest.raises(QueuesmithError, match=re.escape(", ".join(OBJECTIVES))):
        plan(random_snapshot(3), "fcfs").value("beauty")


def test_plans_that_break_a_rule_are_told():
    step = Snapshot.make(
        now=10, cores=2, staircase=[(10, 1), (20, 2)], submit=[0, 15], walltime=[5, 5], width=[2, 1]
    )
    assert violations(Plan(step, np.array([20, 15]), "good")) == []
    assert "before 15" in violations(Plan(step, np.array([20, 14]), "early"))[0]
    assert (
        "2 cores are in use at 10, but 1" in violations(Plan(step, np.array([10, 15]), "full"))[0]
    )


@settings(max_examples=100)
@given(small_snapshots(releases=True), st.randoms())
def test_cores_that_no_jobs_can_use_are_of_no_use(snapshot, chance):
    order = list(range(len(snapshot)))
    chance.shuffle(order)
    usable = Problem.of(snapshot, "artww").usable
    less = Snapshot(snapshot.now, snapshot.jobs, usable.time, usable.free, snapshot.cores)
    assert (usable.free <= snapshot.free).all()
    assert plan(less, order).start.tolist() == plan(snapshot, order).start.tolist()


def test_wide_jobs_leave_cores_over():
    step = Snapshot.make(
        now=0,
        cores=430,
        staircase=[(0, 90), (60, 222), (90, 430)],
        submit=[0, 0, 0],
        walltime=[5, 5, 5],
        width=[64, 64, 192],
    )
    assert Problem.of(step, "artww").usable.free.tolist() == [64, 192, 320]
