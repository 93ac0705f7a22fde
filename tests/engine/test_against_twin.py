"""The engine gives the same starts as the plain-Python twin, job for job."""

import functools
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.engine import order_replay
from queuesmith.engine.kernels.reservations import new_reservations
from queuesmith.engine.packing import Packed
from queuesmith.policy import BACKFILLS, ORDERS, Policy
from queuesmith.testing.policy import random_workload
from tests.oracle import simulate_slowly

pytestmark = pytest.mark.uncompiled

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
EXAMPLES = 3 if UNCOMPILED else 15
KEEPING = [
    f"{order}+{backfill}+keep(share={share},groups={groups})"
    for order in ("fcfs", "group", "sjf")
    for backfill in ("none", "list", "easy")
    for share, groups in ((0.3, 2), (0, 2), (0.6, 1))
]
IMPATIENT = [
    f"{policy}+keep(share=0.4,patience={hours})"  # 7 seconds, a minute
    for policy in ("fcfs+easy", "group", "group+easy", "sjf+list")
    for hours in (0.002, 0.0168)
]
DEEP = [
    f"{order}+{backfill}(depth={depth})"
    for order in ("fcfs", "sjf", "wfp3")
    for backfill in ("conservative", "plan")
    for depth in (1, 2, 5)
]
POLICIES = [f"{order}+{backfill}" for order in ORDERS for backfill in BACKFILLS]
POLICIES += KEEPING + IMPATIENT + DEEP


@st.composite
def replays(draw):
    """A small workload full of ties, bursts, zero-length and full-width jobs, and its machine."""
    cores = draw(st.sampled_from([1, 2, 3, 5, 8, 16]))
    job = st.tuples(
        st.integers(0, 12).map(lambda t: t * draw(st.sampled_from([1, 1, 7]))),  # submit
        st.one_of(st.just(0), st.integers(0, 12)),  # runtime
        st.one_of(st.just(0), st.integers(0, 12)),  # walltime beyond it
        st.one_of(st.just(cores), st.integers(1, cores)),
        st.integers(0, 3),  # user
        st.integers(1, 5),  # group
    )
    rows = draw(st.lists(job, min_size=1, max_size=14))
    submit, runtime, beyond, width, user, group = (np.array(c) for c in zip(*rows, strict=True))
    workload = Workload(submit, runtime, runtime + beyond, width, user=user, group=group)
    return workload, Cluster(cores)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(replay=replays())
def test_engine_and_twin_agree_on_small_workloads(policy, replay):
    workload, cluster = replay
    schedule = verify(simulate(workload, cluster, policy))
    assert schedule.start.tolist() == simulate_slowly(workload, cluster, policy).start.tolist()


@pytest.mark.parametrize("policy", POLICIES)
def test_engine_and_twin_agree_on_longer_queues(policy):
    rng = np.random.default_rng(sum(map(ord, policy)))
    for cores in (7, 64):
        workload = random_workload(rng, 40 if UNCOMPILED else 120, cores)
        priorities = {"0": 1.0, "1": 5.0}
        cluster = Cluster(cores, partition_priority=priorities, qos_priority=priorities)
        schedule = verify(simulate(workload, cluster, policy))
        assert schedule.start.tolist() == simulate_slowly(workload, cluster, policy).start.tolist()


@pytest.mark.parametrize("widths", ["many", "few"])
@pytest.mark.parametrize("order", ["fcfs", "sjf", "wfp3"])
def test_reservations_of_a_deep_queue_are_those_of_the_twin(order, widths, monkeypatch):
    """Lists become chains after a few steps here, and lists again when the queue has shrunk."""
    short = functools.partial(new_reservations, long=8)
    monkeypatch.setattr(order_replay, "new_reservations", short)
    rng = np.random.default_rng(5)
    jobs, cores = 40 if UNCOMPILED else 140, 40
    walltime = rng.integers(1, 500, jobs)
    width = rng.integers(1, cores + 1, jobs) if widths == "many" else 2 ** rng.integers(0, 6, jobs)
    submit = np.sort(rng.choice([0, 3, 4_000, 9_000], jobs) + rng.integers(0, 300, jobs))
    runtime = (walltime * rng.uniform(0.05, 1.0, jobs)).astype(np.int64)
    workload = Workload(submit, runtime, walltime, width)
    policy = f"{order}+conservative"
    schedule = verify(simulate(workload, cores=cores, policy=policy))
    twin = simulate_slowly(workload, Cluster(cores), policy)
    assert schedule.start.tolist() == twin.start.tolist()


@pytest.mark.parametrize("backfill", ["conservative", "plan"])
@pytest.mark.parametrize("order", ["fcfs", "sjf", "wfp3"])
def test_a_depth_that_no_queue_reaches_changes_nothing(order, backfill):
    workload = random_workload(np.random.default_rng(2), 200, 16)
    shallow = simulate(workload, cores=16, policy=f"{order}+{backfill}(depth=200)")
    whole = simulate(workload, cores=16, policy=f"{order}+{backfill}")
    assert shallow.start.tolist() == whole.start.tolist()


def test_a_burst_at_one_instant_is_taken_in_queue_order():
    count = 20
    workload = Workload([7] * count, range(1, count + 1), range(1, count + 1), [1] * count)
    for policy in POLICIES:
        schedule = verify(simulate(workload, cores=5, policy=policy))
        twin = simulate_slowly(workload, Cluster(5), policy)
        assert schedule.start.tolist() == twin.start.tolist(), policy


def test_policy_objects_and_written_policies_are_the_same():
    workload = random_workload(np.random.default_rng(1), 30, 8)
    written = simulate(workload, cores=8, policy="power(alpha=2)+easy")
    built = simulate(workload, cores=8, policy=Policy(ORDERS["power"].having(alpha=2), "easy"))
    assert written.start.tolist() == built.start.tolist()
    assert written.policy == built.policy == "power(alpha=2)+easy"


def test_whose_patience_is_over_stands_where_the_order_puts_it():
    jobs = Workload([0, 0, 50], [5, 5, 5], [5, 9, 7], [1, 1, 1], group=[3, 1, 4])
    packed, policy = Packed(jobs, Cluster(2)), Policy.parse("sjf+easy+keep(share=0,patience=0.02)")
    places = [packed.rank_at(policy.order, policy.keep, now).tolist() for now in (72, 73, 123)]
    assert [np.argsort(each).tolist() for each in places] == [[1, 0, 2], [0, 1, 2], [0, 2, 1]]
