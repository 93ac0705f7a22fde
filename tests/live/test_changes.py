"""What must be set so that a queue stands in an order."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.live.changes import SPACING, AllowList, changes_for, movable, why_not
from queuesmith.live.jobs import Priority, jobs_of

from .test_jobs import line

(JOB,) = jobs_of(line(account="bio", partition="day"))


def job(number, value, site=0, **facts):
    made_of = Priority(value, site, value - site)
    return replace(JOB, id=number, array=number, priority=value, made_of=made_of, **facts)


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 500)), min_size=1, max_size=40))
def test_after_the_changes_the_queue_stands_in_the_order(pairs):
    jobs = [job(i, value, site) for i, (value, site) in enumerate(pairs)]
    set_to = {change.job: change for change in changes_for(jobs)}
    values = [set_to[j.id].priority if j.id in set_to else j.made_of.value for j in jobs]
    assert all(a > b for a, b in pairwise(values))
    assert min(values) >= 1
    for each in jobs:
        if each.id in set_to:
            own = each.made_of.natural
            assert own + set_to[each.id].site == set_to[each.id].priority


def test_what_stands_right_is_not_touched():
    assert changes_for([job(1, 900), job(2, 500), job(3, 100)]) == []


def test_one_job_that_moves_is_one_change():
    (change,) = changes_for([job(4, 10), job(1, 900), job(2, 500), job(3, 100)])
    assert (change.job, change.priority > 900) == (4, True)
    (change,) = changes_for([job(1, 900), job(4, 10), job(2, 500), job(3, 100)])
    assert 500 < change.priority < 900
    assert change.command == f"update JobId=4 SiteFactor={change.priority - 10}"


def test_where_there_is_no_room_the_priorities_are_shared_out():
    jobs = [job(1, 7), job(3, 5), job(2, 6)]
    assert {c.job: c.priority for c in changes_for(jobs)} == {1: 25, 3: 15, 2: 5}


def test_equal_priorities_are_told_apart():
    jobs = [job(3, 1), job(2, 1), job(1, 1)]
    assert {c.job: c.priority for c in changes_for(jobs)} == {3: 28, 2: 15}


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"reason": "JobHeldUser"}, "held"),
        ({"made_of": None}, "sprio"),
        ({"made_of": Priority(10**6, 0, 5)}, "by hand"),
        ({"made_of": Priority(105, 5, 100)}, "somebody else"),
        ({"nice": -5}, "negative nice"),
        ({"reservation": "maint"}, "reservation"),
        ({"partition": "night"}, "allow-list"),
        ({"partition": "day,night"}, "allow-list"),
    ],
)
def test_jobs_of_others_concern_are_left_alone(facts, reason):
    allowed = AllowList(partitions=frozenset({"day"}))
    assert why_not(job(1, 100), allowed, {}) is None
    assert reason in why_not(replace(job(1, 100), **facts), allowed, {})


def test_what_we_have_set_ourselves_may_be_changed():
    ours = replace(JOB, made_of=Priority(105, 5, 100))
    assert why_not(ours, AllowList(), {5: {5}}) is None


def test_an_array_is_one_and_is_left_alone_where_a_part_must_be():
    parts = [replace(job(7, 10), array=7), replace(job(8, 9), array=7), job(9, 8)]
    assert [each.array for each in movable(parts, AllowList(), {})] == [7, 9]
    parts[1] = replace(parts[1], reason="JobHeldAdmin")
    assert [each.array for each in movable(parts, AllowList(), {})] == [9]


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30))
def test_nobody_leaves_the_range_of_priorities_by_more_than_there_are_jobs(values):
    jobs = [job(i, value) for i, value in enumerate(values)]
    most = SPACING * (len(jobs) + 1)
    for change in changes_for(jobs):
        assert abs(change.priority - np.clip(change.priority, min(values), max(values))) <= most
