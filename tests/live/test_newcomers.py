"""Jobs that may come next, as they came before."""

from dataclasses import replace

import numpy as np
import pytest

from queuesmith import Workload
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
    state = replace(state, jobs=tuple(replace(job, submit=state.now - 40) for job in state.jobs))
    coming = PastArrivals(state, history(state, [100, 70]))
    # The known time is 101 s long: arrivals after 0 and 30 s, and four jobs after 60 s.
    assert waits(state, coming.after(0, 100)) == [0, 30, 60, 60, 60, 60]
    assert waits(state, coming.after(50, 100)) == [10] * 4 + [51, 81]
    assert waits(state, coming.after(0, 150)) == [0, 30, 60, 60, 60, 60, 101, 131]


def test_the_same_turn_gives_the_same_jobs_however_far_one_looks(state):
    coming = PastArrivals(state, history(state, [5000, 3000, 900, 30]))
    turn = coming.turn(np.random.default_rng(3))
    near, far = coming.after(turn, 2000), coming.after(turn, 9000)
    assert near == far[: len(near)] and len(far) > len(near)


def test_an_old_log_counts_for_itself(state):
    coming = PastArrivals(state, history(state, [10 * DAY, 10 * DAY - 50]))
    new = coming.after(0, 60)
    assert waits(state, new) == [0, 50, 51]
    assert {job.walltime for job in new} == {600}


def test_after_a_week_jobs_come_as_at_this_time_of_another_day(state):
    coming = PastArrivals(state, history(state, [*range(0, 9 * DAY, DAY // 3), 9 * DAY]))
    chance = np.random.default_rng(1)
    turns = {coming.turn(chance) for _ in range(100)}
    assert len(turns) == 9
    assert len({turn % DAY for turn in turns}) == 1


def test_a_steerer_sees_new_jobs_at_its_next_cycle(state):
    coming = PastArrivals(state, history(state, [10 * DAY, 10 * DAY - 31, 10 * DAY - 50]))
    assert waits(state, coming.after(0, 51, cycle=30)) == [0, 60, 60]
