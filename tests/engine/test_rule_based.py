"""Replays under rule bases: the same starts and the same decisions as the plain-Python twin."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.base.errors import CancelledError, PolicyError
from queuesmith.engine import Replay
from queuesmith.policy import Order, Policy, RuleBase, RuleBasePair
from queuesmith.policy.features import FEATURES, SEVEN, Feature
from queuesmith.policy.rules import TABLE_1, FuzzyRules, RigidRules
from queuesmith.policy.strategies import THIRTEEN
from queuesmith.testing.policy import random_workload
from queuesmith.testing.slowly import twin_of
from tests.engine.random_policies import random_fuzzy, random_rule_base
from tests.engine.test_against_twin import replays

pytestmark = pytest.mark.uncompiled

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
EXAMPLES = 10 if UNCOMPILED else 80
SEEDS = st.integers(0, 2**32 - 1)


def compare_with_twin(workload, cluster, policy):
    """Replay with both; starts, strategies and deciding rules must be the same."""
    schedule = verify(simulate(workload, cluster, policy))
    twin = twin_of(schedule.workload, cluster, policy)
    assert schedule.start.tolist() == twin.run()
    decisions = schedule.decisions
    assert decisions.count == len(twin.chosen)
    assert decisions.strategy_counts.tolist() == counted(twin.chosen, len(policy.strategies))
    for part, counts in enumerate(decisions.rule_counts):
        deciding = [rules[part] for rules in twin.deciding]
        assert counts.tolist() == counted(deciding, len(policy.parts[part]))
    return schedule


def counted(numbers, length):
    return np.bincount(np.array(numbers, int), minlength=length).tolist()


@settings(max_examples=EXAMPLES)
@given(replay=replays(), seed=SEEDS)
def test_engine_and_twin_agree_on_small_workloads(replay, seed):
    compare_with_twin(*replay, random_rule_base(np.random.default_rng(seed)))


@pytest.mark.parametrize("seed", range(3 if UNCOMPILED else 20))
def test_engine_and_twin_agree_on_longer_queues(seed):
    rng = np.random.default_rng(seed)
    cores = int(rng.choice([7, 64]))
    compare_with_twin(random_workload(rng, 80, cores), Cluster(cores), random_rule_base(rng))


@pytest.mark.parametrize("strategy", THIRTEEN, ids=str)
def test_a_rule_base_that_always_plays_one_strategy_is_that_strategy(strategy):
    workload = random_workload(np.random.default_rng(5), 150, 16)
    place = THIRTEEN.index(strategy)
    weight = np.zeros((1, 13))
    weight[0, place] = 1
    fuzzy = RuleBase(FuzzyRules(np.zeros((1, 7)), np.ones((1, 7)), weight))
    classes = np.full(192, place)
    rigid = RuleBase(RigidRules(tuple(TABLE_1[name] for name in SEVEN), classes, 13))
    alone = simulate(workload, cores=16, policy=strategy).start.tolist()
    for rules in (fuzzy, rigid):
        schedule = verify(simulate(workload, cores=16, policy=rules))
        assert schedule.start.tolist() == alone
        assert schedule.decisions.by_strategy()[str(strategy)] == schedule.decisions.count > 0


def test_a_pair_plays_the_order_of_one_and_the_algorithm_of_the_other():
    workload = random_workload(np.random.default_rng(6), 100, 16)
    everywhere = np.zeros((1, 7)), np.ones((1, 7))
    orders = FuzzyRules(*everywhere, [[0, 0, 5, 0]])
    for algorithm, strategy in enumerate(["sjf+easy", "sjf", "sjf+plan", "greedy"]):
        algorithms = FuzzyRules(*everywhere, [np.eye(4)[algorithm]])
        schedule = verify(simulate(workload, cores=16, policy=RuleBasePair(orders, algorithms)))
        assert (
            schedule.start.tolist() == simulate(workload, cores=16, policy=strategy).start.tolist()
        )


def test_nothing_is_decided_where_there_is_no_choice():
    # The second job does not fit while the first runs, and is then alone.
    workload = Workload([0, 1], [10, 10], [10, 10], [4, 4])
    rules = RuleBase(random_fuzzy(np.random.default_rng(0), SEVEN, 13))
    schedule = verify(simulate(workload, cores=4, policy=rules))
    assert schedule.start.tolist() == [0, 10]
    assert schedule.decisions.count == 0


def test_of_equal_weights_the_first_strategy_is_chosen():
    workload = random_workload(np.random.default_rng(2), 60, 8)
    rules = FuzzyRules(np.zeros((2, 1)), np.ones((2, 1)), np.zeros((2, 3)))
    offered = tuple(map(Policy.parse, ("ljf+easy", "fcfs", "greedy")))
    schedule = compare_with_twin(workload, Cluster(8), RuleBase(rules, ("utilization",), offered))
    assert schedule.decisions.by_strategy()["fcfs"] == 0
    assert schedule.start.tolist() == simulate(workload, cores=8, policy="ljf+easy").start.tolist()


def test_a_window_forgets_the_jobs_that_ended_before_it():
    # Job 1 ends at 10 with slowdown 1, job 2 at 20 with slowdown 2, then two jobs wait.
    workload = Workload([0, 0, 25, 25], [10, 10, 5, 5], [10, 10, 5, 6], [1, 1, 1, 1])
    offered = (Policy.parse("ljf"), Policy.parse("sjf"))

    def start_of_the_shorter(window):
        rules = RigidRules(((1.75,),), [0, 1], 2)  # the shortest first where it is bad
        policy = RuleBase(rules, ("slowdown",), offered, window)
        return compare_with_twin(workload, Cluster(1), policy).start[2]

    assert start_of_the_shorter(0) == 30  # mean 1.5: longest first
    assert start_of_the_shorter(5) == 25  # only job 2 counts: shortest first
    assert start_of_the_shorter(15) == 30


def test_small_jobs_after_huge_ones_are_not_lost_in_rounding():
    # The sums of equation 5 are beyond the whole numbers that a float can hold until the window
    # has left the huge jobs behind; then two small jobs that did not wait are all that counts.
    huge = [10**6 + 7 * i for i in range(40)]
    over = sum(huge)
    workload = Workload(
        submit=[*[0] * 40, over + 3, over + 4, over + 12, over + 12],
        runtime=[*huge, 1, 1, 5, 6],
        walltime=[*huge, 1, 1, 5, 6],
        cores=[*[999] * 40, 1, 1, 600, 600],
    )
    rules = RigidRules(((0.99, 1.01),), [0, 1, 0], 2)
    offered = (Policy.parse("ljf"), Policy.parse("sjf"))
    policy = RuleBase(rules, ("slowdown",), offered, window=10)
    schedule = compare_with_twin(workload, Cluster(1000), policy)
    assert (schedule.start[-2:] - over).tolist() == [12, 17]


def test_groups_beyond_the_fifth_count_in_the_whole_but_in_no_share():
    workload = Workload([0, 1, 1], [10, 5, 4], [10, 5, 4], [2, 1, 1], group=[1, 6, 2])
    offered = (Policy.parse("ljf"), Policy.parse("sjf"))
    rules = RigidRules(((4 / 9 - 1e-9, 4 / 9 + 1e-9),), [0, 1, 0], 2)
    policy = RuleBase(rules, ("group_2_share",), offered)
    compare_with_twin(workload, Cluster(2), policy)
    one_core = compare_with_twin(
        Workload([0, 1, 1], [10, 5, 4], [10, 5, 4], [1, 1, 1], group=[1, 6, 2]), Cluster(1), policy
    )
    assert one_core.start.tolist() == [0, 14, 10]


def nan_after_a_while(job, now):
    return np.nan if now > 20 else 1.0 * now


def test_an_order_without_a_number_is_told_with_the_job_and_the_second():
    workload = random_workload(np.random.default_rng(4), 60, 4)
    offered = (Policy(Order(nan_after_a_while), "easy"), Policy.parse("wfp3+plan"))
    rules = FuzzyRules(np.zeros((1, 1)), np.ones((1, 1)), [[1, 0]])
    policy = RuleBase(rules, ("utilization",), offered)
    with pytest.raises(PolicyError, match=r"order 'nan_after_a_while' gives no number \(NaN\) for"):
        simulate(workload, cores=4, policy=policy)


def test_a_replay_can_be_cancelled():
    workload = random_workload(np.random.default_rng(4), 60, 4)
    replay = Replay(workload, Cluster(4), random_rule_base(np.random.default_rng(0)))
    replay.cancel()
    with pytest.raises(CancelledError, match="was cancelled"):
        replay.run()


def test_decisions_are_listed_by_how_often_they_were_taken():
    workload = random_workload(np.random.default_rng(8), 150, 16)
    policy = RuleBase(random_fuzzy(np.random.default_rng(3), SEVEN, 13))
    decisions = simulate(workload, cores=16, policy=policy).decisions
    counts = list(decisions.by_strategy().values())
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == decisions.count == decisions.rule_counts[0].sum()


def crowd(state):
    """Waiting jobs over free cores."""
    return state.waiting / max(state.free, 1)


def test_a_feature_of_ones_own_is_one_entry(monkeypatch):
    monkeypatch.setitem(FEATURES, "crowd", Feature("crowd", crowd, 0, 10, "the crowd"))
    rules = RigidRules(((0.5,),), [0, 1], 2)
    offered = (Policy.parse("fcfs+easy"), Policy.parse("sjf+easy"))
    workload = random_workload(np.random.default_rng(4), 60, 4)
    compare_with_twin(workload, Cluster(4), RuleBase(rules, ("crowd",), offered))


def wordy(state):
    return "a" if state.free else "b"


def misspelt(state):
    return state.fre


@pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (wordy, "feature 'wordy' returns a text, but a feature returns a number"),
        (
            misspelt,
            r"feature 'misspelt', line \d+: a state has no field 'fre'\. Its fields are: now",
        ),
    ],
)
def test_a_feature_that_cannot_be_compiled_is_named(monkeypatch, function, message):
    name = function.__name__
    monkeypatch.setitem(FEATURES, name, Feature(name, function, 0, 1, "words"))
    rules = RigidRules(((), ()), [0], 1)
    policy = RuleBase(rules, ("slowdown", name), (Policy.parse("fcfs"),))
    workload = random_workload(np.random.default_rng(4), 20, 4)
    with pytest.raises(PolicyError, match=message):
        simulate(workload, cores=4, policy=policy)


def test_strategies_with_different_half_lives_of_usage_are_refused():
    offered = tuple(
        Policy.parse(f"multifactor(PriorityDecayHalfLife={seconds})+easy") for seconds in (10, 20)
    )
    rules = FuzzyRules(np.zeros((1, 1)), np.ones((1, 1)), [[1, 0]])
    workload = random_workload(np.random.default_rng(4), 20, 4)
    with pytest.raises(PolicyError, match="different half-lives of usage"):
        simulate(workload, cores=4, policy=RuleBase(rules, ("utilization",), offered))
