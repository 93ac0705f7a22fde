"""The parameters of one's own order, found by CMA-ES."""

import json

import numpy as np
import pytest

from queuesmith import verify
from queuesmith.base.errors import PolicyError, UsageError
from queuesmith.learning import tune
from queuesmith.learning.own_order import OwnOrder
from queuesmith.study.judgement import admitted
from tests.learning.test_tune import busy_log

MINE = '''
def patient(job, now, width_power=1.0, patience=0.0):
    """Wide jobs first, the more so the longer they waited."""
    return job.cores ** width_power + patience * (now - job.submit) / 3600
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(MINE)


@pytest.mark.usefixtures("mine")
def test_the_parameters_that_an_order_declares_are_tuned():
    method = OwnOrder("my.py:patient+easy", offspring=4, generations=3)
    tuned = tune(busy_log(), cores=16, objective="mean_wait", method=method, seed=1)
    assert tuned.evaluations == method.evaluations == 13
    assert str(tuned.policy).startswith("my.py:patient(")
    assert set(tuned.policy.order.parameters) == {"width_power", "patience"}
    verify(tuned.learning.learned)
    assert tuned.settings["policy"] == "my.py:patient+easy"
    again = tune(busy_log(), cores=16, objective="mean_wait", method=method, seed=1)
    assert str(again.policy) == str(tuned.policy)


def test_what_is_tuned_is_never_worse_than_the_policy_as_it_was_written():
    method = OwnOrder("head_start(cores=-30)+easy", offspring=2, generations=1, step=40)
    learning = method.learn(np.random.default_rng(1), [])
    asked = next(learning)
    with pytest.raises(StopIteration) as end:
        while True:
            worse = [float(str(each) != str(method.start())) for each in asked]
            asked = learning.send(admitted(worse))
    assert end.value.value == method.start()


@pytest.mark.usefixtures("mine")
def test_the_command_takes_the_order(tmp_path, capsys):
    from queuesmith import write
    from queuesmith.cli import main

    write(busy_log(), tmp_path / "log.csv")
    words = ["tune", "log.csv", "--cores", "16", "--policy", "my.py:patient+easy", "--quiet"]
    words += ["--offspring", "3", "--generations", "1", "--out", "p.json", "--format", "json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "order"
    assert json.loads((tmp_path / "p.json").read_text())["order"] == "my.py:patient"
    assert main([*words, "--rules", "3"]) == 2
    assert "no parameter of method 'order' called 'rules'" in capsys.readouterr().err


@pytest.mark.parametrize("policy", ["fcfs+easy", "my.json"])
def test_an_order_without_parameters_is_refused(policy):
    with pytest.raises(PolicyError):
        OwnOrder(policy)


@pytest.mark.parametrize("wrong", [{"offspring": 1}, {"generations": 0}, {"step": 0}])
def test_a_search_of_nothing_is_refused(wrong):
    with pytest.raises(UsageError):
        OwnOrder("power+easy", **wrong)


SLURM = "slurm(PriorityWeightAge=1000, PriorityWeightJobSize=500, bf_max_job_test=50)"


def test_slurms_own_weights_are_tuned_as_whole_numbers_that_slurm_takes():
    start = OwnOrder(SLURM).start()
    assert dict(start.tunable) == {
        "PriorityWeightAge": 1000,
        "PriorityWeightJobSize": 500,
        "bf_max_job_test": 50,
    }
    other = start.tuned({"PriorityWeightAge": 2.5e6 + 0.3, "PriorityWeightJobSize": -4.0})
    assert other.parameters["PriorityWeightAge"] == "2500000"
    assert other.parameters["PriorityWeightJobSize"] == "0"
    assert other.fragment == (
        "PriorityType=priority/multifactor\nPriorityWeightAge=2500000\nPriorityWeightJobSize=0\n"
        "# add to SchedulerParameters: bf_max_job_test=50\n"
    )
    with pytest.raises(PolicyError, match=r"slurm.* with the weights to tune"):
        OwnOrder("slurm()")


def test_what_is_tuned_of_slurm_is_written_for_slurm_conf(tmp_path, capsys, monkeypatch):
    from queuesmith import write
    from queuesmith.cli import main
    from queuesmith.policy.slurm import Slurm
    from queuesmith.policy.slurm_settings import read_stated

    monkeypatch.chdir(tmp_path)
    write(busy_log().head(30), tmp_path / "log.csv")
    (tmp_path / "slurm.conf").write_text(
        "NodeName=n[1-2] CPUs=8\nPartitionName=main Nodes=ALL Default=YES\n"
    )
    words = ["tune", "log.csv", "--machine", "slurm.conf", "--policy", SLURM, "--quiet"]
    words += ["--offspring", "3", "--generations", "1", "--objective", "mean_wait"]
    assert main([*words, "--out", "best.conf"]) == 0
    text = (tmp_path / "best.conf").read_text()
    assert text.startswith("# ") and "PriorityWeightAge=" in text
    Slurm({n: v for n, v in read_stated("best.conf").items() if n.startswith("Priority")})
    capsys.readouterr()
    assert main(["tune", "log.csv", "--policy", "power+easy", "--out", "p.conf"]) == 2
    assert "what is tuned is not slurm(...)" in capsys.readouterr().err


@pytest.mark.usefixtures("mine")
def test_parameters_of_a_backfill_of_ones_own_are_tuned_too(tmp_path):
    (tmp_path / "back.py").write_text(
        "def bold(job, head, now, slack=1.0):\n    return slack > 0\n"
    )
    start = OwnOrder("my.py:patient+back.py:bold").start()
    assert set(start.tunable) == {"width_power", "patience", "slack"}
    assert str(start.tuned({"slack": 2.0, "patience": 3.0})) == (
        "my.py:patient(patience=3)+back.py:bold(slack=2)"
    )
