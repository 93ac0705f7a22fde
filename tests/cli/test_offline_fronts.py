"""``queuesmith pareto``: the front, and how far policies are from it."""

import csv
import json

import pytest

pytest.importorskip("pymoo")

QUICK = ("--population", "12", "--generations", "2", "--seed", "3")


def test_the_table_shows_the_best_and_the_policies(run, log):
    outcome = run("pareto", log, "--policies", "group+easy", *QUICK)
    assert outcome.code == 0
    assert all(name in outcome.out for name in ("best of the front", "fcfs+easy", "group+easy"))
    assert "of 24 schedules are on the front of" in outcome.err
    waits = outcome.out.partition("Longest wait of each group")[2]
    assert "fcfs+easy" in waits and "group+easy" in waits


def test_json_holds_everything(run, log):
    outcome = run("pareto", log, "--format", "json", "--quiet", *QUICK)
    assert (outcome.code, outcome.err) == (0, "")
    content = json.loads(outcome.out)
    assert content["evaluations"] == 24
    assert content["settings"]["seed"] == 3
    assert [policy["name"] for policy in content["policies"]] == ["fcfs+easy"]
    assert len(content["points"]) >= 1


def test_the_front_is_written_as_table_and_as_picture(run, log, tmp_path):
    outcome = run("pareto", log, "--out", "f.csv", "--plot", "f.html", "--format", "csv", *QUICK)
    assert outcome.code == 0
    assert (tmp_path / "f.csv").read_text() == outcome.out
    rows = list(csv.DictReader(outcome.out.splitlines()))
    assert {row["kind"] for row in rows} == {"front", "policy"}
    page = (tmp_path / "f.html").read_text()
    assert "AWRT[1]" in page and "fcfs+easy" in page


def test_groups_without_jobs_are_named(run, tmp_path, log):
    outcome = run("pareto", log, "--thresholds", "0.1,0.05", *QUICK)
    assert outcome.code == 0
    assert "No job belongs to awrt[4], awrt[5]: left out." in outcome.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--out", "front.txt"), "the name must end in .csv or .json"),
        (("--plot", "front.png"), "the name must end in .html or .htm"),
        (("--ways", "magic"), "the ways to make schedules are magic"),
        (("--algorithm", "magic"), "there is no algorithm 'magic'"),
        (("--objective", "awrt[9]"), "group 9 has no jobs"),
        (("--policies", "magic"), "there is no order 'magic'"),
        (("--seed", "-1"), "the seed is -1"),
    ],
)
def test_bad_input_is_told_in_one_sentence(run, log, words, complaint):
    outcome = run("pareto", log, *words)
    assert outcome.code in (1, 2)
    assert outcome.out == ""
    assert complaint in outcome.err
    assert outcome.err.startswith("error: ")
