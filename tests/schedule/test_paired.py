"""Improvements with intervals: the same weeks for both schedules."""

import numpy as np
import pytest

from queuesmith import Cluster, Objective, Schedule, Workload, confidence
from queuesmith.schedule.confidence import Interval
from queuesmith.schedule.paired import (
    chance_words,
    improvement,
    improvement_percent,
    interval_words,
)

WEEK = 7 * 86_400


def waiting(seconds):
    """One job a week for eight weeks; each waits so long."""
    submit = np.arange(8) * WEEK
    jobs = Workload(submit, [100] * 8, [100] * 8, [1] * 8)
    return Schedule(jobs, Cluster(4), submit + np.asarray(seconds), "any")


WAIT = Objective("mean_wait")


def test_half_the_wait_in_every_week_is_an_improvement_of_exactly_half():
    heavy = np.array([10, 1000, 20, 5000, 30, 10, 40, 2000])
    one, other = waiting(heavy // 2), waiting(heavy)
    gain = improvement(one, other, WAIT)
    assert (gain.value, gain.low, gain.high) == pytest.approx((50, 50, 50))
    # The values themselves are far from sure.
    sure = confidence(other, WAIT)
    assert sure.high > 2 * sure.low


def test_the_interval_agrees_with_drawing_weeks_by_hand():
    chance = np.random.default_rng(5)
    one, other = chance.integers(0, 100, 8), chance.integers(50, 200, 8)
    gain = improvement(waiting(one), waiting(other), WAIT, resamples=4000)
    drawn = np.random.default_rng(1).integers(8, size=(4000, 8))
    by_hand = 100 * (1 - one[drawn].sum(axis=1) / other[drawn].sum(axis=1))
    low, high = np.quantile(by_hand, [0.025, 0.975])
    assert gain.value == pytest.approx(100 * (1 - one.sum() / other.sum()))
    assert (gain.low, gain.high) == pytest.approx((low, high), abs=2.0)


def test_where_higher_is_better_more_is_an_improvement():
    assert improvement_percent(0.9, 0.6, "higher") == pytest.approx(50)
    assert improvement_percent(0.9, 0.6) == pytest.approx(-50)
    assert improvement_percent(-2.0, -1.0) == pytest.approx(100)
    late = [0] * 7 + [3000]
    gain = improvement(waiting([0] * 8), waiting(late), Objective("utilization"))
    assert gain.value > 0


def test_against_nothing_there_is_no_percentage():
    assert improvement(waiting([1] * 8), waiting([0] * 8), WAIT) is None


def test_where_there_is_no_bootstrap_there_is_no_interval():
    gain = improvement(waiting([0] * 8), waiting([100] * 8), Objective("makespan"))
    assert gain.value > 0
    assert gain.low is None


def test_one_week_has_no_interval():
    jobs = Workload([0, 10], [5, 5], [5, 5], [1, 1])
    one, other = (Schedule(jobs, Cluster(1), jobs.submit + w, "any") for w in (1, 2))
    gain = improvement(one, other, WAIT)
    assert (gain.value, gain.low, gain.weeks) == (50, None, 1)


def test_an_interval_stands_behind_a_gain_where_there_is_one():
    assert interval_words(Interval(5.0, -1.24, 7.0, 9)) == " (-1.2 to 7.0)"
    assert interval_words(Interval(5.0, None, None, 1)) == ""


def test_a_gain_whose_interval_reaches_zero_may_be_chance():
    sure, unsure = Interval(5.0, 0.1, 7.0, 9), Interval(5.0, 0.0, 7.0, 9)
    assert "hardly chance" in chance_words(sure)
    assert "may be chance" in chance_words(unsure)
    assert "may be chance" in chance_words(sure, unsure)


def test_where_there_is_no_interval_the_reason_is_told():
    sure, short, never = (
        Interval(5.0, 0.1, 7.0, 9),
        Interval(5.0, None, None, 1),
        Interval(5.0, None, None, 0),
    )
    assert "too short" in chance_words(sure, short)
    assert "cannot be redrawn" in chance_words(short, never)
