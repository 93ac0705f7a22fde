"""``queuesmith sweep``, ``knobs``, ``knapsack`` and ``retune``."""

import csv
import json
from pathlib import Path

import pytest

from queuesmith.knobs.sweep_result import SHORT

SMALL = ["--range", "-1:1:0.5", "--quiet"]


@pytest.fixture
def table(run, log):
    assert run("sweep", log, *SMALL, "--out", "table.parquet").code == 0
    return "table.parquet"


def test_sweep_gives_points_seconds_best_and_pareto(run, log):
    outcome = run("sweep", log, "--cores", 64, "--head", 50, *SMALL, "--format", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert (found["points"], found["jobs"], found["cores"]) == (125, 50, 64)
    assert found["seconds"] > 0
    assert found["pareto"] >= 1
    assert {"makespan", "D"} <= set(found["best"])
    assert {"alpha", "beta", "gamma", "value"} <= set(found["best"]["makespan"])


def test_a_sweep_ends_in_what_came_out_and_how_far_to_believe_it(run, log):
    said = run("sweep", log, *SMALL).said
    assert "Of 125 settings alpha=" in said and "has the least mean wait" in said
    assert "before you use it." in said
    assert "makespan (" in said and "response_time" not in said


def test_a_sweep_shows_what_its_best_settings_cost_the_unluckiest(run, log):
    said = run("sweep", log, *SMALL).said
    assert "Longest wait of each group in days" in said
    assert "least mean_wait" in said and "first come, first served" in said
    waits = json.loads(run("sweep", log, *SMALL, "--format", "json").out)["group_waits"]
    assert set(waits) == {*SHORT, "first come, first served"}
    assert all(each["longest"] >= each["p99"] for each in waits["mean_wait"].values())


@pytest.mark.parametrize("command", [["sweep", *SMALL[:-1]], ["retune", "--range", "-1:1:1"]])
def test_jobs_too_wide_are_told_or_refused(run, log, command):
    name, *words = command
    told = run(name, log, *words, "--cores", 16)
    assert told.code == 0 and "left out: " in told.err and "the machine's 16 cores" in told.err
    refused = run(name, log, *words, "--cores", 16, "--strict")
    assert refused.code == 1 and "but there are 16" in refused.err


def test_the_best_of_a_sweep_is_what_simulate_says(run, log):
    found = json.loads(run("sweep", log, *SMALL, "--format", "json").out)["best"]["mean_wait"]
    policy = "power(alpha={alpha},beta={beta},gamma={gamma})+easy".format(**found)
    replay = json.loads(run("simulate", log, "--policy", policy, "--format", "json").out)
    assert replay["mean_wait"] == pytest.approx(found["value"])


@pytest.mark.parametrize("scheduler", ["easy", "list", "none", "knapsack"])
def test_every_scheduler_is_swept(run, log, scheduler):
    words = ["--scheduler", scheduler, "--format", "json"]
    found = json.loads(run("sweep", log, "--head", 40, *SMALL, *words).out)
    assert found["scheduler"] == scheduler


def test_sweep_takes_shares_tasks_and_known_runtimes(run, log):
    words = ["--scheduler", "knapsack", "--share", "random", "--cores-per-task", 2]
    outcome = run("sweep", log, *SMALL, *words, "--know-runtimes", "--format", "csv")
    assert outcome.code == 0
    assert len(list(csv.DictReader(outcome.out.splitlines()))) == 7


def test_the_quick_search_replays_few(run, log):
    words = ["--quick", "--objective", "mean_wait", "--format", "json"]
    found = json.loads(run("sweep", log, "--range", "-2:2:0.2", "--quiet", *words).out)
    assert found["points"] <= 0.03 * 21**3


def test_a_sweep_is_drawn_and_told_as_a_table(run, log, tmp_path):
    outcome = run("sweep", log, "--range", "-1:1:1", "--plot", "cloud.html")
    assert outcome.code == 0
    assert "favours" in outcome.out
    assert "wrote cloud.html" in outcome.err
    assert "customdata" in (tmp_path / "cloud.html").read_text()


def test_knobs_answers_from_the_table(run, table):
    words = ["--objective", "B", "--where", "RT within 2%", "--format", "json"]
    outcome = run("knobs", table, *words)
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert found["value"] == found["B"]
    assert "first" in found["favours"]


def test_knobs_says_what_a_setting_favours(run, table):
    alone = run("knobs", "--setting", "alpha=1,gamma=-1")
    assert "large jobs first" in alone.said
    beside = run("knobs", table, "--setting", "alpha=1,gamma=-1", "--plot", "all.html")
    assert beside.code == 0
    assert "makespan" in beside.out


def test_knapsack_replays_bags_of_tasks(run, log, tmp_path):
    words = ["--knobs", "alpha=0.9,beta=0.1", "--share", 0.5, "--schedule", "chunks.csv"]
    outcome = run("knapsack", log, *words, "--plot", "activity.html", "--format", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert found["chunks"] >= found["jobs"]
    lines = (tmp_path / "chunks.csv").read_text().splitlines()
    assert len(lines) == found["chunks"] + 1
    assert (tmp_path / "activity.html").exists()


def test_knapsack_is_reported_as_one_page(run, log, tmp_path):
    outcome = run("knapsack", log, "--head", 40, "--share", 0.5, "--report", "bags.html")
    assert outcome.code == 0
    page = (tmp_path / "bags.html").read_text()
    assert "knapsack(alpha=1,beta=1,gamma=0)+list" in page
    assert "queuesmith knapsack" in page
    assert 'src="http' not in page


def test_rigid_jobs_alone_are_the_list_scheduler(run, log):
    ours = json.loads(run("knapsack", log, "--rigid", "all", "--format", "json").out)
    engine = json.loads(run("simulate", log, "--policy", "power+list", "--format", "json").out)
    assert ours["mean_wait"] == pytest.approx(engine["mean_wait"])


def test_a_column_may_mark_rigid_jobs_and_another_give_the_cores(run, log):
    words = ["--rigid", "status", "--cores-from", "requested_cores"]
    assert run("knapsack", log, *words).code == 0


def test_shares_and_sizes_are_compared(run, log):
    shares = run("knapsack", "shares", log, "--at", "0.5,1,random", "--plot", "s.html")
    assert shares.code == 0
    assert "random" in shares.out
    words = ["--cores", "16,32,64", "--plot", "z.html"]
    sizes = run("knapsack", "sizes", log, *words)
    assert "makespan = " in sizes.out
    found = json.loads(run("knapsack", "sizes", log, *words, "--format", "json").out)
    assert [row["cores"] for row in found["sizes"]] == [16, 32, 64]
    assert found["law"]["low"] <= found["law"]["exponent"] <= found["law"]["high"]


def test_the_queue_is_shown_with_its_priorities(run, log):
    words = ["--second", 40_000, "--cores", 32, "--averages", "log", "--format", "json"]
    rows = json.loads(run("knapsack", "queue", log, *words).out)
    logs = [row["log_priority"] for row in rows]
    assert logs == sorted(logs, reverse=True)
    nobody = run("knapsack", "queue", log, "--second", -1)
    assert "nobody waits" in nobody.err


def test_retune_turns_knobs_and_is_compared_held_out(run, log):
    words = ["--every", 20_000, "--window", 60_000, "--range", "-1:1:1", "--format", "json"]
    turns = run("retune", log, *words, "--schedule", "s.csv")
    assert turns.code == 0
    assert json.loads(turns.out)[0]["alpha"] == 1.0
    assert "ask with --compare" in turns.err
    compared = run("retune", log, *words, "--compare", "--schedule", "compared.csv")
    assert Path("compared.csv").read_text() == Path("s.csv").read_text()
    rows = json.loads(compared.out)
    assert {row["policy"] for row in rows} >= {"self-tuning", "best fixed"}
    assert "note: self-tuning was" in compared.err


def test_jobs_may_be_ordered_by_priority_over_weight(run, log):
    words = ["--cores", 16, "--format", "json"]
    divided = run("knapsack", log, *words, "--knobs", "alpha=1,gamma=-1", "--over-weight")
    lower = run("knapsack", log, *words, "--knobs", "gamma=-1")
    assert json.loads(divided.out)["mean_wait"] == json.loads(lower.out)["mean_wait"]


def test_airs_is_a_model_of_generate(run, tmp_path):
    words = ["--jobs", 98, "--cores", 64, "--out", "airs.swf"]
    assert run("generate", "airs", *words).code == 0
    assert run("knapsack", "airs.swf", "--cores", 64).code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["sweep", "{log}", "--range", "-2:2:0"], "never ends"),
        (["sweep", "{log}", "--range", "-2:2:-1"], "never ends"),
        (["sweep", "{log}", "--range", "-2:2"], "LOW:HIGH:STEP"),
        (["sweep", "{log}", "--range", "0:1:1,0:1:1"], "there are 3 knobs"),
        (["sweep", "{log}", "--scheduler", "magic"], "there is no scheduler 'magic'"),
        (["sweep", "{log}", "--scheduler", "knapsack", "--share", "1.5"], "the share is 1.5"),
        (["sweep", "{log}", "--out", "table.txt"], "must be Parquet or CSV"),
        (["sweep", "{log}", "--plot", "cloud.png"], "must be an HTML file"),
        (["sweep", "{log}", "--head", "0"], "--head is 0"),
        (["sweep", "{log}", "--cores", "0"], "cores"),
        (["sweep", "{log}", "--cores-from", "gold"], "no whole-number column 'gold'"),
        (["sweep", "{log}", "--quick", "--objective", "luck"], "there is no metric 'luck'"),
        (["sweep", "nowhere.swf"], "there is no file 'nowhere.swf'"),
        (["knobs"], "neither a table nor --setting"),
        (["knobs", "nowhere.parquet"], "there is no file"),
        (["knobs", "{log}"], "must be Parquet or CSV"),
        (["knobs", "--setting", "delta=1"], "there is no knob 'delta'"),
        (["knapsack", "{log}", "--share", "-0.1"], "the share is -0.1"),
        (["knapsack", "{log}", "--knobs", "alpha=much"], "alpha=much"),
        (["knapsack", "{log}", "--report", "page.pdf"], "must be an HTML file"),
        (["knapsack", "shares", "{log}", "--at", "2"], "the share is 2"),
        (["knapsack", "sizes", "{log}", "--cores", "64"], "two or more points"),
        (["retune", "{log}", "--every", "0"], "time between turns"),
    ],
)
def test_a_wrong_call_gets_one_sentence(run, log, words, sentence):
    outcome = run(*(word.format(log=log) for word in words))
    assert outcome.code in (1, 2)
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert sentence in outcome.err


def test_a_class_with_no_jobs_in_an_objective_gets_one_sentence(run, tmp_path):
    (tmp_path / "same.csv").write_text("submit,runtime,cores\n0,10,1\n1,10,1\n2,10,1\n")
    assert run("sweep", "same.csv", "--cores", 1, *SMALL, "--out", "t.csv").code == 0
    outcome = run("knobs", "t.csv", "--objective", "C")
    assert outcome.code == 2
    assert "class C has no jobs" in outcome.err


def test_no_jobs_at_all_get_one_sentence(run, tmp_path):
    (tmp_path / "empty.csv").write_text("submit,runtime,cores\n0,0,1\n")
    for command in ("sweep", "knapsack", "retune"):
        outcome = run(command, "empty.csv", "--cores", 4, "--quiet")
        assert outcome.code == 1
        assert "nothing is left of 'empty' to replay" in outcome.err


def test_a_second_sweep_to_the_same_table_is_told_who_has_it(run, log, tmp_path, monkeypatch):
    """Both ended in a traceback, or in half a record."""
    from queuesmith.study.store import Store

    words = ("sweep", log, "--range", "0:1:1", "--quiet", "--out", tmp_path / "t.csv")
    saved, second = Store.put, []

    def meanwhile(self, *arguments):
        if not second:
            second.append(None)
            second.append(run(*words))
        saved(self, *arguments)

    monkeypatch.setattr(Store, "put", meanwhile)
    assert run(*words).code == 0
    assert second[1].code == 2
    assert "t.csv.unfinished' is in use by another run (process" in second[1].err
    assert [path.name for path in tmp_path.glob("t.csv*")] == ["t.csv"]


def test_a_result_that_cannot_be_written_leaves_the_record(run, log, tmp_path, monkeypatch):
    """The record went first, so hours of work were lost to a full disk."""
    import resource

    words = ("sweep", log, "--range", "-1:1:0.25", "--quiet", "--out", tmp_path / "t.csv")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    from queuesmith.knobs import sweep_files

    save = sweep_files.atomic_write

    def full(path):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        return save(path)

    monkeypatch.setattr(sweep_files, "atomic_write", full)
    try:
        outcome = run(*words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert outcome.code == 1
    assert "t.csv' cannot be written" in outcome.err
    assert [path.name for path in tmp_path.glob("t.csv*")] == ["t.csv.unfinished"]
    monkeypatch.undo()
    assert run(*words).code == 0
    assert [path.name for path in tmp_path.glob("t.csv*")] == ["t.csv"]
