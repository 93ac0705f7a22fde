"""What other versions of Slurm print, in the forms that their manuals and release notes describe.

22.05 was recorded from a real one (``recorded``). These are written after the documentation of
each version and after outputs that sites show on their pages, with values of our own: what the
versions add, rename and leave out.
"""

import json
from pathlib import Path

import pytest

from queuesmith.live.forecast import forecast
from queuesmith.live.moment import away
from queuesmith.live.ordering import usage_by_user, wanted_order
from queuesmith.live.queries import JOB_FIELDS, SEPARATOR
from queuesmith.live.state import ClusterState, state_of
from queuesmith.policy import as_policy

NOW = 1_800_000_000
#: Up to 23.11 there are sensors and watts, in one of 23.02 as "n/s"; from 24.05 on sensors are
#: gone, and nodes may have a topology, instances of a cloud, comments with blanks.
TAIL = {
    "22.05.11": "CapWatts=n/a CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 "
    "ExtSensorsTemp=n/s",
    "23.02.7": "CapWatts=n/a CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 "
    "ExtSensorsTemp=n/s Reason=slow disk [root@2026-01-01T00:00:00]",
    "23.11.10": "CapWatts=n/a CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/a ExtSensorsWatts=0 "
    "ExtSensorsTemp=n/a",
    "24.05.4": "CurrentWatts=240 AveWatts=180",
    "24.11.1": "Comment=new board Extra=rack=7 InstanceId=i-0ab InstanceType=c5 "
    "CurrentWatts=0 AveWatts=0",
}
#: What partitions have since 23.02 and 24.05; NodeSets stand where they are used.
PARTITION = {
    "22.05.11": "MaxCPUsPerNode=UNLIMITED",
    "23.02.7": "MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED",
    "24.05.4": "MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED ExclusiveTopo=NO "
    "NodeSets=ALL PowerDownOnIdle=NO",
    "23.11.10": "MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED PowerDownOnIdle=NO",
    "24.11.1": "MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED ExclusiveTopo=NO "
    "PowerDownOnIdle=NO ResumeTimeout=GLOBAL SuspendTime=GLOBAL SuspendTimeout=GLOBAL",
}
#: What stands before the state where a site keeps cores for the system.
SPECIAL = {"23.02.7": "CoreSpecCount=1 CPUSpecList=15 "}
STATES = {"n1": "MIXED+PLANNED", "n2": "IDLE", "n3": "IDLE+DYNAMIC_NORM", "n4": "DOWN+DRAIN"}


def node(name: str, version: str) -> str:
    return (
        f"NodeName={name} Arch=x86_64 CoresPerSocket=8 CPUAlloc=0 CPUEfctv=16 CPUTot=16 "
        f"CPULoad=0.01 AvailableFeatures=ice,ib ActiveFeatures=ice,ib Gres=gpu:a100:4(S:0-1) "
        f"NodeAddr={name} NodeHostName={name} Version={version} "
        "OS=Linux 5.14.0-427.el9.x86_64 #1 SMP PREEMPT_DYNAMIC Fri May 3 12:00:00 UTC 2024 "
        f"RealMemory=128000 AllocMem=0 FreeMem=1 Sockets=2 Boards=1 "
        f"{SPECIAL.get(version, '')}State={STATES[name]} "
        "ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=main "
        "BootTime=2026-01-01T00:00:00 SlurmdStartTime=2026-01-01T00:00:00 "
        "LastBusyTime=Unknown ResumeAfterTime=None CfgTRES=cpu=16,mem=125G,billing=16,gres/gpu=4 "
        f"AllocTRES= {TAIL[version]}"
    )


def job(number: int, **facts: str) -> str:
    usual = {
        "id": str(number),
        "array": str(number),
        "tasks": "N/A",
        "user": "ann",
        "account": "bio",
        "partition": "main",
        "qos": "normal",
        "state": "PENDING",
        "reason": "Priority",
        "priority": "100",
        "nice": "0",
        "cores": "4",
        "nodes": "1-1",
        "walltime": "1:00:00",
        "elapsed": "0:00",
        "start": "N/A",
        "submit": str(NOW - 50),
        "node_list": "",
        "reservation": "(null)",
        "dependency": "(null)",
        "gres": "N/A",
        "sharing": "OK",
        "wanted_nodes": "",
        "excluded_nodes": "",
        "features": "(null)",
    }
    return SEPARATOR.join((usual | facts)[name] for name in JOB_FIELDS)


@pytest.fixture(params=sorted(TAIL))
def state(request, tmp_path: Path) -> ClusterState:
    version = request.param
    texts = {
        "scontrol-config": f"Configuration data as of 2026-01-01\nClusterName = new\n"
        f"SLURM_VERSION           = {version}\nSlurmctldHost[0]        = c(10.0.0.1)\n"
        "PriorityType            = priority/multifactor\nSchedulerType = sched/backfill\n"
        "SelectType              = select/cons_tres\n\nCgroup Support Configuration:\n"
        "CgroupPlugin            = autodetect\n\nSlurmctld(primary) at c is UP\n",
        "scontrol-nodes": "".join(f"{node(name, version)}\n" for name in STATES),
        "scontrol-partitions": "".join(
            f"PartitionName={name} AllowGroups=ALL Default=YES QoS=N/A MaxTime=2-00:00:00 "
            f"Nodes=n[1-4] PriorityTier=1 State=UP TotalNodes=4 {PARTITION[version]}\n"
            for name in ("main", "other")
        ),
        "squeue": "\n".join(
            [
                job(1, state="RUNNING", cores="16", elapsed="10:00", node_list="n1", nodes="1"),
                job(2, gres="gres/gpu:a100:2", sharing="TOPO", walltime="3:00:00"),
                job(3, tasks="1-4%2", sharing="USER", reason="QOSMaxGRESPerUser"),
                job(4, state="PENDING", reason="JobHeldAdmin", priority="0"),
                job(5, partition="main,other", walltime="30:00", cores="48", nodes="3"),
            ]
        ),
        "squeue-tres": "2".ljust(20)
        + "cpu=4,mem=8000M,node=1,billing=4,gres/gpu=2,gres/gpu:a100=2",
        "sprio": "2|100|0|0|0|100|0|0|0|0|\n5|100|0|0|0|100|0|0|0|0|\n",
        "sshare": "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|"
        "LevelFS|GrpTRESMins|TRESRunMins\nbio|ann|1|1.0|77|0.5|0.5|0.5|1.0||cpu=1\n",
        "sacctmgr-qos": "Name|Priority|GraceTime|Flags|UsageFactor|LimitFactor|MaxTRESPU|"
        "MaxTRESRunMinsPU|MaxTRESRunMinsPA\nnormal|0|00:00:00||1.0||||\n",
        "moment": "",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "moment.json").write_text(json.dumps({"now": NOW, "notes": []}))
    return state_of(tmp_path)


def test_the_machine_is_read(state):
    assert state.cluster == "new"
    assert state.version in TAIL
    assert state.machine.cores == 64
    assert away(state.machine, NOW) == {"n4"}
    assert {kind.gpus for kind in state.machine.kinds} == {4}


def test_jobs_are_read(state):
    jobs = {each.id: each for each in state.jobs}
    assert [each.id for each in state.running] == [1]
    assert jobs[3].tasks == 4
    assert jobs[5].nodes == 3
    assert jobs[4].held
    assert not jobs[2].held
    assert "gres/gpu=2" in jobs[2].resources
    assert usage_by_user(state) == {"ann": 77.0}


def test_the_queue_is_ordered_and_foretold(state):
    assert [each.id for each in wanted_order(state, as_policy("sjf+easy"))] == [5, 3, 2]
    found = {each.job.id: each.median for each in forecast(state)}
    assert set(found) == {2, 3, 5}
    assert found[5] >= 3000  # three nodes are there, and one of them is taken for 50 minutes more


def test_a_reservation_is_read_with_the_fields_of_later_versions(state, tmp_path):
    (tmp_path / "scontrol-reservations.txt").write_text(
        "ReservationName=upkeep StartTime=2027-01-15T10:00:00 EndTime=2027-01-15T12:00:00 "
        "Duration=02:00:00 Nodes=n[2-3] NodeCnt=2 CoreCnt=32 Features=(null) PartitionName=(null) "
        "Flags=MAINT,SPEC_NODES,ALL_NODES TRES=cpu=32 Users=root Groups=(null) Accounts=(null) "
        "Licenses=(null) State=INACTIVE BurstBuffer=(null) MaxStartDelay=(null) "
        "AllowedPartitions=(null) Comment=new cables\n"
    )
    (found,) = [each for each in state_of(tmp_path).machine.outages if "upkeep" in each.reason]
    assert tuple(found.nodes) == ("n2", "n3")
    assert found.end - found.begin == 7200


def test_a_node_that_never_answered_is_read(state, tmp_path):
    # It has neither Arch nor Version nor OS yet.
    nodes = tmp_path / "scontrol-nodes.txt"
    nodes.write_text(
        nodes.read_text()
        + "NodeName=n5 CoresPerSocket=8 CPUAlloc=0 CPUEfctv=16 CPUTot=16 CPULoad=0.00 "
        "AvailableFeatures=(null) ActiveFeatures=(null) Gres=(null) NodeAddr=n5 NodeHostName=n5 "
        "RealMemory=64000 AllocMem=0 FreeMem=N/A Sockets=2 Boards=1 "
        "State=IDLE+DYNAMIC_NORM+NOT_RESPONDING ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A "
        "MCS_label=N/A Partitions=main BootTime=None SlurmdStartTime=None LastBusyTime=Unknown "
        "ResumeAfterTime=None CfgTRES=cpu=16,mem=64000M,billing=16 AllocTRES= "
        "CurrentWatts=0 AveWatts=0\n"
    )
    machine = state_of(tmp_path).machine
    assert machine.cores == 80
    assert "n5" in machine.node_names
