"""Own orders in files that policy files name: found beside them, and named so that they are."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from queuesmith import simulate
from queuesmith.base.errors import PolicyError
from queuesmith.policy import Policy, RuleBase, as_policy, load_policy
from queuesmith.policy.rulebase import RuleBasePair
from queuesmith.policy.rules import FuzzyRules
from queuesmith.testing.policy import random_workload

ORDER = "def mine(job, slope=1):\n    return {sign}slope * job.cores\n"


def rules(choices):
    return FuzzyRules([[0.5]], [[1.0]], [[5.0, *[0.0] * (choices - 1)]])


def rule_base(reference):
    offered = (Policy.parse(f"{reference}(slope=2)+easy"), Policy.parse("fcfs+easy"))
    return RuleBase(rules(2), ("utilization",), offered)


def pair(reference):
    orders, algorithms = (reference, "fcfs"), ("easy", "none")
    return RuleBasePair(rules(2), rules(2), ("utilization",), orders, algorithms)


KINDS = {
    "order": lambda reference: Policy.parse(f"{reference}(slope=2)+easy"),
    "dynp": lambda reference: as_policy(
        f"dynp(sjf,{reference}; decider=preferred; preferred={reference})"
    ),
    "rule base": rule_base,
    "pair": pair,
}
every_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


def order_file(folder, sign=""):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "my.py"
    path.write_text(ORDER.format(sign=sign))
    return path


def own_files(policy):
    """Return the files that the orders of a policy come from."""
    orders = (
        policy.candidates
        if hasattr(policy, "candidates")
        else [strategy.order for strategy in getattr(policy, "strategies", (policy,))]
    )
    files = {Path(order.function.__code__.co_filename).resolve() for order in orders}
    return {str(file) for file in files if file.name == "my.py"}


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@every_kind
@pytest.mark.parametrize("name", ["study", "c++ (2), run; 1"])
def test_a_folder_can_be_moved_with_all_that_is_in_it(tmp_path, elsewhere, make, name):
    make(str(order_file(tmp_path / "first")) + ":mine").save(tmp_path / "first" / "policy.json")
    text = (tmp_path / "first" / "policy.json").read_text()
    assert '"my.py:mine' in text
    assert str(tmp_path) not in text
    moved = shutil.move(tmp_path / "first", tmp_path / name)
    policy = load_policy(moved / "policy.json")
    assert own_files(policy) == {str(moved / "my.py")}
    policy.save(moved / "again.json")
    assert (moved / "again.json").read_text() == text


@every_kind
def test_beside_the_policy_file_comes_before_the_current_folder(tmp_path, elsewhere, make):
    make(f"{order_file(tmp_path / 'study')}:mine").save(tmp_path / "study" / "policy.json")
    order_file(elsewhere, sign="-")
    assert own_files(load_policy("../study/policy.json")) == {str(tmp_path / "study" / "my.py")}
    (tmp_path / "study" / "my.py").unlink()
    found = load_policy(tmp_path / "study" / "policy.json", trust=True)
    assert own_files(found) == {str(elsewhere / "my.py")}


@every_kind
def test_a_file_that_is_missing_says_where_it_was_looked_for(tmp_path, elsewhere, make):
    path = tmp_path / "study" / "policy.json"
    make(f"{order_file(tmp_path / 'study')}:mine").save(path)
    (tmp_path / "study" / "my.py").unlink()
    with pytest.raises(PolicyError) as error:
        load_policy(path)
    assert str(error.value) == (
        f"policy file '{path}' names 'my.py', which is neither beside it in '{tmp_path / 'study'}' "
        f"nor in the current folder '{elsewhere}'. Put it beside the policy file, or write its "
        "whole path."
    )


def test_a_missing_file_of_one_folder_names_that_once(tmp_path, elsewhere):
    (elsewhere / "policy.json").write_text('{"order": "gone.py:mine"}')
    with pytest.raises(PolicyError, match=rf"which is not in the folder '{elsewhere}'\."):
        load_policy("policy.json")
    whole = tmp_path / "gone.py"
    (elsewhere / "policy.json").write_text(json.dumps({"order": f"{whole}:mine"}))
    with pytest.raises(PolicyError, match=r"gone\.py', which does not exist\."):
        load_policy("policy.json")


@every_kind
def test_a_file_that_is_not_below_is_named_by_its_whole_path(tmp_path, elsewhere, make):
    order_file(elsewhere)
    (tmp_path / "study").mkdir()
    make("my.py:mine").save("../study/policy.json")
    assert f'"{elsewhere / "my.py"}:mine' in (tmp_path / "study" / "policy.json").read_text()
    assert own_files(load_policy("../study/policy.json")) == {str(elsewhere / "my.py")}


@every_kind
def test_a_file_further_down_is_named_from_the_policy_files_folder(tmp_path, elsewhere, make):
    order_file(elsewhere / "orders")
    make("orders/my.py:mine").save(elsewhere / "policy.json")
    assert '"orders/my.py:mine' in (elsewhere / "policy.json").read_text()
    make("orders/my.py:mine").save("policy.json")
    assert '"orders/my.py:mine' in (elsewhere / "policy.json").read_text()


@every_kind
def test_a_loaded_policy_replays_as_the_one_saved(tmp_path, elsewhere, make):
    jobs = random_workload(np.random.default_rng(1), 40, 8)
    policy = make(f"{order_file(tmp_path / 'study')}:mine")
    policy.save(tmp_path / "study" / "policy.json")
    loaded = str(tmp_path / "study" / "policy.json")
    found = simulate(jobs, cores=8, policy=loaded)
    assert (found.start == simulate(jobs, cores=8, policy=policy).start).all()


def test_policies_without_files_are_written_as_ever(tmp_path):
    policy = as_policy("dynp(fcfs,sjf)")
    policy.save(tmp_path / "policy.json")
    assert json.loads((tmp_path / "policy.json").read_text()) == policy.to_dict()


def test_a_path_may_have_signs_that_policies_are_written_with(tmp_path):
    path = order_file(tmp_path / "c++ (2)")
    policy = as_policy(f"{path}:mine(slope=3)+easy")
    assert (policy.order.parameters["slope"], policy.backfill) == (3, "easy")
    assert str(policy) == f"{path}:mine(slope=3)+easy"
    assert own_files(as_policy(f"{path}:mine")) == {str(path)}


@pytest.mark.parametrize(
    "content",
    [
        {"kind": "dynp", "candidates": "my.py:mine"},
        {"kind": "dynp", "candidates": [3, ["my.py:mine"]]},
        {"kind": "rule base", "strategies": [["my.py:mine"]]},
        {"order": ["my.py:mine"]},
    ],
)
def test_content_of_a_wrong_kind_is_still_told_as_such(tmp_path, content):
    order_file(tmp_path)
    (tmp_path / "policy.json").write_text(json.dumps(content))
    with pytest.raises(PolicyError, match=r"policy\.json'"):
        load_policy(tmp_path / "policy.json")
