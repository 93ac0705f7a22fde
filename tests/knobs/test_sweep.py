"""Sweeps: no setting is lost, none is wrong, and what was done is not done again."""

import contextlib
import json
import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith import Workload, simulate
from queuesmith.base.errors import OutputError, QueuesmithError, UsageError, WorkloadError
from queuesmith.knobs.bags import TaskJobs
from queuesmith.knobs.cost_model import CostModel
from queuesmith.knobs.kernels import runs
from queuesmith.knobs.ranges import Range, Settings
from queuesmith.knobs.sweep_files import read_sweep, save_sweep
from queuesmith.knobs.sweep_result import TERMS
from queuesmith.knobs.sweeping import _facts, sweep
from queuesmith.study.store import Store
from tests.knobs.conftest import CORES, crowded, workloads


@pytest.mark.parametrize("backfill", ["none", "list", "easy"])
@pytest.mark.parametrize("malleable", [False, True])
def test_every_setting_costs_what_its_own_replay_says(backfill, malleable):
    jobs = TaskJobs(crowded(60), 0.5, malleable=malleable)
    found = sweep(jobs, cores=CORES, ranges="-2:2:0.25", backfill=backfill)
    alone = CostModel.of(jobs, cores=CORES, backfill=backfill).costs(found.settings)
    assert np.array_equal(found.costs, alone)
    assert len(found) == 17**3
    assert found.replays < len(found)


@pytest.mark.parametrize("backfill", ["none", "list", "easy"])
@pytest.mark.parametrize("malleable", [False, True])
def test_the_best_settings_are_replayed_as_they_were_swept(backfill, malleable):
    jobs = TaskJobs(crowded(60), 0.5, malleable=malleable)
    found = sweep(jobs, cores=CORES, ranges="-1:1:0.5", backfill=backfill)
    schedules = found.schedules(jobs)
    *costs, plain = schedules
    assert costs == list(found.best()) and plain == "first come, first served"
    for name in ("makespan", "mean_wait", "expansion_factor"):
        assert schedules[name].value(name) == pytest.approx(found.best()[name]["value"])
    assert schedules[plain].value("mean_wait") >= schedules["mean_wait"].value("mean_wait")


def test_the_best_of_a_swept_workload_are_replayed_as_rigid_jobs():
    jobs = crowded(30)
    found = sweep(jobs, cores=CORES, ranges="-1:1:1", backfill="easy")
    assert len(found.schedules(jobs)["mean_wait"].parts) == len(jobs)


@settings(max_examples=60)
@given(workloads(), st.sampled_from(["none", "list", "easy"]), st.sampled_from(["0.5", "2/3"]))
def test_proven_settings_are_right_where_many_scores_are_equal(workload, backfill, step):
    found = sweep(workload, cores=CORES, ranges=f"-2:2:{step}", backfill=backfill, workers=1)
    alone = CostModel.of(workload, cores=CORES, backfill=backfill).costs(found.settings, workers=1)
    assert np.array_equal(found.costs, alone, equal_nan=True)


def test_costs_are_the_metrics_of_the_engine(log):
    found = sweep(log, cores=CORES, ranges="-1:1:1", backfill="easy")
    for i in range(len(found)):
        schedule = simulate(log, cores=CORES, policy=found.knobs(i).policy("easy"))
        expected = [schedule.value(str(term)) for term in TERMS]
        assert found.costs[i] == pytest.approx(expected)


def test_settings_of_one_direction_are_one():
    settings = Settings.of(*[Range.parse("-2:2:0.1")] * 3)
    assert len(settings) == 68_921
    row = {tuple(values): i for i, values in enumerate(np.round(settings.values * 10).tolist())}
    assert settings.source[row[20, 20, 20]] == settings.source[row[10, 10, 10]]
    assert settings.source[row[-3, 6, 0]] == settings.source[row[-1, 2, 0]]
    assert settings.source[row[1, 2, 3]] != settings.source[row[-1, -2, -3]]
    assert settings.source[row[0, 0, 0]] == row[0, 0, 0]


def test_scaled_knobs_give_the_same_costs(log):
    found = sweep(log, cores=CORES, ranges="-3:3:1")
    row = {tuple(values): i for i, values in enumerate(found.settings.tolist())}
    assert np.array_equal(found.costs[row[1, -1, 0]], found.costs[row[3, -3, 0]])


def test_a_range_holds_both_ends_and_zero_exactly():
    settings = Settings.of(*[Range.parse("-2:2:0.1")] * 3)
    assert settings.values.min() == -2
    assert settings.values.max() == 2
    assert np.count_nonzero(settings.values[:, 0] == 0) == 41 * 41


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("-2:2:0", "never ends"),
        ("-2:2:-0.1", "never ends"),
        ("2:-2:0.1", "is empty"),
        ("-2:2", "cannot be read"),
        ("one:two:three", "cannot be read"),
        ("-2:2:nan", "cannot be read"),
        ("0:inf:1", "cannot be read"),
        ("0:1e9:1", "goes beyond"),
        ("-2:2:1e-12", "larger step"),
        ("-2:2:1e-60", "more than 10\\^12 values"),
    ],
)
def test_a_range_that_makes_no_sense_gets_one_sentence(text, sentence):
    with pytest.raises(UsageError, match=sentence):
        Range.parse(text)


def test_too_many_settings_are_refused():
    with pytest.raises(UsageError, match="Give larger steps"):
        Settings.of(*[Range.parse("-2:2:0.001")] * 3)


def test_there_must_be_jobs():
    with pytest.raises(WorkloadError, match="no jobs"):
        sweep(Workload(submit=[], runtime=[], walltime=[], cores=[]), cores=4)


def test_workers_must_be_one_or_more(log):
    with pytest.raises(UsageError, match="workers is 0"):
        sweep(log, cores=CORES, ranges="0:1:1", workers=0)


def test_any_number_of_workers_finds_the_same(log):
    one, two = (sweep(log, cores=CORES, ranges="-1:1:0.5", workers=n) for n in (1, 2))
    assert np.array_equal(one.costs, two.costs)


def test_progress_never_goes_back(log):
    shares = []
    sweep(log, cores=CORES, ranges="-1:1:0.25", progress=shares.append)
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1


def test_knobs_may_have_ranges_of_their_own(log):
    found = sweep(log, cores=CORES, ranges=("0:2:1", "1", "-1:1:2"))
    assert len(found) == 3 * 1 * 2
    assert set(found.settings[:, 1]) == {1.0}


# -- the front -------------------------------------------------------------------------------------


@pytest.mark.uncompiled
def test_the_front_holds_what_nothing_beats(log):
    found = sweep(log, cores=CORES, ranges="-2:2:0.5")
    vectors = np.unique(found.costs[:, :5], axis=0)
    unbeaten = [
        row
        for row in vectors.tolist()
        if not ((vectors <= row).all(1) & (vectors < row).any(1)).any()
    ]
    assert sorted(found.costs[found.front, :5].tolist()) == sorted(unbeaten)
    assert found.to_dict()["pareto"] == len(unbeaten)


def test_the_json_has_points_seconds_best_and_pareto(log):
    facts = json.loads(json.dumps(sweep(log, cores=CORES, ranges="-1:1:1").to_dict()))
    assert facts["points"] == 27
    assert facts["seconds"] > 0
    assert set(facts["best"]) == {
        "A",
        "B",
        "C",
        "D",
        "makespan",
        "mean_wait",
        "expansion_factor",
    }
    assert {"value", "alpha", "beta", "gamma", "favours"} <= set(facts["best"]["A"])


def test_the_best_is_the_least(log):
    found = sweep(log, cores=CORES, ranges="-1:1:0.5")
    assert found.best()["B"]["value"] == found.costs[:, 1].min()
    assert found.best()["makespan"]["value"] == found.costs[:, 4].min()


# -- taking up ----------------------------------------------------------------------------------


class StopHereError(Exception):
    pass


def stopped(log, keep, monkeypatch, after=20):
    """Sweep until so many parts are recorded, then fail as a full disk or Ctrl-C does."""
    saved, count = Store.put, 0

    def dying(self, *arguments):
        nonlocal count
        count += 1
        if count > after:
            raise StopHereError
        saved(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "put", dying)
        with pytest.raises(StopHereError):
            sweep(log, cores=CORES, ranges="-1:1:0.25", keep=keep)


def test_a_killed_sweep_goes_on_where_it_was(log, tmp_path, monkeypatch):
    keep = tmp_path / "sweep.part"
    whole = sweep(log, cores=CORES, ranges="-1:1:0.25")
    stopped(log, keep, monkeypatch)
    base = sqlite3.connect(keep)
    assert base.execute("SELECT count(*) FROM record").fetchone()[0] == 20
    base.close()

    replayed = 0
    run_lines = runs.run_lines

    def counting(*arguments):
        nonlocal replayed
        replayed += len(arguments[2])
        run_lines(*arguments)

    monkeypatch.setattr(runs, "run_lines", counting)
    again = sweep(log, cores=CORES, ranges="-1:1:0.25", keep=keep)
    assert np.array_equal(again.costs, whole.costs)
    assert replayed < len(whole)


def test_the_record_goes_only_once_the_result_is_on_disk(log, tmp_path):
    """It went before, so that a full disk lost both."""
    keep = tmp_path / "sweep.part"
    found = sweep(log, cores=CORES, ranges="0:1:1", keep=keep)
    assert keep.exists()
    with pytest.raises(OutputError):
        save_sweep(found, tmp_path / "nowhere" / "sweep.csv", keep=keep)
    assert keep.exists()
    save_sweep(found, tmp_path / "sweep.csv", keep=keep)
    assert [each.name for each in tmp_path.iterdir()] == ["sweep.csv"]


def test_two_sweeps_cannot_share_a_record(log, tmp_path):
    keep = tmp_path / "sweep.part"
    sweep(log, cores=CORES, ranges="0:1:1", keep=keep)
    facts = _facts(CostModel.of(log, cores=CORES), ["0:1:1"] * 3)
    with Store(keep, facts), pytest.raises(UsageError, match=r"in use by another run \(process"):
        sweep(log, cores=CORES, ranges="0:1:1", keep=keep)


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"cores": CORES + 1}, "the cores changed since"),
        ({"ranges": "0:1:0.5"}, "the ranges changed since"),
        ({"backfill": "easy"}, "the scheduler changed since"),
    ],
)
def test_an_unfinished_sweep_of_something_else_is_not_taken_up(log, tmp_path, other, sentence):
    options = {"cores": CORES, "ranges": "0:1:1", "keep": tmp_path / "sweep.part"}
    sweep(log, **options)
    with pytest.raises(UsageError, match=sentence):
        sweep(log, **(options | other))
    with pytest.raises(UsageError, match="the jobs of the log changed since"):
        sweep(log.head(len(log) - 1), **options)


def test_a_file_that_is_no_record_is_refused(log, tmp_path):
    keep = tmp_path / "sweep.part"
    keep.write_bytes(b"something else entirely" * 100)
    with pytest.raises(UsageError, match="no record of a run"):
        sweep(log, cores=CORES, ranges="0:1:1", keep=keep)


# -- tables that were damaged ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (b'"jobs"', b'"jibs"', "has no 'jobs'"),
        (b'"cores": ', b'"cores": 1e999, "x": ', "not finite"),
        (b'"log": "', b'"log": 3, "y": "', "must be a text|unknown 'y'"),
        (b"{", b"[" * 100_000, "more than 32 deep"),
        (b"alpha,beta", b"alpha,bota", "not the table of a sweep"),
    ],
)
def test_a_csv_table_that_was_changed_gets_one_sentence(log, tmp_path, before, after, sentence):
    path = tmp_path / "sweep.csv"
    save_sweep(sweep(log, cores=CORES, ranges="0:1:1"), path)
    path.write_bytes(path.read_bytes().replace(before, after, 1))
    with pytest.raises(WorkloadError, match=sentence):
        read_sweep(path)


def test_a_damaged_parquet_table_gets_one_sentence(log, tmp_path):
    path, chance = tmp_path / "sweep.parquet", np.random.default_rng(3)
    save_sweep(sweep(log, cores=CORES, ranges="0:1:1"), path)
    whole = path.read_bytes()
    for _ in range(150):
        data = bytearray(whole)
        data[chance.integers(len(data))] ^= 1 << int(chance.integers(8))
        path.write_bytes(data)
        with contextlib.suppress(QueuesmithError):
            read_sweep(path)


@pytest.mark.parametrize("number", ["1e99972036666854775808", "9" * 5000, "1e999", "1_000", ""])
def test_a_number_that_would_fill_the_memory_is_no_range(number):
    """The first of these took for ever."""
    with pytest.raises(UsageError, match="cannot be read"):
        Range.parse(f"-2:{number}:0.1")
