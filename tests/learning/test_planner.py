"""dynP made better: one thing changed at a time, as long as that helps."""

import json

import pytest

from queuesmith import Objective, simulate, verify, write
from queuesmith.base.errors import PolicyError, QueuesmithError
from queuesmith.cli import main
from queuesmith.learning import tune
from queuesmith.learning.planner import Planner
from queuesmith.policy import SelfTuning
from tests.learning.test_tune import busy_log


def test_the_planner_learned_is_no_worse_than_the_one_it_began_with():
    method = Planner("dynp(ljf; metric=makespan)", orders=("sjf",), generations=2)
    tuned = tune(busy_log(), cores=16, objective="mean_wait", method=method, split=None)
    assert isinstance(tuned.policy, SelfTuning)
    began = simulate(busy_log(), cores=16, policy=method.policy)
    assert Objective("mean_wait")(tuned.learning.learned) < Objective("mean_wait")(began)
    assert 1 < tuned.evaluations <= method.evaluations
    verify(tuned.learning.learned)


def test_planners_that_are_tried_differ_in_one_thing_and_from_each_other():
    method = Planner("dynp(fcfs,sjf; decider=preferred; preferred=sjf)")
    others = [str(each) for each in method._changed(method.start())]
    assert len(set(others)) == len(others) and str(method.start()) not in others
    assert "dynp(fcfs; metric=sldwa; decider=preferred)" in others  # without the preferred one
    assert "dynp(fcfs,sjf,saf; metric=sldwa; decider=preferred; preferred=sjf)" in others
    assert "dynp(fcfs,sjf; metric=mean_wait; decider=preferred; preferred=sjf)" in others
    assert "dynp(fcfs,sjf; metric=sldwa; decider=preferred; preferred=fcfs)" in others


def test_the_command_improves_a_planner(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(busy_log(), "log.csv")
    words = ["tune", "log.csv", "--cores", "16", "--policy", "dynp(sjf)", "--quiet"]
    words += [
        "--generations",
        "1",
        "--orders",
        "fcfs",
        "--longest-wait",
        "none",
        "--out",
        "p.json",
        "--format",
        "json",
    ]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "dynp"
    assert json.loads((tmp_path / "p.json").read_text())["kind"] == "dynp"


@pytest.mark.parametrize(
    "wrong", [{"generations": 0}, {"policy": "fcfs+easy"}, {"orders": ("no",)}]
)
def test_what_is_no_planner_or_no_order_is_refused(wrong):
    with pytest.raises(QueuesmithError):
        Planner(**wrong)
    with pytest.raises(PolicyError, match="improves a planner"):
        Planner("sjf+easy")
