"""The kit by which users check their policy: it passes what is right, says what is wrong."""

import inspect

import numpy as np
import pytest

from queuesmith import Policy, Workload
from queuesmith.base.errors import PolicyError
from queuesmith.policy import BACKFILLS, as_policy
from queuesmith.testing import check_policy
from queuesmith.testing.policy import random_workload
from tests.engine.random_policies import random_rule_base
from tests.engine.test_python_replay import OneByOne

FEW = {"workloads": 6, "jobs": 25}


def error_of(policy, **options):
    with pytest.raises(PolicyError) as error:
        check_policy(policy, **{**FEW, **options})
    return str(error.value)


# -- what is right ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy", ["fcfs", "sjf+list", "wfp3+easy", "multifactor+conservative", "power(alpha=-1)+plan"]
)
def test_built_in_policies_pass(policy):
    assert check_policy(policy, **FEW) == Policy.parse(policy)


@pytest.mark.parametrize("policy", ["dynp", "dynp(wfp3,sjf; metric=mean_slowdown; steps=all)"])
def test_self_tuning_policies_pass(policy):
    assert check_policy(policy, **FEW) == as_policy(policy)


@pytest.mark.parametrize("seed", range(3))
def test_rule_bases_pass(seed):
    policy = random_rule_base(np.random.default_rng(seed))
    assert check_policy(policy, **FEW) is policy


def test_a_policy_that_replays_by_itself_needs_no_twin():
    assert check_policy(OneByOne(), **FEW) == OneByOne()


def test_a_policy_object_passes_and_is_returned():
    policy = Policy.parse("unicep+easy")
    assert check_policy(policy, **FEW) is policy


def test_a_users_order_passes_with_every_backfill(mine):
    text = (
        "def mine(job, now, width_power=1.0, wait_power=0.5):\n"
        "    return job.cores ** width_power * (now - job.submit) ** wait_power\n"
    )
    order = Policy.parse(f"{mine(text)}(wait_power=2)").order
    for backfill in BACKFILLS:
        check_policy(Policy(order, backfill), **FEW)


# -- what is wrong ---------------------------------------------------------------------------------


def test_an_order_by_chance_is_not_deterministic(mine):
    policy = mine("import random\ndef mine(job, now):\n    return random.random() + now * 0\n")
    message = error_of(policy)
    assert message.startswith(f"policy '{policy}' is not deterministic: two replays of workload")
    assert message.endswith("Let it depend on its arguments alone.")


def test_an_order_by_chance_that_takes_all_jobs_at_once_is_not_deterministic(mine):
    # The engine calls a fixed order once, with one throw for all jobs; the twin throws for each.
    policy = mine(
        "import random\nCHANCE = random.Random(1)\n"
        "def mine(job):\n    return CHANCE.random() * job.walltime\n"
    )
    assert "is not deterministic" in error_of(policy)


def test_an_order_that_counts_its_calls_is_not_deterministic(mine):
    policy = mine(
        "count = 0\n"
        "def mine(job):\n"
        "    global count\n"
        "    count += 1\n"
        "    return job.walltime if count % 2 else -job.walltime\n"
    )
    assert "is not deterministic" in error_of(policy)


def test_an_order_that_overflows_is_refused(mine):
    assert "computes a whole number beyond 64 bits" in error_of(
        mine("def mine(job):\n    return job.walltime ** 20\n")
    )


def test_an_order_that_overflows_unseen_behaves_otherwise_compiled(mine):
    policy = mine("def mine(job):\n    return int(job.walltime) ** 20\n")
    message = error_of(policy)
    assert f"policy '{policy}' behaves otherwise compiled than in plain Python" in message
    for part in ("in workload 'random ", " cores job ", " starts at ", " compiled and at "):
        assert part in message
    assert message.endswith(
        "Look for whole-number division, overflow, and comparisons of nearly equal numbers."
    )


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("1 / (now - job.submit)", "division by zero"),
        ("1 // (now - job.submit)", "integer division or modulo by zero"),
        ("math.log(now - job.submit)", "math domain error"),
    ],
)
def test_an_order_that_fails_in_plain_python_says_why_and_the_way_out(mine, expression, reason):
    policy = mine(f"import math\ndef mine(job, now):\n    return {expression}\n")
    message = error_of(policy)
    assert message.startswith(f"policy '{policy}' fails in plain Python: ")
    assert reason in message or "by zero" in message
    assert message.endswith("Guard it, for example with max(..., 1).")


def test_an_order_that_gives_no_number_is_told_so(mine):
    policy = mine(
        "import math\ndef mine(job, now):\n    return math.nan if job.cores > 1 else now\n"
    )
    assert f"order '{policy}' gives no number (NaN) for job" in error_of(policy)


def test_a_misspelt_field_is_told_as_the_engine_tells_it(mine):
    policy = mine("def mine(job, now):\n    return job.waltime\n")
    assert "line 2: a job has no field 'waltime'. Its fields are: id, submit" in error_of(policy)


def test_a_policy_that_cannot_be_read_is_refused():
    assert "there is no order 'fcsf'" in error_of("fcsf+easy")


def test_an_engine_that_gives_an_infeasible_schedule_is_found(monkeypatch):
    kit = inspect.getmodule(check_policy)
    right = kit.simulate

    def too_early(workload, cluster, policy):
        schedule = right(workload, cluster, policy)
        return type(schedule)(workload, cluster, schedule.start - 1, schedule.policy)

    monkeypatch.setattr(kit, "simulate", too_early)
    message = error_of("fcfs+easy")
    assert message.startswith(
        "policy 'fcfs+easy' gives an infeasible schedule for workload 'random 0'"
    )
    assert "start before they are submitted" in message
    assert message.endswith("This is an error in Queuesmith: report it.")


# -- the workloads it uses -------------------------------------------------------------------------


def test_the_same_seed_finds_the_same_and_another_seed_looks_elsewhere(mine):
    policy = mine("def mine(job):\n    return job.walltime ** 20\n")
    assert error_of(policy, seed=1) == error_of(policy, seed=1)
    assert error_of(policy, seed=1) != error_of(policy, seed=2)


def test_random_workloads_hold_what_policies_stumble_over():
    workload = random_workload(np.random.default_rng(0), 2000, 16)
    assert isinstance(workload, Workload)
    assert len(np.unique(workload.submit)) < len(workload)  # bursts
    assert workload.cores.min() == 1
    assert workload.cores.max() == 16
    assert (workload.runtime == 0).any()
    assert (workload.walltime > workload.runtime).any()
    assert (workload.walltime == workload.runtime).any()
    assert len(np.unique(workload.user)) == len(np.unique(workload.group)) == 5
