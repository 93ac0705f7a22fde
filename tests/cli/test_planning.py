"""``queuesmith gap`` and ``queuesmith solve``."""

import csv
import json

import pytest

from queuesmith.planning import Snapshot
from tests.cli.conftest import fits_a_terminal
from tests.planning.test_gap import KEYS
from tests.planning.twins import random_snapshot

QUICK = ("--steps", "3", "--fewest", "2", "--seconds-per-step", "0.1")


@pytest.fixture
def step(tmp_path):
    random_snapshot(6).save(tmp_path / "step.json")
    return tmp_path / "step.json"


def test_gap_prints_exactly_its_averages_as_json(run, log):
    outcome = run("gap", log, "--cores", 64, *QUICK, "--format", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert list(found) == KEYS
    assert found["steps"] == 3
    assert found["mean_loss_percent"] >= 0


def test_gap_takes_any_policy_and_shows_averages_and_telling_steps(run, log):
    outcome = run("gap", log, "--policy", "sjf+easy", *QUICK, "--quiet")
    assert outcome.code == 0
    assert "mean_proven_gap_percent" in outcome.out
    assert "submission (h)" in outcome.said
    assert "% of the plans are proven optimal" in outcome.said


@pytest.mark.usefixtures("narrow")
def test_gap_fits_a_terminal(run, log):
    assert fits_a_terminal(run("gap", log, *QUICK, "--quiet").out)


def test_gap_compares_the_candidates_of_its_planner_by_its_metric(run, log):
    outcome = run("gap", log, "--policy", "dynp(saf,wide; metric=mean_response)", *QUICK)
    assert outcome.code == 0
    assert "best_is_saf" in outcome.out and "best_is_wide" in outcome.out
    assert "response" in outcome.out and "best_is_sjf" not in outcome.out


def test_gap_says_where_it_judges_by_another_objective(run, log):
    outcome = run("gap", log, "--policy", "dynp(fcfs,sjf; metric=mean_slowdown)", *QUICK)
    assert "no optimum is known for mean_slowdown" in outcome.err


def test_gap_writes_steps_and_figure(run, log, tmp_path):
    words = (*QUICK, "--policy", "fcfs+plan", "--out", "steps.csv", "--plot", "gap.html")
    outcome = run("gap", log, *words, "--format", "csv")
    assert outcome.code == 0
    written = list(csv.DictReader((tmp_path / "steps.csv").read_text().splitlines()))
    printed = list(csv.DictReader(outcome.out.splitlines()))
    assert written == printed
    assert len(written) == 3
    assert "waiting jobs" in (tmp_path / "gap.html").read_text()


def test_solve_plans_a_whole_log(run, log, tmp_path):
    words = ("--head", "20", "--objective", "response", "--seconds", "0.3")
    outcome = run("solve", log, *words, "--schedule", "plan.csv", "--format", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert found["lower_bound"] <= found["value"] <= found["policy_value"]
    assert len((tmp_path / "plan.csv").read_text().splitlines()) == 21


def test_solve_plans_a_snapshot(run, step):
    outcome = run("solve", step, "--seconds", "2")
    assert outcome.code == 0
    assert "optimal" in outcome.out


def test_solve_reports_its_plan_beside_the_policies(run, step, tmp_path):
    outcome = run("solve", step, "--seconds", "1", "--report", "plan.html")
    assert outcome.code == 0
    page = (tmp_path / "plan.html").read_text()
    assert all(name in page for name in ("optimal", "fcfs", "sjf", "ljf"))


def test_help_says_what_the_clock_decides(run):
    for command in ("solve", "gap"):
        told = run(command, "--help").said
        assert "may differ from run to run" in told
        assert "The same seed gives the same result" not in told


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["solve", "nowhere.json"], "nowhere.json"),
        (["solve", "{step}", "--seconds", "0"], "seconds is 0"),
        (["solve", "{step}", "--objective", "luck"], "there is no objective 'luck'"),
        (["solve", "{step}", "--method", "magic"], "there is no method 'magic'"),
        (["solve", "{wide}"], "asks for"),
        (["solve", "{falling}"], "the staircase falls"),
        (["solve", "{empty}"], "no waiting jobs"),
        (["solve", "{endless}"], "inf is no whole number"),
        (["gap", "{log}", "--seconds-per-step", "0", "--steps", "1"], "seconds is 0"),
        (["gap", "{log}", "--steps", "0"], "number of steps is 0"),
        (["gap", "{log}", "--fewest", "5000"], "no step"),
        (["gap", "{log}", "--policy", "magic"], "magic"),
        (["gap", "{log}", "--out", "no/folder.csv"], "no folder"),
    ],
)
def test_a_wrong_call_gets_one_sentence(run, log, step, tmp_path, words, sentence):
    good = Snapshot.load(step).to_dict()
    files = {
        "wide": {**good, "cores": 32, "jobs": [{**good["jobs"][0], "cores": 64}]},
        "falling": {**good, "staircase": [*good["staircase"], {"time": 10**6, "free": 1}]},
        "empty": {**good, "jobs": []},
        "endless": {**good, "now": float("inf")},
    }
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    paths = {name: tmp_path / f"{name}.json" for name in files}
    outcome = run(*(word.format(log=log, step=step, **paths) for word in words))
    assert outcome.code in (1, 2)
    assert outcome.err.startswith("error: ")
    assert sentence in outcome.err
    assert len(outcome.err.splitlines()) == 1
