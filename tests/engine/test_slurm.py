"""slurm(...): what Slurm does on nodes, by hand and against the slow twin."""

from dataclasses import replace

import numpy as np
import pytest

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.base.errors import ClusterError, PolicyError, WorkloadError
from queuesmith.cluster import (
    Amounts,
    Association,
    Limits,
    NodeCluster,
    NodeKind,
    Outage,
    Partition,
    QualityOfService,
    Switch,
)
from queuesmith.policy import Slurm, as_policy
from queuesmith.schedule.verify import violations
from queuesmith.testing import simulate_slowly
from tests.engine.on_nodes import jobs, places

pytestmark = pytest.mark.uncompiled

PAIR = NodeCluster((NodeKind("n[1-2]", 4, memory=100, gres={"gpu": 2}),))


# -- by hand ---------------------------------------------------------------------------------------


def test_cores_of_one_node_are_not_those_of_another():
    # On a pool of 8 cores the third job would start at once.
    work = jobs(
        (0, 100, 120, 3),
        (0, 100, 120, 3),
        (1, 10, 60, 2),
        requested_nodes=[1, 1, 1],
        most_nodes=[1, 1, 1],
    )
    schedule = verify(simulate(work, PAIR, "slurm()"))
    assert schedule.start.tolist() == [0, 0, 100]
    assert places(schedule) == [["n1"], ["n2"], ["n1"]]


def test_memory_and_gpus_are_given_out_by_the_node():
    memory = jobs((0, 50, 60, 1), (0, 50, 60, 1), (0, 50, 60, 1), memory_per_node=[60, 60, 60])
    assert simulate(memory, PAIR, "slurm()").start.tolist() == [0, 0, 50]
    gpus = jobs((0, 50, 60, 1), (0, 50, 60, 1), (0, 50, 60, 1), gpus_per_node=[2, 2, 1])
    assert simulate(gpus, PAIR, "slurm()").start.tolist() == [0, 0, 50]


def test_a_planned_job_keeps_whole_nodes_and_a_job_that_delays_it_waits():
    # Job 1 needs both nodes and is planned for second 300; job 2 would run beyond that, job 3 is
    # over before it and starts at the next pass of the backfill.
    work = jobs((0, 300, 300, 4), (1, 10, 60, 8), (2, 10, 600, 1), (2, 10, 120, 1))
    schedule = verify(simulate(work, PAIR, "slurm()"))
    assert schedule.start.tolist() == [0, 300, 310, 30]


def test_the_interval_of_the_backfill_can_be_changed():
    work = jobs((0, 300, 300, 4), (1, 10, 60, 8), (2, 10, 120, 1))
    assert simulate(work, PAIR, "slurm(bf_interval=45)").start.tolist() == [0, 300, 45]
    builtin = simulate(work, PAIR, "slurm(SchedulerType=sched/builtin)")
    assert builtin.start.tolist() == [0, 300, 310]


def test_light_nodes_are_taken_first_and_features_are_kept_to():
    kinds = (NodeKind("a1", 4, weight=5), NodeKind("b1", 4, weight=1, features=("ib",)))
    work = jobs((0, 10, 60, 1), (0, 10, 60, 4), (0, 10, 60, 1), constraint=["ib", "ib", "ib"])
    schedule = verify(simulate(work, NodeCluster(kinds), "slurm()"))
    assert places(schedule) == [["b1"], ["b1"], ["b1"]]
    free = simulate(jobs((0, 10, 60, 4), (0, 10, 60, 4)), NodeCluster(kinds), "slurm()")
    assert places(free) == [["b1"], ["a1"]]


def test_the_switch_with_the_fewest_nodes_that_suffice_is_taken():
    machine = NodeCluster(
        (NodeKind("n[1-5]", 4),),
        switches=(Switch("big", ("n1", "n2", "n3")), Switch("small", ("n4", "n5"))),
        settings={"TopologyPlugin": "topology/tree"},
    )
    assert places(simulate(jobs((0, 10, 60, 8)), machine, "slurm()")) == [["n4", "n5"]]


def test_a_limit_makes_a_job_wait_and_others_pass_it():
    one = Limits(user=Amounts(jobs=1))
    machine = NodeCluster(
        PAIR.kinds,
        qos=(QualityOfService("normal", limits=one),),
        associations=(Association("a", "x"), Association("a", "y")),
    )
    work = Workload(
        [0, 1, 2],
        [50, 10, 10],
        [60, 60, 60],
        [1, 1, 1],
        user=[0, 0, 1],
        labels={"user": ("x", "y")},
    )
    schedule = verify(simulate(work, machine, "slurm()"))
    assert schedule.start.tolist() == [0, 50, 3]  # at 2 the main scheduler still pauses


def test_larger_jobs_come_first_where_size_has_a_weight():
    work = jobs((0, 50, 60, 8), (1, 10, 60, 1), (2, 10, 60, 8))
    assert simulate(work, PAIR, "slurm()").start.tolist() == [0, 50, 60]
    heavy = simulate(work, PAIR, "slurm(PriorityWeightJobSize=1000)")
    assert heavy.start.tolist() == [0, 60, 50]


def test_what_a_site_adds_to_priorities_decides_where_nothing_else_does():
    work = jobs((0, 50, 60, 8), (1, 10, 60, 8), (2, 10, 60, 8), (3, 10, 60, 8))
    imposed = work.replaced(extra={**work.extra, "site_factor": np.array([0, 1, 3, 2])})
    assert simulate(imposed, PAIR, "slurm()").start.tolist() == [0, 70, 50, 60]
    basic = simulate(imposed, PAIR, "slurm(PriorityType=priority/basic)")
    assert basic.start.tolist() == [0, 50, 60, 70]


def test_a_planned_outage_is_kept_free():
    machine = NodeCluster(PAIR.kinds, outages=(Outage((), begin=100, end=200),))
    schedule = simulate(jobs((0, 10, 60, 1), (50, 10, 60, 1)), machine, "slurm()")
    assert schedule.start.tolist() == [0, 200]


def test_a_job_that_has_its_node_for_itself_is_not_disturbed():
    work = jobs((0, 50, 60, 1), (0, 50, 60, 1), (0, 50, 60, 1), exclusive=[1, 0, 0])
    schedule = verify(simulate(work, PAIR, "slurm()"))
    assert places(schedule) == [["n1"], ["n2"], ["n2"]]
    moved = replace(schedule, pieces=replace(schedule.pieces, place=np.array([0, 0, 1])))
    assert "counting all of a job's own nodes" in " ".join(violations(moved))


def test_a_pause_after_each_look_of_the_main_scheduler_can_be_changed():
    work = jobs((0, 10, 60, 1), (1, 10, 60, 1))
    assert simulate(work, PAIR, "slurm()").start.tolist() == [0, 3]
    assert simulate(work, PAIR, "slurm(batch_sched_delay=0)").start.tolist() == [0, 1]


def test_the_clocks_begin_with_the_controller_where_that_is_known():
    # It began 15 seconds before the first job, so the backfill looks 15 seconds after it.
    work = replace(jobs((0, 300, 300, 4), (1, 10, 60, 8), (2, 10, 120, 1)), epoch=1000)
    known = NodeCluster(PAIR.kinds, settings={"BOOT_TIME": "985"})
    assert simulate(work, PAIR, "slurm()").start.tolist() == [0, 300, 30]
    assert simulate(work, known, "slurm()").start.tolist() == [0, 300, 15]


def test_light_nodes_are_filled_before_a_heavy_one_that_would_do_alone():
    kinds = (NodeKind("a[1-2]", 2, weight=1), NodeKind("b1", 8, weight=5))
    work = jobs((0, 50, 60, 3), (0, 50, 60, 4))
    schedule = verify(simulate(work, NodeCluster(kinds), "slurm()"))
    assert places(schedule) == [["a1", "a2"], ["a2", "b1"]]


def test_groups_of_ends_are_counted_from_the_first():
    # Groups end 120 and 210 seconds after 0, so job 4 is planned on n2 for 180, not for 240 as in
    # a group that also had job 3. Job 5 would delay it there and waits for n1.
    machine = NodeCluster((NodeKind("n[1-3]", 4),))
    work = jobs(
        *[(0, 600, 600, 2), (0, 60, 60, 2), (0, 180, 180, 3), (0, 240, 240, 4)],
        *[(1, 60, 60, 4), (2, 100, 180, 1)],
        most_nodes=[1] * 6,
    )
    schedule = verify(simulate(work, machine, "slurm()"))
    assert places(schedule)[:4] == [["n1"], ["n1"], ["n2"], ["n3"]]
    assert schedule.start.tolist() == [0, 0, 0, 0, 180, 60]
    assert simulate_slowly(work, machine, "slurm()").start.tolist() == schedule.start.tolist()
    # Before Slurm 20.02 the second group begins with job 2 and lasts a minute, up to job 3.
    assert simulate(work, machine, "slurm(FastSchedule=1)").start.tolist() == [0, 0, 0, 0, 180, 30]


def test_a_full_table_of_plans_ends_the_pass():
    # With room for one record only, job 1 cannot be planned, and nobody behind it is looked at.
    work = jobs((0, 300, 300, 4), (1, 10, 60, 8), (2, 10, 120, 1))
    assert simulate(work, PAIR, "slurm()").start.tolist() == [0, 300, 30]
    assert simulate(work, PAIR, "slurm(bf_node_space_size=1)").start.tolist() == [0, 300, 310]


def test_nodes_of_a_reservation_are_for_its_jobs_and_in_its_time_only():
    # n1 is kept from 300 to 600: job 1 names the reservation and waits for it although n1 is free;
    # job 2 would run into it on n1 and takes n2, so job 3 has to wait until it is over.
    kept = Outage("n1", begin=300, end=600, reservation="course")
    machine = NodeCluster(PAIR.kinds, outages=(kept,))
    rows = (0, 50, 60, 4), (1, 700, 720, 4), (1, 500, 600, 4)
    work = jobs(*rows, reservation=["course", "", ""])
    schedule = verify(simulate(work, machine, "slurm(batch_sched_delay=0)"))
    assert schedule.start.tolist() == [300, 1, 600]
    assert places(schedule) == [["n1"], ["n2"], ["n1"]]


def test_a_job_that_does_not_end_within_its_reservation_waits_until_that_is_over():
    kept = Outage("n1", begin=0, end=100, reservation="course")
    machine = NodeCluster(PAIR.kinds, outages=(kept,))
    work = jobs((0, 50, 120, 4), reservation=["course"])
    schedule = simulate(work, machine, "slurm()")
    assert schedule.start.tolist() == [100]


def test_a_reservation_named_twice_is_joined_or_refused():
    halves = tuple(Outage(n, begin=300, end=600, reservation="course") for n in ("n1", "n2"))
    machine = NodeCluster(PAIR.kinds, outages=halves)
    assert [outage.nodes for outage in machine.outages] == [("n1", "n2")]
    work = jobs((0, 50, 60, 8), (1, 700, 720, 1), reservation=["course", ""])
    schedule = verify(simulate(work, machine, "slurm()"))
    assert schedule.start.tolist() == [300, 600]
    later = Outage("n1", begin=900, end=950, reservation="course")
    sentence = "reservation 'course' stands there with two times, 300 to 600 and 900 to 950"
    with pytest.raises(ClusterError, match=sentence):
        NodeCluster(PAIR.kinds, outages=(*halves, later))


def test_of_a_throttled_array_so_many_tasks_run_at_once():
    work = jobs(*[(0, 50, 60, 1)] * 4, array=[9, 9, 9, -1], array_limit=[2, 2, 2, -1])
    schedule = verify(simulate(work, PAIR, "slurm()"))
    assert schedule.start.tolist() == [0, 0, 50, 0]
    assert simulate(work, PAIR, "fcfs+easy").start.tolist() == [0, 0, 50, 0]
    assert simulate_slowly(work, PAIR, "slurm()").start.tolist() == [0, 0, 50, 0]
    moved = replace(schedule, start=np.zeros(4, np.int64))
    assert "3 jobs are held at 0 where a limit allows 2 together" in " ".join(violations(moved))


def test_a_job_comes_when_the_one_it_waits_for_has_ended_and_it_has_thought():
    work = jobs(*[(0, 50, 60, 1)] * 3, after=[-1, 1, 2], think_time=[-1, 20, -1])
    schedule = verify(simulate(work, PAIR, "slurm()"))
    assert schedule.start.tolist() == [0, 70, 120]
    assert simulate_slowly(work, PAIR, "slurm()").start.tolist() == [0, 70, 120]


def test_jobs_wait_for_licenses_and_others_pass_them():
    machine = NodeCluster(PAIR.kinds, settings={"Licenses": "matlab:3,ansys"})
    work = jobs(*[(0, 50, 60, 1)] * 4, licenses=["matlab:2", "matlab:2", "matlab,ansys", "other"])
    schedule = verify(simulate(work, machine, "slurm()"))
    assert schedule.start.tolist() == [0, 50, 0, 0]
    assert simulate(work, machine, "fcfs+easy").start.tolist() == [0, 50, 0, 0]
    assert simulate_slowly(work, machine, "slurm()").start.tolist() == [0, 50, 0, 0]
    moved = replace(schedule, start=np.zeros(4, np.int64))
    assert "5 licenses of matlab are held at 0" in " ".join(violations(moved))


def test_what_is_billed_counts_in_fair_share():
    # u and v have held one core each; u's job had GPUs, which count tenfold, so v comes first.
    def machine(billing):
        return NodeCluster(
            (NodeKind("n1", 2, memory=100, gres={"gpu": 2}),),
            partitions=(Partition("all", "n1", billing=billing),),
            associations=(Association("p", "u"), Association("p", "v", shares=1)),
        )

    work = Workload(
        [0, 0, 1, 2],
        [400, 400, 10, 10],
        [420, 420, 60, 60],
        [1, 1, 2, 2],
        user=[0, 1, 0, 1],
        extra={"gpus_per_node": np.array([1, 0, 0, 0])},
        labels={"user": ("u", "v")},
    )
    policy = "slurm(PriorityWeightFairshare=1000)"
    assert simulate(work, machine(""), policy).start.tolist() == [0, 0, 400, 410]
    weights = "CPU=1,Mem=0.5G,GRES/gpu=10"
    fast = simulate(work, machine(weights), policy)
    assert fast.start.tolist() == [0, 0, 410, 400]
    assert simulate_slowly(work, machine(weights), policy).start.tolist() == fast.start.tolist()


# -- against the twin ------------------------------------------------------------------------------


def _random_machine(random, seed, *, outages=()):
    topology = {"TopologyPlugin": "topology/tree"} if seed % 2 else {}
    return NodeCluster(
        (
            NodeKind("a[1-3]", 4, memory=100, features=("x",)),
            NodeKind("b[1-2]", 8, memory=200, gres={"gpu": 2}, weight=1 + seed % 3),
        ),
        partitions=(
            Partition("all", "a[1-3],b[1-2]", default=True),
            Partition("b", "b[1-2]", priority=3.0),
        ),
        qos=(QualityOfService("normal", limits=Limits(user=Amounts(cores=16))),),
        associations=(
            Association("p", "u"),
            Association("p", "v", shares=3),
            Association("q", "w"),
        ),
        outages=outages,
        switches=(Switch("s", ("a1", "a2")), Switch("t", ("a3", "b1", "b2"))),
        settings=topology,
    )


def _random_jobs(random, seed, count=60, **extra):
    gpus = random.integers(0, 3, count) * (random.random(count) < 0.2)
    return Workload(
        np.sort(random.integers(0, 1500, count)),
        runtime := random.integers(1, 300, count),
        runtime + random.integers(0, 300, count),
        random.integers(1, 9, count),
        user=random.integers(0, 3, count),
        extra={
            "after": np.where(np.arange(count) % 7 == 6, np.arange(count) - 3, -1),
            "memory_per_core": random.integers(1, 20, count),
            "gpus_per_node": gpus,
            "partition": random.integers(0, 2, count),
            "account": np.zeros(count, np.int64) - 1,
            "site_factor": random.integers(-2000, 2000, count) * (seed % 3 == 0),
            **extra,
        },
        labels={"user": ("u", "v", "w"), "partition": ("all", "b"), "reservation": ("", "course")},
    )


def _random_settings(seed):
    flags = "NO_FAIR_TREE" if seed % 2 else "FAIR_TREE"
    return (
        f"slurm(PriorityFlags={flags}, PriorityWeightFairshare=5000, PriorityWeightAge=1000, "
        f"PriorityWeightJobSize=3000, PriorityWeightPartition=500, PriorityCalcPeriod=1, "
        f"PriorityDecayHalfLife=10, bf_max_job_user={10 - seed}, clock_offset={7 * seed})"
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_starts_every_job_when_the_slow_twin_does(seed):
    random = np.random.default_rng(seed)
    machine, work = _random_machine(random, seed), _random_jobs(random, seed)
    fast = verify(simulate(work, machine, _random_settings(seed)))
    slow = simulate_slowly(work, machine, _random_settings(seed))
    assert fast.start.tolist() == slow.start.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_outages_and_reservations_are_those_of_the_slow_twin(seed):
    random = np.random.default_rng(100 + seed)
    begins = np.sort(random.integers(0, 2500, 4)).tolist()
    outages = (
        Outage("a[1-2]", begin=begins[0], end=begins[0] + 400),
        Outage("b1", begin=begins[1], end=begins[1] + 300, planned=False),
        Outage("b2", begin=begins[2], end=begins[2] + 700, reservation="course"),
        Outage("", begin=begins[3], end=begins[3] + 100),
    )
    machine = _random_machine(random, seed, outages=outages)
    work = _random_jobs(random, seed, reservation=(random.random(60) < 0.15).astype(np.int64))
    fast = verify(simulate(work, machine, _random_settings(seed)))
    slow = simulate_slowly(work, machine, _random_settings(seed))
    assert fast.start.tolist() == slow.start.tolist()
    without = simulate(work, replace(machine, outages=()), _random_settings(seed))
    assert fast.start.tolist() != without.start.tolist()


# -- checks ----------------------------------------------------------------------------------------


def test_what_a_schedule_on_nodes_breaks_is_said():
    work = jobs((0, 50, 60, 1), (0, 50, 60, 1), memory_per_node=[60, 60], gpus_per_node=[2, 1])
    good = simulate(work, PAIR, "slurm()")
    same = replace(good, pieces=replace(good.pieces, place=np.array([0, 0])))
    said = " ".join(violations(same))
    assert "120 MB of memory are held at 0 on 'n1', which has 100" in said
    assert "3 GPUs are held at 0 on 'n1', which has 2" in said


def test_a_policy_is_read_and_written_as_text(tmp_path):
    text = "slurm(bf_interval=60, PriorityWeightAge=5000)"
    assert str(as_policy(text)) == text
    assert str(as_policy("slurm")) == "slurm()"
    assert as_policy(text).settings({})["bf_interval"] == 60
    as_policy(text).save(tmp_path / "p.json")
    assert as_policy(str(tmp_path / "p.json")) == as_policy(text)
    conf = tmp_path / "slurm.conf"
    conf.write_text("SchedulerParameters=bf_interval=90,bf_window=60\nPriorityMaxAge=0-5\n")
    chosen = as_policy(f"slurm({conf}; bf_window=120)").settings({})
    assert (chosen["bf_interval"], chosen["bf_window"], chosen["PriorityMaxAge"]) == (
        90,
        120,
        18000,
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("slurm(bf_intervall=60)", "Did you mean 'bf_interval'"),
        ("slurm(bf_interval=-1)", "bf_interval is '-1', but it must be a number of at least 1"),
        ("slurm(PriorityMaxAge=soon)", "PriorityMaxAge is 'soon', but it must be a time"),
        ("slurm(a=1, b)", "is no name=value"),
    ],
)
def test_a_wrong_parameter_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(PolicyError, match=r"^[^\n]*$") as error:
        as_policy(text)
    assert sentence in str(error.value)


def test_slurm_does_not_run_on_a_pool():
    work = jobs((0, 10, 60, 1))
    with pytest.raises(PolicyError, match="is only a number of cores"):
        simulate(work, Cluster(4), "slurm()")


def test_a_job_that_fits_no_node_is_named():
    with pytest.raises(WorkloadError, match=r"asks for .* on a node, but no node"):
        simulate(jobs((0, 10, 60, 1), memory_per_node=[500]), PAIR, "slurm()")


def test_a_machine_that_never_comes_back_is_an_error():
    machine = NodeCluster(PAIR.kinds, outages=(Outage((), begin=100),))
    with pytest.raises(WorkloadError, match="can never start"):
        simulate(jobs((0, 10, 60, 1), (99, 10, 60, 1)), machine, "slurm()")


def test_settings_can_be_changed_by_number():
    assert str(Slurm().having(bf_interval=60)) == "slurm(bf_interval=60)"


def test_a_job_on_a_node_that_is_out_is_told():
    planned = NodeCluster(PAIR.kinds, outages=(Outage("n1", begin=100, end=200),))
    sudden = NodeCluster(PAIR.kinds, outages=(Outage("n1", begin=100, end=200, planned=False),))
    work = jobs((0, 50, 60, 4), (0, 150, 150, 4))
    good = verify(simulate(work, planned, "slurm()"))
    assert places(good) == [["n1"], ["n2"]]
    moved = replace(good, pieces=replace(good.pieces, place=np.array([1, 0])))
    told = "job 2 runs on 'n1' from 0 to 150, which the outage from 100 to 200 does not let it"
    assert told in " ".join(violations(moved))
    # Nobody could know of a sudden one: who runs then is no fault, who starts then is.
    assert not violations(replace(moved, cluster=sudden))
    pieces = replace(good.pieces, start=good.pieces.start + 120, end=good.pieces.end + 120)
    late = replace(good, cluster=sudden, start=good.start + 120, pieces=pieces)
    assert "job 1 runs on 'n1' from 120 to 170" in " ".join(violations(late))


def test_a_job_on_nodes_that_are_reserved_for_others_is_told():
    kept = Outage("n1", begin=300, end=600, reservation="course")
    machine = NodeCluster(PAIR.kinds, outages=(kept,))
    work = jobs((0, 50, 60, 4), (1, 700, 720, 4), reservation=["course", ""])
    good = verify(simulate(work, machine, "slurm()"))
    assert places(good) == [["n1"], ["n2"]]
    swapped = replace(good, pieces=replace(good.pieces, place=np.array([1, 0])))
    told = " ".join(violations(swapped))
    assert "job 1 runs on 'n2' from 300 to 350, which the reservation 'course'" in told
    # So it is under other policies than Slurm's.
    other = verify(simulate(work, machine, "fcfs+easy"))
    assert other.start.tolist() == [300, 1]
    assert places(other) == [["n1"], ["n2"]]
