"""A cluster that tests can steer without a Slurm: a folder of commands on the PATH."""

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tests.live import fake_slurm

COMMANDS = ("squeue", "sprio", "scontrol", "sacctmgr", "sshare", "sdiag")
CONFIG = {
    "ClusterName": "atlas",
    "SLURM_VERSION": "22.05.8",
    "PriorityType": "priority/multifactor",
    "SlurmUser": "slurm(64030)",
    "SchedulerType": "sched/backfill",
}


class FakeSlurm:
    """The file of a made-up cluster, and what its commands were told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        script = (Path(__file__).parent / "fake_slurm.py").read_text()
        for name in COMMANDS:
            path = folder / name
            path.write_text(script.replace("/usr/bin/env python3", f"{sys.executable} -IS", 1))
            path.chmod(0o755)
        self.set(config=CONFIG, nodes=2, cores=8, admin="Operator", down=False, delay=0, jobs={})

    @property
    def content(self) -> dict:
        return json.loads((self.folder / "cluster.json").read_text())

    def set(self, **parts: object) -> None:
        path = self.folder / "cluster.json"
        content = self.content if path.exists() else {}
        path.write_text(json.dumps(content | parts))

    def job(self, number: int, **facts: object) -> None:
        jobs = self.content["jobs"]
        jobs[str(number)] = jobs.get(str(number), {}) | facts
        self.set(jobs=jobs)

    @property
    def told(self) -> list[str]:
        path = self.folder / "told.txt"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def sites(self) -> dict[int, int]:
        return {int(n): job.get("site", 0) for n, job in self.content["jobs"].items()}

    @property
    def priorities(self) -> dict[int, int]:
        jobs = self.content["jobs"].items()
        return {int(n): max(job.get("parts", 100) + job.get("site", 0), 1) for n, job in jobs}


def _in_this_process(words, *, input, **_):
    """Run one of the made-up commands without starting a process for it."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    path = shutil.which(words[0])
    if path is None:
        raise FileNotFoundError(words[0])
    fake_slurm.FOLDER = Path(path).parent
    fake_slurm.STORE = fake_slurm.FOLDER / "cluster.json"
    stdin = sys.stdin
    sys.stdin = io.StringIO(input)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            fake_slurm.main(words[0], list(words[1:]))
    except SystemExit as stop:
        code = 1
        err.write(str(stop.code))
    finally:
        sys.stdin = stdin
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


@pytest.fixture
def slurm(slurm_commands, monkeypatch) -> FakeSlurm:
    """The same cluster, its commands run in this process: faster, and nothing can be killed."""
    monkeypatch.setattr("queuesmith.live.commands.subprocess.run", _in_this_process)
    return slurm_commands


@pytest.fixture
def slurm_commands(tmp_path, monkeypatch) -> FakeSlurm:
    """A cluster of 2 nodes with 8 cores each, and three jobs of different walltimes."""
    folder = tmp_path / "commands"
    folder.mkdir()
    fake = FakeSlurm(folder)
    # Python's own folder is where sys.executable lies; nothing else may be found.
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("QUEUESMITH_STATE", str(tmp_path / "state"))
    # Whoever runs the tests, root perhaps, is somebody without special rights to the cluster.
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    fake.job(1, state="RUNNING", cores=16, nodes=2, node_list="n[1-2]", elapsed="0:10")
    fake.job(2, parts=300, walltime="3:00:00")
    fake.job(3, parts=200, walltime="2:00:00")
    fake.job(4, parts=100, walltime="1:00:00")
    return fake


@pytest.fixture
def recorded(tmp_path) -> Path:
    """A copy of what a real Slurm 22.05 printed for a small queue."""
    folder = tmp_path / "recorded"
    shutil.copytree(Path(__file__).parent / "recorded", folder)
    return folder
