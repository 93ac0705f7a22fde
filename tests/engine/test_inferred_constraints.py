"""Constraints that a log leaves out, from who was let past whom."""

import numpy as np
import pytest

from queuesmith.cluster import Association, NodeCluster, NodeKind
from queuesmith.engine.inferred_constraints import can_infer, inferred_constraints
from tests.engine.on_nodes import jobs
from tests.lab.constraints import LARGE, SMALL, compared, hidden_run

TWO = NodeCluster((NodeKind("n1", 4, features=("x", "a")), NodeKind("m1", 4, features=("x", "b"))))


def passed(first=(60, 4), second=(60, 4), nodes=("n1", "m1", "n1", "m1"), starts=(0, 0, 400, 200)):
    """Job 2 waits from 10 on; job 3, which came later, starts at 200; then job 2, at 400."""
    rows = (0, 400, 400, 4), (0, 200, 200, 4), (10, 50, *first), (20, 50, *second)
    return jobs(*rows, node_list=list(nodes), real_start=list(starts))


def test_a_job_that_another_was_let_past_must_have_asked_for_the_feature_of_its_nodes():
    assert inferred_constraints(passed(), TWO) == ["", "", "a", ""]


@pytest.mark.parametrize(
    "case",
    [
        passed(nodes=("n1", "m1", "m1", "m1")),  # it ran there itself later
        passed(nodes=("n1", "m1", "m1,n1", "m1"), first=(60, 8)),  # it needs more than that node
        passed(starts=(0, 0, 200, 400)),  # it was not passed over
    ],
)
def test_what_is_not_proven_is_not_said(case):
    assert inferred_constraints(case, TWO) == [""] * 4


def test_a_longer_job_may_have_been_kept_from_delaying_a_plan():
    # A job of both nodes stands before it: who is over sooner may pass, it may not.
    rows = (0, 400, 400, 4), (0, 200, 200, 4), (5, 50, 60, 8), (10, 50, 600, 4), (20, 50, 60, 4)
    lists, starts = ["n1", "m1", "m1,n1", "n1", "m1"], [0, 0, 400, 450, 200]
    case = jobs(*rows, node_list=lists, real_start=starts)
    assert inferred_constraints(case, TWO) == [""] * 5
    # First in line, it delays nobody.
    alone = jobs(
        *rows[:2], *rows[3:], node_list=[*lists[:2], *lists[3:]], real_start=[0, 0, 450, 200]
    )
    assert inferred_constraints(alone, TWO) == ["", "", "a", ""]


def test_who_comes_first_is_settled_by_what_everybody_has_used():
    # u has used both nodes when v's job comes: that it is let past proves nothing about u's.
    machine = NodeCluster(
        TWO.kinds,
        associations=(Association("p", "u"), Association("p", "v")),
        settings={"PriorityWeightFairshare": "1000", "PriorityCalcPeriod": "1"},
    )
    rows = (0, 400, 400, 4), (0, 200, 200, 4), (10, 50, 60, 4), (20, 50, 60, 4)

    def found(*users):
        case = jobs(
            *rows,
            node_list=["n1", "m1", "n1", "m1"],
            real_start=[0, 0, 400, 200],
            account=["p"] * 4,
        )
        case = case.replaced(
            user=np.array([int(each == "v") for each in users]),
            labels={**case.labels, "user": ("u", "v")},
        )
        return inferred_constraints(case, machine)

    assert found("u", "u", "u", "v") == [""] * 4
    assert found("u", "u", "v", "u") == ["", "", "a", ""]


def test_a_log_without_nodes_or_with_constraints_is_left_alone():
    bare = jobs((0, 10, 60, 1), real_start=[0])
    assert not can_infer(bare, TWO)
    assert not can_infer(passed(), NodeCluster((NodeKind("n[1-2]", 4),)))
    assert can_infer(passed(), TWO)


@pytest.mark.parametrize("kinds", [SMALL, LARGE])
def test_no_free_job_is_bound_and_many_bound_ones_are_found(kinds):
    run = hidden_run(kinds, 11, 600)
    found = compared(run.machine, inferred_constraints(run.jobs, run.machine), run.truth)
    assert found.rightly == found.bound >= 10
    assert found.exactly >= 0.6 * found.bound
