"""Self-tuning policies: how they are written, saved, loaded, refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import MetricError, PolicyError
from queuesmith.policy import ORDERS, SelfTuning, as_policy, load_policy
from queuesmith.policy.self_tuning import PLAN_METRICS
from queuesmith.schedule.metrics import METRICS
from tests.engine.random_policies import random_self_tuning


def test_the_candidates_are_fcfs_sjf_and_ljf_by_default():
    for written in ("dynp", "dynp()", " dynp( ) "):
        assert str(as_policy(written)) == "dynp(fcfs,sjf,ljf; metric=sldwa; decider=advanced)"


@pytest.mark.parametrize(
    "written",
    [
        "dynp(fcfs,sjf; metric=artww; decider=simple)",
        "dynp(fcfs,power(alpha=2,beta=0.5); metric=sldwa; decider=advanced)",
        "dynp(sjf,ljf; metric=mean_wait; decider=preferred; preferred=ljf; margin=0.05)",
        "dynp(power(alpha=2); metric=sldwa; decider=preferred; preferred=power(alpha=2))",
        "dynp(fcfs; metric=min(artww, 2 * makespan); decider=advanced; steps=all)",
    ],
)
def test_a_policy_reads_as_it_is_written(written):
    assert str(as_policy(written)) == written


@given(st.integers(0, 2**32 - 1))
def test_a_policy_survives_its_text(seed):
    policy = random_self_tuning(np.random.default_rng(seed))
    assert as_policy(str(policy)) == policy


@given(seed=st.integers(0, 2**32 - 1))
def test_a_policy_survives_its_file(tmp_path_factory, seed):
    path = tmp_path_factory.mktemp("policy") / "dynp.json"
    policy = random_self_tuning(np.random.default_rng(seed))
    policy.save(path)
    assert load_policy(path) == policy


def test_parameters_of_candidates_survive_the_file(tmp_path):
    policy = as_policy(
        "dynp(power(alpha=2),power(alpha=3); decider=preferred; preferred=power(alpha=3))"
    )
    policy.save(tmp_path / "dynp.json")
    assert load_policy(tmp_path / "dynp.json") == policy


def test_an_order_from_a_file_can_be_preferred(tmp_path):
    (tmp_path / "my.py").write_text("def mine(job):\n    return -job.walltime\n")
    mine = f"{tmp_path}/my.py:mine"
    policy = as_policy(f"dynp(fcfs,{mine}; decider=preferred; preferred={mine})")
    assert policy.preferred is policy.candidates[1]


def test_plan_metrics_are_metrics_of_the_product():
    assert set(PLAN_METRICS) <= set(METRICS)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("dynp(fcfs,fcfs)", "has the candidates fcfs, fcfs, but it needs at least one and each"),
        ("dynp(fcsf)", "there is no order 'fcsf'"),
        ("dynp(fcfs+easy)", "more than an order, where an order alone should stand"),
        ("dynp(fcfs; decider=clever)", "no decider 'clever'. Choose from: simple, advanced"),
        ("dynp(fcfs; steps=never)", "no steps 'never'. Choose from: submissions, all"),
        ("dynp(fcfs; metric=awrt)", "cannot value a plan by 'awrt', for a plan knows walltimes"),
        ("dynp(fcfs; metric=artww + p95_wait)", "cannot value a plan by 'p95_wait'"),
        ("dynp(fcfs,sjf; metric=5)", "by '5', for that is the same for every plan. Choose from: a"),
        ("dynp(fcfs; metric=2 * 3 - 1)", "by '2 \\* 3 - 1', for that is the same for every plan"),
        ("dynp(fcfs; preferred=sjf)", "prefers 'sjf', which is not among its candidates fcfs"),
        ("dynp(fcfs; margin=1)", "margin of dynp is 1, but it must be a share from 0 up to"),
        ("dynp(fcfs; margin=-0.1)", "margin of dynp is -0.1"),
        ("dynp(fcfs; margin=nan)", "margin of dynp is nan"),
        ("dynp(fcfs; margin=much)", "margin of dynp is 'much', but it must be a number"),
        ("dynp(fcfs; metrik=sldwa)", "setting 'metrik=sldwa' of dynp cannot be read: the settings"),
        ("dynp(fcfs; simple)", "setting 'simple' of dynp cannot be read"),
    ],
)
def test_what_cannot_be_read_is_answered(written, message):
    with pytest.raises(PolicyError, match=message):
        as_policy(written)


def test_a_metric_that_is_none_is_answered_by_the_metrics():
    with pytest.raises(MetricError, match="hello"):
        as_policy("dynp(fcfs; metric=hello)")


def test_no_candidates_at_all_are_refused():
    with pytest.raises(
        PolicyError, match=r"has the candidates \(none\), but it needs at least one"
    ):
        SelfTuning(())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"candidates": None}, "has 'candidates', a list, and may have decider, margin, metric"),
        ({"candidates": "fcfs"}, "has 'candidates', a list"),
        ({"candidates": ["fcfs"]}, "a candidate of dynp is 'fcfs', but it must be an object"),
        ({"candidates": [{"order": 3}]}, "a candidate of dynp is {'order': 3}"),
        ({"candidates": [{"order": "fcfs", "parameters": 1}]}, "a candidate of dynp is"),
        ({"candidates": [{"order": "fcfs", "parameters": {"a": 1}}]}, "has no parameter 'a'"),
        ({"hello": 1}, "has 'candidates', a list, and may have"),
        ({"margin": "x"}, "margin of dynp is 'x'"),
        ({"margin": [1]}, r"margin of dynp is \[1\]"),
        ({"decider": 3}, "no decider '3'"),
        ({"decider": ["simple"]}, "no decider"),
        ({"steps": None}, "no steps 'None'"),
        ({"preferred": "sjf"}, "prefers 'sjf', which is not among"),
        ({"metric": 3}, "text"),
    ],
)
def test_a_bad_file_is_named_and_answered(tmp_path, change, message):
    content = {**SelfTuning((ORDERS["fcfs"],)).to_dict(), **change}
    path = tmp_path / "dynp.json"
    path.write_text(json.dumps(content))
    with pytest.raises(PolicyError, match=message) as error:
        load_policy(path)
    assert str(error.value).startswith(f"policy file '{path}'")


def test_there_are_no_parameters_to_set():
    with pytest.raises(PolicyError, match="has no parameter 'alpha' that could be set"):
        as_policy("dynp").having(alpha=1)
