"""``queuesmith place``: a queue across clusters."""

import csv
import json

import pytest

from queuesmith.federation import Federation, FederationJobs, PlaceOptions, read_placement
from queuesmith.schedule.verify import verify

HEAD = "id,tasks,base_time,task_bandwidth,sigma"


def test_a_placement_comes_with_its_bound_and_status(run, paper):
    outcome = run("place", *paper, "--method", "fpfs", "--format", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    keys = {"makespan", "lower_bound", "gap_percent", "status", "compaction_percent", "seconds"}
    assert keys <= set(found)
    assert found["lower_bound"] <= found["makespan"]
    assert 0 < found["compaction_percent"] <= 100


def test_allocation_and_saturation_can_be_chosen(run, paper):
    words = ["--method", "lpt-fit", "--allocation", "link-aware", "--saturation", "1.5"]
    found = json.loads(run("place", *paper, *words, "--format", "json").out)
    assert (found["allocation"], found["saturation"]) == ("link-aware", 1.5)


def test_the_placement_is_written_and_drawn(run, paper, tmp_path):
    outcome = run("place", *paper, "--method", "prices", "--out", "p.csv", "--plot", "p.html")
    assert outcome.code == 0
    assert "wrote p.csv" in outcome.err
    federation, jobs = Federation.read(paper[0]), FederationJobs.read(paper[1])
    verify(read_placement(tmp_path / "p.csv", federation, jobs))
    assert (tmp_path / "p.html").stat().st_size > 1_000_000


def test_compare_lists_methods_side_by_side(run, paper):
    words = ["--methods", "fcfs,prices", "--format", "csv"]
    rows = list(csv.DictReader(run("place", "compare", *paper, *words).out.splitlines()))
    assert [row["method"] for row in rows] == ["fcfs", "prices"]
    assert len({row["lower_bound"] for row in rows}) == 1
    shown = run("place", "compare", *paper, "--methods", "fcfs")
    assert shown.code == 0
    assert "makespan s" in shown.said
    many = json.loads(run("place", "compare", *paper, *words[:2], "--format", "json").out)
    assert many[0]["jobs"] == 8


def test_a_report_shows_one_placement_or_several(run, paper, tmp_path):
    outcome = run("place", *paper, "--method", "prices", "--report", "one.html")
    assert (outcome.code, "wrote one.html" in outcome.err) == (0, True)
    page = (tmp_path / "one.html").read_text()
    assert "queuesmith place" in page
    assert "peak_link_load" in page
    words = ["--methods", "fcfs,prices", "--report", "two.html"]
    assert run("place", "compare", *paper, *words).code == 0
    assert "power_utilization" in (tmp_path / "two.html").read_text()
    outcome = run("place", "compare", paper[0], paper[1], paper[1], *words)
    assert outcome.code == 2
    assert "--report is of one queue, but 2 were given" in outcome.err


def test_a_row_of_slots_says_when_it_is_a_heuristic_s(run, paper):
    words = ["--methods", "slots,fcfs", "--seconds", "0.001", "--format", "csv"]
    rows = list(csv.DictReader(run("place", "compare", *paper, *words).out.splitlines()))
    assert "HiGHS: time is up, nothing shorter found; this is" in rows[0]["note"]
    assert rows[0]["method"].endswith(", in slots")
    assert rows[0]["status"] == "time is up"
    assert (rows[1]["method"], rows[1]["note"]) == ("fcfs", "")
    shown = run("place", "compare", *paper, *words[:4])
    assert "note: " in shown.err
    assert "time is up in slots" in shown.said
    assert max(map(len, shown.out.splitlines())) <= 80


def test_the_help_says_what_the_clock_stops_and_the_library_s_defaults(run):
    words = " ".join(run("place", "run", "--help").out.replace("│", " ").split())
    assert "What oas and slots have found by then may differ" in words
    assert "The same seed gives the same result" not in words
    assert f"[default: {PlaceOptions.seconds}]" in words


def test_queues_are_made_by_chance(run, tmp_path):
    words = ["--jobs", "30", "--nodes", "40", "--most-tasks", "20", "--seed", "4"]
    assert run("place", "generate", "general", *words, "--out", "a.csv").code == 0
    assert len(FederationJobs.read(tmp_path / "a.csv")) == 30
    assert run("place", "generate", "odd", "--out", "a.csv").code == 2
    refused = run("place", "generate", "WL-3", "--jobs", "20", "--out", "c.csv")
    assert (refused.code, "--jobs is 20, but WL-3 is of the paper" in refused.err) == (2, True)


def test_queues_arrive_over_time_where_a_load_is_given(run, tmp_path):
    assert run("federation", "generate", "--nodes", "10", "--out", "a.toml").code == 0
    words = ["--jobs", "30", "--load", "2", "--on", "a.toml", "--out", "b.csv"]
    assert run("place", "generate", "general", *words).code == 0
    arriving = FederationJobs.read(tmp_path / "b.csv")
    assert arriving.submit[0] == 0
    assert arriving.submit[-1] > 0
    assert run("place", "generate", "general", "--on", "a.toml", "--out", "b.csv").code == 2


def test_a_count_stops_a_method_and_makes_it_the_same_each_time(run, paper):
    words = ["--method", "prices", "--steps", "3", "--format", "json"]
    found = json.loads(run("place", *paper, *words).out)
    assert found["attempts"] == 3
    assert run("place", *paper, "--steps", "0").code == 2


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("power = 1.0", "power = 0", "power"),
        ("bandwidth = 1000.0", "bandwidth = 0", "link of cluster 'c1'"),
        ("nodes = 4", "nodes = 4\ncolour = 'red'", "there is no key 'colour'"),
    ],
)
def test_a_wrong_federation_gets_one_sentence(run, paper, old, new, words):
    paper[0].write_text(paper[0].read_text().replace(old, new, 1))
    outcome = run("place", *paper, "--method", "fcfs")
    assert outcome.code == 2
    assert outcome.err.startswith("error: ")
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("a,13,10,5,0.5", "job a has 13 tasks, but federation 'f' has 12 nodes"),
        ("a,1,10,5,1.5", "sigma 1.5"),
        ("a,1,10,5,-0.5", "sigma -0.5"),
        ("a,12,10,999,0.5", "beyond 1 times its bandwidth"),
        ("a,1,0,5,0.5", "base_time 0"),
    ],
)
def test_a_wrong_job_gets_one_sentence(run, paper, row, words):
    paper[1].write_text(f"{HEAD}\n{row}\n")
    outcome = run("place", *paper, "--method", "fcfs")
    assert outcome.code == 1
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--method", "best"],
        ["--method", "fcfs", "--allocation", "x"],
        ["--saturation", "0.5"],
        ["--seconds", "0"],
        ["--slot", "0"],
        ["--plot", "no/such/folder.html"],
    ],
)
def test_a_wrong_option_gets_one_sentence(run, paper, words):
    outcome = run("place", *paper, *words)
    assert outcome.code in (1, 2)
    assert outcome.err.startswith("error: ")
    assert "Traceback" not in outcome.err
