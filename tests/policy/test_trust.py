"""Trust: a policy file runs no Python that was not asked for."""

import json

import pytest

from queuesmith.base.errors import PolicyError
from queuesmith.cli import main
from queuesmith.policy import Policy, as_policy, load_policy, parse_policies
from queuesmith.policy import trust as trusting
from queuesmith.policy.trust import UntrustedError

EVIL = "from pathlib import Path\nPath({mark!r}).touch()\ndef mine(job):\n    return job.cores\n"


@pytest.fixture(autouse=True)
def nobody_yet(tmp_path, monkeypatch):
    monkeypatch.setenv("QUEUESMITH_CONFIG", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "was run"


@pytest.fixture
def order(tmp_path, mark):
    path = tmp_path / "study" / "my.py"
    path.parent.mkdir()
    path.write_text(EVIL.format(mark=str(mark)))
    return path


def policy_file(order, content):
    path = order.parent / "policy.json"
    path.write_text(json.dumps(content))
    return path


def kinds(reference):
    rules = {"centre": [[0.5]], "width": [[1.0]], "weight": [[1.0]]}
    base = {"kind": "rule base", "features": ["utilization"], "rules": rules}
    pair = {"features": ["utilization"], "order_rules": rules, "algorithm_rules": rules}
    return [
        {"order": reference},
        {"kind": "written", "policy": f"{reference}+easy"},
        {"kind": "dynp", "candidates": [{"order": reference}]},
        {"kind": "dynp", "candidates": [{"order": "fcfs"}], "preferred": reference},
        {**base, "strategies": [f"{reference}+easy"]},
        {**pair, "kind": "pair of rule bases", "orders": [reference], "algorithms": ["easy"]},
    ]


@pytest.mark.parametrize("kind", range(6))
@pytest.mark.parametrize("whole", [False, True])
def test_no_kind_of_policy_file_runs_python_unasked(order, mark, kind, whole):
    """``explain`` of a policy file ran the Python that it named, also by an absolute path."""
    path = policy_file(order, kinds(f"{order if whole else 'my.py'}:mine")[kind])
    for load in (load_policy, lambda path: as_policy(str(path)), lambda p: parse_policies(str(p))):
        with pytest.raises(UntrustedError, match=rf"would run Python .*{order} \(4 lines\)\. Read"):
            load(path)
    assert not mark.exists()


def test_what_lies_outside_is_told(order, mark, tmp_path):
    (tmp_path / "inner").mkdir()
    path = tmp_path / "inner" / "policy.json"
    path.write_text(json.dumps({"order": f"{order}:mine"}))
    with pytest.raises(UntrustedError, match=r"4 lines, outside its folder\)"):
        load_policy(path)
    assert not mark.exists()


def test_trust_is_remembered_until_the_content_changes(order, mark):
    path = policy_file(order, {"order": "my.py:mine"})
    assert str(load_policy(path, trust=True)) == f"{order}:mine"
    assert mark.exists()
    load_policy(path)
    Policy.load(path)
    order.write_text(order.read_text() + "# one more byte\n")
    with pytest.raises(UntrustedError):
        load_policy(path)


def test_modules_beside_it_are_part_of_what_is_trusted(order):
    helper = order.parent / "helping_hand.py"
    helper.write_text("WEIGHT = 1\n")
    order.write_text("def mine(job):\n    import helping_hand\n    return job.cores\n")
    path = policy_file(order, {"order": "my.py:mine"})
    with pytest.raises(UntrustedError, match=r"my\.py.*helping_hand\.py") as told:
        load_policy(path)
    assert told.value.files == (order, helper)
    load_policy(path, trust=True)
    helper.write_text("WEIGHT = 2\n")
    with pytest.raises(UntrustedError):
        load_policy(path)


def test_who_names_a_file_directly_or_saves_it_has_given_his_word(order, mark):
    policy = as_policy(f"{order}:mine+easy")
    assert mark.exists()
    policy.save(order.parent / "policy.json")
    assert str(load_policy(order.parent / "policy.json")) == str(policy)


@pytest.mark.parametrize(
    "content",
    [
        {"order": "x.pyc:mine"},
        {"order": "x.so:mine"},
        {"kind": "written", "policy": "dynp(fcfs,my.py:mine)"},
        {"kind": "dynp", "candidates": [{"order": "fcfs"}], "preferred": "(my.py:mine"},
        {"order": "./my.py\n:mine"},
    ],
)
def test_no_way_around_is_left(order, mark, content):
    for name in ("x.pyc", "x.so"):
        (order.parent / name).write_bytes(b"\0" * 100)
    path = policy_file(order, content)
    for trust in (False, True):
        with pytest.raises(PolicyError):
            load_policy(path, trust=trust)
    assert not mark.exists()


def test_a_file_named_where_none_is_looked_for_is_not_run(order, mark):
    complaint = pytest.raises(PolicyError, match="names no file of Python")
    with trusting.only_trusted("policy.json", [], trust=True), complaint:
        as_policy(f"{order}:mine")
    assert not mark.exists()
    as_policy(f"{order}:mine")


def test_settings_that_cannot_be_written_cost_the_memory_only(order, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("QUEUESMITH_CONFIG", str(tmp_path / "file" / "config"))
    path = policy_file(order, {"order": "my.py:mine"})
    load_policy(path, trust=True)
    with pytest.raises(UntrustedError):
        load_policy(path)


def test_settings_lie_where_others_lie(tmp_path, monkeypatch):
    monkeypatch.delenv("QUEUESMITH_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert trusting.settings_folder() == tmp_path / "xdg" / "queuesmith"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert trusting.settings_folder() == tmp_path / ".config" / "queuesmith"


def test_explain_shows_what_would_be_run_and_asks(order, mark, capsys):
    order.write_text(order.read_text() + "# \x1b[8mhidden\n" + "#\n" * 50)
    path = policy_file(order, {"order": "my.py:mine"})
    assert main(["explain", str(path)]) == 2
    shown = capsys.readouterr().err
    assert f"--- {order}" in shown
    assert "def mine(job):" in shown
    assert "?[8mhidden" in shown
    assert "... 15 more" in shown
    assert shown.splitlines()[-1].startswith(f"error: policy file '{path}' would run Python")
    assert not mark.exists()
    assert main(["explain", str(path), "--trust"]) == 0
    assert main(["explain", str(path)]) == 0
