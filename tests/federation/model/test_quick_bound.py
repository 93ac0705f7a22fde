"""The quick bound is below every placement, and good where it can be."""

import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.federation import Federation, FederationCluster, FederationJobs
from queuesmith.federation.heuristics.heuristics import ALLOCATIONS, HEURISTICS, place_by_heuristic
from queuesmith.federation.model.generate import (
    generate_federation,
    generate_queue,
    paper_federation,
)
from queuesmith.federation.model.placed import last_end
from queuesmith.federation.model.quick_bound import longest_job, price_bound, simple_bound
from tests.federation.cases import chance_federation, chance_jobs, seeds


@settings(max_examples=20)
@given(seed=seeds)
def test_no_placement_is_below_the_bound(seed):
    rng = np.random.default_rng(seed)
    federation = chance_federation(rng)
    jobs = chance_jobs(rng, federation).fitting(federation)
    if not len(jobs):
        return
    bound = simple_bound(federation, jobs)
    for heuristic in HEURISTICS:
        for allocation in ALLOCATIONS:
            found = place_by_heuristic(federation, jobs, heuristic, allocation)
            assert last_end(found) >= bound


def test_one_job_alone_is_bounded_by_its_time_on_the_fastest_nodes_that_suffice():
    jobs = FederationJobs([5], [100], [0], [1.0], submit=[7])
    assert longest_job(paper_federation(), jobs) == 7 + 134
    assert simple_bound(paper_federation(), jobs) == 7 + 134


def test_equal_nodes_are_bounded_by_the_work_over_the_nodes():
    federation = Federation([FederationCluster("a", 4)])
    jobs = FederationJobs([2] * 10, [100] * 10, [0] * 10, [0.7] * 10)
    assert simple_bound(federation, jobs) == 500


def test_single_tasks_on_two_speeds_are_bounded_by_what_both_can_do():
    federation = Federation([FederationCluster("a", 1, 1.0), FederationCluster("b", 1, 0.5)])
    jobs = FederationJobs([1] * 30, [100] * 30, [0] * 30, [1.0] * 30)
    assert simple_bound(federation, jobs) == pytest.approx(2000, rel=1e-3)


def test_many_powers_are_rounded_up_and_the_bound_stays_valid():
    federation = generate_federation(4, 20, spread=0.5, seed=2)
    jobs = generate_queue(jobs=60, nodes=80, most_tasks=30, seed=2)
    assert len(federation.levels) > 12
    bound = simple_bound(federation, jobs)
    assert bound <= place_by_heuristic(federation, jobs, "area-fit", "cheapest").makespan
    assert bound >= 0.8 * jobs.base_time @ jobs.tasks / federation.nodes


def test_prices_cost_what_the_bound_says():
    federation, jobs = paper_federation(), generate_queue(jobs=30, seed=4)
    prices = price_bound(federation, jobs)
    assert prices.node_price.sum() == pytest.approx(1.0)
    assert prices.job_bill.sum() == pytest.approx(prices.value)
    assert (np.diff(prices.node_price) <= 1e-12).all()  # slower nodes are worth less
