"""A backfill of one's own: the engine asks it as the twin does, and says what is wrong with it."""

import json
import pickle

import numpy as np
import pytest

from queuesmith import Backfill, Cluster, Order, OwnBackfill, demo_workload, simulate
from queuesmith.base.errors import PolicyError
from queuesmith.policy import as_policy, load_policy
from queuesmith.policy.orders import ORDERS
from queuesmith.schedule.verify import verify
from queuesmith.testing import check_policy
from queuesmith.testing.policy import random_workload
from queuesmith.testing.slowly import simulate_slowly
from tests.engine.own_backfills import anybody, easy, narrow_later, nobody, patient


@pytest.fixture(scope="module")
def log():
    return demo_workload().head(300)


@pytest.mark.parametrize("order", ["fcfs", "sjf", "wfp3"])
@pytest.mark.parametrize(("own", "built_in"), [(easy, "easy"), (anybody, "list"), (nobody, "none")])
def test_what_is_built_in_can_be_written_as_a_function(log, order, own, built_in):
    mine = simulate(log, policy=OwnBackfill(ORDERS[order], Backfill(own)))
    theirs = simulate(log, policy=f"{order}+{built_in}")
    assert np.array_equal(mine.start, theirs.start)
    verify(mine)


@pytest.mark.parametrize("name", ["ranked", "head_start", "f1", "greedy", "multifactor", "blend"])
def test_orders_of_every_kind_go_with_a_backfill_of_ones_own(log, name):
    mine = simulate(log, policy=OwnBackfill(ORDERS[name], Backfill(easy)))
    assert np.array_equal(mine.start, simulate(log, policy=f"{name}+easy").start)


@pytest.mark.parametrize("own", [easy, patient, narrow_later])
def test_the_kit_checks_a_backfill_against_its_twin(own):
    check_policy(OwnBackfill(ORDERS["sjf"], Backfill(own)), workloads=8)


def test_parameters_are_set_and_make_a_difference(log):
    usual = OwnBackfill(ORDERS["fcfs"], Backfill(patient))
    bold = usual.having(slack=5.0)
    assert str(bold) == "fcfs+patient(slack=5)"
    assert not np.array_equal(simulate(log, policy=bold).start, simulate(log, policy=usual).start)
    both = OwnBackfill(ORDERS["power"], Backfill(patient)).having(alpha=2, slack=1)
    assert str(both) == "power(alpha=2)+patient(slack=1)"


def test_a_parameter_of_both_order_and_backfill_is_not_set_for_one_in_silence():
    def steep(job, slack=1.0):
        return -job.walltime * slack

    both = OwnBackfill(Order(steep), Backfill(patient))
    message = r"order and the backfill of 'steep\+patient' both have a parameter 'slack'.*Rename"
    with pytest.raises(PolicyError, match=message):
        both.having(slack=2.0)
    with pytest.raises(PolicyError, match=message):
        _ = both.tunable
    apart = OwnBackfill(Order(steep, parameters={"slack": 2.0}), both.backfill)
    assert str(apart) == "steep(slack=2)+patient"


def test_jobs_show_what_they_ask_for():
    jobs = random_workload(np.random.default_rng(4), 60, 16)

    def of_partition_one(job):
        return job.partition == 1

    policy = OwnBackfill(ORDERS["fcfs"], Backfill(of_partition_one))
    fast = simulate(jobs, Cluster(16), policy)
    assert np.array_equal(fast.start, simulate_slowly(jobs, Cluster(16), policy).start)


def test_it_is_written_kept_and_sent_like_any_policy(tmp_path, log, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def bold(job, head, now, most=9):\n    return True\n")
    policy = as_policy("sjf+mine.py:bold(most=3)")
    assert str(policy) == "sjf+mine.py:bold(most=3)"
    policy.save(tmp_path / "bold.json")
    assert json.loads((tmp_path / "bold.json").read_text())["backfill"] == "mine.py:bold"
    assert str(load_policy("bold.json")) == str(policy)
    own = OwnBackfill(ORDERS["fcfs"], Backfill(easy))
    assert pickle.loads(pickle.dumps(own)) == own
    assert np.array_equal(
        simulate(log, policy=policy).start, simulate(log, policy="sjf+list").start
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "def f(now):\n    return True",
            "but a backfill takes (job), (job, head), (job, head, now)",
        ),
        ("def f(job, head, *more):\n    return True", "named one by one"),
        ("def f(job, head=3):\n    return True", "the engine hands it over"),
        ("def f(job):\n    return job.fair_share > 0", "looks at fair_share, which only orders"),
        ("def f(job, head):\n    return head.sparse > 1", "a head has no field 'sparse'"),
        ("def f(job):\n    return None", "a backfill returns True or False"),
        ("def g(job):\n    return True", "has no function 'f'. It has: g"),
    ],
)
def test_a_wrong_function_gets_one_sentence(tmp_path, monkeypatch, log, text, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(text + "\n")
    with pytest.raises(PolicyError) as error:
        simulate(log, policy="fcfs+mine.py:f")
    assert told in str(error.value)


def test_a_policy_has_one_backfill_and_known_parameters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def f(job, slack=1):\n    return True\n")
    with pytest.raises(PolicyError, match="more than one backfill"):
        as_policy("fcfs+easy+mine.py:f")
    with pytest.raises(PolicyError, match=r"backfill 'mine\.py:f' has no parameter 'slick'"):
        as_policy("fcfs+mine.py:f(slick=2)")
    with pytest.raises(PolicyError, match=r"policy file 'no\.py' does not exist"):
        as_policy("fcfs+no.py:f")
    with pytest.raises(PolicyError, match="is not a function"):
        Backfill(3)
    (tmp_path / "bad.json").write_text('{"kind": "own_backfill", "order": "fcfs"}')
    with pytest.raises(PolicyError, match=r"bad\.json'.* has texts as 'order' and 'backfill'"):
        load_policy(tmp_path / "bad.json")


def test_an_order_without_a_number_is_told(log):
    def strange(job):
        return (job.cores - job.cores) / (job.cores - job.cores)

    policy = OwnBackfill(Order(strange), Backfill(easy))
    with pytest.raises(PolicyError, match="gives no number"):
        simulate(log, policy=policy)
