"""From raw columns to a workload: what is dropped, what is mended, and that it is counted."""

import numpy as np
import pytest

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.workload.clean import RawLog, clean
from queuesmith.workload.columns import LARGEST_TIME, LARGEST_WIDTH


def raw(**columns):
    good = {
        "id": [1, 2, 3],
        "submit": [0, 10, 20],
        "runtime": [5, 6, 7],
        "requested_time": [9, 9, 9],
        "requested_cores": [1, 2, 3],
        "allocated_cores": [4, 5, 6],
        "user": [1, 2, 3],
    }
    arrays = {key: np.asarray(values) for key, values in {**good, **columns}.items()}
    return RawLog(**arrays, extra={"queue": np.array([7, 8, 9])}, name="raw")


def reasons(workload):
    return {change.reason: (change.count, change.dropped) for change in workload.changes}


def test_a_sound_log_is_taken_as_it_is():
    workload = clean(raw())
    assert workload.cores.tolist() == [1, 2, 3]
    assert workload.walltime.tolist() == [9, 9, 9]
    assert workload.name == "raw"
    assert not workload.changes


def test_allocated_cores_stand_in_for_requested_ones():
    assert clean(raw(requested_cores=[-1, 0, 3])).cores.tolist() == [4, 5, 3]


def test_the_runtime_stands_in_for_a_walltime_not_given():
    workload = clean(raw(requested_time=[-1, 0, 9]))
    assert workload.walltime.tolist() == [5, 6, 9]
    assert reasons(workload) == {"no walltime; the runtime is used": (2, False)}


def test_an_overrun_raises_the_walltime_by_default():
    workload = clean(raw(requested_time=[3, 9, 9]))
    assert (workload.runtime[0], workload.walltime[0]) == (5, 5)
    assert "walltime raised" in str(workload.changes[0])


def test_an_overrun_cuts_the_runtime_where_asked():
    workload = clean(raw(requested_time=[3, 9, -1]), overrun="cut")
    assert workload.runtime.tolist() == [3, 6, 7]
    assert workload.walltime.tolist() == [3, 9, 7]
    assert any("runtime cut" in str(change) for change in workload.changes)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"runtime": [0, 6, 7]}, "never ran (no runtime)"),
        ({"runtime": [-1, 6, 7]}, "never ran (no runtime)"),
        ({"requested_cores": [0, 1, 1], "allocated_cores": [-1, 1, 1]}, "no number of cores"),
        ({"submit": [-1, 10, 20]}, "no submit time"),
        (
            {"runtime": [LARGEST_TIME + 1, 6, 7]},
            "an impossibly large time or number of cores",
        ),
        (
            {"requested_cores": [LARGEST_WIDTH + 1, 1, 1]},
            "an impossibly large time or number of cores",
        ),
    ],
)
def test_what_cannot_run_is_left_out_and_counted(columns, reason):
    workload = clean(raw(**columns))
    assert workload.id.tolist() == [2, 3]
    assert workload.extra["queue"].tolist() == [8, 9]
    assert reasons(workload) == {reason: (1, True)}
    assert workload.dropped == 1
    with pytest.raises(WorkloadError, match=r"job 1 of 'raw' must be left out: .* --strict"):
        clean(raw(**columns), strict=True)


def test_a_job_with_two_faults_is_counted_once():
    workload = clean(raw(runtime=[-1, 6, 7], submit=[-1, 10, 20]))
    assert workload.dropped == 1


def test_a_log_of_which_nothing_is_left_says_why():
    with pytest.raises(WorkloadError, match=r"nothing is left of 'raw' .* 3 jobs left out: never"):
        clean(raw(runtime=[-1, -1, -1]))


def test_an_unknown_rule_for_overruns_is_named():
    with pytest.raises(UsageError, match="overrun is 'ignore'"):
        clean(raw(), overrun="ignore")
