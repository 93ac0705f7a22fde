"""``queuesmith map``: independent jobs on heterogeneous machines."""

import csv
import json

import pytest

from queuesmith.grid.etc import read_etc, read_mapping


@pytest.fixture
def instance(run, tmp_path):
    words = ["map", "generate", "u_i_lolo", "--jobs", "40", "--machines", "4", "--seed", "3"]
    assert run(*words, "--out", "small.etc", "--quiet").code == 0
    return tmp_path / "small.etc"


def test_generate_says_what_came_out(run, tmp_path):
    words = ["map", "generate", "u_c_hihi", "--jobs", "20", "--machines", "3", "--out", "a.csv"]
    outcome = run(*words)
    assert outcome.code == 0
    assert "consist" in outcome.out
    assert read_etc(tmp_path / "a.csv").times.shape == (20, 3)


@pytest.mark.parametrize("method", ["min-min", "sufferage", "ga", "exact"])
def test_a_mapping_comes_with_its_bound_and_status(run, instance, method):
    outcome = run("map", instance, "--method", method, "--seconds", "1", "--format", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    keys = {"makespan", "flowtime", "lower_bound", "gap_percent", "status", "seconds"}
    assert keys <= set(found)
    assert found["lower_bound"] <= found["makespan"] * (1 + 1e-9)
    assert found["method"].startswith(method)


@pytest.mark.parametrize("objective", ["flowtime", "simultaneous", "hierarchic"])
def test_every_objective_has_a_bound(run, instance, objective):
    words = ["--method", "min-min", "--objective", objective, "--format", "json"]
    found = json.loads(run("map", instance, *words).out)
    assert 0 < found["lower_bound"] <= found["value"]


def test_the_least_flowtime_is_proven(run, instance):
    words = ["--objective", "flowtime", "--seconds", "5", "--format", "json"]
    found = json.loads(run("map", instance, *words).out)
    assert found["status"] == "optimal"
    assert found["gap_percent"] == 0


def test_the_mapping_is_written_as_csv(run, instance, tmp_path):
    outcome = run("map", instance, "--method", "mct", "--out", "mapping.csv", "--format", "json")
    mapping = read_mapping(tmp_path / "mapping.csv", read_etc(instance))
    assert mapping.makespan == pytest.approx(json.loads(outcome.out)["makespan"])


def test_compare_lists_methods_side_by_side(run, instance):
    outcome = run("map", "compare", instance, "--methods", "olb,min-min", "--format", "csv")
    rows = list(csv.DictReader(outcome.out.splitlines()))
    assert [row["method"] for row in rows] == ["olb", "min-min"]
    assert len({row["lower_bound"] for row in rows}) == 1


def test_the_front_is_listed_and_drawn(run, instance, tmp_path):
    words = ["--points", "4", "--seconds", "1", "--plot", "front.html", "--format", "json"]
    outcome = run("map", "front", instance, *words)
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert found["makespan"] == sorted(found["makespan"])
    for flowtime, bound in zip(found["flowtime"], found["flowtime_bound"], strict=True):
        assert bound <= flowtime * (1 + 1e-9)
    assert "makespan" in (tmp_path / "front.html").read_text(encoding="utf-8")
    table = run("map", "front", instance, "--points", "2", "--seconds", "0.5", "--quiet")
    assert "flowtime_bound" in table.out


def test_describe_tells_how_consistent_an_instance_is(run, instance):
    outcome = run("map", "describe", instance, "--format", "json")
    assert json.loads(outcome.out)["jobs"] == 40


def test_dynamic_compares_methods_over_loads(run):
    words = ["--jobs", "60", "--machines", "3", "--methods", "mct-at-once,min-min,exact"]
    options = ["--loads", "0.5,0.9", "--decision-seconds", "0.05", "--format", "json"]
    outcome = run("map", "dynamic", *words, *options)
    assert outcome.code == 0
    assert len(json.loads(outcome.out)) == 6


def test_dynamic_takes_an_objective_and_a_preset(run):
    words = ["--jobs", 12, "--machines", 3, "--loads", "0.9", "--methods", "exact,ga"]
    more = ["--objective", "flowtime", "--preset", "steady-state", "--decision-seconds", 0.01]
    assert run("map", "dynamic", *words, *more, "--format", "csv").code == 0
    wrong = run("map", "dynamic", *words, "--preset", "none")
    assert (wrong.code, "no preset 'none'" in wrong.err) == (2, True)


def test_a_comparison_fits_a_terminal(run, instance):
    outcome = run("map", "compare", instance, "--methods", "olb,min-min")
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert "no mapping is below" in outcome.err


def test_independent_runs_are_asked_for(run, instance):
    words = ["--method", "ga", "--generations", 2, "--runs", 3, "--format", "json"]
    found = json.loads(run("map", instance, *words).out)
    assert found["runs"] == 3
    assert found["makespan"] <= found["makespan_mean"] * (1 + 1e-9)


def test_without_a_method_it_says_what_was_chosen(run, instance):
    outcome = run("map", instance, "--objective", "flowtime")
    assert "note: exact was chosen: the least flowtime is found and proven" in outcome.err


def test_dynamic_takes_a_job_log_and_machines_that_leave(run, log):
    words = ["--speeds", "1,2,40", "--methods", "min-min", "--loads", "0.7"]
    options = ["--up-seconds", "20000", "--format", "json"]
    outcome = run("map", "dynamic", log, *words, *options)
    assert outcome.code == 0
    assert json.loads(outcome.out)[0]["jobs"] > 0


def test_machines_leave_until_the_last_arrival_at_every_load(run):
    words = ["--jobs", 200, "--machines", 2, "--methods", "mct-at-once", "--loads", "0.02,0.8"]
    options = ["--up-seconds", 3000, "--down-seconds", 100, "--format", "json"]
    few, many = json.loads(run("map", "dynamic", *words, *options).out)
    assert few["makespan"] > 20 * many["makespan"]
    assert few["restarts"] > 10  # as much is computed, so about as much is broken off


def test_dynamic_says_which_jobs_of_a_log_are_left_out(run, tmp_path):
    row = "{} {} 0 {} 1 -1 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
    rows = [row.format(1, 0, 0), row.format(2, 5, 30), row.format(3, 90, 30)]
    (tmp_path / "short.swf").write_text("; MaxProcs: 4\n" + "".join(rows))
    words = ["--speeds", "1,2", "--methods", "mct", "--loads", "0.5"]
    said = run("map", "dynamic", "short.swf", *words)
    assert said.code == 0
    assert "note: 1 job" in said.err


def test_a_mapping_has_the_standard_report(run, instance, tmp_path):
    outcome = run("map", instance, "--method", "min-min", "--report", "mapping.html")
    assert outcome.code == 0
    assert "wrote mapping.html" in outcome.err
    page = (tmp_path / "mapping.html").read_text(encoding="utf-8")
    assert "min-min" in page
    assert "queuesmith map" in page  # how to reproduce it


def test_a_comparison_has_the_standard_report(run, instance, tmp_path):
    words = ["--methods", "olb,min-min", "--report", "methods.html", "--quiet"]
    assert run("map", "compare", instance, *words).code == 0
    page = (tmp_path / "methods.html").read_text(encoding="utf-8")
    assert all(word in page for word in ("olb", "min-min", "load_balance"))


def test_a_replay_has_the_standard_report(run, tmp_path):
    words = ["--jobs", "40", "--machines", "3", "--methods", "mct-at-once,min-min"]
    options = ["--loads", "0.9", "--up-seconds", "9000", "--report", "replay.html", "--quiet"]
    assert run("map", "dynamic", *words, *options).code == 0
    assert "mct-at-once" in (tmp_path / "replay.html").read_text(encoding="utf-8")


def test_generations_make_the_genetic_scheduler_the_same_every_time(run, instance):
    words = ["--method", "ga", "--preset", "carretero", "--generations", "5", "--format", "json"]
    one, again = (json.loads(run("map", instance, *words).out) for _ in range(2))
    assert one["stopped"] == "generations"
    assert one["makespan"] == again["makespan"]


def test_help_promises_only_what_holds(run):
    words = run("map", "run", "--help").out
    assert "The same seed gives the same result" not in words
    assert "--generations" in words


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.etc"], "there is no file 'nowhere.etc'"),
        (["{instance}", "--method", "magic"], "there is no method 'magic'"),
        (["{instance}", "--objective", "luck"], "there is no objective 'luck'"),
        (["{instance}", "--method", "ga", "--preset", "none"], "none"),
        (["{instance}", "--method", "ga", "--seconds", "-1"], "seconds"),
        (["{instance}", "--method", "exact", "--generations", "5"], "generations is 5"),
        (["compare", "{instance}", "--methods", "olb,exact", "--preset", "cma"], "add ga"),
        (["compare", "{instance}", "--methods", "auto,olb", "--runs", "3"], "runs is 3"),
        (["dynamic", "--methods", "olb,exact", "--preset", "cma"], "preset is cma"),
        (["compare", "{instance}", "{instance}", "--report", "r.html"], "a report is about one"),
        (["dynamic", "--report", "r.html"], "a report is about one load"),
        (["{instance}", "--mips", "m.csv", "--zero-as", "1"], "--zero-as is 1.0, but"),
        (["dynamic", "{instance}"], "--speeds"),
        (["dynamic", "--speeds", "1,2"], "--speeds is 1,2, but"),
        (["dynamic", "{instance}", "--speeds", "1,2", "--jobs", "5"], "--jobs is 5, but"),
        (["dynamic", "{instance}", "--speeds", "1", "--machines", "0"], "--machines is 0, but"),
        (["front", "{instance}", "--points", "1"], "points is 1"),
        (["front", "{instance}", "--seconds", "-3"], "seconds is -3"),
        (["generate", "u_x", "--jobs", "1", "--machines", "1", "--out", "x.csv"], "u_x"),
    ],
)
def test_a_wrong_call_gets_one_sentence(run, instance, words, sentence):
    outcome = run("map", *(word.format(instance=instance) for word in words))
    assert outcome.code in (1, 2)
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert sentence in outcome.err
