"""``queuesmith slurm``: the commands, on a made-up Slurm."""

import json

import pytest

from queuesmith.cli import main


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        capsys.readouterr()
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return call


def test_look_shows_and_keeps_the_state(run, slurm, tmp_path):
    code, out, err = run("slurm", "look", "--out", "kept")
    assert code == 0 and "3 jobs wait" in out and "kept" in err
    assert run("slurm", "look", "--state", "kept")[1] == out
    code, out, _ = run("slurm", "look", "--state", "kept", "--format", "json")
    assert json.loads(out)["cluster"] == "atlas"
    assert run("simulate", "kept/jobs.swf", "--policy", "sjf+easy")[0] == 0
    assert run("machine", "kept")[1].startswith("atlas: 2 nodes, 16 cores")


@pytest.mark.parametrize("hidden", ["jobs", "accounts,jobs,usage", "all"])
def test_nothing_is_foretold_to_whom_the_jobs_of_others_are_hidden(run, slurm, hidden):
    slurm.set(admin="None", config=slurm.content["config"] | {"PrivateData": hidden})
    code, out, _ = run("slurm", "look", "--out", "kept")
    assert code == 0 and "of those shown to" in out and "hides them from" in out
    for words in (
        ("forecast",),
        ("forecast", "--state", "kept"),
        ("advise", "--policy", "sjf+easy"),
        ("steer", "--policy", "sjf+easy"),
        ("restore",),
    ):
        code, out, err = run("slurm", *words)
        assert (code, out) == (1, "") and "hides the jobs of others from user" in err


@pytest.mark.parametrize("admin, hidden", [("Operator", "jobs"), ("None", "none"), ("None", "")])
def test_who_sees_all_jobs_is_told_as_ever(run, slurm, admin, hidden):
    slurm.set(admin=admin, config=slurm.content["config"] | {"PrivateData": hidden})
    assert "hid" not in run("slurm", "look")[1]
    assert run("slurm", "advise", "--policy", "sjf+easy")[0] == 0


def test_advise_changes_nothing(run, slurm):
    code, out, err = run("slurm", "advise", "--policy", "sjf+easy")
    assert code == 0, err
    assert "would move 2 of 3 jobs" in out and "by account" in out
    code, out, _ = run("slurm", "advise", "--policy", "sjf+easy", "--commands")
    assert out.count("scontrol update JobId=") == 2
    assert slurm.told == []


def test_advice_that_changes_nothing_says_so(run, slurm):
    out = run("slurm", "advise", "--policy", "sjf+easy", "--users", "eve")[1]
    assert "sjf+easy would change nothing for 3 jobs." in out


def test_steer_without_apply_is_advice(run, slurm):
    code, out, err = run("slurm", "steer", "--policy", "sjf+easy")
    assert code == 0 and "would move" in out and "add --apply" in err
    assert slurm.told == []


def test_steer_and_restore(run, slurm, tmp_path):
    words = ("slurm", "steer", "--policy", "sjf+easy", "--apply", "--everyone", "--cycles", "1")
    code, out, err = run(*words, "--figures", "steer.prom")
    assert code == 0, err
    assert "2 changes in 1 cycle; 2 jobs put back" in out
    assert "queuesmith_steer_changes_total" in (tmp_path / "steer.prom").read_text()
    code, out, _ = run("slurm", "restore")
    assert code == 0 and "nothing to do" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("steer", "--policy", "sjf", "--apply"), "nobody is on the allow-list"),
        (("steer", "--policy", "sjf", "--apply", "--users", " , "), "nobody is on the allow-list"),
        (("steer", "--policy", "sjf", "--apply", "--partitions", "dya"), "Did you mean 'day'"),
        (("advise", "--policy", "sjf", "--partitions", "dya"), "there is no partition 'dya'"),
        (("look", "--state", "kept", "--out", "other"), "Leave one of them out"),
        (("forecast", "3_2"), "'3_2' is a task of an array"),
        (("forecast", "x3"), "'x3' is no job's number"),
        (
            ("steer", "--policy", "sjf", "--apply", "--everyone", "--cluster", "x"),
            "cluster 'atlas'",
        ),
        (("steer", "--policy", "sfj", "--apply", "--everyone"), "there is no order 'sfj'"),
        (("steer", "--policy", "sjf", "--apply", "--everyone", "--every", "0"), "between cycles"),
        (("advise", "--policy", "sjf", "--by", "colour"), "colour"),
        (("advise", "--policy", "sjf", "--state", "nowhere"), "holds no state"),
        (("restore", "--cluster", "x"), "cluster 'atlas'"),
    ],
)
def test_wrong_calls_are_one_sentence_and_change_nothing(run, slurm, words, sentence):
    code, _, err = run("slurm", *words)
    assert code in (1, 2) and err.startswith("error: ") and sentence in err
    assert err.count("\n") == 1 and slurm.told == []
