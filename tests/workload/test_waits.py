"""Waits by user, account, partition, size and hour."""

import numpy as np
import pytest

from queuesmith import Workload
from queuesmith.base.errors import UsageError
from queuesmith.workload.waits import columns_of, waits_by


@pytest.fixture
def jobs():
    return Workload(
        [0, 10, 3700, 7200],
        [5] * 4,
        [5] * 4,
        [1, 2, 2000, 16],
        user=[0, 1, 1, 1],
        extra={"partition": np.array([0, 0, 1, 0]), "load": np.ones(4)},
        labels={"user": ("ann", "bob"), "partition": ("main", "gpu")},
        epoch=86_400,
    )


WAIT = np.array([100, 200, 300, 700])


def test_waits_are_divided_by_user_the_one_with_most_jobs_first(jobs):
    bob, ann = waits_by(jobs, WAIT, "user")
    assert (bob.part, bob.jobs, bob.mean, bob.median, bob.longest) == ("bob", 3, 400, 300, 700)
    assert (ann.part, ann.jobs, ann.p95) == ("ann", 1, 100)


def test_sizes_and_hours_come_in_order(jobs):
    sizes = [row.part for row in waits_by(jobs, WAIT, "size")]
    assert sizes == ["1 core", "2 to 4 cores", "5 to 16 cores", "over 1024 cores"]
    assert [row.part for row in waits_by(jobs, WAIT, "hour")] == ["00:00", "01:00", "02:00"]


def test_columns_of_the_log_are_called_by_their_names(jobs):
    assert [row.part for row in waits_by(jobs, WAIT, "partition")] == ["main", "gpu"]
    assert columns_of(jobs) == ["partition", "user", "size", "hour"]


@pytest.mark.parametrize(("column", "meant"), [("parttion", "partition"), ("load", "Choose from")])
def test_a_column_that_is_not_there_is_refused(jobs, column, meant):
    with pytest.raises(UsageError, match=meant):
        waits_by(jobs, WAIT, column)
