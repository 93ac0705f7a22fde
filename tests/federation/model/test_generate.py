"""Random federations and queues."""

import numpy as np
import pytest

from queuesmith.base.errors import UsageError
from queuesmith.federation.heuristics.heuristics import place_by_heuristic
from queuesmith.federation.model.generate import (
    KINDS,
    PAPER_QUEUES,
    generate_federation,
    generate_queue,
    paper_federation,
    paper_queue,
    with_arrivals,
)
from queuesmith.federation.model.jobs import check_fits


def test_the_papers_federation_has_three_clusters_of_four():
    federation = paper_federation()
    assert federation.cluster_nodes.tolist() == [4, 4, 4]
    assert federation.levels.tolist() == [1.0, 0.75, 0.5]
    assert federation.alike


def test_larger_federations_use_the_powers_in_turn():
    federation = generate_federation(5, 8, powers=(1.0, 0.5))
    assert [cluster.power[0] for cluster in federation.clusters] == [1.0, 0.5, 1.0, 0.5, 1.0]
    assert federation.bandwidth.tolist() == [2000.0] * 5
    assert federation.name == "5x8"


def test_nodes_of_a_cluster_may_differ():
    federation = generate_federation(2, 6, powers=(1.0,), spread=0.3, seed=1)
    assert not federation.alike
    assert 0.7 <= federation.node_power.min() < federation.node_power.max() <= 1.0
    assert federation == generate_federation(2, 6, powers=(1.0,), spread=0.3, seed=1)


@pytest.mark.parametrize("name", PAPER_QUEUES)
def test_the_papers_queues_have_eight_jobs_of_the_stated_mean(name):
    queue = paper_queue(name)
    assert len(queue) == 8
    assert queue.base_time.mean() == pytest.approx(670_000, rel=1e-5)
    assert (queue.sigma == 0.7).all()
    assert queue.tasks.min() >= 1
    assert queue.tasks.max() <= 12
    check_fits(paper_federation(), queue)
    assert paper_queue(name).tasks.tolist() == queue.tasks.tolist()


def test_general_queues_differ_from_one_another():
    drawn = {tuple(paper_queue(name).tasks.tolist()) for name in PAPER_QUEUES}
    assert len(drawn) == len(PAPER_QUEUES)


def favoured(kind, heuristic):
    """Count on how many of fifty queues a heuristic is the best of six, or as good."""
    federation, won = paper_federation(), 0
    for seed in range(900, 950):
        queue = generate_queue(kind, seed=seed)
        ends = {
            name: place_by_heuristic(federation, queue, name).makespan
            for name in ("fcfs", "sjf", "bjf", "fpfs", "spt", "lpt")
        }
        won += ends[heuristic] == min(ends.values())
    return won


def test_queues_of_pairs_suit_whoever_matches_free_nodes():
    assert favoured("matching", "fpfs") >= 40


def test_queues_of_long_narrow_jobs_suit_whoever_starts_small_jobs_first():
    assert favoured("small-first", "sjf") >= 40


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("jobs", "nodes"), [(1, 1), (2, 3), (7, 12), (40, 6), (100, 64)])
def test_any_number_of_jobs_fits_any_number_of_nodes(kind, jobs, nodes):
    queue = generate_queue(kind, jobs, nodes=nodes, seed=5)
    assert len(queue) == jobs
    assert queue.tasks.min() >= 1
    assert queue.tasks.max() <= nodes


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: generate_queue("odd"), "no kind of queue 'odd'"),
        (lambda: generate_queue(jobs=0), "number of jobs"),
        (lambda: generate_queue(sigma=2), "sigma"),
        (lambda: generate_queue(base_time=0), "base time"),
        (lambda: generate_queue(task_bandwidth=(5, 1)), "greatest bandwidth"),
        (lambda: paper_queue("WL-7"), "no workload 'WL-7'"),
        (lambda: generate_federation(0), "number of clusters"),
        (lambda: generate_federation(2, 2, powers=(0.0,)), "a power"),
        (lambda: generate_federation(2, 2, spread=1.5), "spread"),
    ],
)
def test_a_wrong_wish_gets_one_clear_sentence(call, words):
    with pytest.raises(UsageError, match=words):
        call()


def test_arrivals_bring_as_much_work_as_the_load_says():
    federation, queue = paper_federation(), generate_queue("general", 2000, seed=3)
    for load in (0.5, 2.0):
        jobs = with_arrivals(queue, federation, load=load, seed=1)
        work = (jobs.tasks * jobs.base_time).sum() / federation.node_power.sum()
        assert work / jobs.submit[-1] == pytest.approx(load, rel=0.1)
        assert (np.diff(jobs.submit) >= 0).all()
    again = with_arrivals(queue, federation, load=2.0, seed=1)
    assert again.submit.tolist() == jobs.submit.tolist()
    with pytest.raises(UsageError, match="load"):
        with_arrivals(queue, federation, load=0)
