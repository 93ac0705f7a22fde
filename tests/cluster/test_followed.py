"""What a configuration asks of Slurm that a replay leaves out."""

from dataclasses import replace

import numpy as np

from queuesmith import Workload
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
from queuesmith.cluster.followed import not_followed

KINDS = (NodeKind("n[1-2]", 4),)


def test_a_plain_machine_is_followed_in_everything():
    settings = {"PreemptType": "preempt/none", "SchedulerParameters": "bf_interval=60,bf_continue"}
    assert not_followed(NodeCluster(KINDS, settings=settings)) == ()


def test_what_is_not_followed_is_named():
    machine = NodeCluster(
        KINDS,
        partitions=(Partition("all", "n[1-2]", oversubscribe=4),),
        qos=(QualityOfService("night", flags=("NoReserve",)),),
        associations=(Association("bio", limits=Limits(group=Amounts(core_minutes=100))),),
        settings={
            "PreemptType": "preempt/job_prio",
            "PreemptMode": "SUSPEND,GANG",
            "PreemptParameters": "reorder_count=2,reclaim_licenses",
            "PriorityFlags": "MAX_TRES,ACCRUE_ALWAYS",
            "SchedulerParameters": "bf_interval=60,assoc_limit_stop,bf_max_time=5",
        },
    )
    assert not_followed(machine) == (
        "PreemptMode=SUSPEND,GANG, jobs that take turns on a node",
        "PreemptParameters=reclaim_licenses",
        "PreemptType=preempt/job_prio",
        "SchedulerParameters=assoc_limit_stop",
        "SchedulerParameters=bf_max_time",
        "PriorityFlags=ACCRUE_ALWAYS",
        "OverSubscribe of partition all",
        "NoReserve of QOS night",
        "limits of account bio on what was used so far",
    )


def test_what_jobs_ask_for_and_the_machine_has_not_is_named():
    machine = NodeCluster(
        KINDS,
        outages=(Outage("n1", begin=10, end=20, reservation="course"),),
        settings={"Licenses": "matlab:2"},
    )
    texts = {
        "reservation": ("course", "exam"),
        "licenses": ("matlab", "ansys:2", "matlab|ansys"),
        "dependency": ("afterok:1",),
        "state": ("COMPLETED", "PREEMPTED"),
    }
    codes = {"reservation": [0, 1, 1], "licenses": [0, 1, 2], "dependency": [-1, -1, 0]}
    codes["state"] = [0, 1, 1]
    extra = {name: np.array(column) for name, column in codes.items()}
    work = Workload([0, 0, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1], extra=extra, labels=texts)
    assert not_followed(machine, work) == (
        "reservation exam of 2 jobs, which the machine has not",
        "license ansys of 1 job, which the machine has not",
        "license matlab|ansys of 1 job, which the machine has not",
        "--dependency of 1 job",
        "preemption of 2 jobs",
    )
    settings = {**machine.settings, "PreemptType": "preempt/qos", "PreemptMode": "CANCEL"}
    found = not_followed(replace(machine, settings=settings), work)
    assert found[-1] == "how long 2 jobs would have run that others ended"


def test_jobs_that_are_suspended_or_stopped_within_their_qos_are_named():
    machine = NodeCluster(
        KINDS,
        partitions=(Partition("all", "n[1-2]", preempt_mode="suspend"),),
        qos=(QualityOfService("night", preempt_mode="REQUEUE,WITHIN"),),
        settings={"PreemptType": "preempt/qos", "PreemptMode": "REQUEUE"},
    )
    assert not_followed(machine) == (
        "PreemptMode=suspend of partition all, jobs that are suspended for others",
        "PreemptMode=REQUEUE,WITHIN of QOS night, jobs that stop others of their own QOS",
    )
