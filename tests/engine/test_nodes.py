"""Replays on nodes: the same starts as the slow twin, and as the pool where both are the same."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.base.errors import PolicyError, WorkloadError
from queuesmith.cluster import (
    Amounts,
    Association,
    Limits,
    NodeCluster,
    NodeKind,
    Outage,
    Partition,
    QualityOfService,
)
from queuesmith.policy import Order, Policy
from queuesmith.schedule.reservations import Request
from queuesmith.testing.policy import random_workload
from queuesmith.testing.twin_choosing import RuleBasedTwin
from queuesmith.testing.twin_on_nodes import twin_on_nodes
from tests.engine.on_nodes import jobs, places
from tests.engine.random_policies import random_rule_base, random_self_tuning
from tests.oracle import simulate_slowly

pytestmark = pytest.mark.uncompiled

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
EXAMPLES = 2 if UNCOMPILED else 8
BACKFILLS = ("none", "list", "easy", "conservative", "plan")
DEEP = ("conservative(depth=1)", "conservative(depth=3)", "plan(depth=2)")
POLICIES = [f"{order}+{backfill}" for order in ("fcfs", "sjf", "wfp3") for backfill in BACKFILLS]
POLICIES += [f"fcfs+{backfill}" for backfill in DEEP]
KEEPING = ("none+keep(share=0.3)", "list+keep(share=0.6,groups=1)", "easy+keep(share=0.3)")
KEEPING += ("none+keep(share=0.3,patience=0.002)", "easy+keep(share=0.5,patience=0.003)")
POLICIES += [f"group+{backfill}" for backfill in KEEPING]


# -- against the twin ------------------------------------------------------------------------------


@st.composite
def machines(draw):
    """A few nodes of two kinds, overlapping partitions, limits, and perhaps an outage."""
    memory = draw(st.sampled_from([None, 40]))
    kinds = (
        NodeKind("a[1-3]", 4, memory=memory, features=("x",)),
        NodeKind("b[1-2]", 6, memory=memory and 80, gres={"gpu:p": 1, "gpu:q": 2}, weight=2),
    )
    limits = Limits(user=Amounts(cores=draw(st.sampled_from([None, 8]))))
    limits = draw(st.sampled_from([Limits(), limits, Limits(group=Amounts(jobs=3))]))
    begin = draw(st.integers(0, 60))
    planned, reservation = draw(st.booleans()), draw(st.sampled_from(["", "", "course"]))
    end = draw(st.sampled_from([None, begin + 5, begin + 30])) if reservation else begin + 20
    outages = (
        Outage("a[1-2]", begin, end, planned=planned or bool(reservation), reservation=reservation),
        Outage("b1", 20, 45, planned=planned),
    )
    return NodeCluster(
        kinds,
        partitions=(Partition("all", "a[1-3],b[1-2]", default=True), Partition("b", "b[1-2]")),
        qos=(QualityOfService("normal", limits=limits),),
        associations=(Association("p", "u"), Association("p", "v")),
        outages=outages if draw(st.booleans()) else (),
    )


@st.composite
def workloads(draw):
    """Jobs full of ties that ask for all that nodes have."""
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 30),  # submit
                st.integers(0, 15),  # runtime
                st.integers(0, 15),  # walltime beyond it
                st.integers(1, 8),  # cores
                st.integers(0, 1),  # user
                st.integers(-1, 3),  # nodes at least
                st.sampled_from([0, 0, 0, 1, 2]),  # nodes beyond that at most; 0: any
                st.sampled_from([-1, -1, 5, 12]),  # memory per core
                st.sampled_from([0, 0, 0, 1, 2]),  # GPUs
                st.sampled_from([-1, 0, 1]),  # type of GPU
                st.sampled_from([0, 0, 0, 1, 2]),  # exclusive
                st.sampled_from([0, 0, 1]),  # partition
                st.sampled_from([-1, -1, 1, 2]),  # tasks per node
                st.integers(-1, 6),  # after
                st.integers(0, 9),  # think time
                st.integers(0, 4),  # group
                st.sampled_from([-1, -1, 0]),  # reservation
            ),
            min_size=1,
            max_size=16,
        )
    )
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
    submit, runtime, beyond, cores, user, nodes, more, memory, gpus, type_, alone, part = columns[
        :12
    ]
    tasks, after, think, group, reservation = columns[12:]
    order = np.argsort(submit, kind="stable")
    extra = {
        "requested_nodes": nodes,
        "most_nodes": np.where(more > 0, np.maximum(nodes, 1) + more - 1, 0),
        "memory_per_core": memory,
        "gpus_per_node": gpus,
        "gpu_type": np.where(gpus > 0, type_, -1),
        "exclusive": alone,
        "partition": part,
        "tasks_per_node": np.where(more > 0, -1, tasks),
        "account": np.full(len(submit), -1),
        "after": np.where(after < np.arange(len(submit)), after, -1) + (after >= 0),
        "think_time": think,
        "reservation": reservation,
    }
    after = extra["after"]
    extra["after"] = np.where((after > 0) & (after <= np.arange(len(submit))), after, -1)
    return Workload(
        submit[order],
        runtime,
        runtime + beyond,
        cores,
        user=user,
        group=group,
        extra=extra,
        labels={
            "user": ("u", "v"),
            "partition": ("all", "b"),
            "gpu_type": ("p", "q"),
            "reservation": ("course",),
        },
    )


def outcome(replay, *arguments):
    """Return the starts, or the sentence that says why there are none."""
    try:
        return replay(*arguments).start.tolist()
    except WorkloadError as error:
        return str(error)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(machine=machines(), workload=workloads())
def test_engine_and_twin_agree_on_nodes(policy, machine, workload):
    fast = outcome(lambda: verify(simulate(workload, machine, policy)))
    if isinstance(fast, str) and "can never start" in fast:
        return  # the twin has no word for it
    assert fast == outcome(simulate_slowly, workload, machine, policy)


@pytest.mark.parametrize("policy", ["fcfs+plan", "sjf+plan", "fcfs+conservative"])
def test_engine_and_twin_agree_where_many_wait(policy):
    random, count = np.random.default_rng(3), 20 if UNCOMPILED else 40
    runtime = random.integers(5, 60, count)
    workload = Workload(
        np.sort(random.integers(0, 40, count)),
        runtime,
        runtime + random.integers(0, 60, count),
        random.integers(1, 9, count),
    )
    machine = NodeCluster((NodeKind("a[1-3]", 4), NodeKind("b[1-2]", 6, weight=2)))
    fast = verify(simulate(workload, machine, policy))
    assert fast.start.tolist() == simulate_slowly(workload, machine, policy).start.tolist()


# -- beside the pool -------------------------------------------------------------------------------


ONE_NODE = [f"{order}+{backfill}" for order in ("sjf", "wfp3") for backfill in (*BACKFILLS, *DEEP)]


@pytest.mark.parametrize("policy", [*ONE_NODE, *(f"group+{backfill}" for backfill in KEEPING)])
def test_one_large_node_is_a_pool(policy):
    workload = random_workload(np.random.default_rng(7), 60 if UNCOMPILED else 300, 16)
    machine = NodeCluster((NodeKind("n1", 16),))
    pool = simulate(workload.replaced(extra={}), Cluster(16), policy)
    one = verify(simulate(workload.replaced(extra={}), machine, policy))
    assert one.start.tolist() == pool.start.tolist()


@pytest.mark.parametrize("backfill", ["none", "list", "easy"])
@pytest.mark.parametrize("order", ["fcfs", "sjf", "wfp3"])
def test_nodes_of_one_core_are_a_pool_where_at_most_one_job_has_a_reservation(order, backfill):
    workload = random_workload(np.random.default_rng(8), 60 if UNCOMPILED else 300, 16)
    policy, machine = f"{order}+{backfill}", NodeCluster((NodeKind("n[1-16]", 1),))
    pool = simulate(workload.replaced(extra={}), Cluster(16), policy)
    for nodes in ({}, {"requested_nodes": workload.cores}):
        ones = verify(simulate(workload.replaced(extra=nodes), machine, policy))
        assert ones.start.tolist() == pool.start.tolist()


# -- by hand ---------------------------------------------------------------------------------------

PAIR = NodeCluster((NodeKind("n[1-2]", 4, memory=100, gres={"gpu": 2}),))


def test_a_job_that_fits_on_one_node_goes_to_the_lightest_and_of_these_to_the_fullest():
    kinds = (NodeKind("heavy", 4, weight=9), NodeKind("n[1-2]", 4))
    work = jobs((0, 10, 10, 2), (0, 10, 10, 1), (0, 10, 10, 4), (0, 10, 10, 1))
    schedule = verify(simulate(work, NodeCluster(kinds), "fcfs+easy"))
    assert places(schedule) == [["n1"], ["n1"], ["n2"], ["n1"]]
    assert schedule.start.tolist() == [0, 0, 0, 0]


def test_a_job_of_several_nodes_takes_the_emptiest_and_so_the_fewest():
    kinds = (NodeKind("a[1-3]", 2), NodeKind("b[1-2]", 4))
    schedule = verify(simulate(jobs((0, 10, 10, 7)), NodeCluster(kinds), "fcfs"))
    assert places(schedule) == [["b1", "b2"]]


def test_a_job_that_waits_for_another_comes_when_that_has_ended_and_its_user_has_thought():
    work = jobs((0, 10, 20, 1), (0, 5, 5, 1), (1, 5, 5, 1), after=[-1, 1, 2], think_time=[0, 7, -1])
    schedule = verify(simulate(work, PAIR, "fcfs+easy"))
    assert schedule.start.tolist() == [0, 17, 22]


def test_jobs_that_wait_for_each_other_are_refused_in_one_sentence():
    work = jobs((0, 10, 20, 1), (0, 5, 5, 1), after=[2, 1])
    with pytest.raises(WorkloadError, match=r"^[^\n]*in a circle \(job 1 after 2 after 1\)[^\n]*$"):
        simulate(work, PAIR, "fcfs+easy")


def test_a_job_that_can_never_start_is_named():
    machine = NodeCluster(PAIR.kinds, outages=(Outage((), begin=100),))
    for policy in ("fcfs", "fcfs+easy", "fcfs+conservative", "wfp3+plan"):
        with pytest.raises(WorkloadError, match="job 2 can never start"):
            simulate(jobs((0, 10, 60, 1), (99, 10, 60, 1)), machine, policy)


def test_cores_are_kept_free_where_jobs_of_a_pool_wait_for_each_other():
    work = jobs((0, 10, 10, 3), (0, 5, 5, 1), (1, 5, 5, 1), after=[-1, -1, 1])
    work = work.replaced(group=[3, 3, 3])
    schedule = verify(simulate(work, Cluster(4), "fcfs+easy+keep(share=0.25)"))
    assert schedule.start.tolist() == [0, 10, 10]


def test_a_job_waits_for_ever_for_a_reservation_without_an_end_that_has_no_room_for_it():
    machine = NodeCluster(PAIR.kinds, outages=(Outage("n1", begin=0, reservation="course"),))
    work = jobs((0, 10, 60, 8), reservation=["course"])
    with pytest.raises(WorkloadError, match="job 1 can never start"):
        simulate(work, machine, "fcfs+easy")


def test_what_knows_only_cores_is_refused_on_nodes_in_one_sentence():
    work = jobs((0, 10, 60, 1))
    with pytest.raises(PolicyError, match=r"^[^\n]*reservations are made of cores[^\n]*$"):
        simulate(work, PAIR, "fcfs+plan", reservations=[Request(1, 0, 5, 9, 1)])


# -- policies that choose --------------------------------------------------------------------------


# Each policy's features and orders are compiled in each process: one is enough for the compiler.
SEEDS = st.integers(0, 999) if UNCOMPILED else st.just(66)  # which keeps cores free, twice


@pytest.mark.parametrize("make", [random_rule_base, random_self_tuning])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(machine=machines(), workload=workloads(), seed=SEEDS)
def test_engine_and_twin_agree_on_what_policies_choose_on_nodes(make, machine, workload, seed):
    policy = make(np.random.default_rng(seed))
    try:
        schedule = verify(simulate(workload, machine, policy))
    except WorkloadError as error:
        assert "\n" not in str(error)
        return
    twin = twin_on_nodes(schedule.workload, machine, policy)
    assert schedule.start.tolist() == twin.run()
    chosen = twin.chosen if isinstance(twin, RuleBasedTwin) else twin.steps
    assert schedule.decisions.count == len(chosen)


# -- what orders see -------------------------------------------------------------------------------


def patient_gpus(job, now, weight=100.0):
    return (now - job.submit) + weight * job.gpus + job.memory + job.nodes


def by_account(job):
    return job.account * 10.0 + job.partition


@pytest.mark.parametrize("order", [patient_gpus, by_account])
@pytest.mark.parametrize("machine", [Cluster(4), PAIR], ids=["pool", "nodes"])
def test_own_orders_see_what_jobs_ask_for(order, machine):
    rng = np.random.default_rng(3)
    workload = random_workload(rng, 40, 4)
    extra = {
        "gpus_per_node": rng.integers(0, 3, 40),
        "memory_per_core": rng.integers(0, 9, 40),
        "requested_nodes": rng.integers(1, 3, 40),
        "account": rng.integers(-1, 3, 40),
    }
    workload = workload.replaced(extra=extra)
    policy = Policy(Order(order), "easy")
    schedule = verify(simulate(workload, machine, policy))
    assert schedule.start.tolist() == simulate_slowly(workload, machine, policy).start.tolist()
    blind = simulate(workload.replaced(extra={}), machine, policy)
    assert schedule.start.tolist() != blind.start.tolist()
