"""The entry function: exit codes, help, one sentence for each error."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from queuesmith import __version__
from queuesmith.base import errors
from queuesmith.cli import logs as log_commands
from queuesmith.cli import main
from queuesmith.cli.interrupting import stopped_sentence

LOG = ("--log-format", "--columns", "--timezone", "--overrun", "--strict", "--head", "--between")
LOG += ("--load-factor", "--groups", "--thresholds", "--quiet")
REPLAY = (*LOG, "--cores", "--slurm-conf", "--qos-priority", "--warm-up", "--cool-down")
OPTIONS = {
    "describe": (*LOG, "--plot", "--format"),
    "generate": ("--jobs", "--cores", "--load", "--users", "--estimates", "--seed", "--out"),
    "convert": (*LOG, "--out"),
    "scale": (*LOG, "--from", "--to", "--widen", "--seed", "--out"),
    "simulate": (
        *REPLAY,
        *("--policy", "--set", "--objective", "--schedule", "--save-policy", "--format"),
    ),
    "compare": (*REPLAY, "--policies", "--metrics", "--format"),
    "report": (*REPLAY, "--policies", "--metrics", "--title", "--out"),
    "policies": ("--format",),
    "metrics": ("--format",),
    "demo": ("--out", "--quiet"),
}


@pytest.mark.parametrize("command", OPTIONS)
def test_help_of_a_command_names_all_its_options(run, command):
    outcome = run(command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    missing = [option for option in OPTIONS[command] if option not in outcome.out]
    assert not missing


def test_help_lists_all_commands(run):
    outcome = run("--help")
    assert outcome.code == 0
    assert all(f"\n  {command} " in outcome.out for command in OPTIONS)
    assert run("-h").out == outcome.out


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"queuesmith {__version__}\n", "")


def test_no_command_at_all_shows_the_help_as_a_wrong_call(run):
    outcome = run()
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("Usage: queuesmith")
    assert "Look:" in outcome.err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["nonsense"], "'nonsense'"),
        (["simulate"], "'log'"),
        (["generate", "lublin", "--jobs", "5", "--cores", "4"], "'--out'"),
        (["simulate", "a.swf", "--colour"], "--colour"),
        (["simulate", "a.swf", "--cores", "many"], "'--cores'"),
        (["simulate", "a.swf", "--format", "yaml"], "'yaml'"),
        (["compare", "a.swf", "b.swf"], "b.swf"),
        (["demo", "--out"], "--out"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_exit_code_2(run, words, named):
    outcome = run(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert named in outcome.err
    assert "--help'." in outcome.err


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (errors.UsageError("the call is wrong."), 2, "the call is wrong."),
        (errors.PolicyError("no such policy."), 2, "no such policy."),
        (errors.WorkloadError("the log is broken."), 1, "the log is broken."),
        (errors.OutputError("two\nlines."), 1, "two lines."),
        (OSError(28, "No space left on device", "x.csv"), 1, "No space left on device: x.csv."),
        (OSError("odd"), 1, "odd: the output."),
        (MemoryError(), 1, "there is not enough memory for so many jobs. Take fewer of them."),
        (KeyboardInterrupt(), 130, "stopped before it was done; no half-written file is left."),
        (SystemExit("a policy file gave up"), 1, "a policy file gave up"),
        (SystemExit(3), 3, None),
        (SystemExit(), 0, None),
    ],
)
def test_every_expected_error_becomes_one_sentence(run, monkeypatch, log, error, code, sentence):
    def fail(*_):
        raise error

    monkeypatch.setattr(log_commands.LogOptions, "read", fail)
    expected = f"error: {sentence}\n" if sentence else ""
    assert run("describe", log) == (code, "", expected)


def test_a_mistake_of_ours_is_not_hidden(monkeypatch, log):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(log_commands.LogOptions, "read", fail)
    with pytest.raises(ZeroDivisionError):
        main(["describe", str(log)])


def test_the_words_of_this_process_are_the_default(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["queuesmith", "--version"])
    assert main() == 0
    assert __version__ in capsys.readouterr().out


# -- in a process of its own -------------------------------------------------------------------


def python(script: str, *words: object, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


RUN = "from queuesmith.cli import run; run()"


def test_help_waits_for_no_heavy_module():
    script = f"""
import sys
from queuesmith.cli import main
for command in {list(OPTIONS)!r}:
    assert main([command, "--help"]) == 0
assert main(["--help"]) == 0
heavy = {{"numba", "pandas", "plotly", "numpy", "pyarrow", "scipy"}} & set(sys.modules)
print(sorted(heavy), file=sys.stderr)
"""
    result = python(script)
    assert (result.returncode, result.stderr) == (0, "[]\n")


def test_the_process_ends_with_the_exit_code_and_without_a_traceback(tmp_path):
    result = python(RUN, "simulate", tmp_path / "absent.swf")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("error: there is no file")
    assert result.stderr.count("\n") == 1


def test_the_installed_command_works():
    command = Path(sys.executable).with_name("queuesmith")
    result = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=120)
    assert result.stdout == f"queuesmith {__version__}\n"


def test_it_runs_as_a_module_too():
    words = [sys.executable, "-m", "queuesmith", "--version"]
    result = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
    assert "queuesmith" in result.stdout


@pytest.mark.parametrize("words", [["metrics"], ["compare", "LOG", "--quiet"]])
def test_a_reader_who_leaves_early_causes_no_noise(log, words):
    words = [str(log) if word == "LOG" else word for word in words]
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()  # before anything is written
    noise = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) == 1
    assert noise == b""


def test_a_terminal_that_knows_no_stars_gets_question_marks(log):
    words = ["compare", log, "--policies", "fcfs,fcfs+easy", "--metrics", "mean_wait"]
    result = python(RUN, *words, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (result.returncode, result.stderr) == (0, "")
    assert "? " in result.stdout


# Touches a file once jobs of the replay have arrived. Children of a shell's background jobs ignore
# Ctrl-C unless they are told otherwise.
TELLING = """
import signal
from contextlib import contextmanager
from pathlib import Path
from queuesmith.cli import replays, run

@contextmanager
def progress(task, *, quiet):
    yield lambda share: Path("begun").touch() if share > 0 else None

replays.progress = progress
signal.signal(signal.SIGINT, signal.default_int_handler)
run()
"""


def test_ctrl_c_during_a_replay_stops_it_with_one_sentence_and_no_file(tmp_path):
    # Far more work than the machine can do: the queue grows, and this replay takes minutes.
    jobs = "".join(
        f"{i} {i} 0 {3000 + i % 977} 8 -1 -1 8 {4000 + i % 977} -1 1 {i % 50} 1 1 1 1 -1 -1\n"
        for i in range(1, 60_001)
    )
    (tmp_path / "long.swf").write_text(jobs)
    words = [
        "simulate",
        "long.swf",
        "--cores",
        "64",
        "--policy",
        "wfp3+conservative",
        "--schedule",
        "out.csv",
    ]
    with subprocess.Popen(
        [sys.executable, "-c", TELLING, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        try:
            while not (tmp_path / "begun").exists():
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, "")
    assert err == "error: stopped before it was done; no half-written file is left.\n"
    assert {path.name for path in tmp_path.iterdir()} == {"long.swf", "begun"}


# A library that does not look up: it sleeps in C, and Ctrl-C is blocked meanwhile.
BUSY = """
import ctypes, signal, sys, threading
from pathlib import Path
from queuesmith.cli import replays, run

def busy(*_, **__):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hidden = threading.Thread(target=ctypes.CDLL(None).sleep, args=(100,))
    hidden.start()
    Path("begun").touch()
    if "thread" in sys.argv:
        hidden.join(1000)
    while ctypes.CDLL(None).sleep(100):
        pass

replays._compare = busy
run()
"""


@pytest.mark.parametrize("where", ["thread", "main"])
def test_ctrl_c_ends_a_command_though_a_library_is_busy(tmp_path, where):
    words = [sys.executable, "-c", BUSY, "compare", "a.swf", "--policies", where]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            while not (tmp_path / "begun").exists():
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.05)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            err = process.communicate(timeout=60)[1]
        finally:
            process.kill()
    assert process.returncode == 130
    assert err == "error: stopped before it was done; no half-written file is left.\n"


def test_what_was_finished_before_ctrl_c_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no half-written file is left" in stopped_sentence(["tune", "a", "--store", "r.sqlite"])
    (tmp_path / "r.sqlite").touch()
    for words in (["tune", "a", "--store", "r.sqlite"], ["tune", "a", "--store=r.sqlite"]):
        said = stopped_sentence(words)
        assert "is kept in 'r.sqlite', and the same command goes on from there" in said
    assert "no half-written file is left" in stopped_sentence(["study", "run", "s.toml"])
    for place in ("s.study/shard-1.json", "own/shard-1.json", "b.run/journal.jsonl"):
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).touch()
    for words, kept in (
        (["study", "run", "s.toml", "--chunk", "1"], "s.study"),
        (["study", "run", "x.toml", "--folder", "own"], "own"),
        (["study", "run", "x.toml", "--folder=own"], "own"),
        (["run", "--cores", "2", "b.txt"], "b.run"),
    ):
        assert f"is kept in '{kept}', and the same command goes on" in stopped_sentence(words)
    (tmp_path / "t.csv.unfinished").touch()
    assert "'t.csv.unfinished'" in stopped_sentence(["sweep", "a", "--out", "t.csv"])
