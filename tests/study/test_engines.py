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


def test_without_slurm_there_is_a_way_out(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineError, match="there is no 'sbatch' on this machine"):
        SlurmEngine(SlurmJobs())
