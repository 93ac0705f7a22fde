import numpy as np
import pytest

from queuesmith.cluster import Cluster
from queuesmith.report import Comparison
from queuesmith.report.figure_data import (
    job_parts,
    nice_edges,
    over_time_data,
    part_means,
    relative_data,
    share_above,
    share_at_most,
    user_groups,
)
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload


def test_the_share_of_values_is_exact_at_every_threshold():
    values = np.random.default_rng(3).lognormal(5, 2, 1000)
    curve = share_at_most(values)
    assert len(curve.x) <= 500
    for x, share in zip(curve.x[::37], curve.share[::37], strict=True):
        assert share == np.mean(values <= x)
    assert curve.share[-1] == 1


def test_jobs_that_did_not_wait_are_the_start_of_the_curve():
    curve = share_at_most([0, 0, 0, 100])
    assert curve.x[0] == 1
    assert curve.share[0] == 0.75


def test_a_curve_goes_on_to_where_the_longest_ends():
    curve = share_at_most([1, 2, 3], largest=50)
    assert curve.x[-1] == 50
    assert curve.share[-1] == 1


@pytest.mark.parametrize("values", [[0, 0], [1], [0.2]])
def test_a_curve_of_small_values_is_whole_at_once(values):
    assert share_at_most(values).share[-1] == 1


def test_the_share_above_never_shows_nothing_as_something():
    curve = share_above([1, 1, 10, 100])
    assert curve.share[0] == 0.5
    assert (curve.share > 0).all()
    assert curve.x[-1] < 100
    assert len(share_above([1, 1]).x) == 0


def make_groups(codes, cores=None, **facts):
    count = len(codes)
    cores = np.ones(count) if cores is None else cores
    ones = np.ones(count)
    return Workload(np.arange(count), ones, ones, cores, group=codes, **facts)


def test_groups_are_named_by_number_or_by_the_log():
    assert user_groups(make_groups([3, 1, 3])).labels == ("group 1", "group 3")
    named = make_groups([1, 0, 1], labels={"group": ("physics", "biology")})
    assert user_groups(named).labels == ("physics", "biology")
    assert user_groups(named).slot.tolist() == [1, 0, 1]


def test_the_lightest_of_many_groups_are_put_together():
    codes = np.arange(10)
    groups = user_groups(make_groups(codes, cores=10 - codes), most=4)
    assert groups.other
    assert groups.labels == ("group 0", "group 1", "group 2", "7 other groups")
    assert groups.slot.tolist() == [0, 1, 2, 3, 3, 3, 3, 3, 3, 3]


def test_part_means_are_taken_over_the_jobs_of_each_group():
    jobs = make_groups([1, 2, 1])
    schedule = Schedule(jobs, Cluster(1), [0, 3, 6], "fcfs")
    means = part_means(schedule, job_parts(jobs), schedule.wait)
    assert means.mean.tolist() == [2.0, 2.0]
    assert means.jobs.tolist() == [2, 1]


def test_jobs_are_divided_by_any_column_and_a_part_of_them_alike():
    jobs = make_groups([1, 2, 1], cores=[1, 64, 2]).replaced(
        extra={"partition": np.array([1, 0, 1])}, labels={"partition": ("gpu", "cpu")}
    )
    partitions = job_parts(jobs, "partition")
    assert partitions.labels == ("gpu", "cpu")
    assert partitions.slots(jobs.fitting(8)).tolist() == [1, 1]
    assert job_parts(jobs, "size").labels == ("1 core", "2 to 4 cores", "17 to 64 cores")


@pytest.mark.parametrize("span", [1, 59, 3600, 86_400, 30_000_000, 2**40])
def test_bins_are_few_and_cover_the_whole_time(span):
    edges = nice_edges(1000, 1000 + span)
    assert edges[0] == 1000
    assert edges[-1] >= 1000 + span
    assert 1 <= len(edges) - 1 <= 400


def test_bins_are_as_wide_as_a_clock_has_it():
    assert np.diff(nice_edges(0, 333 * 86_400))[0] == 86_400
    assert np.diff(nice_edges(0, 86_400))[0] == 300


def test_bins_over_time_keep_all_work_and_all_waiting(schedules):
    for schedule in schedules:
        edges = nice_edges(int(schedule.workload.submit[0]), int(schedule.end.max()))
        data = over_time_data(schedule, edges)
        width = np.diff(edges)
        assert (data.utilization * width * 64).sum() == pytest.approx(schedule.workload.work.sum())
        assert (data.queue_length * width).sum() == pytest.approx(schedule.wait.sum())
        asked = schedule.wait * schedule.workload.cores * schedule.workload.walltime
        assert (data.backlog * width * 3600).sum() == pytest.approx(asked.sum())
        assert data.utilization.max() <= 1 + 1e-12


def test_metrics_are_relative_to_the_first_policy(schedules):
    data = relative_data(Comparison(schedules, ("mean_wait", "utilization")))
    assert data["fcfs"].value == pytest.approx([100, 100])
    ratio = schedules[1].value("mean_wait") / schedules[0].value("mean_wait")
    assert data["fcfs+list"].value[0] == pytest.approx(100 * ratio)
    assert np.isnan(data["fcfs"].above).all()


def test_nothing_is_relative_to_a_wait_of_zero(workload, schedules):
    at_once = Schedule(workload, schedules[0].cluster, workload.submit, "at once")
    data = relative_data(Comparison((at_once, *schedules), ("mean_wait", "awrt")))
    assert np.isnan(data["fcfs"].value[0])
    assert np.isfinite(data["fcfs"].value[1])


def test_intervals_reach_below_and_above_the_value(long_schedules):
    comparison = Comparison(long_schedules)
    for policy, data in relative_data(comparison).items():
        interval = comparison.intervals[policy]["mean_wait"]
        assert data.above[0] > 0
        assert data.below[0] > 0
        stretch = data.value[0] / interval.value
        assert data.value[0] + data.above[0] == pytest.approx(interval.high * stretch)
