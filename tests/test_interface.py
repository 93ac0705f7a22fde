"""The names of ``queuesmith``, called with what a notebook may hold instead: one sentence each."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import queuesmith as qs
from queuesmith.testing import check_policy

JOBS = qs.Workload(submit=[0, 5], runtime=[9, 9], walltime=[9, 9], cores=[1, 2], machine_cores=2)


@pytest.mark.parametrize(
    "call",
    [
        qs.simulate,
        qs.simulate_many,
        qs.compare,
        qs.tune,
        qs.fidelity,
        qs.history,
        lambda log: qs.simulate(log, cores=4),
        lambda log: qs.scale(log, 2, 4),
        lambda log: qs.write(log, "out.swf"),
        lambda log: qs.Schedule(log, qs.Cluster(2), np.zeros(2, np.int64), "mine"),
    ],
)
@pytest.mark.parametrize("log", ["kth.swf", Path("kth.swf"), None, [1, 2], JOBS.to_frame()])
def test_what_is_no_log_is_told_how_to_become_one(call, log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(qs.QueuesmithError, match=r"the log is .* kind Workload. Read a file with"):
        call(log)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("cores", ["abc", "256", None, [4], 2.5, float("nan"), float("inf"), True])
def test_a_number_of_cores_is_a_whole_number(cores):
    with pytest.raises(qs.QueuesmithError, match="a number of cores is whole"):
        qs.Cluster(cores)


@pytest.mark.parametrize("workers", [float("nan"), 2.5, "2", 0])
def test_workers_are_a_whole_number(workers):
    with pytest.raises(qs.QueuesmithError, match=r"workers is .* whole number of at least 1"):
        qs.simulate_many(JOBS, policies=["fcfs"], workers=workers)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: qs.verify(JOBS), "the schedule is of the kind Workload, but"),
        (lambda: qs.map_jobs(np.ones((2, 2))), r"EtcMatrix\(times\)"),
        (lambda: qs.Objective("mean_wait", bound="10"), "is '10', but it must be above 0"),
        (lambda: qs.compare(JOBS, warm_up="0.1"), "the warm-up is '0.1'"),
        (lambda: qs.confidence(qs.simulate(JOBS), "mean_wait", level="x"), "the level is 'x'"),
        (lambda: qs.confidence(qs.simulate(JOBS), "mean_wait", resamples=2.5), "2.5 resamples"),
        (lambda: qs.confidence(qs.simulate(JOBS), "mean_wait", seed="a"), "the seed is 'a'"),
        (lambda: qs.from_frame(JOBS.to_frame(), cores=-1), "cores is -1"),
    ],
)
def test_a_wrong_kind_gets_one_sentence(call, sentence):
    with pytest.raises(qs.QueuesmithError, match=sentence):
        call()


def test_a_table_of_pandas_is_the_way_to_a_log():
    frame = pd.DataFrame({"submit": [0, 5], "runtime": [9, 9], "cores": [1, 2]})
    assert qs.simulate(qs.from_frame(frame, cores=2)).start.tolist() == [0, 9]


@pytest.mark.parametrize(
    "wrong", [{"workloads": 0}, {"workloads": "a"}, {"jobs": 0}, {"jobs": -1}, {"seed": -1}]
)
def test_a_policy_is_not_said_to_be_right_on_no_workloads(wrong):
    with pytest.raises(qs.QueuesmithError, match="must be a whole number of at least"):
        check_policy("fcfs", **wrong)
