"""From a workload and policies to a comparison."""

import sys

import numpy as np
import pytest

from queuesmith import Cluster, Workload, compare, demo_workload, lublin, simulate
from queuesmith.base.errors import MetricError, QueuesmithError, UsageError, WorkloadError
from queuesmith.policy import Policy
from queuesmith.report.table import interval_table
from queuesmith.testing.policy import random_workload
from queuesmith.workload.group_names import GroupNames


@pytest.fixture(scope="module")
def jobs() -> Workload:
    return lublin(300, 64, load=0.9, seed=5)


@pytest.fixture(scope="module")
def past(jobs) -> Workload:
    """The same jobs, with a real start for each."""
    return jobs.replaced(extra={"real_start": simulate(jobs, policy="ljf+easy").start})


@pytest.fixture
def no_replays(monkeypatch):
    def fail(*_, **__):
        pytest.fail("a replay ran")

    monkeypatch.setattr(sys.modules[compare.__module__], "simulate_many", fail)


def test_policies_stand_in_the_order_given(jobs):
    policies = ("sjf+easy", Policy.parse("fcfs"), "fcfs + easy")
    assert compare(jobs, policies=policies).policies == ("sjf+easy", "fcfs", "fcfs+easy")


def test_policies_of_the_same_text_that_differ_stand_side_by_side(jobs):
    one = jobs.replaced(
        extra={"account": jobs.user % 2}, labels={"account": ("bio", "chem")}
    ).grouped(by="account")
    bio, chem = (
        Policy.parse("group+easy").for_groups(GroupNames("account", ("none", *names)))
        for names in (("bio", "chem"), ("chem", "bio"))
    )
    values = compare(one, policies=(bio, chem), metrics=("awrt[bio]",)).values
    assert [*values] == ["group+easy #1", "group+easy #2"]
    assert values["group+easy #1"]["awrt[bio]"] < values["group+easy #2"]["awrt[bio]"]
    with pytest.raises(UsageError, match="'group\\+easy #1' is compared twice"):
        compare(one, policies=(bio, chem, bio))


def test_values_are_those_of_the_replays(jobs):
    comparison = compare(jobs, policies=("fcfs", "sjf+easy"), metrics=("mean_wait", "2*awrt"))
    for policy in comparison.policies:
        schedule = simulate(jobs, policy=policy)
        assert comparison.values[policy]["mean_wait"] == schedule.value("mean_wait")
        assert comparison.values[policy]["2*awrt"] == schedule.value("2*awrt")


def test_what_really_happened_stands_first(past):
    comparison = compare(past, policies=("fcfs", "sjf+easy"))
    assert comparison.policies == ("history", "fcfs", "sjf+easy")
    assert np.array_equal(comparison.schedules[0].start, past.extra["real_start"])


def test_history_is_absent_where_a_start_is_unknown(past):
    start = past.extra["real_start"].copy()
    start[7] = -1
    unknown = past.replaced(extra={"real_start": start})
    assert compare(unknown, policies=("fcfs",)).policies == ("fcfs",)


def test_history_loses_the_jobs_that_the_machine_cannot_hold(past):
    comparison = compare(past, cores=16, policies=("fcfs",))
    history, fcfs = comparison.schedules
    assert len(history) == len(fcfs) < len(past)
    assert comparison.workload.dropped == len(past) - len(fcfs)


def test_history_alone_can_be_looked_at(past):
    assert compare(past, policies=()).policies == ("history",)


def test_the_machine_is_given_as_a_cluster_or_as_cores(jobs):
    by_cluster = compare(jobs, Cluster(80), ("fcfs",))
    by_cores = compare(jobs, policies=("fcfs",), cores=80)
    assert by_cluster.values == by_cores.values


def test_strict_refuses_jobs_wider_than_the_machine(jobs, no_replays):
    with pytest.raises(WorkloadError, match="--strict"):
        compare(jobs, cores=16, strict=True)


def test_jobs_at_both_ends_run_but_do_not_count(past):
    whole = compare(past, policies=("fcfs", "sjf"))
    middle = compare(past, policies=("fcfs", "sjf"), warm_up=0.25, cool_down=0.25)
    assert middle.policies == whole.policies
    for schedule in whole.schedules:
        trimmed = schedule.trimmed(0.25, 0.25)
        value = middle.values[schedule.policy]["mean_wait"]
        assert len(trimmed) < len(schedule)
        assert value == pytest.approx(trimmed.value("mean_wait"))


@pytest.mark.parametrize(
    ("question", "error", "named"),
    [
        ({"metrics": ("mean_wait", "pain")}, MetricError, "pain"),
        ({"metrics": ()}, UsageError, "at least one metric"),
        ({"metrics": ("awrt", "awrt")}, UsageError, "twice"),
        ({"policies": ("fcfs", "sjf", "fcfs")}, UsageError, "'fcfs' is compared twice"),
        ({"policies": ("fcfs+easy", "fcfs +easy")}, UsageError, "compared twice"),
        ({"policies": ("fcfs", "first")}, UsageError, "'first'"),
        ({"policies": ()}, UsageError, "at least one"),
        ({"warm_up": 0.5, "cool_down": 0.5}, QueuesmithError, "warm-up is 0.5"),
        ({"warm_up": float("nan")}, QueuesmithError, "warm-up is nan"),
        ({"cool_down": -0.1}, QueuesmithError, "cool-down -0.1"),
    ],
)
def test_a_wrong_question_is_told_before_any_replay(jobs, no_replays, question, error, named):
    with pytest.raises(error, match=named):
        compare(jobs, **question)


def test_workers_and_progress_are_handed_on(jobs):
    shares: list[float] = []
    compare(jobs, policies=("fcfs", "sjf"), workers=1, progress=shares.append)
    assert shares[-1] == 1.0
    with pytest.raises(UsageError, match="workers is 0"):
        compare(jobs, policies=("fcfs",), workers=0)


def test_the_bound_of_the_bounded_slowdown_is_a_choice():
    workload = random_workload(np.random.default_rng(3), 60, 8)
    metric = ("mean_bounded_slowdown",)
    narrow, wide = (
        compare(workload, cores=8, policies=["fcfs"], metrics=metric, bound=bound)
        for bound in (1, 1000)
    )
    assert wide.values["fcfs"][metric[0]] < narrow.values["fcfs"][metric[0]]
    with pytest.raises(MetricError, match="bound of the bounded slowdown is 0"):
        compare(workload, cores=8, policies=["fcfs"], metrics=metric, bound=0)


def test_intervals_stand_beside_the_values_where_they_are_wanted():
    comparison = compare(demo_workload(), policies=["fcfs+easy", "sjf+easy"], metrics=["mean_wait"])
    low, high = comparison.to_dict(intervals=True)["intervals"]["sjf+easy"]["mean_wait"]
    assert low < comparison.values["sjf+easy"]["mean_wait"] < high
    assert "intervals" not in comparison.to_dict()
    head = comparison.to_csv(intervals=True).splitlines()[0]
    assert head == "policy,mean_wait,mean_wait low,mean_wait high"
    assert " to " in interval_table(comparison)
