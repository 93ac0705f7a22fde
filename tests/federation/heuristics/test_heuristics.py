"""Orders, allocation rules, and the heuristics made of them."""

import math

import numpy as np
import pytest
from hypothesis import given

from queuesmith.base.errors import UsageError
from queuesmith.federation import Federation, FederationCluster, FederationJobs
from queuesmith.federation.heuristics.heuristics import (
    ALLOCATIONS,
    HEURISTICS,
    ORDERS,
    place_by_heuristic,
    queue_order,
)
from queuesmith.federation.model.placed import on_cluster, peak_link_load, task_nodes
from queuesmith.schedule.verify import verify
from tests.federation.cases import LIMITS, chance_federation, chance_jobs, seeds


def queue(tasks, base_time=None, **columns):
    count = len(tasks)
    return FederationJobs(tasks, base_time or [10] * count, [0] * count, [1.0] * count, **columns)


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ("arrival", [0, 1, 2, 3]),
        ("fewest-tasks", [1, 3, 0, 2]),
        ("most-tasks", [2, 0, 1, 3]),
        ("shortest", [3, 0, 2, 1]),
        ("longest", [1, 0, 2, 3]),
        ("largest-area", [2, 1, 0, 3]),
    ],
)
def test_an_order_says_who_is_first_in_line(order, first):
    jobs = queue([2, 1, 4, 1], [20, 50, 20, 5])
    assert queue_order(ORDERS[order](jobs)).tolist() == first


def test_fcfs_waits_for_the_first_in_line_and_fpfs_does_not():
    federation = Federation([FederationCluster("a", 4)])
    jobs = queue([3, 2, 1], [10, 10, 10])
    assert place_by_heuristic(federation, jobs, "fcfs").start.tolist() == [0, 10, 10]
    assert place_by_heuristic(federation, jobs, "fpfs").start.tolist() == [0, 10, 0]


@pytest.mark.parametrize(
    ("heuristic", "first"), [("fcfs", 0), ("sjf", 2), ("bjf", 1), ("spt", 0), ("lpt", 2)]
)
def test_each_heuristic_starts_its_own_first_job(heuristic, first):
    federation = Federation([FederationCluster("a", 4)])
    jobs = queue([3, 4, 2], [5, 20, 30])
    assert int(np.argmin(place_by_heuristic(federation, jobs, heuristic).start)) == first


@pytest.fixture
def three():
    return Federation(
        [
            FederationCluster("slow", 4, 0.5, 100),
            FederationCluster("fast", 2, 1.0, 100),
            FederationCluster("mixed", 3, [0.6, 0.9, 0.8], 100),
        ]
    )


@pytest.mark.parametrize(
    ("allocation", "tasks", "nodes"),
    [
        ("fastest", 3, {4, 5, 7}),
        ("most-free", 3, {0, 1, 2}),
        ("most-free", 5, {0, 1, 2, 3, 7}),
        ("one-cluster", 2, {4, 5}),
        ("one-cluster", 3, {6, 7, 8}),
        ("one-cluster", 4, {0, 1, 2, 3}),
        ("one-cluster", 5, {0, 1, 2, 3, 7}),
        ("link-aware", 2, {4, 5}),
        ("link-aware", 5, {0, 1, 2, 3, 7}),
    ],
)
def test_an_allocation_rule_chooses_its_nodes(three, allocation, tasks, nodes):
    jobs = FederationJobs([tasks], [100], [10], [0.7])
    placement = verify(place_by_heuristic(three, jobs, "fcfs", allocation))
    assert set(task_nodes(placement).tolist()) == nodes


def test_the_cheapest_nodes_waste_no_fast_ones_on_a_job_ruled_by_a_slow_one():
    federation = Federation([FederationCluster("f", 2, 1.0), FederationCluster("s", 3, 0.5)])
    jobs = FederationJobs([3], [100], [0], [0.2])
    fast = place_by_heuristic(federation, jobs, "fcfs", "fastest")
    cheap = place_by_heuristic(federation, jobs, "fcfs", "cheapest")
    assert set(task_nodes(fast).tolist()) == {0, 1, 2}
    assert set(task_nodes(cheap).tolist()) == {2, 3, 4}
    assert fast.makespan == cheap.makespan


def test_a_job_goes_elsewhere_or_waits_where_its_links_are_full():
    clusters = [FederationCluster(name, 2, 1.0, 10) for name in "ab"]
    federation = Federation(clusters)
    jobs = FederationJobs([3, 1], [10, 10], [10, 0], [1.0, 1.0])
    assert verify(place_by_heuristic(federation, jobs)).start.tolist() == [0, 0]
    two = FederationJobs([2, 2], [10, 10], [8, 8], [1.0, 1.0])
    # Both clusters have one node left after a job of one task on each; one job at a time fits.
    blockers = FederationJobs(
        [1, 1, 2, 2], [50, 50, 10, 10], [0, 0, 8, 8], [1.0] * 4, submit=[0, 0, 1, 1]
    )
    spread = verify(place_by_heuristic(federation, blockers, "fpfs", "most-free"))
    assert on_cluster(spread)[2].tolist() == [1, 1]
    assert spread.start.tolist()[2:] == [1, 11]
    assert verify(place_by_heuristic(federation, two, "fcfs", "fastest")).start.tolist() == [0, 0]


@given(seed=seeds)
def test_every_heuristic_and_rule_gives_a_placement_that_can_be_carried_out(seed):
    rng = np.random.default_rng(seed)
    federation = chance_federation(rng)
    limit = LIMITS[int(rng.integers(len(LIMITS)))]
    jobs = chance_jobs(rng, federation).fitting(federation, limit)
    if not len(jobs):
        return
    heuristic = list(HEURISTICS)[int(rng.integers(len(HEURISTICS)))]
    for allocation in ALLOCATIONS:
        found = place_by_heuristic(federation, jobs, heuristic, allocation, saturation=limit)
        verify(found)
        if not math.isinf(limit):
            assert peak_link_load(found) <= limit * (1 + 1e-9)


def test_unknown_names_are_answered_with_those_there_are():
    federation, jobs = Federation([FederationCluster("a", 1)]), queue([1])
    with pytest.raises(UsageError, match=r"no heuristic 'x'.*fcfs"):
        place_by_heuristic(federation, jobs, "x")
    with pytest.raises(UsageError, match=r"no allocation rule 'x'.*fastest"):
        place_by_heuristic(federation, jobs, "fcfs", "x")
