"""A real Slurm: workers are its jobs, and a job that is cancelled is replaced."""

import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from queuesmith.study.dask_engines import SlurmEngine, SlurmJobs
from tests.study.test_engines import double

PATIENCE = 120.0


@pytest.fixture
def slurm(monkeypatch):
    pytest.importorskip("dask_jobqueue")
    lab = pytest.importorskip("tests.lab")
    if (reason := lab.absent()) is not None:
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="slurm-lab-") as folder:
        nodes = [lab.LabNodes("n1", cores=2)]
        with lab.SlurmLab(Path(folder) / "lab", nodes=nodes) as running:
            monkeypatch.setenv("SLURM_CONF", str(running.configuration / "slurm.conf"))
            yield running


def jobs():
    listed = subprocess.run(
        ["squeue", "--noheader", "--format=%i"], capture_output=True, text=True, check=True
    )
    return set(listed.stdout.split())


def test_a_cancelled_worker_is_replaced_and_jobs_end_with_the_engine(slurm, tmp_path):
    wanted = SlurmJobs(1, interface="lo", minutes=10, logs=tmp_path / "workers")
    with SlurmEngine(wanted) as engine:
        engine.ready()
        first = jobs()
        assert engine.submit(double, 4).result(PATIENCE) == 8
        subprocess.run(["scancel", *first], check=True)
        until = time.monotonic() + PATIENCE
        while not jobs() - first and time.monotonic() < until:
            engine.tend()
            time.sleep(0.5)
        assert jobs() - first
        assert engine.submit(double, 5).result(PATIENCE) == 10
    assert list((tmp_path / "workers").iterdir())
