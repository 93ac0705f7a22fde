from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import ScheduleError, UsageError
from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.schedule.timeline import CURVES, Steps, curve, mean_between, over_time
from queuesmith.schedule.verify import usage
from queuesmith.workload import Workload

rows = st.lists(
    st.tuples(
        st.integers(0, 40), st.integers(0, 20), st.integers(0, 20), st.integers(1, 4)
    ),  # submit, wait, runtime, cores
    min_size=1,
    max_size=10,
)


def schedule_of(jobs):
    submit, wait, runtime, cores = np.array(sorted(jobs)).T
    return Schedule(
        Workload(submit, runtime, runtime + 5, cores), Cluster(99), submit + wait, "by-hand"
    )


def slow_value(schedule, name, now):
    jobs = schedule.workload
    total = 0
    for i in range(len(jobs)):
        waits = jobs.submit[i] <= now < schedule.start[i]
        runs = schedule.start[i] <= now < schedule.end[i]
        total += {
            "queue_length": waits,
            "waiting_cores": waits * jobs.cores[i],
            "backlog": waits * jobs.cores[i] * jobs.walltime[i],
            "busy_cores": runs * jobs.cores[i],
        }[name]
    return total


def test_the_tiny_schedule_changes_when_and_as_worked_out_by_hand(tiny):
    found = over_time(tiny)
    assert found.queue_length.time.tolist() == [0, 10, 70]
    assert found.queue_length.value.tolist() == [1, 0, 0]
    assert found.waiting_cores.value.tolist() == [4, 0, 0]
    assert found.backlog.value.tolist() == [120, 0, 0]
    assert found.busy_cores.time.tolist() == [0, 10, 30, 70]
    assert found.busy_cores.value.tolist() == [2, 4, 1, 0]


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from(list(CURVES)))
def test_every_second_of_every_curve_equals_a_plain_count(jobs, name):
    schedule = schedule_of(jobs)
    steps = curve(schedule, name)
    seconds = np.arange(-3, int(schedule.end.max()) + 3)
    assert steps.at(seconds).tolist() == [slow_value(schedule, name, now) for now in seconds]
    assert (np.diff(steps.time) > 0).all()
    assert steps.value[-1] == 0


@settings(max_examples=60, deadline=None)
@given(rows, st.integers(1, 30), st.sampled_from(list(CURVES)))
def test_bins_hold_the_exact_mean_and_maximum_of_their_seconds(jobs, count, name):
    steps = curve(schedule_of(jobs), name)
    bins = steps.binned(count)
    assert 1 <= len(bins.mean) <= count
    assert (bins.edges[0], bins.edges[-1]) == (steps.time[0], steps.time[-1])
    for low, high, mean, top in zip(
        bins.edges[:-1], bins.edges[1:], bins.mean, bins.max, strict=True
    ):
        seconds = steps.at(np.arange(low, max(high, low + 1)))
        assert mean == pytest.approx(seconds.mean())
        assert top == seconds.max()
    assert bins.max.max() == steps.max()
    if steps.time[-1] > steps.time[0]:
        assert bins.integral.sum() / (steps.time[-1] - steps.time[0]) == pytest.approx(steps.mean())


@settings(deadline=None)
@given(rows, st.lists(st.integers(-10, 90), min_size=2, max_size=6).map(sorted))
def test_any_rising_edges_may_be_chosen_even_equal_ones(jobs, edges):
    steps = curve(schedule_of(jobs), "busy_cores")
    bins = steps.between(edges)
    for i, (low, high) in enumerate(pairwise(edges)):
        seconds = steps.at(np.arange(low, max(high, low + 1)))
        assert bins.mean[i] == pytest.approx(seconds.mean())
        assert bins.max[i] == seconds.max()


@settings(deadline=None)
@given(
    rows, st.integers(0, 60), st.integers(1, 30), st.integers(1, 6), st.sampled_from(list(CURVES))
)
def test_means_between_even_edges_are_those_of_the_steps(jobs, first, width, count, name):
    schedule = schedule_of(jobs)
    edges = first + width * np.arange(count + 1)
    expected = curve(schedule, name).between(edges).mean
    np.testing.assert_allclose(mean_between(schedule, name, edges), expected, atol=1e-9)


@settings(deadline=None)
@given(rows)
def test_busy_cores_agree_with_the_independent_check(jobs):
    schedule = schedule_of(jobs)
    stairs, steps = usage(schedule), curve(schedule, "busy_cores")
    assert steps.at(stairs.time).tolist() == stairs.busy.tolist()


def test_edges_that_fall_and_bins_that_are_none_are_refused(tiny):
    steps = curve(tiny, "busy_cores")
    for edges in ([5, 3], [5]):
        with pytest.raises(UsageError, match="rising order"):
            steps.between(edges)
    with pytest.raises(UsageError, match="at least 1"):
        steps.binned(0)


def test_a_schedule_of_one_instant_has_a_curve_of_one_step():
    schedule = Schedule(Workload([5], [0], [0], [1]), Cluster(1), [5], "by-hand")
    steps = curve(schedule, "queue_length")
    assert (steps.time.tolist(), steps.value.tolist()) == ([5], [0])
    assert (len(steps), steps.mean(), steps.max()) == (1, 0, 0)
    assert steps.binned(10).mean.tolist() == [0]


def test_a_step_function_is_zero_before_it_begins():
    assert Steps(np.array([10, 20]), np.array([3.0, 0.0])).at([9, 10, 25]).tolist() == [0, 3, 0]


def test_an_empty_schedule_has_no_timeline(empty):
    with pytest.raises(ScheduleError, match="nothing happens over time"):
        over_time(empty)
