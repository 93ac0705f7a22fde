"""The page for operators: every command that it shows is run, on a cluster that is made up here."""

import re
import shlex
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from queuesmith.cli import main

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operators.md"
COMMANDS = re.findall(r"<!-- run -->\n    queuesmith (.*)", PAGE.read_text(encoding="utf-8"))

CONF = """
ClusterName=atlas
SchedulerType=sched/backfill
PriorityType=priority/multifactor
PriorityWeightAge=1000
NodeName=n[1-4] CPUs=8 RealMemory=32000
PartitionName=main Nodes=ALL Default=YES MaxTime=UNLIMITED State=UP
"""
#: A sacct with jobs of two weeks.
SACCT = """#!{python}
import sys
words = sys.argv[1:]
names = words[words.index("--format") + 1]
print(names.replace(",", "|"))
print(open("{jobs}").read(), end="")
"""


def jobs(count=300):
    """Return rows of sacct: jobs on 32 cores that really began first come, first served."""
    chance = np.random.default_rng(3)
    origin = int(datetime(2024, 3, 1).timestamp())
    submit = np.sort(chance.integers(0, 13 * 86_400, count))
    runtime = chance.integers(600, 6 * 3600, count)
    cores = chance.choice([1, 2, 4, 8], count)
    rows, ends = [], [(0, 0)]
    clock = 0
    for i in range(count):
        start = max(int(submit[i]), clock)
        while sum(c for end, c in ends if end > start) + cores[i] > 32:
            start = min(end for end, _ in ends if end > start)
        clock = start
        ends = [(end, c) for end, c in ends if end > start] + [(start + int(runtime[i]), cores[i])]
        times = "|".join(str(origin + int(t)) for t in (submit[i], start, start + runtime[i]))
        rows.append(
            f"{i + 1}|{i + 1}|u{i % 7}|a{i % 3}|g|main|normal|{times}|{_clock(runtime[i])}|08:00:00"
            f"|COMPLETED|1|{cores[i]}|{cores[i]}|{origin + int(submit[i])}|1G|cpu={cores[i]}"
            f"|cpu={cores[i]}||n1|"
        )
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("operators")
    (folder / "atlas").mkdir()
    (folder / "atlas" / "slurm.conf").write_text(CONF)
    (folder / "jobs").write_text(jobs())
    (folder / "bin").mkdir()
    program = folder / "bin" / "sacct"
    program.write_text(SACCT.format(python=sys.executable, jobs=folder / "jobs"))
    program.chmod(0o755)
    return folder


def _clock(seconds):
    """Write a time as sacct does: hours, minutes and seconds."""
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def test_every_command_of_the_page_runs(cluster, monkeypatch, capsys):
    monkeypatch.chdir(cluster)
    monkeypatch.setenv("PATH", f"{cluster / 'bin'}:/usr/bin:/bin")
    assert len(COMMANDS) >= 10
    said = {}
    for command in COMMANDS:
        capsys.readouterr()
        assert main(shlex.split(command)) == 0, (command, capsys.readouterr().err)
        said[command.split()[0]] = " ".join(capsys.readouterr().out.split())
    assert "longest" in said["describe"]
    assert "grade " in said["fidelity"]
    assert "On jobs it did not see" in said["tune"]
    assert (cluster / "atlas.html").stat().st_size > 1_000_000
    assert "parameters of the order" in said["explain"]


def test_commands_that_are_not_run_are_none_of_ours():
    text = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"^    queuesmith (.*)", text, re.MULTILINE)
    assert shown == COMMANDS
