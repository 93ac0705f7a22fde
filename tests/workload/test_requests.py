"""What jobs ask nodes for, as sacct tells it."""

import numpy as np
import pytest

from queuesmith.base.errors import WorkloadError
from queuesmith.workload import Workload
from queuesmith.workload.files import read
from queuesmith.workload.requests import (
    Gpus,
    JobResources,
    gpus_in,
    job_resources,
    partition_column,
    with_requests,
)
from queuesmith.workload.sacct import parse_sacct
from queuesmith.workload.slurm_text import generic_resources, job_memory, megabytes, tres

NAMES = (
    "JobID|Submit|Eligible|Start|Elapsed|NCPUS|State|ReqMem|ReqTRES|AllocTRES|ReqGRES|NTasks|Flags"
    "|NodeList|Constraints"
)
LOG = f"""\
{NAMES}
1|1000|1000|1010|00:10|4|COMPLETED|4000Mn|cpu=4,mem=4000M,node=2,gres/gpu:v100=2|\
cpu=4,mem=8000M,node=2,gres/gpu=4|gpu:v100:1|4|SchedBackfill|n[1-2]|[a|b]
2|1000|1060|1090|00:10|4|NODE_FAIL|2.5Gc|cpu=4||||SchedMain|n3|
2|1200|Unknown|1290|00:10|4|PREEMPTED|8G||||||None assigned|
"""


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("4000Mn", (4000, -1, -1)),
        ("4Gc", (-1, 4096, -1)),
        ("4G", (-1, -1, 4096)),
        ("0", (-1, -1, 0)),
        ("0n", (0, -1, -1)),
        ("2048Kn", (2, -1, -1)),
        ("300Kn", (1, -1, -1)),  # 0 would mean all of a node
        ("1.50Tn", (1_572_864, -1, -1)),
        ("2147486648Mn", (-1, 3000, -1)),  # the flag of memory per core, in old versions
        ("9223372036854778808Mn", (-1, 3000, -1)),
        ("", (-1, -1, -1)),
        ("?", (-1, -1, -1)),
    ],
)
def test_requested_memory_is_read_in_all_its_forms(text, memory):
    assert job_memory(text) == memory


@pytest.mark.parametrize("text", ["much", "4X", "-4G", "4Gnc"])
def test_strange_memory_is_refused(text):
    with pytest.raises(ValueError, match=r".*"):
        job_memory(text)
    with pytest.raises(ValueError, match=r".*"):
        megabytes("4Gn")


def test_lists_of_resources_are_read():
    assert tres("cpu=2K,mem=1.5G,gres/gpu:a=3") == {"cpu": 2048, "mem": 1536, "gres/gpu:a": 3}
    assert tres("") == {}
    with pytest.raises(ValueError, match="cpu"):
        tres("cpu")
    with pytest.raises(ValueError, match=r"gpu:a:b:c:d"):
        generic_resources("gpu:a:b:c:d")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cpu=8,mem=4G,node=2,gres/gpu=3", JobResources(2, 4096, Gpus(3))),
        ("gres/gpu:a=2,gres/gpu:b=1", JobResources(gpus=Gpus(3, "b"))),
        ("gres/gpu=2,gres/gpu:a=2", JobResources(gpus=Gpus(2, "a"))),
        ("energy=18446744073709551614,mem=lots,node=", JobResources()),
        ("", JobResources()),
    ],
)
def test_what_a_list_says_besides_cores_is_found(text, found):
    assert job_resources(text) == found


def test_gpus_are_found_among_other_resources():
    assert gpus_in("nic:2,gpu:v100:4(S:0-1)") == Gpus(4, "v100")
    assert gpus_in("nic:2") == gpus_in("(((") == Gpus()


def test_requests_become_columns():
    jobs = parse_sacct(LOG.encode(), "a.sacct")
    columns = {name: jobs.extra[name].tolist() for name in jobs.extra}
    assert columns["memory_per_node"] == [4000, -1, -1]
    assert columns["memory_per_core"] == [-1, 2560, -1]
    assert columns["memory"] == [-1, -1, 8192]
    assert columns["requested_nodes"] == [2, -1, -1]
    assert columns["tasks"] == [4, -1, -1]
    assert columns["gpus"] == [2, -1, -1]
    assert columns["gpus_per_node"] == [1, -1, -1]
    assert (columns["allocated_memory"], columns["allocated_gpus"]) == ([8000, -1, -1], [4, -1, -1])
    assert columns["eligible_after"] == [0, 60, -1]
    assert columns["attempt"] == [1, 1, 2]
    assert jobs.label("gpu_type", columns["gpu_type"][0]) == "v100"
    assert jobs.label("constraint", columns["constraint"][0]) == "[a|b]"
    assert jobs.label("node_list", columns["node_list"][1]) == "n3"
    assert columns["node_list"][2] == -1
    assert jobs.labels["flags"] == ("SchedBackfill", "SchedMain")


def test_what_a_log_does_not_tell_is_no_column():
    jobs = parse_sacct(b"JobID|Submit|Elapsed|NCPUS|ReqMem\n1|1000|00:10|1|\n", "a.sacct")
    assert not {"memory", "gpus", "attempt", "node_list", "eligible_after"} & set(jobs.extra)


def test_requests_that_cannot_be_read_are_unknown_and_no_error():
    text = "JobID|Submit|Elapsed|NCPUS|ReqMem|ReqTRES|Eligible\n1|1000|00:10|1|many|gpu|noon\n"
    assert parse_sacct(text.encode(), "a.sacct").extra["eligible_after"].tolist() == [-1]


def test_what_was_submitted_adds_to_what_happened():
    log = Workload([0, 5], [1, 1], [1, 1], [1, 1], id=[7, 8], extra={"qos": np.array([3, 4])})
    more = {"qos": np.array([1, 1]), "constraint": np.array([0, -1])}
    other = Workload(
        [0, 9], [1, 1], [1, 1], [1, 1], id=[8, 9], extra=more, labels={"constraint": ("ib",)}
    )
    both = with_requests(log, other)
    assert both.extra["constraint"].tolist() == [-1, 0]
    assert both.labels["constraint"] == ("ib",)
    assert both.extra["qos"].tolist() == [3, 4]
    with pytest.raises(WorkloadError, match="has an id that stands in"):
        with_requests(log, other.head(0))


def test_queues_stand_in_for_partitions_that_divide_nothing():
    extra = {"partition": np.array([1, 1]), "queue": np.array([0, 3])}
    jobs = Workload([0, 1], [1, 1], [1, 1], [1, 1], extra=extra)
    assert partition_column(jobs) == "queue"
    divided = jobs.replaced(extra={**extra, "partition": np.array([1, 2])})
    assert partition_column(divided) == "partition"


@pytest.mark.data
def test_requests_of_a_real_export_are_read(data):
    jobs = read(data / "sacct" / "phillips.sacct.gz", columns="xdmod")
    told = (jobs.extra["memory_per_node"] >= 0) | (jobs.extra["memory_per_core"] >= 0)
    assert told.all()
    assert len(jobs.labels["node_list"]) == 21
