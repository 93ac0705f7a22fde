"""Any policy from its text: what is read as what, and what others may offer."""

from dataclasses import dataclass

import pytest

from queuesmith import Order, Workload, simulate
from queuesmith.base.errors import PolicyError
from queuesmith.policy import (
    Policy,
    RuleBase,
    SelfTuning,
    as_policy,
    load_policy,
    parse_policies,
    reading,
)
from queuesmith.policy.any_policy import SelfReplaying
from queuesmith.policy.rules import FuzzyRules
from queuesmith.policy.writing import split_outside


def test_an_order_with_a_backfill_is_a_policy():
    assert as_policy("power(alpha=2)+easy") == Policy.parse("power(alpha=2)+easy")
    assert as_policy("power(alpha=2)") == Policy.parse("power(alpha=2)")


def test_a_policy_is_returned_as_it_is():
    policy = as_policy("dynp")
    assert isinstance(policy, SelfTuning)
    assert as_policy(policy) is policy


def test_what_is_no_policy_at_all_is_refused():
    with pytest.raises(PolicyError, match="a policy is a text"):
        as_policy(3)


@pytest.mark.parametrize("text", ["dynp(fcfs,sjf", "dynp(fcfs)+easy"])
def test_a_planner_that_does_not_end_is_told_how_it_should(text):
    with pytest.raises(PolicyError, match="nothing follows it"):
        as_policy(text)


def test_lists_are_split_where_no_parenthesis_is_open():
    written = "fcfs+easy, dynp(fcfs,sjf,ljf; metric=sldwa; decider=advanced),power(alpha=2,beta=1)"
    assert [str(policy) for policy in parse_policies(written)] == [
        "fcfs+easy",
        "dynp(fcfs,sjf,ljf; metric=sldwa; decider=advanced)",
        "power(alpha=2)",
    ]
    assert parse_policies(" , ") == []


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", [""]),
        ("a,b", ["a", "b"]),
        ("a(b,c),d", ["a(b,c)", "d"]),
        ("a(b(c,d),e),f", ["a(b(c,d),e)", "f"]),
        ("a),b", ["a)", "b"]),
        ("a(b,c", ["a(b,c"]),
    ],
)
def test_splitting(text, parts):
    assert split_outside(text, ",") == parts


def test_files_of_every_kind_are_loaded_by_their_kind(tmp_path):
    rules = FuzzyRules([[0.0]], [[1.0]], [[1]])
    kinds = (
        Policy.parse("sjf+easy"),
        RuleBase(rules, ("slowdown",), (Policy.parse("fcfs"),), name="mine"),
        as_policy("dynp"),
    )
    for policy in kinds:
        path = tmp_path / "policy.json"
        policy.save(path)
        assert type(load_policy(path)) is type(policy)
        assert str(as_policy(f" {path} ")) == str(policy)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(PolicyError, match=r"policy file 'none\.json' cannot be read: No such file"):
        as_policy("none.json")


@pytest.mark.parametrize("kind", ["3", "[]", '{"a": 1}'])
def test_a_kind_that_is_no_text_is_not_known(tmp_path, kind):
    path = tmp_path / "policy.json"
    path.write_text(f'{{"kind": {kind}}}')
    with pytest.raises(PolicyError, match="which is not known"):
        load_policy(path)


@pytest.mark.parametrize("text", ["", "dynp(", "dynp)", "hello", "hello(3)", "dynp(fcfs)+easy"])
def test_what_is_no_policy_is_refused(text):
    with pytest.raises(PolicyError):
        as_policy(text)


@dataclass(frozen=True)
class Offered(SelfReplaying):
    inside: str

    def __str__(self):
        return f"lucky({self.inside})"

    def replay(self, workload, cluster, watch):
        raise NotImplementedError


class Offer:
    """Stands for an entry point of another package."""

    def load(self):
        return Offered


def test_other_packages_offer_policies_under_an_entry_point(monkeypatch, tmp_path):
    asked = []

    def entry_points(*, group, name):
        asked.append((group, name))
        return [Offer()] if name == "lucky" else []

    monkeypatch.setattr(reading, "entry_points", entry_points)
    assert as_policy("lucky(a=1; b)") == Offered("a=1; b")
    assert as_policy("lucky") == Offered("")
    assert asked == [("queuesmith.policies", "lucky")] * 2
    as_policy("lucky(a=1)").save(tmp_path / "lucky.json")
    assert load_policy(tmp_path / "lucky.json") == Offered("a=1")
    with pytest.raises(PolicyError, match="there is no order 'unlucky'"):
        as_policy("unlucky")


@pytest.mark.parametrize(
    "content", ['"policy": 3', '"policy": "p.json"', '"hello": 1', '"policy": "fcfs", "hello": 1']
)
def test_a_file_of_a_written_policy_holds_its_text_alone(tmp_path, content):
    path = tmp_path / "p.json"
    path.write_text(f'{{"kind": "written", {content}}}')
    with pytest.raises(PolicyError, match="has 'policy', a text as --policy takes it, and nothing"):
        load_policy(path)


def test_orders_are_read_without_asking_other_packages(monkeypatch):
    monkeypatch.setattr(reading, "entry_points", None)
    assert as_policy("fcfs") == Policy.parse("fcfs")
    assert as_policy("power(alpha=1)") == Policy.parse("power")


def test_a_function_is_an_order_and_an_order_a_policy_without_backfill():
    def widest(job):
        return job.cores

    made = as_policy(widest)
    assert (str(made), made.backfill) == ("widest", "none")
    assert as_policy(Order(widest)) == made
    jobs = Workload([0, 0, 0], [10, 10, 10], [10, 10, 10], [4, 1, 3])
    assert simulate(jobs, cores=4, policy=widest).start.tolist() == [0, 10, 10]
    with pytest.raises(PolicyError, match="a function of a job"):
        as_policy(7)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("power(alpha=1,beta=1,alpha=2)+easy", "alpha"),
        ("group+easy+keep(share=0.1,share=0.2)", "share"),
        ("fcfs+conservative(depth=5,depth=6)", "depth"),
        ("fcfs+easy+predicted(last2; quantile=0.5; quantile=0.9)", "quantile"),
        ("dynp(fcfs,sjf; metric=sldwa; metric=artww)", "metric"),
        ("slurm(bf_interval=60, bf_interval=30)", "bf_interval"),
        ("committed(fcfs; backfill=early; backfill=none)", "backfill"),
        ("optimal(seconds=1; seconds=2)", "seconds"),
    ],
)
def test_a_setting_that_stands_twice_is_refused_since_one_would_be_lost(written, name):
    with pytest.raises(PolicyError, match=f"sets '{name}' more than once. Leave one of them out"):
        as_policy(written)
