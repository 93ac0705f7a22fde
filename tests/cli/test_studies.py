import json

import pytest

STUDY = """
policies = ["fcfs+easy", "sjf+easy"]
seeds = 2
metrics = ["mean_wait", "mean_bounded_slowdown"]
[[logs]]
generate = "lublin"
jobs = 60
cores = 16
load = 0.9
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    from tests.study.inline_engine import InlineEngine

    monkeypatch.setattr("queuesmith.study.engines.LocalEngine", lambda workers: InlineEngine())
    path = tmp_path / "orders.toml"
    path.write_text(STUDY)
    return path


def test_a_study_is_run_looked_at_and_reported(run, study, tmp_path):
    before = json.loads(run("study", "status", study, "--format", "json").out)
    assert before["units"] == 4 and before["done"] == 0
    done = run("study", "run", study, "--format", "json")
    assert done.code == 0 and json.loads(done.out)["computed now"] == 4
    assert (tmp_path / "orders.study" / "results.sqlite").is_file()
    ranking = json.loads(run("study", "table", study, "--format", "json").out)
    assert ranking["logs"] == 2 and len(ranking["policies"]) == 2
    for waits in ranking["group_waits"].values():
        assert waits["1"]["longest"] >= waits["1"]["p99"] and waits["1"]["beyond_a_week"] == 0
    told = run("study", "table", study).said
    assert "share the best rank over 2 logs, at 1.50" in told
    assert "Longest wait of each group in days" in told
    units = run("study", "table", study, "--units", "--format", "csv", "--out", "t.csv")
    assert len(units.out.splitlines()) == 5 and (tmp_path / "t.csv").is_file()
    assert run("study", "report", study).code == 0
    page = (tmp_path / "orders.study" / "report.html").read_text()
    assert ">Who waits longest</h2>" in page
    assert "critical difference" in page and "mean_bounded_slowdown" in page


def test_the_same_command_goes_on(run, study):
    run("study", "run", study)
    again = json.loads(run("study", "run", study, "--format", "json").out)
    assert again["computed now"] == 0 and again["known before"] == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--on", "dusk"), "Did you mean 'dask'"),
        (("--on", "dask"), "needs the address of a scheduler"),
        (("--scheduler", "tcp://x:1"), "--scheduler is for --on dask"),
        (("--out", "no/such/folder.csv"), "there is no folder"),
    ],
)
def test_a_wrong_call_gets_a_sentence(run, study, words, told):
    outcome = run("study", "run", study, *words)
    assert outcome.code in (1, 2) and told in outcome.err
    assert outcome.err.count("error:") == 1


def test_a_study_that_names_a_missing_log_gets_a_sentence(run, study):
    study.write_text('policies = ["fcfs"]\n[[logs]]\nfile = "none.swf"\n')
    outcome = run("study", "run", study)
    assert outcome.code == 2 and "there is no file" in outcome.err
    assert run("study", "run", "no.toml").code == 1


def test_nothing_to_rank_yet_is_told(run, study):
    outcome = run("study", "table", study)
    assert outcome.code == 2 and "queuesmith study status" in outcome.err


def test_jobs_that_are_too_wide_for_a_machine_are_told_and_not_left_out_in_silence(
    run, study, tmp_path
):
    one = STUDY.replace("seeds = 2", "seeds = 1")
    study.write_text(f"machines = [2]\n{one}")
    for words in ("run", "status", "table", "report"):
        told = run("study", words, study).err
        assert "note: log 'lublin': " in told and "wider than the machine's 2 cores" in told, words
    page = (tmp_path / "orders.study" / "report.html").read_text()
    assert "left out: wider than the machine&#x27;s 2 cores" in page


def test_many_notes_about_logs_are_cut_short_on_a_terminal(run, study):
    study.write_text(f"machines = [2]\n{STUDY.replace('seeds = 2', 'seeds = 7')}")
    told = run("study", "run", study).err
    assert "log 'lublin' of seed 0: " in told and "note: 2 more notes of this kind" in told


def test_a_table_of_a_study_that_is_not_done_says_so(run, study):
    run("study", "run", study)
    study.write_text(STUDY.replace("seeds = 2", "seeds = 3"))
    told = run("study", "table", study).err
    assert "note: 2 of 6 units are not done yet" in told
    run("study", "run", study)
    assert "not done" not in run("study", "table", study).err
