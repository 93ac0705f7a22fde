"""Settings under which stock Slurm comes nearest to a policy."""

import numpy as np
import pytest

from queuesmith import Workload
from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.cli import main
from queuesmith.cluster import NodeCluster
from queuesmith.cluster.nodes import NodeKind, Partition
from queuesmith.live.export import export
from queuesmith.policy import as_policy
from queuesmith.workload.files import write


@pytest.fixture(scope="module")
def jobs():
    chance = np.random.default_rng(4)
    runtime = chance.integers(60, 4000, 80)
    cores = chance.choice([1, 2, 4, 8], 80)
    return Workload(np.sort(chance.integers(0, 20_000, 80)), runtime, runtime + 600, cores)


@pytest.fixture(scope="module")
def machine():
    nodes = ("n1", "n2")
    parts = (Partition("day", nodes, default=True), Partition("night", nodes))
    return NodeCluster((NodeKind(nodes, 8),), "atlas", parts)


def test_settings_are_found_and_judged_on_jobs_not_seen(jobs, machine):
    found = export(jobs, machine, as_policy("narrow+easy"), candidates=8)
    policy, today, exported = found.seen
    assert exported <= today and policy > 0
    assert found.loss == pytest.approx(100 * (found.unseen[2] / found.unseen[0] - 1))
    assert found.text.startswith("# nearest to narrow+easy by mean_wait")
    assert "PriorityType=priority/multifactor" in found.text
    assert "PriorityJobFactor=" in found.text and "bf_max_job_test=" in found.text
    assert len(found.rows()) == 3
    again = export(jobs, machine, as_policy("narrow+easy"), candidates=8)
    assert again.candidate == found.candidate


def test_what_makes_no_sense_is_one_sentence(jobs, machine):
    with pytest.raises(QueuesmithError, match="is Slurm already"):
        export(jobs, machine, as_policy("slurm()"))
    with pytest.raises(UsageError, match="candidates"):
        export(jobs, machine, as_policy("sjf"), candidates=1)
    with pytest.raises(UsageError, match="mean_weight"):
        export(jobs, machine, as_policy("sjf"), objective="mean_weight")


def test_the_command_prints_lines_for_slurm_conf(jobs, tmp_path, capsys):
    write(jobs, tmp_path / "jobs.csv")
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=atlas\nNodeName=n[1-2] CPUs=8\nPartitionName=day Nodes=ALL Default=YES\n"
    )
    words = ["slurm", "export", str(tmp_path / "jobs.csv"), "--machine", str(tmp_path)]
    assert main([*words, "--policy", "sjf+easy", "--candidates", "2", "-q"]) == 0
    assert "PriorityWeightAge=" in capsys.readouterr().out
