"""Equations 1 to 7, worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given

from queuesmith.federation import Federation, FederationCluster, FederationJobs
from queuesmith.federation.model.equations import (
    communication_slowdown,
    link_use,
    processing_slowdown,
    saturation_degree,
    time_cost,
    whole_seconds,
)
from queuesmith.federation.model.time_cost import duration, durations_by_level, execution_time
from tests.federation.cases import chance_federation, chance_jobs, seeds


@pytest.fixture
def federation():
    return Federation(
        [FederationCluster("a", 4, 1.0, 100), FederationCluster("b", 4, 0.5, 80)], name="two"
    )


def test_the_slowest_node_rules():
    assert processing_slowdown([1.0, 0.5, 0.75]) == 2.0


def test_only_talk_between_clusters_uses_a_link():
    # Four tasks of bandwidth 30: three here talk to one of three others each, and so on.
    assert link_use(4, 30.0, [3, 1]).tolist() == [3 * 30 * 1 / 3, 1 * 30 * 3 / 3]
    assert link_use(4, 30.0, [4, 0]).tolist() == [0.0, 0.0]


def test_a_single_task_talks_to_nobody():
    assert link_use(1, 30.0, [1, 0]).tolist() == [0.0, 0.0]


def test_a_link_in_use_beyond_its_bandwidth_is_saturated():
    assert saturation_degree([100, 100, 100], [50, 200, 0]).tolist() == [2.0, 0.5, math.inf]


def test_the_most_saturated_link_of_its_own_slows_a_job():
    assert communication_slowdown([2.0, 0.5, 0.1], [1.0, 1.0, 0.0]) == 2.0
    assert communication_slowdown([2.0, 3.0, 0.1], [1.0, 1.0, 0.0]) == 1.0
    assert communication_slowdown([0.1, 0.1, 0.1], [0.0, 0.0, 0.0]) == 1.0


def test_sigma_weighs_processing_and_communication():
    assert time_cost(0.7, 2.0, 3.0) == pytest.approx(0.7 * 2 + 0.3 * 3)


def test_the_execution_time_of_a_co_allocated_job(federation):
    jobs = FederationJobs([4], [100], [30], [0.7])
    # On cluster b alone: half the speed, no link.
    assert execution_time(federation, jobs, 0, [4, 5, 6, 7]) == pytest.approx(100 * (1.4 + 0.3))
    # Two here, two there: 2 x 30 x 2/3 = 40 on both links; 120 by others makes 160 of 100.
    slowed = execution_time(federation, jobs, 0, [0, 1, 4, 5], [120, 0])
    assert slowed == pytest.approx(100 * (1.4 + 0.3 * 1.6))
    assert duration(federation, jobs, 0, [0, 1, 4, 5], [120, 0]) == 188


def test_times_are_rounded_up_to_whole_seconds_but_not_by_rounding_errors():
    assert whole_seconds(100 * (0.7 / 0.5 + 0.3)) == 170
    assert whole_seconds(170.001) == 171
    assert whole_seconds(0.2) == 1


@given(seed=seeds)
def test_the_table_agrees_with_the_time_on_nodes(seed):
    rng = np.random.default_rng(seed)
    federation = chance_federation(rng)
    jobs = chance_jobs(rng, federation)
    job = int(rng.integers(len(jobs)))
    nodes = rng.permutation(federation.nodes)[: jobs.tasks[job]]
    slowest = federation.group_level[federation.node_group[nodes]].max()
    alone = duration(federation, jobs, job, nodes, np.zeros(len(federation.clusters)))
    here = np.bincount(federation.node_cluster[nodes], minlength=len(federation.clusters))
    own = link_use(int(jobs.tasks[job]), float(jobs.task_bandwidth[job]), here)
    free_flow = durations_by_level(federation, jobs)[job, slowest]
    if (own <= federation.bandwidth).all():
        assert alone == free_flow
    else:
        assert alone >= free_flow
