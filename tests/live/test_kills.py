"""Kills on a real Slurm: after ``slurm restore`` every job's priority is what it would have been.

Short here; ``python -m tests.live.kills --kills 20`` is the long round.
"""

import tempfile
from pathlib import Path

import pytest

from tests.live.kills import exercise

lab = pytest.importorskip("tests.lab")


def restarted(slurm):
    controller = slurm._daemons._running["slurmctld"]
    controller.terminate()
    controller.wait(30)
    slurm._start("slurmctld", "slurmctld", "-D", user="slurm")
    slurm._daemons.wait_until("slurmctld", lambda: "is UP" in slurm._call("scontrol", "ping"))


@pytest.mark.skipif(lab.absent() is not None, reason=lab.absent() or "")
def test_nothing_is_left_behind_after_kills(monkeypatch, capsys):
    weights = {"PriorityWeightAge": "1000", "PriorityWeightJobSize": "5000"}
    settings = {**weights, "PriorityCalcPeriod": "1", "SchedulerParameters": "bf_interval=5"}
    nodes = [lab.LabNodes("n[1-2]", 16, 64_000)]
    # Not pytest's own folder, which every new run of pytest closes to the users of the daemons.
    with (
        tempfile.TemporaryDirectory(prefix="slurm-lab-") as folder,
        lab.SlurmLab(Path(folder) / "lab", nodes=nodes, settings=settings) as slurm,
    ):
        for name, value in slurm._environment.items():
            monkeypatch.setenv(name, value)
        left = exercise(2, 3, lambda: restarted(slurm), ("root",), jobs=20)
    told = capsys.readouterr().out
    assert left == [], told
    assert "kill 2: 0 changes" not in told and "kill 1: 0 changes" not in told
