"""``queuesmith federation``: clusters by chance, and jobs that arrive at them."""

import json

import pytest

from queuesmith.federation import Federation

HEAD = "id,tasks,base_time,task_bandwidth,sigma,submit"


def test_federations_are_made_by_chance(run, tmp_path):
    words = ["--clusters", "4", "--nodes", "10", "--spread", "0.2", "--powers", "1,0.5"]
    assert run("federation", "generate", *words, "--out", "a.toml").code == 0
    assert Federation.read(tmp_path / "a.toml").nodes == 40


def test_a_report_shows_a_replay(run, paper, tmp_path):
    assert run("federation", "replay", *paper, "--report", "one.html").code == 0
    assert "queuesmith federation replay" in (tmp_path / "one.html").read_text()


def test_arriving_jobs_are_replayed(run, paper, tmp_path):
    (tmp_path / "j.csv").write_text(f"{HEAD}\na,2,10,5,0.5,0\nb,12,10,5,0.5,3\n")
    words = ["--method", "fcfs", "--saturation", "1", "--out", "p.csv", "--format", "json"]
    outcome = run("federation", "replay", paper[0], "j.csv", *words)
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert found["longest_wait"] == 7
    assert "gap_percent" not in found
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 3
    assert run("federation", "replay", paper[0], "j.csv", "--head", "1").code == 0


def test_plans_of_a_replay_say_how_far_from_proven_they_were(run, paper):
    words = ["--method", "oas", "--steps", "200", "--saturation", "1", "--format", "json"]
    found = json.loads(run("federation", "replay", *paper, *words).out)
    assert found["method"] == "oas"
    assert found["plans"] == len(found["plan_gaps_percent"])
    both = run("federation", "replay", *paper, "--steps", "9", "--seconds", "2")
    assert (both.code, "Leave one out" in both.err) == (2, True)


def test_a_method_may_decide_about_windows(run, paper):
    words = ["--method", "prices", "--window", "3", "--saturation", "1", "--format", "json"]
    assert json.loads(run("federation", "replay", *paper, *words).out)["method"] == "prices"


def test_a_log_is_replayed_with_stated_assumptions(run, paper, log):
    words = ["--head", "50", "--cores-per-node", "8", "--sigma", "0.5:0.9", "--fitting"]
    outcome = run(
        "federation", "replay", paper[0], log, *words, "--task-bandwidth", "50:300",
        "--format", "json",
    )  # fmt: skip
    assert outcome.code == 0
    assert json.loads(outcome.out)["jobs"] <= 50


@pytest.mark.parametrize(
    "words",
    [["--head", "0"], ["--saturation", "0"], ["--window", "0"], ["--method", "x"]],
)
def test_a_wrong_replay_gets_one_sentence(run, paper, words):
    assert run("federation", "replay", *paper, *words).code == 2


def test_a_wrong_range_for_a_log_is_told(run, paper, log):
    outcome = run("federation", "replay", paper[0], log, "--sigma", "0.1:0.2:0.3")
    assert outcome.code == 2
    assert "LOW:HIGH" in outcome.err
