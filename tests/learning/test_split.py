"""What is learned from, and what is held out."""

import numpy as np
import pytest

from queuesmith import Cluster, Objective, Workload
from queuesmith.base.errors import MetricError, UsageError, WorkloadError
from queuesmith.learning.split import check_objective, split_in_time


def jobs(submit, group=None):
    count = len(submit)
    return Workload(submit, [10] * count, [10] * count, [1] * count, group=group)


def test_jobs_of_the_first_70_percent_of_the_time_are_learned_from():
    learning, held_out = split_in_time(jobs([100, 110, 169, 170, 190, 200]))
    assert learning.submit.tolist() == [100, 110, 169]
    assert held_out.submit.tolist() == [170, 190, 200]


def test_groups_stay_what_they_were_in_the_whole_log():
    whole = jobs([0, 10, 90, 100], group=[1, 2, 2, 1])
    learning, held_out = split_in_time(whole, 0.5)
    assert learning.group.tolist() == [1, 2]
    assert held_out.group.tolist() == [2, 1]


@pytest.mark.parametrize("share", [None, 1, 1.0])
def test_all_of_it_may_be_learned_from(share):
    whole = jobs([0, 10])
    assert split_in_time(whole, share) == (whole, None)


@pytest.mark.parametrize("submit", [[5], [5, 5, 5], []])
def test_a_log_shorter_than_the_split_is_refused(submit):
    with pytest.raises(WorkloadError, match=r"leaves none on one side.*--split none"):
        split_in_time(jobs(submit))


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan"), "half"])
def test_a_share_lies_between_0_and_1(share):
    with pytest.raises(UsageError, match="the split is"):
        split_in_time(jobs([0, 10]), share)


@pytest.mark.parametrize(
    ("group", "where"),
    [([2, 2, 2, 1], "learning part"), ([1, 2, 2, 2], "held-out part"), ([2] * 4, "learning part")],
)
def test_an_objective_for_a_group_without_jobs_names_group_and_part(group, where):
    parts = split_in_time(jobs([0, 10, 90, 100], np.array(group)), 0.5)
    with pytest.raises(MetricError, match=rf"{where} of the log: group 1 has no jobs"):
        check_objective(parts, Cluster(4), Objective("10*awrt[1] + 4*awrt[2]"))


def test_where_nothing_is_held_out_the_whole_log_is_named():
    parts = split_in_time(jobs([0, 10], np.array([1, 1])), None)
    with pytest.raises(MetricError, match="for the log: group 2 has no jobs"):
        check_objective(parts, Cluster(4), Objective("awrt[2]"))


def test_an_objective_that_has_its_jobs_passes():
    parts = split_in_time(jobs([0, 10, 90, 100], np.array([1, 2, 2, 1])), 0.5)
    check_objective(parts, Cluster(4), Objective("awrt[1] + awrt[2]"))
