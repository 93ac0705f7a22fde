"""Sweeps: no setting is lost, none is wrong, and what was done is not done again."""

import json
import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith import Workload, simulate
from queuesmith.base.errors import OutputError, UsageError, WorkloadError
from queuesmith.knobs.bags import TaskJobs
from queuesmith.knobs.cost_model import CostModel
from queuesmith.knobs.kernels import runs
from queuesmith.knobs.ranges import Range, Settings
from queuesmith.knobs.store import SweepStore
from queuesmith.knobs.sweep_result import TERMS
from queuesmith.knobs.sweeping import sweep
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
    with pytest.raises(UsageError, match="the number of workers is 0"):
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
        "response_time",
        "mean_wait",
        "expansion_factor",
    }
    assert {"value", "alpha", "beta", "gamma", "favours"} <= set(facts["best"]["A"])


def test_the_best_is_the_least(log):
    found = sweep(log, cores=CORES, ranges="-1:1:0.5")
    assert found.best()["B"]["value"] == found.costs[:, 1].min()
    assert found.best()["response_time"]["value"] == found.costs[:, 4].min()


# -- taking up ----------------------------------------------------------------------------------


def test_a_killed_sweep_goes_on_where_it_was(log, tmp_path, monkeypatch):
    keep = tmp_path / "sweep.part"
    whole = sweep(log, cores=CORES, ranges="-1:1:0.25")
    saved = SweepStore.save
    count = 0

    def dying(self, *arguments):
        nonlocal count
        count += 1
        if count > 20:
            raise KeyboardInterrupt
        saved(self, *arguments)

    monkeypatch.setattr(SweepStore, "save", dying)
    with pytest.raises(KeyboardInterrupt):
        sweep(log, cores=CORES, ranges="-1:1:0.25", keep=keep)
    assert sqlite3.connect(keep).execute("SELECT count(*) FROM part").fetchone()[0] == 20
    monkeypatch.setattr(SweepStore, "save", saved)

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
    assert not keep.exists()


def test_an_unfinished_sweep_of_other_jobs_is_not_taken_up(log, tmp_path):
    keep = tmp_path / "sweep.part"
    with SweepStore(keep, "another") as store:
        store.save(0, np.zeros((1, 7)), np.ones(1, np.int8), np.ones(1, np.int8))
    with pytest.raises(UsageError, match="unfinished sweep of other jobs"):
        sweep(log, cores=CORES, ranges="0:1:1", keep=keep)


def test_a_file_that_is_no_record_is_refused(log, tmp_path):
    keep = tmp_path / "sweep.part"
    keep.write_bytes(b"something else entirely" * 100)
    with pytest.raises(OutputError, match="cannot be used"):
        sweep(log, cores=CORES, ranges="0:1:1", keep=keep)
