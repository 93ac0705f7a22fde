"""What cannot be carried out is found out, from the placement alone."""

from dataclasses import replace

import numpy as np
import pytest

from queuesmith.base.errors import ScheduleError
from queuesmith.federation import Federation, FederationCluster, FederationJobs, Placement
from queuesmith.federation.model.verify import verify


@pytest.fixture
def good():
    """Two jobs across both clusters at the same time: 2 x 20 of 50 on each link."""
    federation = Federation(
        [FederationCluster("a", 2, 1.0, 50), FederationCluster("b", 2, [1.0, 0.5], 50)]
    )
    jobs = FederationJobs([2, 2], [100, 100], [20, 20], [0.5, 0.5], submit=[0, 5], id=["x", "y"])
    return Placement(federation, jobs, [0, 5], [100, 155], [0, 2, 1, 3], "good")


def changed(placement, **columns):
    return replace(placement, **{key: np.array(values) for key, values in columns.items()})


def test_a_good_one_is_returned_unchanged(good):
    assert verify(good) is good


def test_nodes_may_be_held_longer_than_needed(good):
    verify(changed(good, end=[120, 300]))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"nodes": [0, 2, 1, 4]}, "job y is on node 4, but nodes are 0 to 3"),
        ({"nodes": [0, -1, 1, 3]}, "node -1"),
        ({"nodes": [0, 0, 1, 3]}, "job x has two tasks on node 0"),
        ({"nodes": [0, 2, 0, 3]}, "jobs x and y are both on node 0 at second 5"),
        ({"start": [0, 4], "end": [100, 154]}, "job y starts at 4, before it arrives at 5"),
        ({"end": [0, 155]}, "job x starts at 0 and ends at 0"),
        ({"end": [99, 155]}, "job x runs for 99 s"),
        ({"end": [100, 154]}, "job y runs for 149 s"),
    ],
)
def test_a_bad_one_is_told_why(good, columns, words):
    with pytest.raises(ScheduleError, match=words):
        verify(changed(good, **columns))


@pytest.fixture
def saturated():
    """The same with 40 each on links of 50, so that both are slowed by 1.6 while they overlap."""
    federation = Federation(
        [FederationCluster("a", 2, 1.0, 50), FederationCluster("b", 2, 1.0, 50)]
    )
    jobs = FederationJobs([2, 2], [100, 100], [40, 40], [0.5, 0.5], id=["x", "y"])
    return Placement(federation, jobs, [0, 0], [130, 130], [0, 2, 1, 3], "slow", saturation=1.6)


def test_a_saturated_link_is_an_error_where_none_may_be(saturated):
    with pytest.raises(ScheduleError, match=r"link of cluster 'a' carries 80, but at most 1 times"):
        verify(replace(saturated, saturation=1.0))


def test_slowed_jobs_need_the_time_that_their_rates_add_up_to(saturated):
    verify(saturated)  # 100 x (0.5 + 0.5 x 1.6)
    with pytest.raises(ScheduleError, match=r"done 99\.2"):
        verify(changed(saturated, end=[129, 129]))
    # Job y starts 26 s later: x is slowed from 26 on, and y until x is gone.
    verify(changed(saturated, start=[0, 26], end=[123, 149]))
    with pytest.raises(ScheduleError, match="job x"):
        verify(changed(saturated, start=[0, 26], end=[122, 149]))
