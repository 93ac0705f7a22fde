"""Constraints that the accounting leaves out, in every command that replays on nodes."""

import json

import pytest

ROWS = """\
JobID|Submit|Start|End|Elapsed|Timelimit|State|NCPUS|NodeList
1|1000|1000|1400|06:40|7|COMPLETED|4|m1
2|1000|1000|1200|03:20|4|COMPLETED|4|n1
3|1010|1400|1450|00:50|1|COMPLETED|4|m1
4|1020|1200|1250|00:50|1|COMPLETED|4|n1
"""
INFERRED = "with constraints of 1 job inferred from where they ran"
VERBS = {
    "simulate": (),
    "compare": ("--policies", "fcfs+easy"),
    "tune": (
        "--policy",
        "power+easy",
        "--generations=1",
        "--offspring=2",
        "--split=none",
        "--workers=1",
    ),
    "report": ("--policies", "fcfs+easy", "--out", "page.html"),
}


@pytest.fixture
def on_nodes(tmp_path):
    """What follows the name of a command: the log, and nodes of two features."""
    (tmp_path / "slurm.conf").write_text(
        "NodeName=n1 CPUs=4 Feature=a\nNodeName=m1 CPUs=4 Feature=b\n"
        "PartitionName=all Nodes=n1,m1 Default=YES\n"
    )
    (tmp_path / "log.sacct").write_text(ROWS)
    return ("log.sacct", "--machine", ".")


def test_what_was_inferred_is_written_edited_and_read_back(run, on_nodes, tmp_path):
    file, call = tmp_path / "bound.csv", ("fidelity", *on_nodes)
    said = run(*call, "--save-constraints", file).said
    assert "Constraints of 1 job inferred from where they ran" in said and "As logged:" in said
    assert file.read_text() == "id,constraint\n3,b\n"
    file.write_text("id,constraint\n3,b\n4,a\n")
    assert "grade A" in run(*call, "--constraints", file).said
    assert "Constraints" in run(*call, "--constraints", "as-logged").out


@pytest.mark.parametrize("verb", VERBS)
def test_every_replay_and_its_grade_have_the_constraints_that_are_asked_for(
    run, on_nodes, tmp_path, verb
):
    def said(*further):
        outcome = run(verb, *on_nodes, *VERBS[verb], *further)
        assert outcome.code == 0, outcome.err
        page = (tmp_path / "page.html").read_text() if verb == "report" else ""
        return " ".join((outcome.out + page).split()), outcome.err

    grade, note = said()
    assert INFERRED in grade and "grade A" in grade and "1 job mended" in note
    grade, note = said("--constraints", "as-logged")
    assert "inferred" not in grade and "grade D" in grade and "mended" not in note
    (tmp_path / "bound.csv").write_text("id,constraint\n3,b\n")
    grade, note = said("--constraints", "bound.csv")
    assert "inferred" not in grade and "grade A" in grade and "mended" not in note


def test_another_policy_is_replayed_with_the_constraints_too(run, on_nodes):
    call = ("simulate", *on_nodes, "--policy", "sjf+easy", "--format", "json")
    bound = json.loads(run(*call).out)
    free = json.loads(run(*call, "--constraints", "as-logged").out)
    assert bound["mean_wait"] > free["mean_wait"]
    assert bound["fidelity"]["constraints_inferred"] == 1


def test_the_code_of_a_report_asks_for_the_same_constraints(run, on_nodes, tmp_path):
    run("report", *on_nodes, *VERBS["report"], "--constraints", "as-logged")
    page = (tmp_path / "page.html").read_text().replace("&#x27;", "'")
    assert "log = qs.with_constraints(log, machine, constraints='as-logged')" in page


@pytest.mark.parametrize("verb", ["simulate", "tune"])
@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("nowhere.csv", "there is no file 'nowhere.csv'"),
        ("slurm.conf", "must be id,constraint"),
        ("other.csv", "line 2 of 'other.csv' is '77,b', but it must be the id of a job"),
        ("lacking.csv", "no node with 'c'"),
    ],
)
def test_wrong_constraints_are_told_before_any_replay(
    run, on_nodes, tmp_path, verb, file, sentence
):
    (tmp_path / "other.csv").write_text("id,constraint\n77,b\n")
    (tmp_path / "lacking.csv").write_text("id,constraint\n3,c\n")
    outcome = run(verb, *on_nodes, *VERBS[verb], "--constraints", file)
    assert outcome.code in (1, 2) and sentence in outcome.err and not outcome.out


def test_constraints_need_nodes(run, on_nodes):
    outcome = run("simulate", on_nodes[0], "--cores", "8", "--constraints", "inferred")
    assert outcome.code == 2 and "constraints are features of nodes" in outcome.err


def test_constraints_of_a_part_are_inferred_from_the_whole_log(run, on_nodes, tmp_path):
    part = ("--where", "id != 4")  # who was let past job 3
    for verb in ("simulate", "fidelity"):
        found = json.loads(run(verb, *on_nodes, *part, "--format", "json").out)
        assert found.get("fidelity", found)["constraints_inferred"] == 1
    run("report", *on_nodes, *VERBS["report"], *part)
    page = (tmp_path / "page.html").read_text().replace("&#x27;", "'")
    assert "whole = log" in page and "qs.with_constraints(log, machine, whole=whole)" in page
