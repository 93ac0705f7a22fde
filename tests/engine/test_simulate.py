"""Simulate: what goes in, what comes out, what is left out, and what is refused."""

import threading
import time

import numpy as np
import pytest

from queuesmith import Cluster, Policy, Workload, read, simulate, verify
from queuesmith.base.errors import CancelledError, ClusterError, PolicyError, WorkloadError
from queuesmith.engine import Replay

pytestmark = pytest.mark.uncompiled

JOBS = Workload([0, 0, 3], [5, 6, 2], [5, 9, 7], [4, 2, 3], name="three")


# -- the result ------------------------------------------------------------------------------------


def test_a_replay_returns_the_schedule_of_all_jobs():
    schedule = verify(simulate(JOBS, cores=4, policy="sjf+easy"))
    assert schedule.start.tolist() == [0, 7, 5]
    assert schedule.workload is JOBS
    assert schedule.cluster == Cluster(4, "three")
    assert schedule.policy == "sjf+easy"
    assert schedule.seconds >= 0


def test_the_default_policy_is_first_come_first_served_with_easy():
    assert simulate(JOBS, cores=4).policy == "fcfs+easy"


def test_a_workload_is_not_changed_and_a_replay_gives_the_same_twice():
    before = JOBS.to_frame()
    first, second = (simulate(JOBS, cores=4, policy="wfp3+easy") for _ in range(2))
    assert first.start.tolist() == second.start.tolist()
    assert JOBS.to_frame().equals(before)


def test_times_long_before_and_after_zero_are_taken():
    shifted = Workload([-(10**9), 10**12], [5, 5], [5, 5], [1, 1])
    for policy in ("fcfs", "wfp3+easy", "fcfs+conservative", "multifactor+plan"):
        assert simulate(shifted, cores=1, policy=policy).wait.tolist() == [0, 0]


def test_ids_need_not_be_in_order():
    jobs = Workload([0, 0, 0], [5, 5, 5], [5, 5, 5], [1, 1, 1], id=[30, 10, 20])
    schedule = simulate(jobs, cores=1)
    assert schedule.workload.id.tolist() == [10, 20, 30]
    assert schedule.start.tolist() == [0, 5, 10]


# -- the machine -----------------------------------------------------------------------------------


def test_the_machine_is_a_cluster_a_number_of_cores_or_what_the_log_says():
    log = JOBS.replaced(machine_cores=4)
    atlas = Cluster(4, "atlas")
    assert simulate(log).cluster == Cluster(4, "three")
    assert simulate(log, cores=8).cluster.cores == 8
    assert simulate(log, atlas).cluster is atlas
    assert simulate(log, atlas, cores=4).cluster is atlas


def test_a_cluster_and_another_number_of_cores_conflict():
    with pytest.raises(ClusterError) as error:
        simulate(JOBS, Cluster(4, "atlas"), cores=8)
    assert str(error.value) == (
        "cluster 'atlas' has 4 cores, but cores=8 was given too. Give one of them."
    )


def test_a_log_that_does_not_say_its_machine_needs_a_number_of_cores():
    with pytest.raises(ClusterError) as error:
        simulate(JOBS)
    assert str(error.value) == (
        "the log 'three' does not say how many cores its machine has. "
        "Give --cores N (cores=N in Python)."
    )


def test_a_number_of_cores_below_one_is_refused():
    with pytest.raises(ClusterError, match="has 0 cores, but a cluster has between 1 and"):
        simulate(JOBS, cores=0)


def test_a_policy_that_cannot_be_read_is_refused_before_anything_else():
    with pytest.raises(PolicyError, match="no order 'fcsf'"):
        simulate(JOBS, cores=4, policy="fcsf+easy")


# -- jobs that do not fit --------------------------------------------------------------------------


def test_jobs_wider_than_the_machine_are_left_out_and_counted():
    schedule = verify(simulate(JOBS, cores=3, policy="fcfs"))
    assert schedule.workload.id.tolist() == [2, 3]
    assert schedule.start.tolist() == [0, 6]
    assert schedule.workload.dropped == 1
    assert [str(change) for change in schedule.workload.changes] == [
        "1 job left out: wider than the machine's 3 cores"
    ]


def test_with_strict_a_job_wider_than_the_machine_is_an_error():
    with pytest.raises(WorkloadError) as error:
        simulate(JOBS, cores=3, strict=True)
    assert str(error.value) == (
        "job 1 asks for 4 cores, but there are 3. Leave such jobs out by not asking for --strict."
    )
    assert len(simulate(JOBS, cores=4, strict=True)) == 3


def test_where_no_job_fits_there_is_nothing_to_replay():
    with pytest.raises(WorkloadError) as error:
        simulate(JOBS, cores=1)
    assert str(error.value) == (
        "job 1 asks for 4 cores, but there are 1, and no other job of 'three' fits either. "
        "Give the number of cores of the machine that the log comes from."
    )


def test_an_empty_workload_is_refused():
    with pytest.raises(WorkloadError) as error:
        simulate(JOBS.select(np.zeros(3, bool)), cores=4)
    assert str(error.value) == "workload 'three' has no jobs to replay. Give one that has."


# -- progress and cancelling -----------------------------------------------------------------------


def test_progress_is_the_share_of_jobs_that_have_arrived():
    for policy in ("fcfs+easy", "wfp3+easy", "fcfs+conservative"):
        replay = Replay(JOBS, Cluster(4), policy)
        assert replay.progress == 0
        replay.run()
        assert replay.progress == 1


@pytest.mark.parametrize("policy", ["fcfs+easy", "wfp3+easy"])
def test_a_replay_cancelled_before_it_runs_does_not_run(policy):
    replay = Replay(JOBS, Cluster(4), policy)
    replay.cancel()
    with pytest.raises(CancelledError, match=r"the replay of 'three' was cancelled\."):
        replay.run()
    assert replay.progress == 0


@pytest.mark.parametrize("policy", ["wfp3+list", "fcfs+plan"])
def test_a_replay_is_cancelled_from_another_thread_while_it_runs(policy):
    count = 200_000  # jobs come twice as fast as they are served: the queue would take hours
    even = np.full(count, 2)
    jobs = Workload(np.arange(count), even, even * 2 + np.arange(count) % 7, even // 2)
    replay = Replay(jobs, Cluster(1), policy)
    raised = []

    def run():
        try:
            replay.run()
        except CancelledError as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    until = time.monotonic() + 60
    while replay.progress == 0 and time.monotonic() < until:
        time.sleep(0.001)
    replay.cancel()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert len(raised) == 1
    assert 0 < replay.progress < 1


# -- users, partitions, qualities of service -------------------------------------------------------


def test_a_heavy_users_job_comes_after_a_light_users():
    # User 7 has used the machine alone; both then wait for it with one job each.
    jobs = Workload([0, 10, 20], [100, 50, 50], [100, 50, 50], [4, 4, 4], user=[7, 7, 3])
    schedule = verify(simulate(jobs, cores=4, policy="multifactor"))
    assert schedule.start.tolist() == [0, 150, 100]
    alike = simulate(jobs.replaced(user=[7, 7, 7]), cores=4, policy="multifactor")
    assert alike.start.tolist() == [0, 100, 150]


def test_usage_long_ago_is_forgiven_by_the_half_life():
    # User 1 used 1,000 s long ago, user 2 used 100 s just now; then each has a job waiting.
    jobs = Workload(
        submit=[0, 100_000, 100_010, 100_020],
        runtime=[1000, 100, 50, 50],
        walltime=[1000, 100, 50, 50],
        cores=[1, 1, 1, 1],
        user=[1, 2, 2, 1],
    )
    fair = "multifactor(PriorityWeightAge=0,PriorityDecayHalfLife={})"
    forgiving = simulate(jobs, cores=1, policy=fair.format(3600)).start
    assert forgiving.tolist() == [0, 100_000, 100_150, 100_100]
    unforgiving = simulate(jobs, cores=1, policy=fair.format(0)).start
    assert unforgiving.tolist() == [0, 100_000, 100_100, 100_150]


def test_numbers_of_users_are_names_and_not_positions():
    jobs = Workload([0, 10, 20], [100, 50, 50], [100, 50, 50], [4, 4, 4], user=[10**12, 10**12, -5])
    assert simulate(jobs, cores=4, policy="multifactor").start.tolist() == [0, 150, 100]


@pytest.mark.parametrize("column", ["partition", "qos"])
def test_the_priority_of_a_partition_or_quality_of_service_counts(column):
    jobs = Workload(
        submit=[0, 1, 1],
        runtime=[10, 10, 10],
        walltime=[10, 10, 10],
        cores=[1, 1, 1],
        extra={column: np.array([0, 0, 1])},
        labels={column: ("normal", "urgent")},
    )
    urgent = Cluster(1, **{f"{column}_priority": {"normal": 1, "urgent": 10}})
    assert simulate(jobs, urgent, "multifactor").start.tolist() == [0, 20, 10]
    level = Cluster(1, **{f"{column}_priority": {"normal": 5, "urgent": 5}})
    assert simulate(jobs, level, "multifactor").start.tolist() == [0, 10, 20]
    assert simulate(jobs, Cluster(1), "multifactor").start.tolist() == [0, 10, 20]
    weight = {"partition": "PriorityWeightPartition", "qos": "PriorityWeightQOS"}[column]
    ignored = simulate(jobs, urgent, f"multifactor({weight}=0)")
    assert ignored.start.tolist() == [0, 10, 20]


def test_a_partition_without_a_priority_has_the_lowest():
    jobs = Workload(
        submit=[0, 1, 1],
        runtime=[10, 10, 10],
        walltime=[10, 10, 10],
        cores=[1, 1, 1],
        extra={"partition": np.array([2, 2, 1])},
        labels={"partition": ("normal", "urgent", "forgotten")},
    )
    cluster = Cluster(1, partition_priority={"urgent": 1})
    assert simulate(jobs, cluster, "multifactor").start.tolist() == [0, 20, 10]


def test_the_fair_share_of_multifactor_is_by_use_and_not_by_number_of_jobs():
    # User 1 ran ten jobs of a second, user 2 one of 100 s.
    jobs = Workload(
        submit=[*range(10), 10, 20, 20],
        runtime=[1] * 10 + [100, 5, 5],
        walltime=[1] * 10 + [100, 5, 5],
        cores=[1] * 13,
        user=[1] * 10 + [2, 2, 1],
    )
    start = simulate(jobs, cores=1, policy="multifactor").start
    assert start[-2:].tolist() == [115, 110]


# -- against reference values ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def kth(data):
    return read(data / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz")


@pytest.mark.data
@pytest.mark.parametrize(("policy", "wait"), [("fcfs", 389861.06), ("fcfs+easy", 6804.97)])
def test_the_mean_wait_on_kth_is_the_reference_value(kth, policy, wait):
    schedule = verify(simulate(kth, cores=100, policy=policy))
    assert len(schedule) == 28_467
    assert round(float(schedule.wait.mean()), 2) == wait


@pytest.mark.data
def test_the_mean_wait_on_kth_under_conservative_is_that_of_other_simulators(kth):
    schedule = verify(simulate(kth, cores=100, policy=Policy.parse("fcfs+conservative")))
    assert len(schedule) == 28_467
    assert float(schedule.wait.mean()) == pytest.approx(7295, rel=0.01)


@pytest.mark.parametrize("machine", [64, "fcfs+easy"])
def test_a_machine_that_is_none_is_named_with_the_way_out(machine):
    with pytest.raises(ClusterError, match=r"must be a Cluster\. Give Cluster\(\.\.\.\), a number"):
        simulate(Workload(submit=[0], runtime=[1], walltime=[1], cores=[1]), machine)
