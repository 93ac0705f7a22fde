"""The grade in Python: the policy that really ran, against what really happened."""

import pytest

import queuesmith as qs
from queuesmith.base.errors import QueuesmithError, UsageError, WorkloadError


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "id,submit,runtime,walltime,cores,wait\n1,0,100,100,2,0\n2,0,100,100,2,100\n3,50,50,50,1,150\n"
    )
    return qs.read(path)


def test_a_replay_that_agrees_has_grade_a(log):
    judged = qs.fidelity(log, cores=2, policy="fcfs")
    assert str(judged.grade) == "A" and judged.error_percent == 0


def test_a_replay_on_another_machine_does_not(log):
    assert str(qs.fidelity(log, cores=3).grade) == "D"


def test_what_cannot_be_graded_is_said(log):
    with pytest.raises(UsageError, match="only on nodes"):
        qs.fidelity(log, cores=2, as_placed=True)
    with pytest.raises(UsageError, match=r"fcfs\+easy has no clocks"):
        qs.fidelity(log, cores=2, draws=3)
    with pytest.raises(QueuesmithError, match="number of draws is 0"):
        qs.fidelity(log, cores=2, draws=0)
    with pytest.raises(WorkloadError, match="does not tell when its jobs really began"):
        qs.fidelity(qs.lublin(10, 4, seed=1))


def test_a_policy_is_explained_as_one_writes_it():
    assert "first come, first served" in qs.explain("fcfs+easy")
