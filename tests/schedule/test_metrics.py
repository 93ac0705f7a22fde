import math
import statistics
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import MetricError
from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.schedule.measures import awrt_by_group, bounded_slowdown, job_classes
from queuesmith.schedule.metrics import (
    METRICS,
    Metric,
    Term,
    evaluate,
    evaluate_all,
)
from queuesmith.workload import Workload

DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"
CORES = 8

job = st.fixed_dictionaries(
    {
        "submit": st.integers(0, 500),
        "runtime": st.integers(0, 300),
        "spare": st.integers(0, 50),
        "cores": st.integers(1, CORES),
        "user": st.integers(0, 3),
        "group": st.integers(1, 3),
        "wait": st.integers(0, 400),
    }
)
job_lists = st.lists(job, min_size=1, max_size=12)


def schedule_of(jobs):
    """A schedule that need not be feasible: metrics do not depend on that."""
    jobs.sort(key=lambda j: j["submit"])
    columns = {key: [j[key] for j in jobs] for key in jobs[0]}
    runtime, spare = np.array(columns["runtime"]), np.array(columns["spare"])
    workload = Workload(
        columns["submit"],
        runtime,
        runtime + spare,
        columns["cores"],
        user=columns["user"],
        group=columns["group"],
    )
    start = np.array(columns["submit"]) + np.array(columns["wait"])
    return Schedule(workload, Cluster(CORES), start, "by-hand")


# -- the slow, obvious twins -------------------------------------------------------------------


def slow_quantile(values, share):
    ordered = sorted(values)
    rank = (len(ordered) - 1) * share
    low, high = ordered[math.floor(rank)], ordered[math.ceil(rank)]
    return low + (high - low) * (rank - math.floor(rank))


def slow_per_job(jobs):
    found = defaultdict(list)
    for j in jobs:
        response = j["wait"] + j["runtime"]
        found["wait"].append(j["wait"])
        found["response"].append(response)
        found["slowdown"].append(max(1, response / max(j["runtime"], 1)))
        found["bounded_slowdown"].append(max(1, response / max(j["runtime"], 10)))
    return found


def slow_weighted(values, weights):
    total = sum(weights)
    return sum(v * w for v, w in zip(values, weights, strict=True)) / total if total else None


def slow_peak(jobs, amount):
    instants = [j["submit"] for j in jobs]
    return max(
        sum(amount(j) for j in jobs if j["submit"] <= now < j["submit"] + j["wait"])
        for now in instants
    )


def slow_gini(values):
    total = sum(values)
    pairs = sum(abs(a - b) for a in values for b in values)
    return pairs / (2 * len(values) * total) if total else 0


def slow_jain(jobs):
    by_user = defaultdict(list)
    for j, value in zip(jobs, slow_per_job(jobs)["bounded_slowdown"], strict=True):
        by_user[j["user"]].append(value)
    means = [statistics.fmean(values) for values in by_user.values()]
    return sum(means) ** 2 / (len(means) * sum(m * m for m in means))


def slow_metrics(jobs):
    values = slow_per_job(jobs)
    width = [j["cores"] for j in jobs]
    work = [j["cores"] * j["runtime"] for j in jobs]
    expected = {
        "awrt": slow_weighted(values["response"], work),
        "artww": slow_weighted(values["response"], width),
        "sldwa": slow_weighted(values["slowdown"], work),
        "expansion_factor": statistics.fmean(values["slowdown"]),
        "jain_fairness": slow_jain(jobs),
        "gini_wait": slow_gini(values["wait"]),
    }
    for quantity, each in values.items():
        expected[f"mean_{quantity}"] = statistics.fmean(each)
        expected[f"median_{quantity}"] = statistics.median(each)
        expected[f"max_{quantity}"] = max(each)
        expected[f"p95_{quantity}"] = slow_quantile(each, 0.95)
        expected[f"p99_{quantity}"] = slow_quantile(each, 0.99)
    return expected


def slow_machine_metrics(jobs):
    starts = [j["submit"] + j["wait"] for j in jobs]
    last = max(s + j["runtime"] for s, j in zip(starts, jobs, strict=True))
    span = last - min(j["submit"] for j in jobs)
    busy = last - min(starts)

    def area(j):
        return j["cores"] * (j["runtime"] + j["spare"])

    return {
        "makespan": span,
        "utilization": sum(j["cores"] * j["runtime"] for j in jobs) / (CORES * busy)
        if busy
        else None,
        "mean_queue_length": sum(j["wait"] for j in jobs) / span if span else None,
        "mean_backlog": sum(j["wait"] * area(j) for j in jobs) / span if span else None,
        "max_queue_length": slow_peak(jobs, lambda j: 1),
        "max_backlog": slow_peak(jobs, area),
    }


def check(schedule, expected, index=None):
    for name, value in expected.items():
        if value is None:
            with pytest.raises(MetricError):
                evaluate(schedule, name, index)
        else:
            assert evaluate(schedule, name, index) == pytest.approx(value, rel=1e-9), name


@settings(deadline=None)
@given(job_lists)
def test_every_metric_equals_its_slow_twin(jobs):
    schedule = schedule_of(jobs)
    expected = slow_metrics(jobs) | slow_machine_metrics(jobs)
    assert set(expected) == set(METRICS)
    check(schedule, expected)


@settings(max_examples=50, deadline=None)
@given(job_lists)
def test_every_metric_of_a_group_equals_its_slow_twin_on_that_group_alone(jobs):
    schedule = schedule_of(jobs)
    for group in {j["group"] for j in jobs}:
        expected = slow_metrics([j for j in jobs if j["group"] == group])
        del expected["expansion_factor"]
        check(schedule, expected, group)


@settings(max_examples=50, deadline=None)
@given(job_lists)
def test_the_expansion_factor_of_a_class_is_the_average_over_its_jobs(jobs):
    schedule = schedule_of(jobs)
    cores = statistics.fmean(j["cores"] for j in jobs)
    runtime = statistics.fmean(j["runtime"] for j in jobs)
    factors = defaultdict(list)
    for j, value in zip(jobs, slow_per_job(jobs)["slowdown"], strict=True):
        large, long = j["cores"] > cores, j["runtime"] > runtime
        letter = {(1, 1): "A", (1, 0): "B", (0, 1): "C", (0, 0): "D"}[large, long]
        factors[letter].append(value)
    for letter in "ABCD":
        value = statistics.fmean(factors[letter]) if factors[letter] else None
        check(schedule, {"expansion_factor": value}, letter)


# -- worked by hand ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mean_wait", 10 / 3),
        ("median_wait", 0),
        ("max_wait", 10),
        ("mean_response", 80 / 3),
        ("max_response", 40),
        ("mean_slowdown", (1 + 1.5 + 1) / 3),
        ("mean_bounded_slowdown", (1 + 1.5 + 1) / 3),
        ("awrt", (20 * 10 + 80 * 30 + 40 * 40) / 140),
        ("artww", (2 * 10 + 4 * 30 + 1 * 40) / 7),
        ("sldwa", (20 * 1 + 80 * 1.5 + 40 * 1) / 140),
        ("utilization", 140 / (4 * 70)),
        ("makespan", 70),
        ("mean_queue_length", 10 / 70),
        ("max_queue_length", 1),
        ("mean_backlog", 10 * 4 * 30 / 70),
        ("max_backlog", 4 * 30),
        ("gini_wait", 2 / 3),
        ("jain_fairness", (1.25 + 1) ** 2 / (2 * (1.25**2 + 1))),
    ],
)
def test_the_tiny_schedule_has_the_values_worked_out_by_hand(tiny, name, value):
    assert evaluate(tiny, name) == pytest.approx(value)


def test_groups_have_their_own_awrt(tiny):
    assert evaluate(tiny, "awrt", 1) == pytest.approx((20 * 10 + 80 * 30) / 100)
    assert evaluate(tiny, "awrt", 2) == 40
    assert awrt_by_group(tiny) == pytest.approx({1: 26.0, 2: 40.0})


def test_the_tiny_jobs_fall_into_classes_by_the_averages(tiny):
    # Average cores 7/3, average runtime 70/3.
    assert job_classes(tiny).tolist() == ["D", "B", "C"]
    assert evaluate(tiny, "expansion_factor", "B") == 1.5


def test_jobs_exactly_average_are_small_and_short():
    workload = Workload([0, 0], [5, 5], [5, 5], [2, 2])
    schedule = Schedule(workload, Cluster(4), [0, 0], "by-hand")
    assert job_classes(schedule).tolist() == ["D", "D"]


def test_a_job_of_no_runtime_counts_as_one_second_in_its_slowdown():
    workload = Workload([0, 0], [0, 0], [0, 0], [1, 1])
    schedule = Schedule(workload, Cluster(1), [0, 7], "by-hand")
    assert evaluate(schedule, "max_slowdown") == 7
    assert evaluate(schedule, "mean_slowdown") == 4  # one that does not wait has slowdown 1


def test_the_bound_can_be_chosen(tiny):
    assert bounded_slowdown(tiny, bound=60).tolist() == [1, 1, 1]
    assert evaluate(tiny, "max_bounded_slowdown", bound=25) == 30 / 25


@pytest.mark.parametrize("bound", [0, -1, float("nan"), float("inf")])
def test_a_bound_that_is_not_above_zero_is_refused(tiny, bound):
    with pytest.raises(MetricError, match="must be above 0 s"):
        evaluate(tiny, "mean_bounded_slowdown", bound=bound)


def test_groups_can_be_named_where_the_workload_has_their_names(tiny):
    named = tiny.workload.replaced(labels={"group": ("none", "physics", "biology")})
    schedule = Schedule(named, tiny.cluster, tiny.start, "by-hand")
    assert evaluate(schedule, "awrt", "biology") == 40
    with pytest.raises(MetricError, match=r"group chemistry has no jobs.*1 \(physics\), 2 \(bio"):
        evaluate(schedule, "awrt", "chemistry")


def test_several_metrics_are_computed_in_one_go(tiny):
    terms = [Term("awrt", 1), Term("awrt"), Term("mean_wait", 1), Term("awrt", 1)]
    found = evaluate_all(tiny, terms)
    assert list(found) == [Term("awrt", 1), Term("awrt"), Term("mean_wait", 1)]
    assert found[Term("mean_wait", 1)] == 5


def test_a_metric_of_ones_own_is_one_more_entry(tiny, monkeypatch):
    mine = Metric("waited_at_all", lambda jobs: float((jobs.wait > 0).mean()), "share", "1")
    monkeypatch.setitem(METRICS, "waited_at_all", mine)
    assert tiny.value("100 * waited_at_all") == pytest.approx(100 / 3)


def test_sums_beyond_the_largest_integer_do_not_wrap():
    width, long = 2**30, 2**40
    workload = Workload([0] * 4, [long] * 4, [long] * 4, [width] * 4)
    schedule = Schedule(workload, Cluster(width), [0, long, 2 * long, 3 * long], "by-hand")
    assert evaluate(schedule, "utilization") == 1
    assert evaluate(schedule, "awrt") == pytest.approx(2.5 * long)
    assert evaluate(schedule, "max_backlog") == pytest.approx(3 * width * long)


# -- what cannot be computed ----------------------------------------------------------------------


def test_an_unknown_metric_is_answered_with_a_near_match_and_all_names(tiny):
    with pytest.raises(MetricError, match=r"no metric 'mean_wiat'\. Did you mean 'mean_wait'") as e:
        evaluate(tiny, "mean_wiat")
    assert all(name in str(e.value) for name in METRICS)


def test_a_group_without_jobs_is_answered_with_the_groups_that_exist(tiny):
    with pytest.raises(MetricError, match=r"group 7 has no jobs.*Choose one that has: 1, 2\."):
        evaluate(tiny, "awrt", 7)


def test_a_class_without_jobs_is_answered_with_the_classes_that_exist(tiny):
    with pytest.raises(MetricError, match=r"class A has no jobs.*Choose one that has: B, C, D\."):
        evaluate(tiny, "expansion_factor", "A")


def test_a_class_that_does_not_exist_is_refused(tiny):
    with pytest.raises(MetricError, match="the classes are A, B, C and D"):
        evaluate(tiny, "expansion_factor", "E")


def test_an_index_on_a_metric_of_the_whole_machine_is_refused(tiny):
    with pytest.raises(MetricError, match="belongs to the whole machine"):
        evaluate(tiny, "utilization", 1)


@pytest.mark.parametrize("name", sorted(METRICS))
def test_an_empty_schedule_has_no_metrics(empty, name):
    with pytest.raises(MetricError, match="has no jobs"):
        evaluate(empty, name)


def test_averages_over_no_work_and_no_time_are_errors_not_numbers():
    workload = Workload([5], [0], [10], [2])
    schedule = Schedule(workload, Cluster(4), [5], "by-hand")
    with pytest.raises(MetricError, match=r"weighted by work .* is 0/0"):
        evaluate(schedule, "awrt")
    for name in ("utilization", "mean_queue_length", "mean_backlog"):
        with pytest.raises(MetricError, match="takes no time"):
            evaluate(schedule, name)
    assert evaluate(schedule, "makespan") == 0
    assert awrt_by_group(schedule) == {5: None}


# -- the registry and its documentation ----------------------------------------------------------


def test_the_registry_is_keyed_by_name_and_says_what_each_metric_is():
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.definition and "\n" not in metric.definition
        assert metric.unit in ("s", "1", "jobs", "core-s")
        assert metric.better in ("lower", "higher")


def documented_row(metric):
    index = {"none": "", "group": "group", "class": "class"}[metric.index]
    unit = "" if metric.unit == "1" else metric.unit
    return f"| `{metric.name}` | {metric.definition} | {unit} | {metric.better} | {index} |"


def test_the_documentation_lists_every_metric_as_the_registry_defines_it():
    rows = [line for line in DOCS.read_text().splitlines() if line.startswith("| `")]
    assert rows == [documented_row(metric) for metric in METRICS.values()]
