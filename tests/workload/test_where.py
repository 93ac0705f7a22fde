"""Conditions on jobs: what they choose, and what is refused."""

import numpy as np
import pytest

from queuesmith import Workload
from queuesmith.base.errors import UsageError
from queuesmith.workload.where import jobs_where


@pytest.fixture(scope="module")
def jobs():
    return Workload(
        [0, 3600, 86_400, 90_000],
        [10, 20, 30, 40],
        [100, 100, 100, 100],
        [1, 64, 65, 128],
        user=[0, 1, 0, 1],
        group=[1, 1, 2, 2],
        extra={
            "partition": np.array([0, 1, 1, 0]),
            "real_start": np.array([0, 3600, 86_500, 90_000]),
            "jobid": np.array(["7", "7_1", "7_2", "8"]),
        },
        labels={"partition": ("gpu", "main"), "user": ("ann", "bob")},
        name="four",
        epoch=1_704_067_200,  # Monday, 1 January 2024
    )


@pytest.mark.parametrize(
    ("condition", "chosen"),
    [
        ("cores > 64", [2, 3]),
        ("partition == 'gpu' and cores > 64", [3]),
        ("partition == 'gpu' or cores == 65", [0, 2, 3]),
        ("not partition == 'gpu'", [1, 2]),
        ("partition != 'gpu'", [1, 2]),
        ("user in ['bob']", [1, 3]),
        ("user not in ('bob', 'ann')", []),
        ("1 < cores <= 65", [1, 2]),
        ("runtime * cores >= 1280", [1, 2, 3]),
        ("work >= 1280", [1, 2, 3]),
        ("walltime / runtime < 4", [2, 3]),
        ("wait > 0", [2]),
        ("hour == 1", [1, 3]),
        ("weekday == 0", [0, 1]),
        ("submit >= '2024-01-02'", [2, 3]),
        ("'2024-01-01T01:00' <= submit < '2024-01-02'", [1]),
        ("group == 2 and\n  -cores < -100", [3]),
        ("jobid == '7_1'", [1]),
        ("1 == 1", [0, 1, 2, 3]),
    ],
)
def test_a_condition_chooses_jobs(jobs, condition, chosen):
    assert np.flatnonzero(jobs_where(jobs, condition)).tolist() == chosen
    assert jobs.where(condition).id.tolist() == [1 + i for i in chosen]


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ("parttion == 'gpu'", "Did you mean 'partition'"),
        ("partition == 'gpo'", "Did you mean 'gpu'"),
        ("cores", "'cores' is neither true nor false"),
        ("cores == 'gpu'", "'cores' is a number, and 'gpu' is not"),
        ("cores >", "cannot be read"),
        ("", "is empty"),
        ("  ", "is empty"),
        ("__import__('os').system('ls') == 0", "is no column and no number"),
        ("cores.real > 1", "is no column and no number"),
        ("[x for x in cores] == 1", "is no column and no number"),
        ("(lambda: 1) == 1", "is no column and no number"),
        ("cores in 5", "after 'in' stands a list"),
        ("cores is 5", "columns are compared by"),
        ("'a' == 'b'", "one side is a column"),
        ("submit > 'yesterday'", "seconds of the log or a date"),
        ("cores > 1" + " and cores > 1" * 1000, "characters, but at most"),
        ("not " * 60 + "cores > 1", "nested more than"),
        ("(" * 300 + "cores" + ")" * 300 + "> 1", "nested|cannot be read"),
        ("cores > True", "is no column and no number"),
    ],
)
def test_what_is_no_condition_is_refused_in_a_sentence(jobs, condition, sentence):
    with pytest.raises(UsageError, match=sentence):
        jobs_where(jobs, condition)


def test_a_log_without_history_knows_no_wait(jobs):
    plain = jobs.replaced(extra={})
    with pytest.raises(UsageError, match="no column of the log called 'wait'"):
        jobs_where(plain, "wait > 1")
