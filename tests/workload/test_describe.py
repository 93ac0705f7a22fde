"""The description of a workload: numbers, rows, JSON, figure data, figure."""

import json

import numpy as np
import pytest

from queuesmith.workload import Change, Workload
from queuesmith.workload.describe import Quantiles, duration
from queuesmith.workload.figure_data import DAY, WEEK
from queuesmith.workload.synthetic import demo_workload
from queuesmith.workload.workload import describe

MONDAY_NINE = 345_600 + 9 * 3600  # 5 January 1970 was a Monday


@pytest.fixture(scope="module")
def demo():
    return demo_workload()


@pytest.fixture
def small():
    return Workload(
        submit=[0, 3600, 7200, 14400],
        runtime=[10, 100, 1000, 0],
        walltime=[10, 200, 4000, 0],
        cores=[1, 2, 3, 16],
        user=[1, 1, 2, 3],
        group=[1, 1, 2, 2],
        machine_cores=16,
        epoch=MONDAY_NINE,
        labels={"group": ("none", "alpha", "beta")},
        changes=(Change("too wide", 3, dropped=True), Change("too short", 1, dropped=False)),
        name="small <log>",
    )


def test_jobs_users_and_groups_are_counted(small):
    seen = describe(small)
    assert (seen.jobs, seen.users, seen.span) == (4, 3, 14400)
    assert seen.jobs_per_hour == 1.0
    first, second = seen.groups
    assert (first.name, first.users, first.jobs) == ("group alpha", 1, 2)
    assert (second.users, second.jobs) == (2, 2)
    assert first.share + second.share == pytest.approx(1)
    assert first.share == pytest.approx(210 / 3210)


def test_sizes_runtimes_and_accuracy_are_summed_up(small):
    seen = describe(small)
    assert seen.serial_share == 0.25
    assert seen.power_of_two_share == 0.75
    assert seen.cores.most == 16
    assert seen.runtime.median == 55
    assert seen.accuracy.mean == pytest.approx((1 + 0.5 + 0.25 + 1) / 4)


def test_the_load_is_that_on_the_machine_of_the_log(small):
    assert describe(small).load == pytest.approx(3210 / (16 * 14400))
    assert describe(small.replaced(machine_cores=None)).load is None


def test_a_short_log_has_one_week_with_the_load_of_all(small):
    seen = describe(small)
    assert seen.load_by_week == pytest.approx((seen.load,))


def test_the_rows_tell_all_that_was_changed(small):
    rows = describe(small).rows()
    assert ("left out", "3: too wide") in rows
    assert ("mended", "1: too short") in rows
    assert ("jobs", "4") in rows
    assert all(isinstance(name, str) and isinstance(value, str) for name, value in rows)


def test_the_dictionary_is_ready_for_json(demo, small):
    for workload in (demo, small, small.head(1), small.head(0)):
        text = json.dumps(describe(workload).to_dict(), allow_nan=False)
        assert json.loads(text)["jobs"] == len(workload)
    assert describe(small).to_dict()["changes"][0]["reason"] == "too wide"


def test_the_notebook_shows_a_table_with_names_escaped(small):
    page = small._repr_html_()
    assert page.startswith("<table>")
    assert "small &lt;log&gt;" in page
    assert "<log>" not in page


@pytest.mark.parametrize("jobs", [0, 1])
def test_a_workload_of_no_or_one_job_is_described(small, jobs):
    seen = describe(small.head(jobs))
    assert seen.load is None
    assert seen.jobs_per_hour is None
    assert seen.load_by_week == ()
    assert ("jobs", str(jobs)) in seen.rows()
    assert seen.figure_data().by_hour.sum() == jobs
    assert len(seen.plot().data) == len(seen.plots()) == 6


def test_quantiles_of_nothing_are_none():
    assert Quantiles.of([]) is None
    assert Quantiles.of([4, 4]).median == 4


def test_arrivals_are_counted_by_hour_and_weekday_of_the_log(small):
    data = describe(small).figure_data()
    assert np.flatnonzero(data.by_hour).tolist() == [9, 10, 11, 13]
    assert data.by_weekday.tolist() == [4, 0, 0, 0, 0, 0, 0]


def test_without_a_known_beginning_the_first_second_is_midnight(small):
    data = describe(small.replaced(epoch=None)).figure_data()
    assert np.flatnonzero(data.by_hour).tolist() == [0, 1, 2, 4]
    assert data.by_weekday[0] == 4


def test_sizes_are_counted_by_powers_of_two(small):
    data = describe(small).figure_data()
    assert data.cores_label == ("1", "2", "3-4", "5-8", "9-16")
    assert data.by_cores.tolist() == [1, 1, 1, 0, 1]


def test_every_job_is_in_every_histogram(demo):
    data = describe(demo).figure_data()
    for counts in (
        data.by_hour,
        data.by_weekday,
        data.by_week,
        data.by_cores,
        data.by_log_runtime,
        data.by_accuracy,
    ):
        assert counts.sum() == len(demo)
    assert len(data.log_runtime_edges) == len(data.by_log_runtime) + 1
    assert 10 ** data.log_runtime_edges[-1] > demo.runtime.max()


def test_weeks_share_out_all_the_work():
    submit = np.array([0, WEEK - 1, WEEK, 2 * WEEK + 2 * DAY])
    jobs = Workload(submit, [100] * 4, [100] * 4, [2] * 4, machine_cores=4)
    data = describe(jobs).figure_data()
    assert data.week.tolist() == [1, 2, 3]
    assert data.by_week.tolist() == [2, 1, 1]
    seconds = np.array([WEEK, WEEK, 2 * DAY])
    assert (data.asked_cores_by_week * seconds).sum() == pytest.approx(jobs.work.sum())
    assert data.load_by_week == pytest.approx(data.asked_cores_by_week / 4)


def test_a_rest_of_less_than_a_day_belongs_to_the_week_before():
    jobs = Workload([0, WEEK + DAY - 1], [100, 100], [100, 100], [1, 1])
    data = describe(jobs).figure_data()
    assert data.by_week.tolist() == [2]
    assert data.load_by_week is None


def test_the_figure_has_six_panels_with_titles_and_units(demo):
    figure = describe(demo).plot()
    assert len(figure.data) == 6
    titles = [note.text for note in figure.layout.annotations]
    assert "Offered load by week" in titles
    assert figure.layout.title.text == "demo"
    for axis in [*figure.select_xaxes(), *figure.select_yaxes()]:
        assert axis.title.text


def test_without_a_machine_the_figure_shows_cores_asked_for(small):
    figure = describe(small.replaced(machine_cores=None)).plot()
    assert "Cores asked for by week" in [note.text for note in figure.layout.annotations]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59, "59 s"), (90, "1.5 min"), (5400, "1.5 h"), (3 * DAY, "3.0 d")],
)
def test_a_time_is_told_in_the_unit_that_suits_it(seconds, text):
    assert duration(seconds) == text
