"""Users: few submit most, in sessions, and all five groups have members."""

import numpy as np
import pytest

from queuesmith.base.errors import UsageError
from queuesmith.workload.lublin import lublin
from queuesmith.workload.users import assign_users, zipf_shares


def assigned(submit, seed=0, **options):
    return assign_users(submit, np.random.default_rng(seed), **options)


def test_shares_sum_to_one_and_fall_with_the_rank():
    shares = zipf_shares(50)
    assert shares.sum() == pytest.approx(1)
    assert np.all(np.diff(shares) < 0)


def test_an_exponent_of_zero_makes_all_users_alike():
    assert np.allclose(zipf_shares(4, 0), 0.25)


def test_users_are_numbered_from_one_and_the_first_is_the_busiest():
    user = assigned(np.arange(100_000), users=20)
    counts = np.bincount(user, minlength=21)
    assert (user.min(), user.max()) == (1, 20)
    assert np.argmax(counts) == 1
    assert counts[1:] / len(user) == pytest.approx(zipf_shares(20), abs=0.02)


def test_a_session_holds_several_jobs_of_one_user():
    user = assigned(np.arange(50_000), users=1000, exponent=0, session_jobs=4)
    assert np.mean(user[1:] == user[:-1]) == pytest.approx(0.75, abs=0.02)


def test_a_pause_of_more_than_twenty_minutes_ends_the_session():
    user = assigned(1201 * np.arange(5000), users=1000, exponent=0, session_jobs=1e6)
    assert np.mean(user[1:] == user[:-1]) < 0.01


def test_one_user_takes_all_jobs_and_no_jobs_need_none():
    assert set(assigned(np.arange(10), users=1)) == {1}
    assert len(assigned([])) == 0


@pytest.mark.parametrize("seed", range(10))
def test_the_default_thresholds_leave_no_group_empty(seed):
    workload = lublin(5000, 256, seed=seed)
    assert set(workload.group) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"users": 0}, "the number of users is 0"),
        ({"users": 1.5}, "the number of users is 1.5"),
        ({"exponent": -1}, "the Zipf exponent is -1"),
        ({"exponent": float("nan")}, "the Zipf exponent is nan"),
        ({"session_jobs": 0.5}, "session_jobs is 0.5"),
        ({"submit": [5, 3]}, "Sort the jobs first"),
    ],
)
def test_a_wrong_option_is_named_with_its_value(options, words):
    with pytest.raises(UsageError, match=words):
        assigned(**{"submit": [0, 1], **options})
