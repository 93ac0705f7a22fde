"""The replay: the same as its slow twin, with and without saturation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.base.errors import ScheduleError, UsageError, WorkloadError
from queuesmith.federation import Federation, FederationCluster, FederationJobs, Placement
from queuesmith.federation.heuristics.heuristics import HEURISTICS
from queuesmith.federation.methods import place
from queuesmith.federation.model.generate import generate_queue, paper_federation, paper_queue
from queuesmith.federation.model.verify import verify
from queuesmith.federation.online import replay, replay_placement
from queuesmith.federation.options import PlaceOptions
from queuesmith.workload.files import read
from tests.federation.cases import LIMITS, chance_federation, chance_jobs, seeds
from tests.federation.replay_twin import RULES, replay_plan_slowly, replay_slowly


def same(one: Placement, two: Placement) -> bool:
    times = np.array_equal(one.start, two.start) and np.array_equal(one.end, two.end)
    jobs = range(len(one.jobs))
    return times and all(set(one.nodes_of(job)) == set(two.nodes_of(job)) for job in jobs)


def chance(seed: int) -> tuple[np.random.Generator, Federation, FederationJobs, float]:
    rng = np.random.default_rng(seed)
    federation = chance_federation(rng)
    limit = LIMITS[int(rng.integers(len(LIMITS)))]
    return rng, federation, chance_jobs(rng, federation).fitting(federation, limit), limit


@settings(max_examples=60)
@given(seed=seeds)
def test_the_replay_agrees_with_its_slow_twin(seed):
    rng, federation, jobs, limit = chance(seed)
    if not len(jobs):
        return
    heuristic, rule = str(rng.choice(list(HEURISTICS))), str(rng.choice(list(RULES)))
    window = None if rng.random() < 0.5 else int(rng.integers(1, 4))
    quick = replay(federation, jobs, heuristic, allocation=rule, saturation=limit, window=window)
    slow = replay_slowly(federation, jobs, heuristic, rule, saturation=limit, window=window)
    assert same(verify(quick), slow)


@settings(max_examples=80)
@given(seed=seeds)
def test_a_plan_on_narrower_links_agrees_with_its_slow_twin(seed):
    _, federation, jobs, limit = chance(seed)
    if not len(jobs):
        return
    plan = replay(federation, jobs, "fpfs", saturation=limit)
    narrow = Federation(
        [replaced(cluster, cluster.bandwidth * 0.6) for cluster in federation.clusters]
    )
    assert same(verify(replay_placement(plan, narrow)), replay_plan_slowly(plan, narrow))


def replaced(cluster: FederationCluster, bandwidth: float) -> FederationCluster:
    return FederationCluster(cluster.name, cluster.nodes, cluster.power, bandwidth)


@given(seed=seeds)
def test_without_saturation_a_plan_is_reproduced_to_the_second(seed):
    _, federation, jobs, _ = chance(seed)
    jobs = jobs.fitting(federation)
    if not len(jobs):
        return
    plan = replay(federation, jobs, "lpt-fit", saturation=1.0)
    assert same(verify(replay_placement(plan)), plan)


@pytest.mark.parametrize("method", ["fcfs", "lpt-fit", "prices"])
def test_the_plans_of_the_methods_are_reproduced_to_the_second(method):
    plan = place(paper_federation(), paper_queue("WL-3"), method)
    assert same(replay_placement(plan), plan)


def test_rates_change_when_a_job_joins_and_leaves_a_saturated_link():
    federation = Federation([FederationCluster(name, 2, 1.0, 50) for name in "ab"])
    jobs = FederationJobs([2, 2], [100, 100], [40, 40], [0.5, 0.5], submit=[0, 26])
    plan = Placement(federation, jobs, [0, 26], [100, 126], [0, 2, 1, 3], "plan", saturation=1.6)
    found = verify(replay_placement(plan))
    # From 26 on both links carry 80 of 50: x has 74 base seconds left, at 0.5 + 0.5 x 1.6.
    assert found.start.tolist() == [0, 26]
    assert found.end.tolist() == [123, 149]
    apart = verify(replay_placement(plan, saturation=1.0))  # the second waits for the link
    assert apart.start.tolist() == [0, 100]


def test_a_late_plan_keeps_its_order_on_every_node():
    federation = Federation([FederationCluster("a", 2, 1.0)])
    jobs = FederationJobs([1, 2, 1], [10, 10, 5], [0, 0, 0], [1.0] * 3)
    plan = Placement(federation, jobs, [0, 10, 20], [10, 20, 25], [0, 0, 1, 1], "plan")
    slower = Federation([FederationCluster("a", 2, 0.5)])
    found = verify(replay_placement(plan, slower))
    assert found.start.tolist() == [0, 20, 40]


def test_a_function_decides_about_windows_of_waiting_jobs():
    federation = paper_federation()
    jobs = generate_queue(jobs=10, seed=2)
    jobs = FederationJobs(
        jobs.tasks, jobs.base_time, jobs.task_bandwidth, jobs.sigma, submit=np.arange(10) * 1000
    )
    seen = []

    def backwards(federation, window):
        seen.append(len(window))
        return place(federation, window, "lpt-fit", PlaceOptions(allocation="one-cluster"))

    shares = []
    found = replay(federation, jobs, backwards, window=3, saturation=1.0, progress=shares.append)
    verify(found)
    assert found.method == "backwards"
    assert sum(seen) == 10
    assert max(seen) == 3
    assert shares[-1] == 1.0
    assert found.peak_link_load <= 1.0 + 1e-9


def test_a_method_that_is_no_heuristic_decides_by_windows():
    found = replay(paper_federation(), generate_queue(jobs=12, seed=1), "prices", saturation=1.0)
    assert verify(found).method == "prices"


def test_a_decider_that_answers_about_other_jobs_is_told():
    federation, jobs = paper_federation(), generate_queue(jobs=4)

    def wrong(federation, window):
        return place(federation, generate_queue(jobs=2), "fcfs")

    with pytest.raises(ScheduleError, match="decider 'fcfs' was asked about 4 jobs"):
        replay(federation, jobs, wrong)


def test_a_plan_that_links_can_never_take_is_told():
    federation = Federation([FederationCluster(name, 1, 1.0, 10) for name in "ab"])
    jobs = FederationJobs([2], [10], [30], [0.5], id=["chatty"])
    plan = Placement(federation, jobs, [0], [20], [0, 1], "plan", saturation=3.0)
    with pytest.raises(ScheduleError, match="job chatty can never start"):
        replay_placement(plan, saturation=1.0)
    assert replay_placement(plan).end.tolist() == [20]


def test_wrong_calls_are_refused():
    federation, jobs = paper_federation(), generate_queue()
    with pytest.raises(UsageError, match="no method 'x'"):
        replay(federation, jobs, "x")
    with pytest.raises(UsageError, match="saturation"):
        replay(federation, jobs, saturation=0.5)
    with pytest.raises(UsageError, match="window"):
        replay(federation, jobs, window=0)
    wide = FederationJobs([99], [1], [0], [1])
    with pytest.raises(WorkloadError, match="99 tasks"):
        replay(federation, wide)
    plan = replay(federation, jobs)
    with pytest.raises(UsageError, match="2 nodes"):
        replay_placement(plan, Federation([FederationCluster("a", 2)]))
    with pytest.raises(UsageError, match="saturation"):
        replay_placement(replace(plan), saturation=math.nan)


@pytest.mark.data
def test_a_real_log_runs_on_five_clusters(data):
    log = read(data / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz").head(5000)
    federation = Federation(
        [
            FederationCluster(f"c{k}", 24, power, 400)
            for k, power in enumerate((1, 0.9, 0.8, 0.7, 0.6))
        ]
    )
    jobs = FederationJobs.from_workload(log, sigma=(0.5, 0.9), task_bandwidth=(10, 200))
    kept = jobs.fitting(federation, math.inf)
    found = verify(replay(federation, kept, "fpfs", allocation="most-free"))
    assert found.peak_link_load > 1
    calm = verify(replay(federation, jobs.fitting(federation), "fpfs", saturation=1.0))
    assert calm.peak_link_load <= 1 + 1e-9
