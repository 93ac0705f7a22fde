"""Nobody starves: no group's longest wait grows beyond a factor."""

import math

import pytest

from queuesmith import Cluster, Schedule, Workload
from queuesmith.base.errors import UsageError
from queuesmith.schedule.guard import Limits
from queuesmith.schedule.starvation import NobodyStarves, WaitLimits, group_waits, longest_waits

DAY = 86_400
JOBS = Workload([0, 0, 0, 0], [10] * 4, [10] * 4, [1] * 4, group=[1, 1, 2, 2], name="four")


def waiting(*waits):
    return Schedule(JOBS, Cluster(4), list(waits), "some")


def test_the_longest_wait_is_found_for_each_group():
    assert longest_waits(waiting(5, 7, 30, 0)) == {"1": 7.0, "2": 30.0}


def test_groups_are_called_by_their_names():
    named = JOBS.replaced(group=[0, 0, 1, 1], labels={"group": ("bio", "chem")})
    assert longest_waits(Schedule(named, Cluster(4), [1, 2, 3, 4], "some")) == {
        "bio": 2.0,
        "chem": 4.0,
    }


def test_a_group_that_waits_twice_as_long_does_not_starve_and_one_second_more_does():
    rule, before = NobodyStarves(2), waiting(0, 2 * DAY, 0, 3 * DAY)
    assert rule.starved(waiting(0, 4 * DAY, 0, 6 * DAY), before) == {}
    assert list(rule.starved(waiting(0, 4 * DAY + 1, 0, 6 * DAY), before)) == ["1"]


def test_waits_of_a_day_starve_nobody_however_short_they_were_before():
    rule, before = NobodyStarves(1), waiting(0, 0, 0, 10)
    assert rule.starved(waiting(0, DAY, 0, DAY), before) == {}
    assert set(rule.starved(waiting(0, DAY + 1, 0, 2 * DAY), before)) == {"1", "2"}


def test_the_shortfall_adds_up_the_shares_beyond_the_limits():
    limits = WaitLimits(NobodyStarves(2), waiting(0, DAY, 0, 2 * DAY))
    assert limits.shortfall(waiting(0, 2 * DAY, 0, 4 * DAY)) == 0
    assert limits.shortfall(waiting(0, 3 * DAY, 0, 5 * DAY)) == pytest.approx(0.5 + 0.25)


def crowded(unlucky):
    """Two hundred jobs of one group, of which some wait five days, and one waits ten."""
    jobs = Workload([0] * 200, [1] * 200, [1] * 200, [1] * 200, group=[1] * 200, name="many")
    wait = [10 * DAY] + [5 * DAY] * unlucky + [0] * (199 - unlucky)
    return Schedule(jobs, Cluster(200), wait, "some")


def test_a_group_starves_too_where_many_wait_long_although_the_longest_wait_stays():
    rule, before = NobodyStarves(2), crowded(unlucky=0)
    assert rule.starved(crowded(unlucky=1), before) == {}
    assert rule.starved(crowded(unlucky=20), before) == {"1": pytest.approx(5.0)}
    assert WaitLimits(rule, before).shortfall(crowded(unlucky=20)) == pytest.approx(4.0)


def test_waits_of_a_group_count_the_jobs_beyond_a_week():
    waits = group_waits(crowded(unlucky=20))["1"]
    assert (waits.jobs, waits.longest, waits.beyond_a_week) == (200, 10 * DAY, 1)
    assert waits.p99 == pytest.approx(5 * DAY)


def test_limits_of_metrics_and_of_waits_count_together():
    before = waiting(0, DAY, 0, DAY)
    both = Limits([], before, NobodyStarves(2))
    assert both.shortfall(waiting(0, 4 * DAY, 0, 0)) == pytest.approx(1.0)
    assert Limits([], before).shortfall(waiting(0, 4 * DAY, 0, 0)) == 0


@pytest.mark.parametrize("factor", [0.5, math.inf, math.nan, "2", True])
def test_a_factor_below_one_or_no_number_is_refused(factor):
    with pytest.raises(UsageError, match="must be 1 or more"):
        NobodyStarves(factor)
