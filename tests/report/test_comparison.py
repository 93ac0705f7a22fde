import csv
import io
import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from queuesmith.base.errors import MetricError, UsageError
from queuesmith.cluster import Cluster
from queuesmith.report import DEFAULT_METRICS, Comparison
from queuesmith.schedule import Schedule


@pytest.fixture
def comparison(schedules) -> Comparison:
    return Comparison(schedules)


@pytest.fixture
def real(workload, schedules) -> Schedule:
    """What really happened: a little better than any policy."""
    return Schedule(workload, schedules[0].cluster, workload.submit, "history")


def test_values_are_those_of_the_schedules(comparison, schedules):
    for schedule in schedules:
        for metric in DEFAULT_METRICS:
            assert comparison.values[schedule.policy][metric] == schedule.value(metric)


def test_lower_is_best_unless_the_metric_says_higher(schedules):
    comparison = Comparison(schedules, ("mean_wait", "utilization", "-1*mean_wait"))
    waits = {each.policy: each.value("mean_wait") for each in schedules}
    assert comparison.best("mean_wait") == min(waits, key=waits.get)
    assert comparison.best("-1*mean_wait") == max(waits, key=waits.get)
    used = {each.policy: each.value("utilization") for each in schedules}
    assert comparison.best("utilization") == max(used, key=used.get)


def test_history_comes_first_and_is_never_best(schedules, real):
    comparison = Comparison((*schedules, real))
    assert comparison.policies == ("history", "fcfs", "fcfs+list")
    assert comparison.values["history"]["mean_wait"] == 0
    assert comparison.best("mean_wait") == "fcfs+list"


def test_history_alone_has_no_best(real):
    assert Comparison((real,)).best("mean_wait") is None


def test_equal_policies_are_best_together(schedules):
    twin = replace(schedules[1], policy="twin")
    comparison = Comparison((*schedules, twin))
    assert comparison.winners("mean_wait") == ("fcfs+list", "twin")
    assert comparison.best("mean_wait") == "fcfs+list"


def test_a_policy_is_compared_once(schedules):
    with pytest.raises(UsageError, match="'fcfs' is compared twice"):
        Comparison((schedules[0], schedules[1], schedules[0]))


def test_only_the_same_jobs_are_compared(schedules):
    shorter = schedules[1].trimmed(0.5)
    with pytest.raises(UsageError, match="the same jobs are compared"):
        Comparison((schedules[0], shorter))


def test_only_one_machine_is_compared(schedules):
    larger = replace(schedules[1], cluster=Cluster(128))
    with pytest.raises(UsageError, match="64 cores and 'fcfs\\+list' on 128"):
        Comparison((schedules[0], larger))


def test_equal_copies_of_a_workload_are_the_same_jobs(schedules):
    jobs = schedules[1].workload
    copy = replace(schedules[1], workload=jobs.replaced(name="copy"))
    assert Comparison((schedules[0], copy)).policies == ("fcfs", "fcfs+list")


@pytest.mark.parametrize(("metrics", "words"), [((), "at least one"), (("awrt", "awrt"), "twice")])
def test_metrics_are_some_and_each_once(schedules, metrics, words):
    with pytest.raises(UsageError, match=words):
        Comparison(schedules, metrics)


def test_nothing_cannot_be_compared():
    with pytest.raises(UsageError, match="at least one schedule"):
        Comparison(())


def test_an_unknown_metric_is_named(schedules):
    with pytest.raises(MetricError, match="mean_weight"):
        Comparison(schedules, ("mean_weight",))


def test_best_of_a_metric_that_is_not_compared_is_an_error(comparison):
    with pytest.raises(UsageError, match="not part of this comparison"):
        comparison.best("makespan")


def test_the_table_has_a_row_a_policy_and_a_column_a_metric(comparison):
    assert comparison.to_frame().index.tolist() == ["fcfs", "fcfs+list"]
    assert comparison.to_frame().columns.tolist() == list(DEFAULT_METRICS)
    assert comparison.to_frame().loc["fcfs", "awrt"] == comparison.values["fcfs"]["awrt"]


def test_to_dict_is_ready_for_json(comparison):
    told = json.loads(json.dumps(comparison.to_dict()))
    assert [row["policy"] for row in told["policies"]] == ["fcfs", "fcfs+list"]
    assert told["best"]["mean_wait"] == "fcfs+list"
    assert told["policies"][0]["mean_wait"] == comparison.values["fcfs"]["mean_wait"]
    assert (told["jobs"], told["cores"]) == (400, 64)


def test_csv_comes_back_as_it_was(comparison):
    rows = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    assert [row["policy"] for row in rows] == ["fcfs", "fcfs+list"]
    assert float(rows[1]["p95_wait"]) == comparison.values["fcfs+list"]["p95_wait"]


def test_repr_shows_the_table_with_the_best_marked(comparison):
    lines = repr(comparison).splitlines()
    assert lines[0] == "<Comparison of 'testlog': 400 jobs on 64 cores>"
    assert all(len(line) <= 80 for line in lines)
    assert [line.split()[0] for line in lines if line[:1].strip()][1:] == [
        "policy",
        "fcfs",
        "fcfs+list",
    ]
    assert "★" not in lines[-2]
    assert "★" in lines[-1]


def test_notebooks_get_an_escaped_table(schedules):
    strange = replace(schedules[1], policy="<script>alert(1)</script>")
    shown = Comparison((schedules[0], strange))._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert 'class="best"' in shown


def test_intervals_hold_the_values_and_are_missing_where_there_is_no_bootstrap(schedules):
    comparison = Comparison(schedules, ("mean_wait", "makespan"))
    for policy in comparison.policies:
        assert comparison.intervals[policy]["makespan"].low is None
        wait = comparison.intervals[policy]["mean_wait"]
        assert wait.value == comparison.values[policy]["mean_wait"]


def test_a_comparison_is_not_changed(comparison):
    with pytest.raises(FrozenInstanceError):
        comparison.metrics = ()


def test_plot_draws_a_bar_for_each_policy(comparison):
    figure = comparison.plot()
    assert [trace.name for trace in figure.data] == ["fcfs", "fcfs+list"]
    assert np.allclose(figure.data[0].y, 100)
