"""A planning step as the kernels take it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.planning import Snapshot
from queuesmith.planning.plans import plan
from queuesmith.planning.problem import PlanningProblem
from tests.planning.twins import small_snapshots

pytestmark = pytest.mark.uncompiled


def test_costs_differ_by_whole_steps():
    step = Snapshot.make(
        now=0, cores=8, staircase=[(0, 8)], submit=[0, 0], walltime=[5, 5], width=[4, 6]
    )
    assert PlanningProblem.of(step, "artww").step == 2
    assert PlanningProblem.of(step, "response").step == 1
    assert PlanningProblem.of(step, "makespan").step == 1
    uneven = Snapshot.make(
        now=0, cores=8, staircase=[(0, 8)], submit=[0], walltime=[5], width=[4], weight=[0.3]
    )
    assert PlanningProblem.of(uneven, "response").step == 0


@settings(max_examples=50)
@given(small_snapshots(releases=True), st.randoms())
def test_cores_that_no_jobs_can_use_are_of_no_use(snapshot, chance):
    order = list(range(len(snapshot)))
    chance.shuffle(order)
    usable = PlanningProblem.of(snapshot, "artww").usable
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
    assert PlanningProblem.of(step, "artww").usable.free.tolist() == [64, 192, 320]
