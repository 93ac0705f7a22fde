"""Long queues under orders whose scores only rise: cut into blocks, with the same starts."""

import numpy as np
import pytest

from queuesmith import Order, Policy, Workload, simulate
from queuesmith.base.errors import PolicyError
from queuesmith.engine import order_replay
from queuesmith.engine.kernels import blocks
from queuesmith.engine.kernels.constants import TOO_LONG
from queuesmith.policy.orders import ORDERS, RISING, rises
from queuesmith.policy.view import Job, Machine

CORES = 32


def rushes(seed=0):
    """Jobs that come in two rushes, in between and at the end of which the machine catches up."""
    rng = np.random.default_rng(seed)
    count = 1_600
    submit = np.sort(rng.integers(0, 4_000, count)) + np.repeat([0, 400_000], count // 2)
    walltime = rng.integers(1, 60, count) * 60
    return Workload(
        submit=submit,
        runtime=np.minimum(walltime, rng.integers(0, 3_600, count)),
        walltime=walltime,
        cores=np.minimum(2 ** rng.integers(0, 6, count), CORES),
        user=rng.integers(0, 12, count),
        group=rng.integers(1, 6, count),
    )


def starts(policy, jobs):
    return simulate(jobs, cores=CORES, policy=policy).start.tolist()


@pytest.fixture
def block_runs(monkeypatch):
    """How often a replay was gone on with in blocks."""
    runs = []
    entry = order_replay.run_rising

    def run(*arguments):
        runs.append(arguments)
        return entry(*arguments)

    monkeypatch.setattr(order_replay, "load", lambda entry: None)
    monkeypatch.setattr(order_replay, "run_rising", run)
    return runs


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param("wfp3+easy", marks=pytest.mark.uncompiled),
        "wfp3+none",
        "unicep+list",
        "power(alpha=-1,beta=2)+easy",
        "group_power(group_1=3,alpha=1)+easy",
        "greedy(very_long=20000)+easy",
        pytest.param("multifactor+easy", marks=pytest.mark.uncompiled),
        "multifactor(PriorityWeightAge=0,PriorityDecayHalfLife=3600)+list",
        "multifactor(PriorityDecayHalfLife=0,FairShareDampeningFactor=3)+easy",
    ],
)
def test_blocks_give_the_same_starts_as_scoring_everybody(policy, block_runs, monkeypatch):
    jobs = rushes()
    in_blocks = starts(policy, jobs)
    assert block_runs
    monkeypatch.setattr(order_replay, "rises", lambda order: False)
    assert in_blocks == starts(policy, jobs)


def test_each_rush_fills_blocks_and_between_the_rushes_there_are_none(block_runs):
    starts("wfp3+easy", rushes())
    assert len(block_runs) >= 2


def test_equal_scores_go_to_whoever_came_first(block_runs):
    count = 3 * blocks.LONG
    jobs = Workload(
        submit=np.zeros(count, int),
        runtime=np.full(count, 10),
        walltime=np.full(count, 10),
        cores=np.full(count, CORES),
    )
    assert starts("wfp3+easy", jobs) == list(range(0, 10 * count, 10))
    assert block_runs


def test_an_order_that_may_fall_is_scored_whole(block_runs):
    starts("power(beta=-1)+easy", rushes())
    assert not block_runs


def test_a_short_queue_is_scored_whole(block_runs):
    jobs = rushes()
    starts("wfp3+easy", jobs.select(np.arange(blocks.LONG - 1)))
    assert not block_runs


@pytest.mark.parametrize("name", [function.__name__ for function in RISING])
def test_scores_never_fall_while_a_job_waits(name):
    rng = np.random.default_rng(5)
    order = ORDERS[name].having(**{p: rng.uniform(0, 9) for p in RISING[ORDERS[name].function]})
    assert rises(order)
    for _ in range(300):
        walltime, cores = int(rng.integers(1, 10**6)), int(rng.integers(1, 513))
        seen = {
            **dict.fromkeys(Job._fields, 1),
            "submit": 0,
            "walltime": walltime,
            "cores": cores,
            "log_walltime": np.log(walltime),
            "log_cores": np.log(cores),
            "group": int(rng.integers(0, 7)),
        }
        moments = np.sort(rng.integers(0, 10**7, 6))
        fair = np.sort(rng.uniform(0, 1, 6))
        machine = Machine(512, 0, 9)
        scores = [
            order.function(
                *(Job(**{**seen, "fair_share": share}), now, machine)[: order.views],
                **order.parameters,
            )
            for now, share in zip(moments.tolist(), fair.tolist(), strict=True)
        ]
        allowed = blocks.SLACK * np.abs(scores[:-1])
        assert np.all(np.diff(scores) >= -allowed)


def test_a_score_that_is_no_number_is_named_in_a_long_queue(monkeypatch):
    def sour(job, now):
        return np.nan if now > 5_000 and job.cores == CORES else now - job.submit

    monkeypatch.setattr(order_replay, "rises", lambda order: True)
    with pytest.raises(PolicyError, match="order 'sour' gives no number"):
        starts(Policy(Order(sour), "easy"), rushes())


def test_blocks_that_tell_nothing_are_given_up(block_runs, monkeypatch):
    # All jobs come at once and rarely does anything happen: whoever came a second before another
    # is bounded only by what is far above both.
    count = 3 * blocks.LONG
    jobs = Workload(
        submit=np.arange(count),
        runtime=np.full(count, 5_000),
        walltime=np.full(count, 5_000),
        cores=np.full(count, CORES),
        group=np.ones(count, int),
    )
    given_up = starts("greedy+easy", jobs)
    counters = [arguments[0].counters for arguments in block_runs]
    assert counters[-1][TOO_LONG] > blocks.LONG
    monkeypatch.setattr(order_replay, "rises", lambda order: False)
    assert given_up == starts("greedy+easy", jobs)
