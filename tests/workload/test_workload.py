"""The workload itself: immutable, sorted, sliced and reshaped, and plain about bad input."""

import dataclasses
import pickle
from datetime import UTC, date, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.workload import Change, Workload
from queuesmith.workload.columns import LARGEST_TIME
from queuesmith.workload.workload import CORE_COLUMNS


@pytest.fixture
def jobs():
    return Workload(
        submit=[100, 200, 300, 400],
        runtime=[10, 20, 30, 40],
        walltime=[10, 30, 30, 90],
        cores=[1, 2, 4, 8],
        user=[1, 1, 2, 2],
        extra={"queue": np.array([0, 1, 0, 1]), "real_start": np.array([101, 202, 303, 404])},
        labels={"user": ("root", "ada", "bob"), "queue": ("day", "night")},
        name="jobs",
        machine_cores=8,
        epoch=1_000_000,
    )


# -- what it is ---------------------------------------------------------------------------------


def test_columns_cannot_be_written(jobs):
    for column in CORE_COLUMNS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(jobs, column)[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        jobs.extra["queue"][0] = 5
    with pytest.raises(TypeError):
        jobs.extra["new"] = np.zeros(4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        jobs.name = "other"


def test_the_arrays_it_was_made_of_stay_the_callers_own():
    submit = np.array([1, 2, 3])
    workload = Workload(submit, [1, 1, 1], [1, 1, 1], [1, 1, 1])
    submit[0] = 99
    assert workload.submit[0] == 1


def test_jobs_are_numbered_and_belong_to_one_user_by_default():
    workload = Workload([5, 6], [1, 1], [1, 1], [1, 1])
    assert workload.id.tolist() == [1, 2]
    assert workload.user.tolist() == [0, 0]
    assert workload.group.tolist() == [1, 1]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), min_size=1, max_size=30))
def test_jobs_are_sorted_by_submit_time_then_id(pairs):
    submit, ids = (list(column) for column in zip(*pairs, strict=True))
    runtime = list(range(len(pairs)))
    workload = Workload(submit, runtime, runtime, [1] * len(pairs), id=ids)
    found = list(zip(workload.submit.tolist(), workload.id.tolist(), strict=True))
    assert found == sorted(pairs)
    by_runtime = [pairs[r] for r in workload.runtime]
    assert by_runtime == found


def test_sorting_is_noted_as_a_change():
    workload = Workload([9, 5, 7], [1, 2, 3], [1, 2, 3], [1, 1, 1])
    assert workload.runtime.tolist() == [2, 3, 1]
    assert "sorted by submit time" in str(workload.changes[0])
    assert not workload.dropped


def test_iterating_gives_one_dictionary_a_job(jobs):
    first = next(iter(jobs))
    assert first["submit"] == 100
    assert set(first) == set(CORE_COLUMNS)


def test_the_table_has_all_columns(jobs):
    table = jobs.to_frame()
    assert list(table.columns) == [*CORE_COLUMNS, "queue", "real_start"]
    assert len(table) == 4


def test_numbers_are_told_by_name_where_they_have_one(jobs):
    assert jobs.label("user", 2) == "bob"
    assert jobs.label("user", 7) == "7"
    assert jobs.label("user", -1) == "-1"
    assert jobs.label("group", 3) == "3"


def test_its_repr_says_what_it_holds(jobs):
    assert repr(jobs) == "<Workload 'jobs': 4 jobs over 0.0 days>"
    assert repr(jobs.head(0)) == "<Workload 'jobs': no jobs>"


def test_work_span_and_load_agree(jobs):
    assert jobs.work.tolist() == [10, 40, 120, 320]
    assert jobs.span == 300
    assert jobs.load(8) == pytest.approx(490 / 2400)
    assert jobs.head(1).load(8) == float("inf")


def test_a_change_is_told_in_one_line():
    assert str(Change("too wide", 1234, dropped=True)) == "1,234 jobs left out: too wide"
    assert str(Change("too long", 1, dropped=False)) == "1 job mended: too long"
    assert str(Change("steps", 3, dropped=False, what="line")) == "3 lines passed over: steps"


def test_a_workload_survives_pickling(jobs):
    again = pickle.loads(pickle.dumps(jobs))
    assert again.submit.tolist() == jobs.submit.tolist()
    assert dict(again.labels) == dict(jobs.labels)


# -- making another workload of it --------------------------------------------------------------


def test_select_takes_a_mask_or_positions(jobs):
    assert jobs.select([True, False, False, True]).id.tolist() == [1, 4]
    assert jobs.select([2, 0]).id.tolist() == [1, 3]
    assert jobs.select([-1]).id.tolist() == [4]
    assert jobs.select([0, 2]).extra["queue"].tolist() == [0, 0]


def test_selecting_nothing_gives_an_empty_workload(jobs):
    assert len(jobs.select([])) == 0
    assert len(jobs.select(np.zeros(4, dtype=bool))) == 0


def test_selecting_keeps_groups_and_facts(jobs):
    part = jobs.grouped((0.9,)).select([0])
    assert part.group.tolist() == [2]
    assert (part.name, part.machine_cores, part.epoch) == ("jobs", 8, 1_000_000)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ([True], "a mask of 1 value does not fit workload 'jobs' of 4 jobs"),
        (True, "a mask of 1 value "),
        ([], None),
        ([4], "has no job at position 4"),
        ([0, -5], "has no job at position -5"),
        ([0.5], "chosen by float64 values"),
        ([[0, 1]], "in 2 dimensions"),
        (["a"], "only a mask or a list of positions"),
    ],
)
def test_a_wrong_selection_is_explained(jobs, chosen, words):
    if words is None:
        assert len(jobs.select(chosen)) == 0
        return
    with pytest.raises(WorkloadError, match=words):
        jobs.select(chosen)


@pytest.mark.parametrize(("count", "kept"), [(0, 0), (-3, 0), (2, 2), (99, 4)])
def test_head_keeps_the_first_jobs(jobs, count, kept):
    assert jobs.head(count).id.tolist() == list(range(1, kept + 1))


def test_between_includes_its_beginning_but_not_its_end(jobs):
    assert jobs.between(200, 400).id.tolist() == [2, 3]
    assert len(jobs.between(400, 200)) == 0


def test_between_takes_dates_where_the_log_has_them():
    day = 86_400
    april = Workload([0, day, 40 * day], [1] * 3, [1] * 3, [1] * 3, epoch=1_585_699_200)
    assert len(april.between("2020-04-01", "2020-05-01")) == 2
    assert len(april.between(date(2020, 4, 1), datetime(2020, 4, 1, 12, tzinfo=UTC))) == 1
    assert len(april.between("2020-04-01T02:00+02:00", "2020-04-02T00:00:01+00:00")) == 2


@pytest.mark.parametrize("moment", ["morning", "2020-13-01", None, float("nan"), True])
def test_what_is_no_moment_is_refused(jobs, moment):
    with pytest.raises(UsageError, match="the moment is"):
        jobs.between(moment, 5)


def test_a_log_without_dates_refuses_dates(jobs):
    with pytest.raises(UsageError, match="does not say on which day it begins"):
        jobs.replaced(epoch=None).between("2020-04-01", "2020-05-01")


def test_filter_keeps_what_a_function_says(jobs):
    assert jobs.filter(lambda w: w.cores >= 4).id.tolist() == [3, 4]


def test_shift_moves_jobs_and_history_and_keeps_their_date(jobs):
    later = jobs.shift(50)
    assert later.submit.tolist() == [150, 250, 350, 450]
    assert later.extra["real_start"].tolist() == [151, 252, 353, 454]
    assert later.submit[0] + later.epoch == jobs.submit[0] + jobs.epoch
    assert np.array_equal(later.shift(-50).submit, jobs.submit)


def test_a_load_factor_moves_arrivals_and_forgets_history(jobs):
    denser = jobs.with_load_factor(2)
    assert denser.submit.tolist() == [100, 150, 200, 250]
    assert "real_start" not in denser.extra
    assert denser.epoch is None
    assert denser.load(8) == pytest.approx(2 * jobs.load(8))


def test_with_load_reaches_the_load(jobs):
    assert jobs.with_load(0.1, 8).load(8) == pytest.approx(0.1, rel=0.01)


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf")])
def test_a_load_factor_must_be_above_zero(jobs, factor):
    with pytest.raises(WorkloadError, match=r"the load factor is .* above 0"):
        jobs.with_load_factor(factor)


@pytest.mark.parametrize("load", [0, -0.5, float("nan"), float("inf")])
def test_a_load_must_be_above_zero(jobs, load):
    with pytest.raises(WorkloadError, match=r"the load is .* above 0"):
        jobs.with_load(load, 8)


def test_a_load_that_cannot_be_changed_says_so(jobs):
    with pytest.raises(WorkloadError, match="offers a load of inf"):
        jobs.head(1).with_load(0.5, 8)
    idle = jobs.replaced(runtime=np.zeros(4))
    with pytest.raises(WorkloadError, match=r"offers a load of 0\.0"):
        idle.with_load(0.5, 8)


def test_grouping_by_share_uses_the_thresholds(jobs):
    assert jobs.grouped((0.5,)).group.tolist() == [2, 2, 1, 1]


def test_grouping_by_a_column_of_names_numbers_them_from_1_as_orders_and_features_expect(jobs):
    grouped = jobs.grouped(by="queue")
    assert grouped.group.tolist() == [1, 2, 1, 2]
    assert grouped.label("group", 2) == "night"
    unknown = jobs.replaced(extra={**jobs.extra, "queue": np.array([0, -1, 0, 1])})
    assert unknown.grouped(by="queue").group.tolist() == [1, 0, 1, 2]
    assert unknown.grouped(by="queue").label("group", 0) == "none"


def test_grouping_by_a_column_of_numbers_takes_them_as_they_are(jobs):
    plain = jobs.replaced(labels={})
    assert plain.grouped(by="queue").group.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("column", ["color", "submit", "weight"])
def test_grouping_by_an_unfit_column_names_the_fit_ones(jobs, column):
    jobs = jobs.replaced(extra={**jobs.extra, "weight": np.ones(4)})
    with pytest.raises(UsageError, match=rf"'{column}' to group by\. .* queue, real_start"):
        jobs.grouped(by=column)


def test_fitting_leaves_wide_jobs_out_and_counts_them(jobs):
    narrow = jobs.fitting(4)
    assert narrow.id.tolist() == [1, 2, 3]
    assert narrow.dropped == 1
    assert "wider than the machine's 4 cores" in str(narrow.changes[0])
    assert jobs.fitting(8) is jobs


def test_fitting_strictly_names_the_first_wide_job(jobs):
    with pytest.raises(WorkloadError, match="job 3 asks for 4 cores, but there are 3"):
        jobs.fitting(3, strict=True)


def test_when_no_job_fits_the_machine_is_doubted(jobs):
    with pytest.raises(WorkloadError, match="no other job of 'jobs' fits either"):
        jobs.select([3]).fitting(1)


def test_noting_nothing_returns_the_same_workload(jobs):
    assert jobs.noting(Change("none", 0, dropped=True)) is jobs
    assert jobs.noting(Change("one", 1, dropped=True)).dropped == 1


def test_a_new_name_leaves_the_rest(jobs):
    assert jobs.renamed("new").name == "new"
    assert np.shares_memory(jobs.renamed("new").submit, jobs.submit)


# -- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"cores": [0, 1]}, "job 1 has cores 0, but it must be at least 1"),
        ({"cores": [1, 2**31]}, "job 2 has cores 2147483648"),
        ({"runtime": [-1, 1]}, "job 1 has runtime -1"),
        ({"walltime": [1, 1], "runtime": [1, 2]}, "job 2 has walltime 1, .* at least the runtime"),
        ({"submit": [0, LARGEST_TIME + 1]}, "job 2 has submit"),
        ({"submit": [0, 0.5]}, "column 'submit' holds 0.5 at position 1"),
        ({"submit": [0, float("nan")]}, "column 'submit' holds nan"),
        ({"submit": [0, -1e300]}, "column 'submit' holds -1e"),
        ({"walltime": [9, float("inf")]}, "column 'walltime' holds inf"),
        ({"user": ["a", "b"]}, "column 'user' holds <U1 values"),
        ({"id": [[1, 2]]}, "column 'id' has 2 dimensions"),
        ({"runtime": [1]}, "column 'runtime' has 1 value for 2 jobs"),
        ({"group": [1]}, "column 'group' has 1 value "),
        ({"extra": {"queue": np.zeros(3)}}, "column 'queue' has 3 values"),
    ],
)
def test_bad_columns_are_named_with_rule_and_value(columns, words):
    good = {"submit": [0, 1], "runtime": [1, 1], "walltime": [9, 9], "cores": [1, 1]}
    with pytest.raises(WorkloadError, match=words):
        Workload(**{**good, **columns})


def test_walltimes_that_add_up_beyond_all_numbers_are_refused_with_the_job():
    """Starts became negative, without a word."""
    count = 2**22
    with pytest.raises(WorkloadError, match=rf"job {count} has walltime {2**40}, with which"):
        Workload(
            np.zeros(count, np.int64),
            np.ones(count, np.int64),
            np.full(count, 2**40),
            np.ones(count, np.int64),
        )


def test_the_least_of_all_numbers_is_no_time():
    with pytest.raises(WorkloadError, match="job 1 has submit -9223372036854775808, but it must"):
        Workload([-(2**63)], [1], [1], [1])
