"""A running cluster as scontrol shows it."""

import pytest

from queuesmith.base.errors import ClusterError
from queuesmith.cluster.scontrol import machine_of_scontrol
from queuesmith.cluster.sources import machine_from

NODES = """\
NodeName=n1 Arch=x86_64 CoresPerSocket=8
   CPUAlloc=4 CPUEfctv=16 CPUTot=16 CPULoad=0.50
   AvailableFeatures=ib,rome
   ActiveFeatures=ib,rome
   Gres=gpu:a100:4(S:0-1)
   OS=Linux 5.10.0 #1 SMP Debian
   RealMemory=64000 AllocMem=8000 FreeMem=1000 Sockets=2 Boards=1
   State=MIXED ThreadsPerCore=1 TmpDisk=0 Weight=10 Owner=N/A MCS_label=N/A
   Partitions=day,night
   CfgTRES=cpu=16,mem=64000M,billing=16,gres/gpu=4

NodeName=n2 CPUTot=16 RealMemory=64000 State=IDLE+DRAIN ThreadsPerCore=1 Weight=10 Shoes=brown
   AvailableFeatures=ib,rome Gres=gpu:a100:4(S:0-1)
   Reason=bad fan [root@2024-05-01T10:00:00]
"""
PARTITIONS = (
    "PartitionName=day AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL Default=YES QoS=N/A "
    "DefaultTime=NONE MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=0 Nodes=n[1-2] "
    "PriorityJobFactor=3 PriorityTier=2 OverSubscribe=NO State=UP TotalCPUs=32 TotalNodes=2 "
    "DefMemPerCPU=2000 MaxMemPerNode=UNLIMITED\n"
    "PartitionName=night AllowAccounts=bio Nodes=n2 MaxTime=UNLIMITED OverSubscribe=EXCLUSIVE "
    "State=DOWN TotalNodes=1\n"
)
CONFIG = """\
Configuration data as of 2024-05-02T00:00:00
AccountingStorageEnforce = associations,limits
ClusterName             = atlas
KillWait                = 30 sec
SchedulerParameters     = (null)
SelectTypeParameters    = CR_CORE_MEMORY
SlurmctldPort           = 6817
MysteryKnob             = 4
"""
RESERVATIONS = """\
ReservationName=upgrade StartTime=2024-06-01T08:00:00 EndTime=2024-06-01T20:00:00 Duration=12:00:00
   Nodes=n[1-2] NodeCnt=2 CoreCnt=32 Flags=MAINT,SPEC_NODES
ReservationName=course StartTime=2024-06-02T08:00:00 EndTime=2024-06-02T20:00:00
   Nodes=n1 Flags=SPEC_NODES
"""


@pytest.fixture
def folder(tmp_path):
    parts = {"nodes": NODES, "partitions": PARTITIONS, "config": CONFIG, "res": RESERVATIONS}
    for name, text in parts.items():
        (tmp_path / f"scontrol.{name}").write_text(text)
    return tmp_path


def test_a_running_cluster_is_read(folder):
    machine = machine_from(folder)
    assert (machine.name, machine.cores, len(machine.kinds)) == ("atlas", 32, 1)
    kind = machine.kinds[0]
    assert (kind.memory, kind.gres, kind.features) == (64_000, {"gpu:a100": 4}, ("ib", "rome"))
    day, night = machine.partitions
    assert (day.max_time, day.max_nodes, day.priority, day.tier) == (86_400, None, 3, 2)
    assert (day.default_memory_per_core, day.max_memory_per_node, day.qos) == (2000, None, None)
    assert day.default and day.allow_accounts == ()
    assert (night.exclusive, night.up, night.allow_accounts) == ("nodes", False, ("bio",))
    assert machine.settings == {
        "AccountingStorageEnforce": "associations,limits",
        "KillWait": "30",
        "SelectTypeParameters": "CR_CORE_MEMORY",
    }
    assert machine.not_understood == {"MysteryKnob": 1, "Shoes of NodeName": 1}


def test_drained_nodes_and_reservations_are_outages(folder):
    drained, upgrade, course = machine_from(folder, timezone="Europe/Berlin").outages
    assert (drained.nodes, drained.begin) == (("n2",), None)
    assert drained.reason.startswith("bad fan")
    assert (upgrade.nodes, upgrade.end - upgrade.begin) == (("n1", "n2"), 12 * 3600)
    assert (upgrade.begin, upgrade.reservation) == (1717221600, "")
    assert course.reservation and course.reason == f"reservation {course.reservation}"


def test_one_line_a_node_is_read_as_well(tmp_path):
    lines = [" ".join(block.split()) for block in NODES.split("\n\n")]
    (tmp_path / "shown.txt").write_text("\n".join(lines) + "\n" + PARTITIONS)
    machine = machine_from(tmp_path / "shown.txt")
    assert machine.node_names == ("n1", "n2")
    assert len(machine.partitions) == 2


def test_beside_a_slurm_conf_it_tells_who_is_away(folder):
    (folder / "slurm.conf").write_text("ClusterName=conf\nNodeName=n[1-2] CPUs=4\n")
    machine = machine_from(folder)
    assert (machine.name, machine.cores) == ("conf", 8)
    assert machine.outages[0].nodes == ("n2",)


def test_nodes_of_a_partition_that_are_not_shown_are_counted_and_left_out(tmp_path):
    text = NODES + PARTITIONS.replace("Nodes=n[1-2]", "Nodes=n[1-2,8-9]")
    assert "8-9" in text
    (tmp_path / "shown.txt").write_text(text)
    machine = machine_from(tmp_path / "shown.txt")
    assert machine.partitions[0].nodes == ("n1", "n2")
    told = "nodes n[8-9] of partition day, which are not shown"
    assert machine.not_understood[told] == 1


def test_a_cpu_that_is_a_core_is_given_out_alone(tmp_path):
    shown = "NodeName=n1 CPUEfctv=8 CPUTot=8 CoresPerSocket=4 Sockets=2 Boards=1 ThreadsPerCore=2\n"
    (tmp_path / "shown.txt").write_text(shown)
    kind = machine_from(tmp_path / "shown.txt").kinds[0]
    assert (kind.cores, kind.threads_per_core) == (8, 1)


def test_without_nodes_there_is_no_machine(tmp_path):
    (tmp_path / "p").write_text(PARTITIONS)
    with pytest.raises(ClusterError, match="shows no node"):
        machine_of_scontrol(tmp_path / "p")


def test_when_the_controller_began_is_kept_as_seconds_since_1970(tmp_path):
    (tmp_path / "slurm.conf").write_text("NodeName=n1 CPUs=4\nPartitionName=day Nodes=n1\n")
    (tmp_path / "scontrol.config").write_text("BOOT_TIME               = 2024-05-01T10:00:00\n")
    assert machine_from(tmp_path).settings["BOOT_TIME"] == "1714557600"
    there = machine_from(tmp_path, timezone="Europe/Berlin")
    assert there.settings["BOOT_TIME"] == "1714550400"
    (tmp_path / "scontrol.config").write_text("BOOT_TIME = soon\n")
    with pytest.raises(ClusterError, match="soon"):
        machine_from(tmp_path)
