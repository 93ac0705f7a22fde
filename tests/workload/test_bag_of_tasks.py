"""Bags of tasks: what one bag's tasks share, and what the parameters mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import UsageError
from queuesmith.workload.bag_of_tasks import BagParameters, bag_of_tasks


def one_value_a_bag(workload, column):
    pairs = np.unique(np.stack([workload.extra["bag"], column]), axis=1)
    return pairs.shape[1] == len(np.unique(workload.extra["bag"]))


@settings(max_examples=30, deadline=None)
@given(jobs=st.integers(1, 2000), cores=st.integers(1, 100), seed=st.integers(0, 1000))
def test_exactly_the_jobs_asked_for_are_made(jobs, cores, seed):
    workload = bag_of_tasks(jobs, cores, seed=seed)
    assert len(workload) == jobs
    assert set(workload.cores) == {1}
    bags = np.unique(workload.extra["bag"])
    assert np.array_equal(bags, np.arange(1, len(bags) + 1))


def test_tasks_of_a_bag_share_user_submit_time_and_walltime():
    workload = bag_of_tasks(5000, 64, seed=1)
    for column in (workload.user, workload.submit, workload.walltime):
        assert one_value_a_bag(workload, column)
    assert not one_value_a_bag(workload, workload.runtime)


def test_the_same_seed_gives_the_same_workload():
    a, b = (bag_of_tasks(500, 64, seed=9) for _ in range(2))
    assert np.array_equal(a.runtime, b.runtime)
    assert np.array_equal(a.submit, b.submit)


@pytest.mark.parametrize("load", [0.2, 0.9, 3.0])
def test_the_load_is_what_was_asked(load):
    assert bag_of_tasks(5000, 64, load=load).load(64) == pytest.approx(load, rel=0.01)


def test_most_tasks_are_short_and_few_are_large():
    runtime = bag_of_tasks(20_000, 64, seed=0).runtime
    assert 150 < np.median(runtime) < 600
    assert 0 < np.mean(runtime > 10 * np.median(runtime)) < 0.08


def test_without_spread_all_bags_and_tasks_are_alike():
    even = BagParameters(
        bag_tasks=10, bag_spread=0, task_seconds=60, task_spread=0, within_spread=0, large_share=0
    )
    workload = bag_of_tasks(100, 64, parameters=even, estimates=False)
    assert set(np.bincount(workload.extra["bag"])[1:]) == {10}
    assert set(workload.runtime) == set(workload.walltime) == {60}


def test_large_tasks_run_as_many_times_as_long():
    even = BagParameters(task_seconds=60, task_spread=0, within_spread=0, large_share=0.5)
    assert set(bag_of_tasks(100, 64, parameters=even).runtime) == {60, 1200}


def test_tasks_may_need_several_cores():
    workload = bag_of_tasks(50, 64, parameters=BagParameters(cores_per_task=4), name="sweep")
    assert set(workload.cores) == {4}
    assert (workload.name, workload.machine_cores) == ("sweep", 64)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"jobs": -5}, "the number of jobs is -5"),
        ({"cores": 0}, "the number of cores is 0"),
        ({"load": 0}, "the load is 0"),
        ({"load": float("nan")}, "the load is nan"),
        ({"jobs": 1, "load": 0.5}, "for one bag"),
        ({"seed": "today"}, "the seed is 'today'"),
        ({"users": -1}, "the number of users is -1"),
        ({"cores": 2, "parameters": BagParameters(cores_per_task=3)}, "cores_per_task is 3"),
    ],
)
def test_a_wrong_option_is_named_with_its_value(options, words):
    with pytest.raises(UsageError, match=words):
        bag_of_tasks(**{"jobs": 10, "cores": 8, **options})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bag_tasks", 0),
        ("bag_spread", -1),
        ("task_seconds", 0),
        ("task_spread", float("nan")),
        ("within_spread", 99),
        ("large_share", 1.5),
        ("large_factor", 0.5),
        ("cores_per_task", 1.5),
        ("gap_seconds", float("inf")),
    ],
)
def test_parameters_check_themselves_at_birth(name, value):
    with pytest.raises(UsageError, match=f"{name} is {value}, but it must be"):
        BagParameters(**{name: value})
