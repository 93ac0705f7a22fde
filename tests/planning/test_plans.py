"""Placing jobs in an order, and what plans are judged by."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import QueuesmithError, ScheduleError
from queuesmith.cluster import Cluster
from queuesmith.engine import simulate
from queuesmith.planning import Snapshot
from queuesmith.planning.objectives import OBJECTIVES
from queuesmith.planning.plans import POLICIES, best_policy, plan, plan_value, planned
from queuesmith.schedule.verify import verify
from queuesmith.workload import Workload
from tests.planning.twins import place_slowly, random_snapshot, small_snapshots


@settings(max_examples=60)
@given(small_snapshots(releases=True), st.randoms())
def test_jobs_are_placed_where_the_slow_twin_places_them(snapshot, chance):
    order = list(range(len(snapshot)))
    chance.shuffle(order)
    found = plan(snapshot, order)
    assert found.start.tolist() == place_slowly(snapshot, order)
    verify(found)


def test_the_three_policies_are_orders():
    step = Snapshot.make(
        now=0, cores=1, staircase=[(0, 1)], submit=[0, 1, 2], walltime=[2, 1, 3], width=[1, 1, 1]
    )
    step = Snapshot(2, step.jobs, np.array([2]), np.array([1]), 1)
    starts = {name: (plan(step, name).start - 2).tolist() for name in POLICIES}
    assert starts == {"fcfs": [0, 2, 3], "sjf": [1, 0, 3], "ljf": [3, 5, 0]}
    assert best_policy(step, "response").policy == "sjf"


def test_objectives_are_the_metrics_of_the_schedule():
    step = random_snapshot(12)
    found = plan(step, "sjf")
    assert plan_value(found, "artww") == pytest.approx(found.value("artww"))
    assert plan_value(found, "sldwa") == pytest.approx(found.value("sldwa"))
    assert plan_value(found, "response") == pytest.approx(found.value("mean_response"))
    assert plan_value(found, "makespan") == found.end.max() - step.now


def test_slowdown_by_area_and_response_by_width_differ_by_a_factor():
    step = random_snapshot(12)
    plans = [plan(step, name) for name in POLICIES]
    ratios = [plan_value(each, "sldwa") / plan_value(each, "artww") for each in plans]
    assert ratios == pytest.approx([ratios[0]] * 3)


@pytest.mark.parametrize("order", ["random", [0, 0], [0], [1, 2]])
def test_an_order_must_name_each_job_once(order):
    step = Snapshot.make(
        now=0, cores=1, staircase=[(0, 1)], submit=[0, 0], walltime=[1, 1], width=[1, 1]
    )
    with pytest.raises(QueuesmithError, match=r"once|there is no policy 'random'"):
        plan(step, order)


def test_an_unknown_objective_gets_one_sentence():
    with pytest.raises(QueuesmithError, match=re.escape(", ".join(OBJECTIVES))):
        plan_value(plan(random_snapshot(3), "fcfs"), "beauty")


def test_plans_that_break_a_rule_are_told():
    step = Snapshot.make(
        now=10, cores=2, staircase=[(10, 1), (20, 2)], submit=[0, 15], walltime=[5, 5], width=[2, 1]
    )
    broken = {
        (8, 15): "job 1 starts at 8, but now is 10",
        (20, 14): "submitted at 15, started at 14",
        (10, 15): "2 cores are in use at 10, but 1 are free",
    }
    verify(planned(step, np.array([20, 15]) - 10, "good"))
    for start, sentence in broken.items():
        with pytest.raises(ScheduleError, match=sentence):
            verify(planned(step, np.array(start) - 10, "bad"))


def test_only_a_plan_has_a_value_of_plans():
    schedule = simulate(Workload([0], [1], [1], [1]), Cluster(1), "fcfs")
    with pytest.raises(ScheduleError, match="is no plan of a snapshot"):
        plan_value(schedule, "artww")
