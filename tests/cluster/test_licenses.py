"""Licenses and what resources are billed, as Slurm writes them."""

import numpy as np
import pytest

from queuesmith import Workload
from queuesmith.base.errors import ClusterError
from queuesmith.cluster import NodeCluster, NodeKind, Partition
from queuesmith.cluster.billing import billing_weights
from queuesmith.cluster.licenses import job_licenses, licenses_of, machine_licenses
from queuesmith.cluster.sources import machine_from
from queuesmith.cluster.toml import machine_text, read_machine


def test_licenses_are_read_as_slurm_writes_them():
    assert licenses_of("matlab:10, ansys,site@host:3") == {"matlab": 10, "ansys": 1, "site@host": 3}
    assert licenses_of("") == {}


def test_only_licenses_that_the_machine_has_are_counted():
    work = Workload(
        [0, 0, 0],
        [1, 1, 1],
        [1, 1, 1],
        [1, 1, 1],
        extra={"licenses": np.array([0, 1, -1])},
        labels={"licenses": ("matlab:2,other", "matlab|ansys")},
    )
    assert job_licenses(work, {"matlab": 9, "ansys": 1}).tolist() == [[2, 0], [0, 0], [0, 0]]


@pytest.mark.parametrize("text", ["matlab:many", "matlab:-1"])
def test_licenses_that_are_no_number_are_refused(text):
    machine = NodeCluster((NodeKind("n1", 1),), settings={"Licenses": text})
    with pytest.raises(ClusterError, match=r"sets Licenses=.* Correct it\.$"):
        machine_licenses(machine)


def test_weights_of_memory_are_those_of_a_megabyte():
    weights = billing_weights("CPU=1.0,Mem=0.25G,GRES/gpu=8", "partition 'day'")
    assert weights == {"cpu": 1.0, "mem": 0.25 / 1024, "gres/gpu": 8.0}


@pytest.mark.parametrize("text", ["CPU", "CPU=much", "CPU=-1", "CPU=1G", "=3"])
def test_a_weight_that_is_none_is_refused(text):
    with pytest.raises(ClusterError, match=r"billing of partition 'day' has .* Correct it\.$"):
        Partition("day", ("n1",), billing=text)


def test_both_come_from_a_slurm_conf_and_go_through_toml(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "Licenses=matlab:10\nNodeName=n1 CPUs=4\n"
        'PartitionName=day Nodes=n1 TRESBillingWeights="CPU=1.0,Mem=0.25G"\n'
    )
    machine = machine_from(tmp_path)
    assert machine_licenses(machine) == {"matlab": 10}
    assert machine.partitions[0].billing == "CPU=1.0,Mem=0.25G"
    assert machine.not_understood == {}
    (tmp_path / "m.toml").write_text(machine_text(machine))
    assert read_machine(tmp_path / "m.toml") == machine
