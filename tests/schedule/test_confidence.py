import numpy as np
import pytest

from queuesmith.base.errors import MetricError
from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.schedule.confidence import WEEK, Interval, confidence, weekly_plans
from queuesmith.schedule.measures import OfMachine
from queuesmith.schedule.metrics import METRICS, Metric
from queuesmith.schedule.objective import Objective
from queuesmith.workload import Workload

#: What weeks cannot be drawn for, and what a pool of cores does not have.
NOT_REDRAWN = {"makespan", "jain_fairness", "flowtime", "load_balance"} | {
    name for name, metric in METRICS.items() if isinstance(metric.function, OfMachine)
}
JOB_METRICS = [
    "mean_wait",
    "awrt",
    "awrt[1]",
    "mean_slowdown[2]",
    "median_response",
    "p95_wait",
    "p99_bounded_slowdown",
    "max_wait[3]",
    "artww",
    "sldwa",
    "gini_wait",
]


def random_schedule(jobs=400, weeks=6, seed=1):
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.integers(0, weeks * WEEK, jobs))
    runtime = rng.integers(0, 5000, jobs)
    workload = Workload(
        submit,
        runtime,
        runtime + 10,
        rng.integers(1, 9, jobs),
        user=rng.integers(0, 5, jobs),
        group=rng.integers(1, 4, jobs),
    )
    wait = rng.integers(0, 9000, jobs) * rng.integers(0, 2, jobs)
    return Schedule(workload, Cluster(64), submit + wait, "by-hand")


def two_weeks(*second_week_jobs):
    """One job in the first week that waits 10 s, and others, each (submit, wait)."""
    submit = np.array([0, *(WEEK + at for at, _ in second_week_jobs)])
    wait = np.array([10, *(wait for _, wait in second_week_jobs)])
    runtime = np.full(len(submit), 100)
    workload = Workload(submit, runtime, runtime, np.ones(len(submit)), group=np.arange(len(wait)))
    return Schedule(workload, Cluster(2), submit + wait, "by-hand")


@pytest.mark.parametrize("expression", JOB_METRICS)
def test_drawn_weeks_give_what_a_schedule_of_those_very_jobs_gives(expression):
    schedule, objective = random_schedule(), Objective(expression)
    weeks, plans = weekly_plans(schedule, objective)
    often = np.random.default_rng(2).integers(0, 4, (20, weeks.count))
    often[:, 0] = np.maximum(often[:, 0], 1)
    (plan,) = plans.values()
    for row, value in zip(often, plan.redraw(often.astype(float)), strict=True):
        position = np.repeat(np.arange(len(schedule)), row[weeks.of_job])
        again = schedule.workload.select(position)
        drawn = Schedule(again, schedule.cluster, schedule.start[position], "drawn")
        assert value == pytest.approx(objective(drawn), rel=1e-12)


@pytest.mark.parametrize("name", sorted(set(METRICS) - NOT_REDRAWN))
def test_every_week_drawn_once_gives_the_metric_itself(name):
    schedule = random_schedule()
    weeks, plans = weekly_plans(schedule, Objective(name))
    (plan,) = plans.values()
    value = plan.redraw(np.ones((1, weeks.count)))[0]
    assert value == pytest.approx(schedule.value(name), rel=1e-9)


@pytest.mark.parametrize(
    "expression",
    ["mean_wait", "10*awrt[1] + 4*awrt[2]", "utilization", "mean_wait + max(0, utilization)"],
)
def test_the_interval_holds_the_value_and_grows_with_the_level(expression):
    schedule = random_schedule()
    narrow, wide = (confidence(schedule, expression, level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high
    assert narrow.value == schedule.value(expression)
    assert narrow.weeks == 6


def test_the_same_seed_gives_the_same_interval():
    schedule = random_schedule()
    assert confidence(schedule, "mean_wait", seed=3) == confidence(schedule, "mean_wait", seed=3)
    assert confidence(schedule, "mean_wait", seed=3) != confidence(schedule, "mean_wait", seed=4)


def test_two_weeks_of_one_job_each_span_their_two_values():
    found = confidence(two_weeks((0, 30)), "mean_wait")
    assert found == Interval(20.0, 10.0, 30.0, 2, 0.95)
    assert str(found) == "20 (95 %: 10 to 30)"


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says():
    hits = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        weekly = rng.exponential(100, 30)  # every week has its own level
        wait = np.repeat(weekly, 5).astype(np.int64)
        submit = np.repeat(np.arange(30) * WEEK, 5)
        runtime = np.ones(150)
        workload = Workload(submit, runtime, runtime, runtime)
        found = confidence(
            Schedule(workload, Cluster(1), submit + wait, "x"), "mean_wait", level=0.9
        )
        hits += found.low <= 99.5 <= found.high
    assert 75 <= hits <= 97


def test_one_week_has_no_interval(tiny):
    found = confidence(tiny, "mean_wait")
    assert (found.value, found.low, found.high, found.weeks) == (10 / 3, None, None, 1)
    assert "no interval" in str(found)


def test_a_group_seen_in_one_week_only_has_no_interval():
    schedule = two_weeks((0, 30))
    found = confidence(schedule, "mean_wait[0] + mean_wait")
    assert (found.low, found.high, found.weeks) == (None, None, 1)


def test_draws_without_the_group_are_passed_over():
    schedule = two_weeks((0, 30), (5, 50))
    regrouped = schedule.workload.replaced(group=[1, 1, 2])
    schedule = Schedule(regrouped, schedule.cluster, schedule.start, "by-hand")
    found = confidence(schedule, "mean_wait[1] / mean_wait[1]")
    assert (found.low, found.high) == (1, 1)


def test_weeks_without_submissions_cost_nothing_however_long_the_gap():
    submit = np.array([0, 2**39])
    workload = Workload(submit, [9, 9], [9, 9], [1, 1])
    found = confidence(Schedule(workload, Cluster(1), submit, "by-hand"), "utilization")
    assert found.weeks == 2


def test_an_expression_of_numbers_alone_is_certain():
    assert confidence(random_schedule(), "2 + 3").low == 5


def test_an_objective_brings_its_own_bound():
    schedule = random_schedule()
    given = confidence(schedule, Objective("mean_bounded_slowdown", bound=600))
    assert given == confidence(schedule, "mean_bounded_slowdown", bound=600)
    assert given.value < confidence(schedule, "mean_bounded_slowdown").value


@pytest.mark.parametrize("name", ["makespan", "jain_fairness", "mine"])
def test_a_metric_that_weeks_cannot_be_drawn_for_says_so(monkeypatch, name):
    monkeypatch.setitem(METRICS, "mine", Metric("mine", lambda jobs: 1.0, "one", "1"))
    with pytest.raises(MetricError, match=f"{name} has no bootstrap interval"):
        confidence(random_schedule(), f"mean_wait + {name}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0}, "level is 0"),
        ({"level": 1}, "level is 1"),
        ({"level": 95}, "level is 95"),
        ({"resamples": 0}, "take at least 1"),
    ],
)
def test_levels_and_numbers_that_make_no_sense_are_refused(options, message):
    with pytest.raises(MetricError, match=message):
        confidence(random_schedule(), "mean_wait", **options)


def test_an_empty_schedule_has_no_interval(empty):
    for expression in ("mean_wait", "1 + 1"):
        with pytest.raises(MetricError, match="has no jobs"):
            confidence(empty, expression)


@pytest.mark.parametrize("expression", ["mean_wait", "awrt", "p95_wait"])
def test_seventy_thousand_jobs_have_an_interval_around_their_value(expression):
    schedule = random_schedule(jobs=70_000, weeks=50)
    found = confidence(schedule, expression, resamples=1000)
    assert found.low < schedule.value(expression) < found.high
