"""Users into groups by their share of the resources."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import UsageError
from queuesmith.workload.groups import DEFAULT_THRESHOLDS, share_groups


def groups(user, work, *thresholds):
    return share_groups(
        np.asarray(user, dtype=np.int64), np.asarray(work, dtype=np.float64), *thresholds
    ).tolist()


def test_the_default_thresholds_make_five_groups():
    # Shares of 89.9, 7, 1.5, 1.55 and 0.05 per cent.
    assert groups([1, 2, 3, 4, 5], [8990, 700, 150, 155, 5]) == [1, 2, 3, 3, 5]
    assert groups([1, 2], [995, 5]) == [1, 4]


def test_a_share_of_exactly_the_threshold_falls_below_it():
    assert groups([1, 2], [0.5, 0.5], (0.5,)) == [2, 2]


def test_all_jobs_of_a_user_are_in_one_group():
    assert groups([7, -1, 7, 7], [1, 50, 2, 47], (0.5, 0.4)) == [2, 2, 2, 2]
    assert groups([7, -1, 7, 7], [1, 20, 32, 47], (0.5, 0.4)) == [1, 3, 1, 1]


def test_jobs_without_work_are_all_in_the_last_group():
    assert groups([1, 2], [0, 0]) == [5, 5]


def test_no_jobs_have_no_groups():
    assert groups([], []) == []


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1e12)), min_size=1, max_size=50))
def test_a_heavier_user_is_never_in_a_later_group(jobs):
    user, work = (np.asarray(column) for column in zip(*jobs, strict=True))
    group = np.asarray(groups(user, work))
    total = np.bincount(user, weights=work, minlength=10)
    by_work = sorted(set(user.tolist()), key=lambda u: -total[u])
    of_user = [int(group[user == u][0]) for u in by_work]
    assert of_user == sorted(of_user)
    assert set(of_user) <= set(range(1, len(DEFAULT_THRESHOLDS) + 2))


@pytest.mark.parametrize(
    "thresholds", [(), (0.1, 0.2), (0.1, 0.1), (1.0,), (0.0,), (-0.5,), (float("nan"),)]
)
def test_thresholds_must_be_falling_shares(thresholds):
    with pytest.raises(UsageError, match=r"group thresholds are .* falling order"):
        groups([1], [1], thresholds)
