import io
import json

import pytest

from tests.running.thread_engine import ThreadEngine


@pytest.fixture(autouse=True)
def threads(monkeypatch):
    monkeypatch.setattr("queuesmith.study.engines.LocalEngine", lambda workers: ThreadEngine(2))


@pytest.fixture
def bags(tmp_path):
    path = tmp_path / "bags.toml"
    path.write_text(
        '[[bags]]\nname = "one"\nclass = "A"\ntasks = ["echo 1", "echo 2"]\n'
        '[[bags]]\nname = "two"\ncommand = "true"\ncount = 3\nruntime = 0.1\n'
    )
    return path


def test_bags_are_run_and_told_as_json(run, bags, tmp_path):
    outcome = run("run", bags, "--cores", 2, "--format", "json", "--plot", "p.html")
    assert outcome.code == 0
    one, two = json.loads(outcome.out)["bags"]
    assert (one["bag"], one["tasks"], one["completed"], one["failed"]) == ("one", 2, 2, 0)
    assert two["end"] >= two["first_start"] >= two["submit"] >= 0
    assert (tmp_path / "p.html").is_file()
    assert (tmp_path / "bags.run/output/one/1.0.out").read_text() == "2\n"
    shown = run("run", "status", "bags.run")
    assert shown.code == 0 and "one" in shown.out


def test_a_failed_task_gives_exit_code_1_and_a_sentence(run, tmp_path):
    (tmp_path / "a.txt").write_text("nosuchcommand\ntrue\n")
    outcome = run("run", "a.txt", "--cores", 1)
    assert outcome.code == 1
    assert "names a command that does not exist" in outcome.err and "a.run/output/a" in outcome.err


def test_bags_and_knobs_are_sent_to_a_run(run, bags, tmp_path):
    run("run", bags, "--cores", 2)
    (tmp_path / "more.txt").write_text("echo more\n")
    added = run("run", "add", "bags.run", "more.txt")
    assert added.code == 0 and "nobody runs the bags of bags.run now; this waits" in added.err
    turned = run("run", "turn", "bags.run", "--gamma", "-1")
    assert turned.code == 0 and "short jobs" in turned.err
    assert json.loads(run("run", bags, "--format", "json").out)["knobs"][-1]["knobs"] == [1, 1, -1]
    assert len(json.loads(run("run", "status", "bags.run", "--format", "json").out)["bags"]) == 3
    twice = run("run", "add", "bags.run", "more.txt")
    assert twice.code == 2 and "has a bag called 'more' already" in twice.err


def test_the_status_of_a_run_that_was_killed_says_that_nobody_runs_it(run, bags, tmp_path):
    run("run", bags, "--cores", 2)
    assert not run("run", "status", "bags.run").err
    for record in (tmp_path / "bags.run/records").glob("*.jsonl"):
        lines = record.read_text().splitlines(keepends=True)
        record.write_text("".join(line for line in lines if '"started"' in line))
    killed = run("run", "status", "bags.run")
    assert killed.code == 0 and "note: nobody runs the bags of bags.run now" in killed.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("none.toml",), "there is no file"),
        (("bags.toml", "--cores", 0), "--cores is 0"),
        (("bags.toml", "--share", 3), "the share of bag 'one' is 3"),
        (("bags.toml", "--alpha", "nan"), "the knob alpha"),
        (("bags.toml", "--tune", "wait"), "there is no objective 'wait'"),
        (("bags.toml", "--on", "dask"), "needs the address"),
        (("bags.toml", "--workers", 2), "give --cores"),
        (("bags.toml", "--plot", "p.png"), "must be an HTML file"),
        (("bags.toml", "bags.toml"), "two bags are called 'one'"),
        (("status", "none"), "is no folder of a run"),
        (("turn", "none", "--alpha", 1), "is no folder of a run"),
    ],
)
def test_a_wrong_call_gets_a_sentence(run, bags, words, told):
    outcome = run("run", *words)
    assert outcome.code in (1, 2) and told in outcome.err and outcome.err.count("error:") == 1


def test_the_live_table_shows_every_bag(bags, tmp_path):
    from rich.console import Console

    from queuesmith.cli.running import live_table
    from queuesmith.running import read_bags, run_bags

    with ThreadEngine(2) as engine:
        state = run_bags(read_bags([bags]), engine, tmp_path / "r")
    console = Console(width=120, file=io.StringIO())
    console.print(live_table(state))
    text = console.file.getvalue()
    assert "one" in text and "two" in text and "large jobs first" in text
