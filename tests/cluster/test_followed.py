"""What a configuration asks of Slurm that a replay leaves out."""

from queuesmith.cluster import (
    Amounts,
    Association,
    Limits,
    NodeCluster,
    NodeKind,
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
            "PreemptType": "preempt/qos",
            "PriorityFlags": "MAX_TRES,ACCRUE_ALWAYS",
            "SchedulerParameters": "bf_interval=60,assoc_limit_stop,bf_max_time=5",
        },
    )
    assert not_followed(machine) == (
        "PreemptType=preempt/qos",
        "SchedulerParameters=assoc_limit_stop",
        "SchedulerParameters=bf_max_time",
        "PriorityFlags=ACCRUE_ALWAYS",
        "OverSubscribe of partition all",
        "NoReserve of QOS night",
        "limits of account bio on what was used so far",
    )
