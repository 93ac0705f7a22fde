"""A real Slurm judges slurm(...): its priorities to the digit, its order of starts."""

import re
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from queuesmith import simulate, verify
from queuesmith.cluster.fitting import fitting
from queuesmith.cluster.sources import machine_from
from queuesmith.engine.kernels.slurm_state import FIXED_PRIORITY
from queuesmith.engine.slurm_packing import slurm_replay
from queuesmith.policy import as_policy
from queuesmith.schedule import history
from queuesmith.workload.files import read
from queuesmith.workload.preempted import cut_runs
from tests.lab import LabNodes, SlurmLab, absent

pytestmark = pytest.mark.slurm

#: Four equal nodes, all of which each job wants, so that the order is a matter of priority alone.
SETTINGS = {
    "AccountingStorageEnforce": "associations,limits,qos",
    "PriorityWeightFairshare": "5000",
    "PriorityWeightJobSize": "1000",
    "PriorityWeightPartition": "2000",
    "PriorityWeightQOS": "3000",
    "SchedulerParameters": "bf_interval=2,bf_resolution=1,batch_sched_delay=0,sched_interval=2",
    "PreemptType": "preempt/partition_prio",
    "PreemptMode": "REQUEUE",
}
ACCOUNTING = (
    "add qos high Priority=10",
    "add account alpha Fairshare=3 QOS=normal,high",
    "add account beta Fairshare=1 QOS=normal,high GrpTRES=cpu=24",
    "add user games account=alpha",
    "add user mail account=beta",
)
PARTITIONS = (
    "main Nodes=n[1-4] Default=YES MaxTime=5",
    "first Nodes=n[1-4] MaxTime=5 PriorityJobFactor=5",
    "urgent Nodes=n[1-4] MaxTime=5 PriorityTier=5",
)
#: So long jobs would run that are there to be stopped.
LASTING = 100
JOBS = (
    ("games", "-N 4 --exclusive -t 1"),
    ("games", "-N 4 --exclusive -t 1 -q high"),
    ("mail", "-N 2 --ntasks-per-node=8 -t 1 -p first"),
    ("games", "-N 3 -n 24 -t 1 -p first --gres=gpu:1"),
    ("mail", "-N 1 -n 8 -t 2 --mem-per-cpu=1500"),
)


@pytest.fixture(scope="module")
def judged():
    """A run of a real Slurm: the priorities it gave, and the folder of what it was told and did."""
    if (reason := absent()) is not None:
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="slurm-lab-") as folder:
        yield run_jobs(Path(folder) / "lab")


def run_jobs(folder):
    """Run all jobs behind one that blocks the machine until all are submitted."""
    nodes = [LabNodes("n[1-4]", cores=8, gpus=2)]
    with SlurmLab(
        folder, nodes=nodes, partitions=PARTITIONS, settings=SETTINGS, accounting=ACCOUNTING
    ) as lab:
        blocker = lab.submit(600, "-N 4 --exclusive -t 3 -A alpha", user="games")
        wait_until_running(lab, blocker)
        time.sleep(2)  # accounting knows whole seconds: so the others come after it
        for user, options in JOBS:
            account = {"games": "alpha", "mail": "beta"}[user]
            lab.submit(3, f"{options} -A {account}", user=user)
        listed = lab.run("squeue", "-h", "-t", "PD", "-o", "%A %Q").split("\n")
        priorities = {int(line.split()[0]): int(line.split()[1]) for line in listed if line}
        time.sleep(2)  # a job of no length would not count as one that ran
        lab.run("scancel", str(blocker))
        lab.wait_for_jobs(120)
        (lab.configuration / "jobs.sacct").write_text(lab.sacct())
        (lab.configuration / "preempted.sacct").write_text(preempt_one(lab))
    return priorities, lab.configuration


def preempt_one(lab):
    """Let three jobs fill the nodes, and have one of them stopped by a job of a higher tier.

    Returns the accounting. The last of the three is on two nodes, so one of the others is stopped.
    """
    filling = []
    for options in ("-n 8", "-n 6", "-N 2 --exclusive"):
        filling.append(lab.submit(LASTING, f"{options} -t 3 -A alpha", user="games"))
        wait_until_running(lab, filling[-1])
    time.sleep(2)  # accounting knows whole seconds: so the urgent job comes after the others
    urgent = lab.submit(2, "-n 3 -N 1 -t 1 -p urgent -A alpha", user="games")
    wait_until_running(lab, urgent)
    lab.run("scancel", *map(str, filling))
    lab.wait_for_jobs(60)
    told = ""
    while not all(f"\n{job}|" in told for job in (*filling, urgent)):
        told = lab.sacct()  # the accounting hears of jobs late
    return told


def wait_until_running(lab, job):
    """Wait until a job runs."""
    while not re.search(r"JobState=RUNNING", lab.scontrol(f"show job {job}")):
        time.sleep(0.1)


def test_the_machine_of_a_running_slurm_is_read_without_a_rest(judged):
    machine = machine_from(judged[1])
    assert machine.not_understood == {}
    assert (machine.cores, [p.name for p in machine.partitions]) == (
        32,
        ["main", "first", "urgent"],
    )
    assert int(machine.settings["BOOT_TIME"]) > 0


def test_priorities_are_those_of_slurm_to_the_digit(judged):
    priorities, folder = judged
    machine, log = machine_from(folder), read(folder / "jobs.sacct")
    replay = slurm_replay(log, machine, as_policy("slurm()").settings(machine.settings))
    # Nobody had used anything when these were submitted, so all have the full fair-share.
    ours = (replay.worth[FIXED_PRIORITY] + 5000).astype(np.int64)
    ids = log.id.tolist()
    found = {job: int(ours[ids.index(job)]) for job in priorities}
    assert found == priorities
    assert len(set(priorities.values())) == len(JOBS)


def test_jobs_start_in_the_order_in_which_slurm_started_them(judged):
    folder = judged[1]
    machine = machine_from(folder)
    log = fitting(read(folder / "jobs.sacct"), machine)
    real = history(log, machine)
    replayed = verify(simulate(log, machine, "slurm()"))
    assert len(log) == len(JOBS) + 1
    ours, slurms = (np.argsort(each.start, kind="stable").tolist() for each in (replayed, real))
    assert ours == slurms


def test_the_job_is_stopped_that_slurm_stopped_and_the_other_starts_as_soon(judged):
    folder = judged[1]
    machine, log = machine_from(folder), read(folder / "preempted.sacct")
    log = log.select(~np.isin(log.id, read(folder / "jobs.sacct").id))
    stopped = cut_runs(log)
    assert len(log) == 4 and stopped.tolist().count(True) == 1
    urgent = log.extra["partition"] == log.labels["partition"].index("urgent")
    # Nobody cancelled them then, and the one that was stopped would have gone on.
    whole = log.replaced(runtime=np.where(urgent, log.runtime, LASTING))
    replayed = verify(simulate(whole, machine, "slurm()"))
    cut = replayed.pieces.start != replayed.start[replayed.pieces.job]
    assert log.id[replayed.pieces.job[cut]].tolist() == log.id[stopped].tolist()
    ended = (log.real_start + log.runtime)[stopped]
    assert abs(int(replayed.pieces.end[cut][0]) - int(ended[0])) <= 5
    assert abs(int(replayed.start[urgent][0]) - int(log.real_start[urgent][0])) <= 8
