import os
import signal

import pytest

from queuesmith.base.errors import UsageError
from queuesmith.study.dask_engines import DaskEngine, EngineError, SlurmEngine, SlurmJobs
from queuesmith.study.engines import LocalEngine


def double(number):
    return 2 * number


def kill_myself(_):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(_):
    raise ValueError("no")


def test_a_killed_process_is_lost_work_and_is_replaced():
    with LocalEngine(1) as engine:
        assert engine.submit(double, 4).result() == 8
        error = engine.submit(kill_myself, 0).exception()
        assert engine.is_lost(error)
        assert engine.submit(double, 5).result() == 10
        failed = engine.submit(fail, 0).exception()
        assert isinstance(failed, ValueError) and not engine.is_lost(failed)


def test_workers_must_be_one_or_more():
    with pytest.raises(UsageError, match="workers is 0"):
        LocalEngine(0)
    with pytest.raises(UsageError, match="at least 2"):
        SlurmJobs(minutes=1)


def test_a_dask_cluster_computes_and_its_errors_come_back():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, threads_per_worker=2, dashboard_address=":0"
        ) as cluster,
        DaskEngine(cluster.scheduler_address) as engine,
    ):
        assert engine.workers == 2
        assert [engine.submit(double, n).result(30) for n in range(3)] == [0, 2, 4]
        error = engine.submit(fail, 0).exception(30)
        assert isinstance(error, ValueError) and not engine.is_lost(error)
        engine.tend()


def test_a_scheduler_that_does_not_answer_is_told_in_a_sentence(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("queuesmith.study.dask_engines.PATIENCE", 0.2)
    with pytest.raises(EngineError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        DaskEngine("tcp://127.0.0.1:9")
    with pytest.raises(EngineError, match="no Dask scheduler answers at 'nonsense://x'"):
        DaskEngine("nonsense://x")


def test_what_is_no_address_is_told_and_leaves_no_client_that_lets_one_wait(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: pytest.fail("a client was made"))
    for address in ("nonsense", "", None, 8786):
        with pytest.raises(EngineError, match="no Dask scheduler answers at"):
            DaskEngine(address)


def test_without_slurm_there_is_a_way_out(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineError, match="there is no 'sbatch' on this machine"):
        SlurmEngine(SlurmJobs())


@pytest.fixture
def fake_slurm(tmp_path, monkeypatch):
    """Give what writes commands of Slurm: each prints, to its error output, too, and ends so."""
    pytest.importorskip("dask_jobqueue")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def write(name: str, *, says: str = "", fails: str = "") -> None:
        end = f"echo '{fails}' >&2; exit 1" if fails else "exit 0"
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{says}'\n{end}\n")
        (tmp_path / name).chmod(0o755)

    for name in ("sbatch", "squeue", "scancel"):
        write(name)
    return write


REFUSED = "sbatch: error: invalid partition specified: nowhere"


def test_what_slurm_says_against_the_jobs_is_told_at_once(fake_slurm):
    fake_slurm("sbatch", fails=REFUSED)
    with pytest.raises(
        EngineError, match=r"\(invalid partition specified: nowhere\). Correct what"
    ):
        SlurmEngine(SlurmJobs(1, partition="nowhere", interface="lo"))


def test_workers_that_slurm_does_not_take_later_are_asked_for_again(fake_slurm):
    fake_slurm("sbatch", says="Submitted batch job 17")
    with SlurmEngine(SlurmJobs(2, interface="lo")) as engine:
        engine._cluster.sync(engine._replace, {"17": "PENDING"})
        assert engine._pending
        fake_slurm("sbatch", fails=REFUSED)
        with pytest.raises(EngineError, match="what is done is kept"):
            engine._cluster.sync(engine._replace, {})
        fake_slurm("sbatch", says="Submitted batch job 18")
        engine._cluster.sync(engine._replace, {})
        assert {job.job_id for job in engine._cluster.workers.values()} == {"18"}
        assert len(engine._cluster.workers) == 2


def test_a_job_that_waits_in_the_queue_of_slurm_is_waited_for(fake_slurm, monkeypatch):
    monkeypatch.setattr("queuesmith.study.dask_engines.PATIENCE_FOR_WORKERS", 0.0)
    monkeypatch.setattr("queuesmith.study.dask_engines.COUNT_EVERY", 0.01)
    fake_slurm("sbatch", says="Submitted batch job 17")
    with SlurmEngine(SlurmJobs(1, interface="lo")) as engine:
        counted = []

        def listed():
            counted.append(1)
            return {"17": "PENDING" if len(counted) < 5 else "RUNNING"}

        monkeypatch.setattr("queuesmith.study.dask_engines._listed_jobs", listed)
        with pytest.raises(EngineError, match="jobs of Slurm run, but no worker in them answers"):
            engine.ready()
        assert len(counted) >= 5
