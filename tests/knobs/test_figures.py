"""Pictures: first the numbers, then that the drawing holds them and opens offline."""

import numpy as np
import pytest

from queuesmith.base.errors import UsageError
from queuesmith.figures.page import write_figures
from queuesmith.knobs import Knobs, TaskJobs, knapsack, sweep
from queuesmith.knobs.drawing import draw_activity, draw_cloud, draw_shares, draw_sizes
from queuesmith.knobs.figure_data import activity_data, cloud_data, size_data
from queuesmith.knobs.power_law import fit_power_law, student_quantile
from queuesmith.knobs.priority import priorities, waiting_at
from queuesmith.knobs.scaling import over_shares, over_sizes
from queuesmith.workload.airs import airs
from tests.knobs.conftest import CORES, crowded


@pytest.fixture(scope="module")
def table():
    return sweep(crowded(60), cores=CORES, ranges="-2:2:0.5")


def test_the_cloud_has_every_pair_once_with_knobs_that_give_it(table):
    clouds = cloud_data(table)
    assert [cloud.name for cloud in clouds] == ["A", "B", "C", "D"]
    for column, cloud in enumerate(clouds):
        assert cloud.count.sum() == len(table)
        pairs = {tuple(pair) for pair in table.costs[:, [4, column]].tolist()}
        drawn = zip(cloud.makespan.tolist(), cloud.expansion_factor.tolist(), strict=True)
        assert set(drawn) == pairs


def test_the_front_of_a_cloud_is_what_nothing_beats(table):
    cloud = cloud_data(table)[0]
    points = np.column_stack([cloud.makespan, cloud.expansion_factor])
    beaten = [((points <= p).all(1) & (points < p).any(1)).any() for p in points]
    assert cloud.on_front.tolist() == [not each for each in beaten]


def test_a_large_cloud_is_thinned_but_keeps_its_front(table):
    whole, thin = cloud_data(table)[1], cloud_data(table, most=5)[1]
    assert len(thin.count) < len(whole.count)
    assert thin.on_front.sum() == whole.on_front.sum()


def test_activity_adds_up_to_the_work():
    found = knapsack(TaskJobs(crowded(), 0.5), cores=CORES)
    activity = activity_data(found, bins=10_000)
    seconds = found.end.max() - found.workload.submit[0]
    assert len(activity.seconds) == seconds
    assert activity.utilization.sum() * CORES == pytest.approx(found.work.sum())
    assert activity.running_jobs.max() <= len(found)


def test_the_makespan_falls_with_size_as_a_power_law():
    found = over_sizes(airs(98, seed=5), Knobs(0.9, 0.1, 0.1))
    assert found.makespans == sorted(found.makespans, reverse=True)
    assert -1 < found.law.exponent < -0.5
    curve = size_data(found)
    assert (curve.low <= curve.law + 1e-9).all() and (curve.law <= curve.high + 1e-9).all()


def test_the_fit_is_exact_for_an_exact_law():
    law = fit_power_law([1, 2, 4, 8], [80, 40, 20, 10])
    assert (law.factor, law.exponent) == (pytest.approx(80), -1)
    assert law.high - law.low == pytest.approx(0, abs=1e-6)
    assert law.at([16]).tolist() == pytest.approx([5])
    assert "80 x^-1.00" in str(law)


def test_the_interval_is_students():
    for freedom, value in ((1, 12.7062), (3, 3.1824), (10, 2.2281), (100, 1.9840)):
        assert student_quantile(0.975, freedom) == pytest.approx(value, abs=1e-4)


def test_two_points_have_a_law_but_no_interval():
    assert fit_power_law([1, 2], [4, 2]).low == -np.inf
    with pytest.raises(UsageError, match="two or more points"):
        fit_power_law([3, 3], [1, 2])


def test_the_page_holds_the_knobs_and_fetches_nothing(table, tmp_path):
    found = over_sizes(airs(20), Knobs(), sizes=(8, 16, 32))
    figures = [
        draw_cloud(cloud_data(table), title="cloud"),
        draw_activity(activity_data(found.schedules[0])),
        draw_shares(over_shares(airs(20), Knobs(), cores=16)),
        draw_sizes(size_data(found), law=str(found.law)),
    ]
    write_figures(figures, tmp_path / "page.html", title="A <page>")
    page = (tmp_path / "page.html").read_text()
    assert "alpha %{customdata[0]:g}" in page
    assert "A &lt;page&gt;" in page
    assert 'src="http' not in page
    assert "default-src 'none'" in page


def test_over_shares_needs_a_share():
    with pytest.raises(UsageError, match="no share is given"):
        over_shares(airs(5), Knobs(), cores=8, shares=())


# -- priorities for people --------------------------------------------------------------------


@pytest.fixture
def replay():
    return knapsack(crowded(), cores=CORES, knobs=Knobs(1, 0.5, -1))


def test_the_averages_change_the_numbers_but_not_the_order(replay):
    knobs = Knobs(1, 0.5, -1)
    queue = priorities(replay, 60, knobs, averages="queue")
    log = priorities(replay, 60, knobs, averages="log")
    assert [row["job"] for row in queue] == [row["job"] for row in log]
    assert queue[0]["priority"] != log[0]["priority"]
    assert [row["log_priority"] for row in log] == sorted(
        (row["log_priority"] for row in log), reverse=True
    )


def test_a_priority_is_equation_1(replay):
    knobs = Knobs(2, 0.5, -1)
    row = priorities(replay, 60, knobs, averages="log")[0]
    jobs = replay.workload
    expected = (
        (row["cores"] / jobs.cores.mean()) ** 2
        * row["wait"] ** 0.5
        * (max(row["walltime"], 1) / np.maximum(jobs.walltime, 1).mean()) ** -1
    )
    assert row["priority"] == pytest.approx(expected)


def test_a_zero_wait_counts_as_one_second_under_any_beta(replay):
    second = int(replay.workload.submit[-1])
    for beta in (-2, 0, 2):
        rows = priorities(replay, second, Knobs(0, beta, 0))
        assert all(np.isfinite(row["log_priority"]) for row in rows)
        assert [row["priority"] for row in rows if row["wait"] <= 1] == [1.0] * sum(
            row["wait"] <= 1 for row in rows
        )


def test_large_exponents_do_not_overflow(replay):
    rows = priorities(replay, 60, Knobs(1e6, 1e6, 1e6))
    assert all(np.isfinite(row["log_priority"]) for row in rows)


def test_nobody_waits_after_the_end(replay):
    assert priorities(replay, int(replay.end.max()), Knobs()) == []
    assert len(waiting_at(replay, 0)) <= len(replay)


def test_averages_over_something_else_are_refused(replay):
    with pytest.raises(UsageError, match=r"no average over 'machine'\. Choose from: queue, log"):
        priorities(replay, 60, Knobs(), averages="machine")
