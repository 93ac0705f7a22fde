"""Slurm's preemption: by hand, against the slow twin, and what a schedule with it must keep to."""

from dataclasses import replace

import numpy as np
import pytest

from queuesmith import Workload, simulate, verify
from queuesmith.base.errors import ClusterError, PolicyError, UsageError
from queuesmith.cluster import NodeCluster, NodeKind, Partition, QualityOfService
from queuesmith.policy import as_policy
from queuesmith.schedule.export import save_pieces
from queuesmith.schedule.verify import violations
from queuesmith.testing import simulate_slowly
from tests.engine.on_nodes import jobs

pytestmark = pytest.mark.uncompiled

KINDS = (NodeKind("n[1-2]", 4),)
TIERS = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}


def tiers(kinds=KINDS, settings=TIERS, **low):
    nodes = [node for kind in kinds for node in kind.nodes]
    partitions = (Partition("low", nodes, default=True, **low), Partition("high", nodes, tier=2))
    return NodeCluster(kinds, partitions=partitions, settings=settings)


def by_qos(*qos, mode="REQUEUE"):
    return NodeCluster(KINDS, qos=qos, settings={"PreemptType": "preempt/qos", "PreemptMode": mode})


def runs(schedule):
    """Return from when to when each job ran, all its runs."""
    parts = schedule.parts
    rows = set(zip(parts.job.tolist(), parts.start.tolist(), parts.end.tolist(), strict=True))
    found = [[] for _ in range(len(schedule))]
    for job, start, end in sorted(rows):
        found[job].append((start, end))
    return found


def replayed(work, machine, policy="slurm()"):
    """Replay jobs, after the twin has agreed."""
    fast, slow = (
        verify(simulate(work, machine, policy)),
        verify(simulate_slowly(work, machine, policy)),
    )
    assert runs(fast) == runs(slow)
    return fast


# -- by hand ---------------------------------------------------------------------------------------


def test_a_job_of_a_higher_tier_has_one_of_a_lower_requeued():
    # Job 3 finds no room at 10 and stops job 1, which is on as many nodes as job 2 and came first.
    # As soon as that is gone the main scheduler looks again, and starts it. Job 1 comes again 121
    # seconds after it was stopped, and begins anew.
    work = jobs(
        (0, 300, 360, 4), (0, 300, 360, 4), (10, 50, 60, 4), partition=["low", "low", "high"]
    )
    schedule = replayed(work, tiers())
    assert runs(schedule) == [[(0, 10), (131, 431)], [(0, 300)], [(10, 60)]]
    assert schedule.start.tolist() == [131, 0, 10] and schedule.wait.tolist() == [131, 0, 0]
    assert schedule.runtime.tolist() == [300, 300, 50]
    assert schedule.lost_work == 40.0
    assert schedule.pieces.end[schedule.cut_short].tolist() == [10]
    assert schedule.stopped_jobs == 1


def test_a_file_of_the_schedule_has_the_last_run_and_one_of_its_pieces_all(tmp_path):
    work = jobs((0, 300, 360, 4), (10, 50, 60, 4), partition=["low", "high"])
    schedule = simulate(work, tiers((NodeKind("n1", 4),)), "slurm()")
    schedule.save(tmp_path / "jobs.csv")
    save_pieces(schedule, tmp_path / "pieces.csv")
    assert (tmp_path / "jobs.csv").read_text().split()[1] == "1,0,131,431,n1"
    assert "1,0,10,4,n1" in (tmp_path / "pieces.csv").read_text().split()


def test_a_job_that_is_cancelled_for_another_ends_there():
    work = jobs((0, 300, 360, 8), (10, 50, 60, 4), partition=["low", "high"])
    schedule = replayed(work, tiers(preempt_mode="CANCEL"))
    assert runs(schedule) == [[(0, 10)], [(10, 60)]]
    assert schedule.stopped_jobs == 1
    assert schedule.end.tolist() == [10, 60] and schedule.runtime.tolist() == [10, 50]
    # So does one that Slurm is not allowed to requeue.
    same = replayed(work, tiers(settings={**TIERS, "JobRequeue": "0"}))
    assert runs(same) == runs(schedule)


def test_nobody_is_stopped_where_that_is_switched_off():
    work = jobs((0, 300, 360, 8), (10, 50, 60, 4), partition=["low", "high"])
    for machine in (
        tiers(settings={}),
        tiers(preempt_mode="OFF"),
        tiers(settings={**TIERS, "PreemptMode": "OFF"}),
        tiers(settings={**TIERS, "PreemptMode": "SUSPEND,GANG"}),
    ):
        assert replayed(work, machine).start.tolist() == [0, 300]
    assert replayed(work, tiers(), "slurm(PreemptMode=OFF)").start.tolist() == [0, 300]
    on = "slurm(PreemptType=preempt/partition_prio, PreemptMode=CANCEL)"
    assert replayed(work, tiers(settings={}), on).start.tolist() == [0, 10]


def test_partitions_that_share_no_nodes_leave_each_other_alone():
    partitions = Partition("low", "n1", default=True), Partition("high", "n2", tier=2)
    machine = NodeCluster(KINDS, partitions=partitions, settings=TIERS)
    work = jobs(*[(0, 300, 360, 4)] * 2, (10, 50, 60, 4), partition=["low", "high", "high"])
    assert replayed(work, machine).start.tolist() == [0, 0, 300]


def test_a_young_job_is_exempt_until_its_time_is_over():
    # At 10 job 1 is exempt for another 110 seconds. The main scheduler looks every minute after it
    # looked last, and the backfill every 30 seconds from 0 on, so at 120.
    work = jobs((0, 600, 600, 8), (10, 50, 60, 4), partition=["low", "high"])
    schedule = replayed(work, tiers(), "slurm(PreemptExemptTime=2)")
    assert runs(schedule)[0][0] == (0, 120) and schedule.start[1] == 120
    one = (
        QualityOfService("one", preempt_exempt_time=30),
        QualityOfService("two", preempts=("one",)),
    )
    by_name = jobs((0, 600, 600, 8), (10, 50, 60, 4), qos=["one", "two"])
    schedule = replayed(by_name, by_qos(*one), "slurm(PreemptExemptTime=2)")
    assert runs(schedule)[0][0] == (0, 30) and schedule.start[1] == 30


def test_a_job_has_its_grace_time_and_may_end_within_it():
    work = jobs((0, 300, 360, 8), (10, 50, 60, 4), partition=["low", "high"])
    assert runs(replayed(work, tiers(grace_time=60)))[0][0] == (0, 70)
    short = jobs((0, 60, 360, 8), (10, 50, 60, 4), partition=["low", "high"])
    assert runs(replayed(short, tiers(grace_time=60))) == [[(0, 60)], [(60, 110)]]


def test_a_requeued_job_waits_as_long_as_its_credential_lasts():
    work = jobs((0, 300, 360, 8), (10, 50, 60, 4), partition=["low", "high"])
    machine = tiers(settings={**TIERS, "AuthInfo": "socket=/run/munge,cred_expire=300"})
    assert replayed(work, machine).start.tolist() == [311, 10]
    assert replayed(work, machine, "slurm(requeue_delay=0)").start.tolist() == [60, 10]


def test_a_qos_stops_those_on_its_list_alone_and_stands_before_them():
    low, high, other = (
        QualityOfService("low", priority=9),
        QualityOfService("high", preempts=("low",)),
        QualityOfService("other"),
    )
    machine = by_qos(low, high, other)
    work = jobs(*[(0, 300, 360, 4)] * 2, (10, 50, 60, 8), qos=["low", "other", "high"])
    # It needs both nodes, and one of them it cannot have: so nobody is stopped.
    assert runs(replayed(work, machine)) == [[(0, 300)], [(0, 300)], [(300, 350)]]
    # Job 3 has the lower priority and is looked at first.
    work = jobs((0, 300, 360, 8), (10, 50, 60, 8), (11, 50, 60, 8), qos=["other", "low", "high"])
    policy = "slurm(PriorityWeightQOS=1000)"
    assert replayed(work, machine, policy).start.tolist() == [0, 350, 300]


def test_the_lowest_rank_goes_first_then_the_fewest_nodes_or_the_youngest():
    ranks = (
        QualityOfService("poor", priority=1),
        QualityOfService("fair", priority=2),
        QualityOfService("high", priority=3, preempts=("poor", "fair")),
    )
    work = jobs(*[(0, 300, 360, 4)] * 2, (10, 50, 60, 4), qos=["fair", "poor", "high"])
    assert len(runs(replayed(work, by_qos(*ranks)))[1]) == 2
    older = jobs(
        (0, 300, 360, 4), (5, 300, 360, 4), (10, 50, 60, 4), partition=["low", "low", "high"]
    )
    assert [len(each) for each in runs(replayed(older, tiers()))] == [2, 1, 1]
    young = replayed(older, tiers(), "slurm(preempt_youngest_first=1)")
    assert [len(each) for each in runs(young)] == [1, 2, 1]
    listed = tiers(settings={**TIERS, "PreemptParameters": "youngest_first,reorder_count=2"})
    assert runs(replayed(older, listed)) == runs(young)


def test_another_order_is_tried_so_that_fewer_are_stopped():
    # Job 4 needs three cores of n1. With jobs 1, 2 and 3 gone in turn it fits; with job 3 gone
    # first, who made it fit, job 1 is enough beside it, and job 2 runs on.
    work = jobs(
        *[(0, 300, 360, 1), (0, 300, 360, 1), (0, 300, 360, 2), (10, 50, 60, 3)],
        partition=["low", "low", "low", "high"],
    )
    schedule = replayed(work, tiers((NodeKind("n1", 4),)))
    assert [len(each) for each in runs(schedule)] == [2, 1, 2, 1]


def test_the_backfill_stops_jobs_for_many_at_once():
    # The main scheduler stops for the first job of a partition that cannot start; the backfill,
    # at 30, stops as many as it needs for all.
    kinds = (NodeKind("n[1-4]", 4),)
    work = jobs(
        *[(0, 300, 360, 4)] * 4, *[(10, 50, 60, 4)] * 4, partition=["low"] * 4 + ["high"] * 4
    )
    schedule = replayed(work, tiers(kinds), "slurm(batch_sched_delay=60, sched_interval=60)")
    assert sorted({r[0][1] for r in runs(schedule)[:4]}) == [30]


# -- against the twin ------------------------------------------------------------------------------


def random_machine(random, seed):
    modes = random.choice(["REQUEUE", "CANCEL", "OFF", None], 3)
    grace = (random.integers(0, 3, 3) * 40).tolist()
    kinds = (
        NodeKind("a[1-3]", 4, memory=100),
        NodeKind("b[1-2]", 8, memory=200, weight=1 + seed % 2),
    )
    nodes = ["a[1-3],b[1-2]", "a[1-3]", "a3,b[1-2]"]
    partitions = [
        Partition(
            f"p{i}", nodes[i], default=i == 0, tier=i, preempt_mode=modes[i], grace_time=grace[i]
        )
        for i in range(3)
    ]
    qos = [
        QualityOfService(
            f"q{i}",
            priority=10 - i,
            preempts=tuple(f"q{k}" for k in range(i)),
            preempt_mode=modes[i] or "cluster",
            grace_time=grace[i],
            preempt_exempt_time=None if i else 30,
        )
        for i in range(3)
    ]
    kind = "preempt/partition_prio" if seed % 2 else "preempt/qos"
    extra = ["strict_order", "youngest_first", "reorder_count=0", "reorder_count=3"][seed % 4]
    settings = {"PreemptType": kind, "PreemptMode": "REQUEUE", "PreemptParameters": extra}
    return NodeCluster(kinds, partitions=partitions, qos=qos, settings=settings)


def random_jobs(random, count=50):
    runtime = random.integers(1, 400, count)
    return Workload(
        np.sort(random.integers(0, 1200, count)),
        runtime,
        runtime + random.integers(0, 300, count),
        random.integers(1, 9, count),
        user=random.integers(0, 3, count),
        extra={
            "after": np.where(np.arange(count) % 9 == 8, np.arange(count) - 3, -1),
            "memory_per_core": random.integers(1, 20, count),
            "partition": random.integers(0, 3, count),
            "qos": random.integers(0, 3, count),
            "exclusive": (random.random(count) < 0.1).astype(np.int64),
            "site_factor": random.integers(0, 2000, count),
        },
        labels={"partition": ("p0", "p1", "p2"), "qos": ("q0", "q1", "q2")},
    )


@pytest.mark.parametrize("seed", range(8))
def test_who_is_stopped_when_is_what_the_slow_twin_says(seed):
    random = np.random.default_rng(seed)
    machine, work = random_machine(random, seed), random_jobs(random)
    policy = f"slurm(PreemptExemptTime=0:{10 * (seed % 3)}, requeue_delay={40 * (seed % 4)})"
    schedule = replayed(work, machine, policy)
    without = simulate(work, machine, "slurm(PreemptMode=OFF)")
    assert runs(schedule) != runs(without)


def test_more_runs_are_lost_than_there_was_room_for():
    # One job is stopped by each of many that come one after the other.
    many = [(200 * i, 20, 60, 8) for i in range(1, 12)]
    work = jobs((0, 10_000, 12_000, 8), *many, partition=["low"] + ["high"] * len(many))
    schedule = replayed(work, tiers(), "slurm(requeue_delay=1)")
    assert len(runs(schedule)[0]) == 12


# -- what a schedule must keep to ------------------------------------------------------------------


def test_a_job_that_runs_twice_at_once_or_again_after_its_end_is_told():
    work = jobs(
        (0, 300, 360, 4), (0, 300, 360, 4), (10, 50, 60, 4), partition=["low", "low", "high"]
    )
    good = simulate(work, tiers(), "slurm()")
    lost = good.pieces.end == 10
    longer = replace(good, pieces=replace(good.pieces, end=np.where(lost, 140, good.pieces.end)))
    said = " ".join(violations(longer))
    assert "job 1 runs again at 131, when its run from 0 to 140 is still running" in said
    done = replace(good, start=good.start + np.array([300, 0, 0]), pieces=None)
    late = np.where((good.pieces.job == 0) & ~lost, 300, 0)
    pieces = replace(
        good.pieces,
        start=good.pieces.start + late,
        end=np.where(lost, 300, good.pieces.end) + late,
    )
    said = " ".join(violations(replace(done, pieces=pieces)))
    assert "job 1 runs again at 431, when its run from 0 to 300 has reached its end" in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "slurm(PreemptType=preempt/job_prio)",
            "Choose from: preempt/none, preempt/partition_prio",
        ),
        ("slurm(PreemptMode=REQUE)", "Did you mean 'REQUEUE'"),
        ("slurm(PreemptMode=SUSPEND)", "there is no PreemptMode 'SUSPEND'"),
        ("slurm(PreemptExemptTime=long)", "PreemptExemptTime is 'long', but it must be a time"),
        ("slurm(requeue_delay=-3)", "requeue_delay is '-3', but it must be a number of at least 0"),
        ("slurm(JobRequeue=maybe)", "there is no JobRequeue 'maybe'"),
    ],
)
def test_a_wrong_word_of_preemption_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(PolicyError, match=r"^[^\n]*$") as error:
        as_policy(text)
    assert sentence in str(error.value)


def test_a_mode_that_slurm_does_not_know_is_refused():
    with pytest.raises(ClusterError, match="in partition 'low', there is no PreemptMode 'REQUE'"):
        tiers(preempt_mode="reque")
    with pytest.raises(ClusterError, match="in QOS 'a', there is no PreemptMode 'KILL'"):
        by_qos(QualityOfService("a", preempt_mode="kill"))
    with pytest.raises(UsageError, match="preempt_exempt_time of QOS 'a'"):
        QualityOfService("a", preempt_exempt_time=-1)
