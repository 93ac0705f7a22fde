"""What cannot be carried out is found out, from the schedule alone."""

from dataclasses import replace

import numpy as np
import pytest

from queuesmith.base.errors import ScheduleError
from queuesmith.federation import Federation, FederationCluster, FederationJobs, as_schedule
from queuesmith.federation.model.placed import task_nodes
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.verify import verify


@pytest.fixture
def good():
    """Two jobs across both clusters at the same time: 2 x 20 of 50 on each link."""
    federation = Federation(
        [FederationCluster("a", 2, 1.0, 50), FederationCluster("b", 2, [1.0, 0.5], 50)]
    )
    jobs = FederationJobs([2, 2], [100, 100], [20, 20], [0.5, 0.5], submit=[0, 5], id=["x", "y"])
    return as_schedule(federation, jobs, [0, 5], [100, 155], [0, 2, 1, 3], "good")


def changed(schedule, start=None, end=None, nodes=None):
    return as_schedule(
        schedule.cluster,
        FederationJobs.of(schedule.workload),
        schedule.start if start is None else start,
        schedule.end if end is None else end,
        task_nodes(schedule) if nodes is None else nodes,
        schedule.policy,
        saturation=schedule.facts["saturation"],
    )


def test_a_good_one_is_returned_unchanged(good):
    assert verify(good) is good


def test_nodes_may_be_held_longer_than_needed(good):
    verify(changed(good, end=[120, 300]))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"nodes": [0, 2, 1, 4]}, "job y is on place 4, but places are 0 to 3"),
        ({"nodes": [0, -1, 1, 3]}, "place -1"),
        ({"nodes": [0, 0, 1, 3]}, "2 cores are busy at 0 on 'a:0', which has 1, when job x starts"),
        ({"nodes": [0, 2, 0, 3]}, "2 cores are busy at 5 on 'a:0', which has 1, when job y starts"),
        ({"start": [0, 4], "end": [100, 154]}, "job y, submitted at 5, started at 4"),
        ({"end": [0, 155]}, "job x runs for 0 s"),
        ({"end": [99, 155]}, "job x runs for 99 s"),
        ({"end": [100, 154]}, "job y runs for 149 s"),
    ],
)
def test_a_bad_one_is_told_why(good, columns, words):
    with pytest.raises(ScheduleError, match=words):
        verify(changed(good, **columns))


def test_a_job_that_ends_before_it_starts_is_told(good):
    with pytest.raises(ScheduleError, match="1 job never starts; the first is job y"):
        verify(changed(good, end=[100, 1]))


@pytest.mark.parametrize(
    "columns",
    [{"start": [0, 1, 5, 5]}, {"end": [100, 99, 155, 155]}, {"cores": [2, 0, 1, 1]}],
)
def test_all_tasks_of_a_job_run_at_the_same_time(good, columns):
    pieces = replace(good.pieces, **{key: np.array(values) for key, values in columns.items()})
    with pytest.raises(ScheduleError, match="job x does not run one task on each of its nodes"):
        verify(replace(good, pieces=pieces))


def test_a_task_without_a_node_is_told(good):
    columns = (good.pieces.job, good.pieces.start, good.pieces.end, good.pieces.cores)
    fewer = Pieces(*(column[:3] for column in columns), place=good.pieces.place[:3])
    with pytest.raises(ScheduleError, match="job y, which has 2 and ran 1"):
        verify(replace(good, pieces=fewer))


def test_nodes_that_are_not_told_are_missed(good):
    with pytest.raises(ScheduleError, match="the nodes of the jobs are not told"):
        verify(replace(good, pieces=None))


@pytest.fixture
def saturated():
    """The same with 40 each on links of 50, so that both are slowed by 1.6 while they overlap."""
    federation = Federation(
        [FederationCluster("a", 2, 1.0, 50), FederationCluster("b", 2, 1.0, 50)]
    )
    jobs = FederationJobs([2, 2], [100, 100], [40, 40], [0.5, 0.5], id=["x", "y"])
    nodes = [0, 2, 1, 3]
    return as_schedule(federation, jobs, [0, 0], [130, 130], nodes, "slow", saturation=1.6)


def test_a_saturated_link_is_an_error_where_none_may_be(saturated):
    with pytest.raises(ScheduleError, match=r"link of cluster 'a' carries 80, but at most 1 times"):
        verify(replace(saturated, facts={"saturation": 1.0}))


def test_slowed_jobs_need_the_time_that_their_rates_add_up_to(saturated):
    verify(saturated)  # 100 x (0.5 + 0.5 x 1.6)
    with pytest.raises(ScheduleError, match=r"done 99\.2"):
        verify(changed(saturated, end=[129, 129]))
    # Job y starts 26 s later: x is slowed from 26 on, and y until x is gone.
    verify(changed(saturated, start=[0, 26], end=[123, 149]))
    with pytest.raises(ScheduleError, match="job x"):
        verify(changed(saturated, start=[0, 26], end=[122, 149]))
