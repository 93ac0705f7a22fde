"""Replays under the self-tuning planner: the same starts and steps as the plain-Python twin."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.base.errors import CancelledError, PolicyError
from queuesmith.engine import Replay
from queuesmith.policy import ORDERS, Order, SelfTuning, as_policy
from queuesmith.testing.policy import random_workload
from queuesmith.testing.slowly import twin_of
from tests.engine.random_policies import random_requests, random_self_tuning
from tests.engine.test_against_twin import replays

pytestmark = pytest.mark.uncompiled

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
EXAMPLES = 10 if UNCOMPILED else 80
SEEDS = st.integers(0, 2**32 - 1)


def compare_with_twin(workload, cluster, policy, reservations=()):
    """Replay with both; starts, steps and answers must be the same."""
    schedule = verify(simulate(workload, cluster, policy, reservations=reservations))
    twin = twin_of(schedule.workload, cluster, policy, reservations)
    assert schedule.start.tolist() == twin.run()
    taken = schedule.decisions
    steps = zip(taken.time.tolist(), taken.choice.tolist(), taken.waiting.tolist(), strict=True)
    assert list(steps) == twin.steps
    answered = [(a.request, a.accepted, a.alternative) for a in schedule.reservations]
    assert answered == [(a.request, a.accepted, a.alternative) for a in twin.answers]
    return schedule


@settings(max_examples=EXAMPLES)
@given(replay=replays(), seed=SEEDS)
def test_engine_and_twin_agree_on_small_workloads(replay, seed):
    compare_with_twin(*replay, random_self_tuning(np.random.default_rng(seed)))


@settings(max_examples=EXAMPLES)
@given(replay=replays(), seed=SEEDS)
def test_engine_and_twin_agree_with_reservations(replay, seed):
    workload, cluster = replay
    rng = np.random.default_rng(seed)
    policy = random_self_tuning(rng)
    compare_with_twin(workload, cluster, policy, random_requests(rng, workload, cluster.cores))


@pytest.mark.parametrize("seed", range(3 if UNCOMPILED else 15))
def test_engine_and_twin_agree_on_longer_queues(seed):
    rng = np.random.default_rng(seed)
    cores = int(rng.choice([7, 64]))
    workload = random_workload(rng, 60, cores)
    requests = random_requests(rng, workload, cores)
    compare_with_twin(workload, Cluster(cores), random_self_tuning(rng), requests)


@pytest.mark.parametrize("order", ["fcfs", "ljf", "wfp3", "multifactor"])
def test_with_one_candidate_it_is_that_order_with_plan(order):
    workload = random_workload(np.random.default_rng(3), 150, 16)
    planned = simulate(workload, cores=16, policy=f"{order}+plan").start.tolist()
    for steps in ("submissions", "all"):
        policy = SelfTuning((ORDERS[order],), steps=steps)
        assert verify(simulate(workload, cores=16, policy=policy)).start.tolist() == planned


# One core after the other: the plans of job 4 and job 5 are worth the same in either order.
TIED = Workload(
    submit=[0, 1, 2, 13, 14],
    runtime=[10, 8, 2, 4, 2],
    walltime=[10, 8, 2, 4, 2],
    cores=[2, 2, 2, 2, 1],
)


def test_orders_are_the_same_after_a_planner_had_them():
    """It has all their loops in one, and they are called by their names."""
    workload = random_workload(np.random.default_rng(3), 40, 16)
    names = ("wfp3", "greedy", "multifactor", "power", "blend", "unicep")
    alone = [f"{name}+easy" for name in names]
    before = [simulate(workload, cores=16, policy=policy).start.tolist() for policy in alone]
    simulate(workload, cores=16, policy=f"dynp({','.join(names)})")
    after = [simulate(workload, cores=16, policy=policy).start.tolist() for policy in alone]
    assert before == after


def test_the_simple_decider_takes_the_first_of_equals():
    schedule = compare_with_twin(TIED, Cluster(2), as_policy("dynp(fcfs,sjf; decider=simple)"))
    assert schedule.start.tolist() == [0, 12, 10, 20, 24]


def test_the_advanced_decider_stays_with_the_active_policy_among_equals():
    schedule = compare_with_twin(TIED, Cluster(2), as_policy("dynp(fcfs,sjf; decider=advanced)"))
    assert schedule.start.tolist() == [0, 12, 10, 22, 20]


@pytest.mark.parametrize(("margin", "starts"), [(0.0, [0, 12, 10]), (0.2, [0, 10, 18])])
def test_the_preferred_policy_stays_unless_another_is_better_by_the_margin(margin, starts):
    # At second 2 the plan under fcfs is worth 35 / 10 and that under sjf 29 / 10: 17 % better.
    policy = SelfTuning(
        (ORDERS["sjf"], ORDERS["fcfs"]), "sldwa", "preferred", ORDERS["fcfs"], margin
    )
    schedule = compare_with_twin(TIED.head(3), Cluster(2), policy)
    assert schedule.start.tolist() == starts


def test_decisions_tell_each_switch_with_its_cause():
    decisions = simulate(TIED, cores=2, policy="dynp(fcfs,sjf; decider=simple)").decisions
    assert decisions.time.tolist() == [0, 1, 2, 13, 14]
    assert decisions.waiting.tolist() == [1, 1, 2, 1, 2]
    assert decisions.count == 5
    assert decisions.by_policy() == {"fcfs": 4, "sjf": 1}
    assert decisions.active_seconds() == {"fcfs": 3, "sjf": 11}
    to_sjf, back = decisions.switches()
    assert (to_sjf.time, to_sjf.from_policy, to_sjf.to_policy) == (2, "fcfs", "sjf")
    assert to_sjf.waiting == 2
    assert to_sjf.values == {"fcfs": 3.5, "sjf": 2.9}
    assert (back.time, back.to_policy) == (13, "fcfs")


def test_values_of_a_metric_that_should_be_high_are_told_as_they_are():
    decisions = simulate(TIED, cores=2, policy="dynp(fcfs,sjf; metric=utilization)").decisions
    assert (decisions.value > 0).all()
    assert (decisions.value <= 1).all()


def test_tuning_at_completions_too_takes_more_steps():
    workload = random_workload(np.random.default_rng(1), 60, 8)
    at_submissions = compare_with_twin(workload, Cluster(8), as_policy("dynp"))
    at_all = compare_with_twin(workload, Cluster(8), as_policy("dynp(fcfs,sjf,ljf; steps=all)"))
    assert at_submissions.decisions.count <= len(np.unique(workload.submit))
    assert at_all.decisions.count > at_submissions.decisions.count


def test_plans_that_are_alike_but_for_rounding_are_equals():
    # Three slowdowns of 1/3, 1/7 and the like add up to another last digit in another order.
    workload = Workload([0, 1, 1, 1], [9, 7, 3, 11], [9, 7, 3, 11], [3, 1, 1, 1])
    decisions = simulate(
        workload, cores=3, policy="dynp(ljf,sjf,fcfs; metric=mean_slowdown; decider=simple)"
    ).decisions
    assert decisions.by_policy() == {"ljf": 2, "sjf": 0, "fcfs": 0}


@pytest.mark.skipif(UNCOMPILED, reason="plain Python raises where compiled code gives no number")
@pytest.mark.parametrize("metric", ["artww / mean_wait", "log(mean_wait)", "sqrt(-artww)"])
def test_a_plan_that_the_metric_cannot_value_counts_as_the_worst(metric):
    workload = random_workload(np.random.default_rng(1), 60, 8)
    schedule = verify(simulate(workload, cores=8, policy=f"dynp(fcfs,sjf; metric={metric})"))
    assert not np.isnan(schedule.decisions.value).any()


def nan_after_a_while(job, now):
    return np.nan if now > 20 else 1.0 * now


@pytest.mark.parametrize("first", [True, False])
def test_a_candidate_without_a_number_is_told_with_the_job_and_the_second(first):
    workload = random_workload(np.random.default_rng(4), 60, 4)
    candidates = (ORDERS["wfp3"], Order(nan_after_a_while))
    policy = SelfTuning(candidates[::-1] if first else candidates)
    with pytest.raises(PolicyError, match=r"'nan_after_a_while' gives no number \(NaN\) for job"):
        simulate(workload, cores=4, policy=policy)


def test_a_replay_can_be_cancelled():
    workload = random_workload(np.random.default_rng(4), 60, 4)
    requests = random_requests(np.random.default_rng(2), workload, 4)
    replay = Replay(workload, Cluster(4), "dynp", reservations=requests)
    replay.cancel()
    with pytest.raises(CancelledError, match="was cancelled"):
        replay.run()
