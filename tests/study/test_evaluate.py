"""What many policies are worth: values in order, the same on any number of workers."""

import threading

import numpy as np
import pytest

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.base.errors import (
    CancelledError,
    ClusterError,
    PatienceError,
    PolicyError,
    UsageError,
    WorkloadError,
)
from queuesmith.engine import Replay
from queuesmith.policy import Policy, RuleBase
from queuesmith.policy.rules import FuzzyRules
from queuesmith.schedule.guard import Limits, as_guards
from queuesmith.study import evaluate
from queuesmith.study.evaluate import Evaluator
from queuesmith.study.judgement import GIVEN_UP, Judgement, Standing, admitted, comparable
from queuesmith.testing.policy import random_workload
from tests.engine.random_policies import random_rule_base

POLICIES = ["fcfs+easy", "sjf", "wfp3+easy", "dynp(fcfs,sjf)", "greedy"]
CLUSTER = Cluster(16)


@pytest.fixture(scope="module")
def jobs() -> Workload:
    return random_workload(np.random.default_rng(0), 200, 16)


@pytest.fixture(scope="module")
def planning() -> RuleBase:
    """A rule base that always plans, so that each pass looks at every waiting job."""
    rules = FuzzyRules([[0.0] * 7], [[1.0] * 7], [[1.0]])
    return RuleBase(rules, offered=(Policy.parse("fcfs+plan"),))


def test_values_are_those_of_the_schedules(jobs):
    with Evaluator(jobs, CLUSTER, "mean_wait + 2*awrt[1]") as evaluator:
        judged = evaluator.judged(POLICIES)
        assert evaluator.evaluations == len(POLICIES)
    for policy, judgement in zip(POLICIES, judged, strict=True):
        assert judgement.loss == simulate(jobs, CLUSTER, policy).value("mean_wait + 2*awrt[1]")


def test_values_are_the_same_on_any_number_of_workers(jobs):
    found = []
    for workers in (1, 3):
        with Evaluator(jobs, CLUSTER, "awrt", workers=workers) as evaluator:
            found.append(evaluator.judged(POLICIES * 3))
    assert found[0] == found[1]


def test_what_is_better_when_higher_is_negated(jobs):
    with Evaluator(jobs, CLUSTER, "utilization") as evaluator:
        judgement = evaluator.judged(["fcfs"])[0]
    assert judgement.loss == -simulate(jobs, CLUSTER, "fcfs").value("utilization")


def test_no_policies_have_no_values(jobs):
    with Evaluator(jobs, CLUSTER) as evaluator:
        assert evaluator.judged([]) == []


def test_a_schedule_can_be_had(jobs):
    with Evaluator(jobs, CLUSTER) as evaluator:
        schedule = verify(evaluator.schedule("sjf+easy"))
    assert schedule.start.tolist() == simulate(jobs, CLUSTER, "sjf+easy").start.tolist()


def test_jobs_too_wide_for_the_machine_are_left_out_once_for_all(jobs):
    with Evaluator(jobs, Cluster(4), "mean_wait") as evaluator:
        assert len(evaluator.workload) < len(jobs)
        assert evaluator.workload.cores.max() <= 4
        assert evaluator.judged(["fcfs"]) == admitted(
            [simulate(jobs, cores=4, policy="fcfs").value("mean_wait")]
        )


def test_an_error_of_one_policy_is_told(jobs):
    with Evaluator(jobs, CLUSTER) as evaluator, pytest.raises(PolicyError, match="no order 'fcsf'"):
        evaluator.judged(["fcfs", "fcsf"])


def test_leaving_stops_the_replays_that_still_run(jobs, monkeypatch):
    begun = threading.Event()

    class Endless:
        def __init__(self, *_, **__):
            self.cancelled = threading.Event()

        def cancel(self):
            self.cancelled.set()

        def run(self):
            begun.set()
            assert self.cancelled.wait(timeout=60), "nobody cancelled the replay"
            raise CancelledError("the replay was cancelled.")

    monkeypatch.setattr(evaluate, "Replay", Endless)

    def ask():
        with pytest.raises(CancelledError):
            evaluator.judged(["x"])

    with Evaluator(jobs, CLUSTER, workers=2) as evaluator:
        waiting = threading.Thread(target=ask)
        waiting.start()
        assert begun.wait(timeout=60)
    waiting.join(timeout=60)
    assert not waiting.is_alive()


def test_bad_input_is_answered(jobs):
    with pytest.raises(UsageError, match="workers is 0, but it must be a whole number"):
        Evaluator(jobs, CLUSTER, workers=0)
    with pytest.raises(ClusterError, match="does not say how many cores its machine has"):
        Evaluator(jobs)
    with pytest.raises(WorkloadError, match="has no jobs to replay"):
        Evaluator(jobs.head(0), CLUSTER)


def test_a_rule_base_that_lets_the_queue_grow_without_end_is_given_up(jobs, planning, monkeypatch):
    rules = random_rule_base(np.random.default_rng(2))
    with Evaluator(jobs, CLUSTER, "awrt", workers=2) as evaluator:
        patient = evaluator.judged([planning, rules])
        monkeypatch.setattr(evaluate, "PATIENCE", 0.01)
        monkeypatch.setattr(evaluate, "SOON_DONE", 0.0)
        assert evaluator.judged([planning, "fcfs+easy"])[0] == GIVEN_UP
    assert all(judgement.admitted for judgement in patient)


def test_giving_up_is_told_in_one_sentence(jobs, planning):
    with pytest.raises(PatienceError, match="lets the queue grow so long"):
        Replay(jobs, CLUSTER, planning, patience=0.01).run()


def test_policies_beyond_the_limits_rank_behind_all_others_by_how_far(jobs):
    limits = Limits(as_guards("mean_wait"), simulate(jobs, CLUSTER, "fcfs+easy"))
    waits = [simulate(jobs, CLUSTER, policy).value("mean_wait") for policy in POLICIES]
    with Evaluator(jobs, CLUSTER, "awrt", limits=limits) as evaluator:
        judged = evaluator.judged(POLICIES)
        admitted = [evaluator.admits(policy) for policy in POLICIES]
    assert admitted == [wait <= waits[0] for wait in waits]
    assert {True, False} == set(admitted)
    assert admitted == [judgement.admitted for judgement in judged]
    for policy, wait, judgement in zip(POLICIES, waits, judged, strict=True):
        known = simulate(jobs, CLUSTER, policy).value("awrt")
        wanted = known if judgement.admitted else pytest.approx(wait / waits[0] - 1)
        assert judgement.value == wanted


def test_without_limits_all_are_admitted(jobs):
    with Evaluator(jobs, CLUSTER) as evaluator:
        assert evaluator.admits("sjf")


def test_judgements_rank_the_admitted_first_and_what_was_given_up_last():
    beyond = [Judgement(Standing.BEYOND_LIMITS, x) for x in (1e-3, 0.01, 0.5, 3.0, 1e3)]
    ranked = [*admitted([-5.0, 0.0, 1e3]), *beyond, GIVEN_UP]
    shuffled = [ranked[i] for i in np.random.default_rng(0).permutation(len(ranked))]
    assert sorted(shuffled) == ranked
    numbers = comparable(ranked)
    assert (np.diff(numbers[:-1]) > 0).all() and numbers[-1] == numbers[-2]
    assert [Judgement.from_json(each.to_json()) for each in ranked] == ranked
