"""Jobs that may come next, as they came before."""

import numpy as np
import pytest

from queuesmith import Workload
from queuesmith.live import newcomers
from queuesmith.live.newcomers import DAY, PastArrivals
from queuesmith.live.state import look


@pytest.fixture
def state(slurm):
    """Job 1 runs, 2 to 4 wait; all came before the present moment."""
    return look()


def history(state, ago, walltime=600):
    """Jobs that were submitted so many seconds ago."""
    count = len(ago)
    return Workload(
        np.sort(state.now - np.array(ago)),
        [60] * count,
        [walltime] * count,
        [1] * count,
        id=np.arange(1000, 1000 + count),
        labels={"user": ("ann",)},
        epoch=0,
    )


def waits(state, jobs):
    return [job.submit - state.now - 1 for job in jobs]


def test_what_was_known_last_is_followed_by_what_was_known_first(state):
    days = [*range(30, 9 * DAY, DAY), 9 * DAY]
    coming = PastArrivals(state, history(state, days))
    course = coming.course(np.random.default_rng(1))
    found = waits(state, coming.after(course, 20 * DAY))
    assert {wait % DAY for wait in found} > {DAY - 30}  # the same time of every day
    assert len(found) >= 20


def test_the_same_course_gives_the_same_jobs_however_far_one_looks(state):
    coming = PastArrivals(state, history(state, [5000, 3000, 900, 30]))
    courses = [coming.course(np.random.default_rng(seed)) for seed in range(9)]
    for course in courses:
        near, far = coming.after(course, 2000), coming.after(course, 9000)
        assert near == far[: len(near)]
    assert len({len(coming.after(course, 9000)) for course in courses}) > 1


def test_what_has_gone_on_for_a_time_goes_on_as_long_again_in_half_of_all_cases(state):
    coming = PastArrivals(state, history(state, [10 * DAY, *range(10 * DAY - 1000, 10 * DAY, 10)]))
    courses = [coming.course(np.random.default_rng(seed)) for seed in range(200)]
    last = np.array([max(waits(state, coming.after(c, 2200)), default=0) for c in courses])
    assert 0.4 < (last > 1000).mean() < 0.6
    assert 0.2 < (last > 2000).mean() < 0.45


def test_very_many_are_cut_off(state, monkeypatch):
    monkeypatch.setattr(newcomers, "MOST_NEW", 7)
    coming = PastArrivals(state, history(state, [*range(9 * DAY, 0, -600)]))
    assert len(coming.after(coming.course(np.random.default_rng(1)), 50 * DAY)) == 7


def test_an_old_log_counts_for_itself(state):
    coming = PastArrivals(state, history(state, [10 * DAY, 10 * DAY - 50]))
    new = [
        job
        for seed in range(9)
        for job in coming.after(coming.course(np.random.default_rng(seed)), 300)
    ]
    assert {job.walltime for job in new} == {600}


def test_after_a_week_jobs_come_as_at_this_time_of_another_day(state):
    coming = PastArrivals(state, history(state, [*range(0, 9 * DAY, DAY // 3), 9 * DAY]))
    chance = np.random.default_rng(1)
    found = [coming.after(coming.course(chance), 2 * DAY) for _ in range(100)]
    assert len({tuple(waits(state, jobs)) for jobs in found}) <= 9
    assert len({job.submit % (DAY // 3) for jobs in found for job in jobs}) <= 2


def test_a_steerer_sees_new_jobs_at_its_next_cycle(state):
    coming = PastArrivals(state, history(state, [*range(10 * DAY, 10 * DAY - 500, -7)]))
    courses = [coming.course(np.random.default_rng(seed)) for seed in range(9)]
    for course in courses:
        there, seen = (waits(state, coming.after(course, 400, cycle)) for cycle in (0, 30))
        assert seen == [-(-wait // 30) * 30 for wait in there]
    assert max(len(coming.after(course, 400)) for course in courses) > 3
