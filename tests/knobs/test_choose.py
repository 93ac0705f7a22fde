"""Answers from a table: objectives, constraints, files, words."""

import numpy as np
import pytest

from queuesmith import Workload
from queuesmith.base.errors import MetricError, OutputError, UsageError, WorkloadError
from queuesmith.knobs import Knobs, choose, read_sweep, save_sweep, sweep
from queuesmith.knobs.choosing import costs_of, evaluate, find_setting, settled_after
from queuesmith.knobs.sweep_result import SweepResult
from tests.knobs.conftest import CORES, crowded


@pytest.fixture(scope="module")
def table():
    return sweep(crowded(60), cores=CORES, ranges="-2:2:0.5", backfill="easy")


def without_class_c(result):
    costs = result.costs.copy()
    costs[:, 2] = np.nan
    return SweepResult("log", 60, 8, "easy", result.settings, costs, result.replayed, 1.0)


def test_the_least_of_a_class_within_two_per_cent_of_the_best_makespan(table):
    found = choose(table, "B", where=["RT within 2%"])
    allowed = table.costs[:, 4] <= table.costs[:, 4].min() * 1.02
    assert found.value == table.costs[allowed, 1].min()
    assert found.allowed == np.count_nonzero(allowed)
    assert found.costs["makespan"] <= table.costs[:, 4].min() * 1.02


def test_without_constraints_it_is_the_best_of_all(table):
    assert choose(table, "D").value == table.best()["D"]["value"]


def test_weights_and_metrics_may_be_mixed(table):
    values = 2 * table.costs[:, 0] + table.costs[:, 5] / 100
    found = choose(table, "2*A + mean_wait/100")
    assert found.value == pytest.approx(values.min())
    assert choose(table, "2*expansion_factor[A] + mean_wait/100").knobs == found.knobs


@pytest.mark.parametrize("sign", ["<=", "<"])
def test_constraints_compare_expressions(table, sign):
    limit = float(np.median(table.costs[:, 0]))
    found = choose(table, "RT", where=[f"A {sign} {limit!r}", "max(B, C) >= 1"])
    assert found.costs["A"] <= limit


def test_constraints_that_nothing_meets_are_named(table):
    with pytest.raises(UsageError, match=r"no setting of the sweep meets 'A < 0\.5'"):
        choose(table, "RT", where=["RT within 5%", "A < 0.5"])


@pytest.mark.parametrize(
    ("objective", "where", "sentence"),
    [
        ("E", [], "there is no metric 'E'"),
        ("p95_wait", [], "a sweep does not keep 'p95_wait'"),
        ("A +", [], "cannot be read at position"),
        ("__import__('os')", [], "calls '__import__'"),
        ("A", ["RT close to best"], "cannot be read"),
        ("A", ["RT within many%"], "cannot be read"),
        ("A", ["RT within -2%"], "cannot be read"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(table, objective, where, sentence):
    with pytest.raises((UsageError, MetricError), match=sentence):
        choose(table, objective, where=where)


def test_a_class_with_no_jobs_in_an_objective_is_an_error(table):
    few = without_class_c(table)
    with pytest.raises(MetricError, match=r"class C has no jobs.*one that has: A, B, D"):
        choose(few, "A + C")
    assert choose(few, "A").costs["C"] is None
    assert "C" not in few.best()


def test_a_setting_is_found_in_the_table_or_its_neighbour_named(table):
    assert table.knobs(find_setting(table, Knobs(1, -0.5, 2))) == Knobs(1, -0.5, 2)
    with pytest.raises(UsageError, match=r"the nearest is alpha=0\.5"):
        find_setting(table, Knobs(0.6, 0, 0))


def test_the_answer_is_ready_for_json(table):
    answer = choose(table, "A").to_dict()
    assert {"objective", "value", "alpha", "beta", "gamma", "makespan", "favours"} <= set(answer)
    assert costs_of(table, 0)["A"] == table.costs[0, 0]


def test_a_constant_is_an_objective_too(table):
    assert evaluate(table, "1").tolist() == [1.0] * len(table)


# -- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sweep.parquet", "sweep.csv"])
def test_a_table_is_read_back_as_it_was_written(table, tmp_path, name):
    path = tmp_path / name
    few = without_class_c(table)
    save_sweep(few, path)
    again = read_sweep(path)
    assert np.array_equal(again.costs, few.costs, equal_nan=True)
    assert np.array_equal(again.settings, few.settings)
    assert again.to_dict() == few.to_dict()


def test_another_file_is_no_table(tmp_path):
    (tmp_path / "a.csv").write_text("alpha,beta\n1,2\n")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and nothing else")
    for name, sentence in (("a.csv", "not the table of a sweep"), ("b.parquet", "as Parquet")):
        with pytest.raises(WorkloadError, match=sentence):
            read_sweep(tmp_path / name)
    with pytest.raises(UsageError, match="must be Parquet or CSV"):
        read_sweep(tmp_path / "c.txt")


def test_without_pyarrow_csv_is_the_way_out(table, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(OutputError, match=r"or name a \.csv file"):
        save_sweep(table, tmp_path / "sweep.parquet")


# -- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        (Knobs(0, 0, 0), "nothing: jobs are taken in the order of their arrival"),
        (Knobs(2, 0, 0), "large jobs first; the wait does not count; the runtime does not count"),
        (
            Knobs(-1, 1, 0.1),
            "small jobs first; jobs that have waited long before those that have just come, "
            "as strongly; long jobs before short ones, slightly",
        ),
        (
            Knobs(0, 0.5, -2),
            "short jobs first; jobs that have waited long before those that have just come, "
            "a quarter as strongly; the size does not count",
        ),
    ],
)
def test_knobs_say_what_they_favour(knobs, words):
    assert knobs.favours() == words


def test_knobs_are_read_by_name_or_in_order():
    assert Knobs.parse("gamma=-1, alpha=0.5") == Knobs(0.5, 0, -1)
    assert Knobs.parse("1,2,3") == Knobs(1, 2, 3)
    assert str(Knobs(1, 0, -0.5)) == "alpha=1,beta=0,gamma=-0.5"
    assert str(Knobs(1, 0.5, -1).policy("easy")) == "power(beta=0.5,gamma=-1)+easy"


@pytest.mark.parametrize("text", ["delta=1", "alpha", "alpha=x", "1,2", "nan,0,0", "alpha=1e9"])
def test_knobs_that_cannot_be_are_refused(text):
    with pytest.raises(UsageError):
        Knobs.parse(text)


# -- knobs that make no difference -----------------------------------------------------------------


def at_once(count=40):
    """Jobs of few shapes, all submitted together: waits are equal, so beta tells nobody apart."""
    rng = np.random.default_rng(3)
    runtime = rng.integers(1, 20, count) * 60
    return Workload(
        submit=np.zeros(count, np.int64),
        runtime=runtime,
        walltime=runtime,
        cores=2 ** rng.integers(0, 4, count),
    )


@pytest.mark.parametrize("backfill", ["easy", "list", "none"])
def test_equal_priorities_are_equal_whatever_the_exponents(backfill):
    found = sweep(at_once(), cores=16, ranges="-1:1:0.25", backfill=backfill)
    assert found.idle == ("beta",)
    by_pair = {}
    for (alpha, _, gamma), costs in zip(found.settings.tolist(), found.costs, strict=True):
        by_pair.setdefault((alpha, gamma), []).append(costs)
    assert all(np.ptp(np.array(some)[:, 4:], axis=0).max() == 0 for some in by_pair.values())


def test_a_knob_that_makes_no_difference_is_not_recommended():
    found = sweep(at_once(), cores=16, ranges="-1:1:0.5", backfill="list")
    choice = choose(found, "mean_wait")
    assert choice.knobs.beta == 0
    assert "beta makes no difference here" in choice.favours
    assert "wait" not in choice.favours
    alone = sweep(at_once(), cores=10_000, ranges="-1:1:0.5")
    assert choose(alone, "mean_wait").favours == "nothing: all settings are equally good"
    assert alone.best()["makespan"]["favours"] == "nothing: all settings are equally good"


def test_a_search_has_settled_when_a_good_setting_was_surely_met(table):
    choice = choose(table, "RT")
    assert 1 <= choice.settled_after <= len(table)
    assert settled_after(len(table), len(table)) == 1
