import pytest

from queuesmith.base.errors import ClusterError
from queuesmith.cli.options import MachineOptions
from queuesmith.policy import Policy
from queuesmith.workload import Workload


def test_a_machine_takes_its_size_from_the_log_or_from_the_user():
    jobs = Workload([0], [1], [1], [1], machine_cores=8)
    assert MachineOptions().cluster(jobs).cores == 8
    assert MachineOptions(cores=4).cluster(jobs).cores == 4
    with pytest.raises(ClusterError, match=r"--cores N"):
        MachineOptions().cluster(Workload([0], [1], [1], [1]))


def test_a_slurm_conf_changes_only_the_multifactor_order(tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text("PriorityWeightAge=5\nPartitionName=a PriorityJobFactor=3\n")
    machine = MachineOptions(cores=4, slurm_conf=conf, qos_priority="high=2")
    cluster = machine.cluster(Workload([0], [1], [1], [1]))
    assert dict(cluster.partition_priority) == {"a": 3}
    assert dict(cluster.qos_priority) == {"high": 2}
    fcfs = Policy.parse("fcfs+easy")
    assert machine.configured(fcfs) is fcfs
    changed = machine.configured(Policy.parse("multifactor+easy"))
    assert changed.order.parameters["PriorityWeightAge"] == 5
    assert changed.order.parameters["PriorityWeightFairshare"] == 0
    assert MachineOptions().configured(changed) is changed
