"""A policy as one writes it: read, printed, kept in a file."""

import json
import os
import re

import pytest

from queuesmith import Policy
from queuesmith.base.errors import PolicyError, QueuesmithError
from queuesmith.policy import BACKFILLS, ORDERS, parse_policies
from queuesmith.policy.policy import find_order, parse_settings

MINE = "def mine(job, now, slope=2):\n    return (now - job.submit) * slope\n"


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "my.py"
    path.write_text(MINE, encoding="utf-8")
    return path


# -- reading and printing --------------------------------------------------------------------------


def test_an_order_alone_means_no_backfill():
    policy = Policy.parse("fcfs")
    assert policy.order == ORDERS["fcfs"]
    assert policy.backfill == "none"
    assert str(policy) == "fcfs"
    assert str(Policy.parse("fcfs+none")) == "fcfs"


@pytest.mark.parametrize("backfill", BACKFILLS)
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_goes_with_every_backfill_and_is_printed_as_written(order, backfill):
    policy = Policy.parse(f"{order}+{backfill}")
    assert (policy.order, policy.backfill) == (ORDERS[order], backfill)
    assert Policy.parse(str(policy)) == policy


@pytest.mark.parametrize(
    "text",
    [
        "power(alpha=2)+easy",
        "power(alpha=-1.5,gamma=0.25)+conservative",
        "power(alpha=1.23456789)",
        "multifactor(PriorityDecayHalfLife=1234567)+plan",
    ],
)
def test_parameters_are_printed_as_written(text):
    assert str(Policy.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "  power ( alpha = 2 , beta = 1 ) + easy ",
        "power(alpha=2,)+easy",
        "power(alpha=2e0)+easy",
        "power(alpha=+2)+easy",
    ],
)
def test_spaces_and_ways_to_write_a_number_do_not_matter(text):
    assert str(Policy.parse(text)) == "power(alpha=2)+easy"


def test_empty_parentheses_set_nothing():
    assert str(Policy.parse("power()+easy")) == "power+easy"


def test_parameters_given_beside_the_text_come_on_top_of_those_in_it():
    policy = Policy.parse("power(alpha=2,beta=3)+easy", {"beta": 4, "gamma": 5})
    assert str(policy) == "power(alpha=2,beta=4,gamma=5)+easy"


def test_having_changes_parameters_and_keeps_the_backfill():
    policy = Policy.parse("power+easy").having(alpha=3)
    assert str(policy) == "power(alpha=3)+easy"


def test_an_order_from_a_file_is_written_file_colon_function(mine):
    policy = Policy.parse(f"{mine}:mine(slope=3)+easy")
    assert str(policy) == f"{mine}:mine(slope=3)+easy"
    assert policy.order.parameters["slope"] == 3
    assert Policy.parse(f"{mine}:mine").backfill == "none"


# -- what is wrong is said -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "+easy", "fcfs+", "fcfs+easy+easy", "power(alpha=2", "power)alpha=2(", "a(b(c))"]
)
def test_a_policy_that_cannot_be_read_is_quoted_with_an_example(text):
    with pytest.raises(PolicyError) as error:
        Policy.parse(text)
    assert str(error.value) == (
        f"policy '{text}' cannot be read. Write order+backfill, for example fcfs+easy or "
        "power(alpha=2)+easy."
    )


@pytest.mark.parametrize(("wrong", "meant"), [("fcsf", "fcfs"), ("multifaktor", "multifactor")])
def test_an_unknown_order_is_answered_with_the_nearest_and_with_all(wrong, meant):
    with pytest.raises(PolicyError) as error:
        Policy.parse(f"{wrong}+easy")
    assert str(error.value) == (
        f"there is no order '{wrong}'. Did you mean '{meant}'? "
        f"Choose from: {', '.join(ORDERS)}; or give FILE.py:FUNCTION."
    )


def test_an_unknown_order_like_no_other_is_answered_with_all():
    with pytest.raises(PolicyError, match=r"no order 'zzzzz'\. Choose from: fcfs, sjf, .*FUNCTION"):
        find_order("zzzzz")


def test_an_unknown_backfill_is_answered_with_all():
    with pytest.raises(PolicyError) as error:
        Policy.parse("fcfs+eazy")
    assert str(error.value) == (
        "there is no backfill 'eazy'. Did you mean 'easy'? "
        "Choose from: none, list, easy, conservative, plan."
    )
    with pytest.raises(PolicyError, match="no backfill 'EASY'"):
        Policy(ORDERS["fcfs"], "EASY")


@pytest.mark.parametrize("setting", ["alpha", "alpha=", "alpha=two", "=", "2", "alpha=1=2"])
def test_a_setting_that_is_not_name_and_number_is_quoted(setting):
    with pytest.raises(PolicyError) as error:
        Policy.parse(f"power({setting})+easy")
    assert str(error.value) == (
        f"setting '{setting}' in 'power({setting})+easy' cannot be read: a setting is "
        "name=number. Write for example alpha=1.5."
    )


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999"])
def test_a_setting_must_be_finite(number):
    with pytest.raises(PolicyError, match=r"'alpha' of order 'power' is .* finite number"):
        Policy.parse(f"power(alpha={number})")


def test_a_setting_of_an_unknown_parameter_is_answered_with_those_there_are():
    with pytest.raises(
        PolicyError, match=r"no parameter 'delta'\. .*Choose from: alpha, beta, gamma"
    ):
        Policy.parse("power(delta=2)+easy")
    with pytest.raises(PolicyError, match="no parameter 'delta'"):
        Policy.parse("power+easy", {"delta": 2})


def test_errors_of_policies_are_wrong_calls():
    with pytest.raises(QueuesmithError) as error:
        Policy.parse("fcsf")
    assert error.value.exit_code == 2


# -- lists -----------------------------------------------------------------------------------------


def test_a_list_is_separated_by_commas_outside_parentheses():
    policies = parse_policies("fcfs, power(alpha=2,beta=3)+easy ,sjf+list")
    assert [str(p) for p in policies] == ["fcfs", "power(alpha=2,beta=3)+easy", "sjf+list"]


def test_empty_parts_of_a_list_are_passed_over():
    assert [str(p) for p in parse_policies("fcfs,,sjf,")] == ["fcfs", "sjf"]
    assert parse_policies("") == []


def test_a_list_with_a_wrong_policy_names_it():
    with pytest.raises(PolicyError, match="no order 'sfj'"):
        parse_policies("fcfs,sfj+easy")


def test_settings_are_read_on_their_own():
    assert parse_settings("alpha=1, beta = -2.5") == {"alpha": 1.0, "beta": -2.5}
    assert parse_settings("") == {}
    with pytest.raises(PolicyError, match="setting 'beta' in 'alpha=1,beta' cannot be read"):
        parse_settings("alpha=1,beta")


# -- JSON files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["fcfs", "power(alpha=1.2345678901)+easy", "greedy+plan"])
def test_a_policy_comes_back_from_its_file_as_it_was(tmp_path, text):
    policy = Policy.parse(text)
    policy.save(tmp_path / "policy.json")
    assert Policy.load(tmp_path / "policy.json") == policy
    assert Policy.parse(str(tmp_path / "policy.json")) == policy


def test_the_file_holds_order_parameters_and_backfill(tmp_path):
    Policy.parse("power(alpha=2)+easy").save(tmp_path / "policy.json")
    assert json.loads((tmp_path / "policy.json").read_text()) == {
        "order": "power",
        "parameters": {"alpha": 2.0, "beta": 1.0, "gamma": 0.0},
        "backfill": "easy",
    }


def test_parameters_are_set_on_top_of_those_in_the_file(tmp_path):
    Policy.parse("power(alpha=2,beta=3)+easy").save(tmp_path / "policy.json")
    policy = Policy.parse(str(tmp_path / "policy.json"), {"beta": 5})
    assert str(policy) == "power(alpha=2,beta=5)+easy"


def test_parameters_and_backfill_may_be_left_out_of_the_file(tmp_path):
    (tmp_path / "policy.json").write_text('{"order": "sjf"}')
    assert str(Policy.load(tmp_path / "policy.json")) == "sjf"


def test_an_order_in_a_file_is_looked_for_beside_the_json_file(tmp_path, mine, monkeypatch):
    content = {"order": "my.py:mine", "parameters": {"slope": 4}, "backfill": "easy"}
    (tmp_path / "policy.json").write_text(json.dumps(content))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    policy = Policy.load(os.path.join("..", "policy.json"), trust=True)  # noqa: PTH118
    assert policy.order.function.__code__.co_filename.endswith("my.py")
    assert policy.order.parameters["slope"] == 4
    again = tmp_path / "again.json"
    policy.save(again)
    assert Policy.load(again).order.parameters == policy.order.parameters


def test_an_order_in_a_file_is_looked_for_in_the_working_folder_next(tmp_path, mine, monkeypatch):
    (tmp_path / "policies").mkdir()
    path = tmp_path / "policies" / "policy.json"
    path.write_text('{"order": "my.py:mine"}')
    monkeypatch.chdir(tmp_path)
    assert str(Policy.load(path, trust=True)) == "my.py:mine"


def test_an_order_in_a_file_that_is_gone_is_named(tmp_path):
    (tmp_path / "policy.json").write_text('{"order": "gone.py:mine"}')
    with pytest.raises(PolicyError, match=r"policy\.json' names 'gone\.py', which is neither"):
        Policy.load(tmp_path / "policy.json")


def test_a_json_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(PolicyError) as error:
        Policy.parse(f"{tmp_path}/none.json")
    assert str(error.value) == (
        f"policy file '{tmp_path}/none.json' cannot be read: No such file or directory. "
        "Give the name of a file."
    )


@pytest.mark.parametrize("content", [b"order: fcfs", b"", b"\xff\xfe"])
def test_a_file_that_is_not_json_is_named(tmp_path, content):
    path = tmp_path / "policy.json"
    path.write_bytes(content)
    with pytest.raises(PolicyError, match=r"policy file '.*policy.json' is not JSON: .*Correct it"):
        Policy.load(path)


@pytest.mark.parametrize("content", ["[]", "3", "null", '"fcfs"'])
def test_json_that_is_no_object_is_answered_with_what_a_policy_file_holds(tmp_path, content):
    path = tmp_path / "policy.json"
    path.write_text(content)
    with pytest.raises(PolicyError) as error:
        Policy.load(path)
    assert str(error.value) == (
        f"policy file '{path}' does not describe a policy: it must be an object with 'order' and, "
        "if wanted, 'parameters', 'backfill', 'depth' and 'keep', or with 'kind'. Correct it."
    )


@pytest.mark.parametrize("content", ["{}", '{"order": "fcfs", "backfil": "easy"}'])
def test_json_that_is_no_policy_is_answered_with_what_a_policy_is(tmp_path, content):
    path = tmp_path / "policy.json"
    path.write_text(content)
    with pytest.raises(PolicyError) as error:
        Policy.load(path)
    assert str(error.value) == (
        f"policy file '{path}' does not describe a policy: it must be an object with 'order' and, "
        "if wanted, 'parameters', 'backfill', 'depth' and 'keep'. Correct it."
    )


@pytest.mark.parametrize(
    "content",
    [
        '{"order": 3}',
        '{"order": "fcfs", "parameters": [1]}',
        '{"order": "fcfs", "backfill": []}',
        '{"order": "fcfs", "backfill": null}',
    ],
)
def test_json_with_values_of_a_wrong_kind_is_refused(tmp_path, content):
    path = tmp_path / "policy.json"
    path.write_text(content)
    with pytest.raises(PolicyError, match=r"policy\.json' must have texts .* Correct it\."):
        Policy.load(path)


@pytest.mark.parametrize("value", ['"2"', "null", "[1]", "NaN", "1e999"])
def test_json_with_a_parameter_that_is_no_number_is_refused(tmp_path, value):
    path = tmp_path / "policy.json"
    path.write_text(f'{{"order": "power", "parameters": {{"alpha": {value}}}}}')
    with pytest.raises(PolicyError, match=r"parameter 'alpha' of order 'power' is|not finite"):
        Policy.load(path)


def test_json_with_an_unknown_order_or_backfill_is_refused(tmp_path):
    path = tmp_path / "policy.json"
    path.write_text('{"order": "fcsf"}')
    with pytest.raises(PolicyError, match="Did you mean 'fcfs'"):
        Policy.load(path)
    path.write_text('{"order": "fcfs", "backfill": "eazy"}')
    with pytest.raises(PolicyError, match="no backfill 'eazy'"):
        Policy.load(path)


# -- how deep the queue is planned -----------------------------------------------------------------


@pytest.mark.parametrize("text", ["fcfs+conservative(depth=1000)", "power(alpha=2)+plan(depth=1)"])
def test_a_depth_is_printed_as_written_and_kept_in_the_file(text, tmp_path):
    policy = Policy.parse(text)
    assert str(policy) == text
    policy.save(tmp_path / "policy.json")
    assert Policy.load(tmp_path / "policy.json") == policy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fcfs+conservative(depth=0)", "depth=0, but it must be a whole number, 1 or more"),
        ("fcfs+plan(depth=-1)", "depth=-1, but it must be a whole number, 1 or more"),
        ("fcfs+plan(depth=1.5)", "depth=1.5"),
        ("fcfs+plan(depth=inf)", "depth=inf"),
        ("fcfs+plan(depth=nan)", "depth=nan"),
        ("fcfs+plan(depth=x)", "'depth=x' in 'fcfs+plan(depth=x)' cannot be read"),
        ("fcfs+plan(1000)", "Write for example depth=1000"),
        ("fcfs+plan()", "stands its depth, and nothing else"),
        ("fcfs+plan(width=3)", "stands its depth, and nothing else"),
        ("fcfs+easy(depth=3)", "the backfill 'easy' takes no depth"),
        ("fcfs+eazy(depth=3)", "no backfill 'eazy'"),
    ],
)
def test_a_depth_that_means_nothing_is_refused_in_one_sentence(text, said):
    with pytest.raises(PolicyError, match=re.escape(said)):
        Policy.parse(text)


@pytest.mark.parametrize("depth", ["true", '"1000"', "0", "[3]"])
def test_a_file_with_a_wrong_depth_is_refused(depth, tmp_path):
    path = tmp_path / "policy.json"
    path.write_text(f'{{"order": "fcfs", "backfill": "plan", "depth": {depth}}}', encoding="utf-8")
    with pytest.raises(PolicyError, match="depth="):
        Policy.load(path)


# -- cores kept free -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "group+easy+keep(share=0.3)",
        "fcfs+keep(share=0)",
        "sjf+list+keep(share=0.125,groups=1)",
        "group+easy+keep(share=0.2,patience=72)",
        "group+keep(share=0.2,groups=3,patience=0.5)",
    ],
)
def test_what_is_kept_free_is_printed_as_written_and_kept_in_the_file(text, tmp_path):
    policy = Policy.parse(text)
    assert str(policy) == text
    policy.save(tmp_path / "policy.json")
    assert Policy.load(tmp_path / "policy.json") == policy


def test_two_groups_are_favoured_unless_said_otherwise():
    keep = Policy.parse(" group + easy + keep ( share = 0.3 ) ").keep
    assert [keep.favours(group) for group in range(4)] == [False, True, True, False]
    assert keep.cores(1024) == 307


def test_patience_has_no_end_unless_one_is_given():
    assert not Policy.parse("group+easy+keep(share=0.3)").keep.is_over(10**9)
    keep = Policy.parse("group+easy+keep(share=0.3,patience=2)").keep
    assert [keep.is_over(waited) for waited in (0, 7200, 7201)] == [False, False, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("group+easy+keep(share=1)", "share=1, but it must be at least 0 and less than 1"),
        ("group+easy+keep(share=nan)", "share=nan"),
        ("group+easy+keep(share=-0.1)", "share=-0.1"),
        ("group+easy+keep(share=0.1,groups=0)", "groups=0, but it must be a whole number"),
        ("group+easy+keep(share=0.1,groups=1.5)", "groups=1.5"),
        ("group+easy+keep(share=0.1,groups=inf)", "groups=inf"),
        ("group+easy+keep(share=0.1,patience=-1)", "patience=-1, but it must be a number of hours"),
        ("group+easy+keep(share=0.1,patience=nan)", "patience=nan"),
        ("group+easy+keep(share=0.1,patience=inf)", "leave it out where others may wait for ever"),
        ("group+easy+keep(share=0.1,patience=soon)", "patience=soon"),
        ("group+easy+keep()", "lacks its share"),
        ("group+easy+keep(0.3)", "Write for example share=0.3"),
        ("group+easy+keep(part=0.1)", "no setting 'part'"),
        ("group+plan+keep(share=0.1)", "Choose from: none, list, easy"),
        ("wfp3+easy+keep(share=0.1)", "changes with time"),
        ("group+keep", "cannot be read"),
        ("group+easy+keep(share=0.1)+easy", "cannot be read"),
    ],
)
def test_what_cannot_be_kept_free_is_refused(text, said):
    with pytest.raises(PolicyError, match=said.replace("(", r"\(")):
        Policy.parse(text)


@pytest.mark.parametrize("keep", ['"0.3"', '{"share": "0.3"}', '{"share": true}', '{"groups": 2}'])
def test_a_file_with_a_wrong_keep_is_refused(keep, tmp_path):
    path = tmp_path / "policy.json"
    path.write_text(f'{{"order": "group", "backfill": "easy", "keep": {keep}}}', encoding="utf-8")
    with pytest.raises(PolicyError, match="keep"):
        Policy.load(path)


def test_a_plain_function_is_no_order_yet():
    with pytest.raises(PolicyError, match=r"must be an Order\. Write Order\(function\)"):
        Policy(lambda job: job.cores, "easy")
