"""Settings under which stock Slurm comes nearest to a policy."""

from dataclasses import replace

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
from queuesmith.workload.group_names import GroupNames


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


def test_a_policy_for_named_groups_finds_them_in_the_log(jobs, machine):
    accounts = np.arange(len(jobs)) % 2
    named = jobs.replaced(extra={"account": accounts}, labels={"account": ("bio", "chem")})
    policy = as_policy("group+easy").for_groups(GroupNames("account", ("none", "chem", "bio")))
    found = export(named, machine, policy, candidates=2)
    other = export(named.grouped(by="account"), machine, as_policy("group+easy"), candidates=2)
    assert found.seen[1:] == other.seen[1:] and found.seen[0] != other.seen[0]


def test_what_is_better_the_higher_is_made_large(jobs, machine):
    options = {"objective": "utilization", "candidates": 6}
    found = export(jobs, machine, as_policy("narrow+easy"), **options)
    small = export(
        jobs, machine, as_policy("narrow+easy"), **{**options, "objective": "1*utilization"}
    )
    assert found.seen[2] > small.seen[2]
    wanted, _, reached = found.unseen
    assert found.loss == pytest.approx(100 * (wanted - reached) / wanted)


def test_nothing_is_said_in_per_cent_of_a_policy_under_which_nobody_waits(jobs, machine):
    found = export(jobs, machine, as_policy("narrow+easy"), candidates=2)
    nobody = replace(found, unseen=(0.0, 9.0, 500.0))
    assert nobody.loss is None
    assert "# on jobs not seen 500, the policy itself 0, Slurm as it is 9" in nobody.text
    assert "500 (400.0 % worse)" in replace(found, unseen=(100.0, 9.0, 500.0)).text


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
    wide = Workload([0, 5, 9, 14], [60] * 4, [60] * 4, [1, 99, 2, 1])
    write(wide, tmp_path / "jobs.csv")
    assert main([*words, "--policy", "sjf+easy", "--candidates", "2"]) == 0
    assert "note: 1 job left out" in capsys.readouterr().err
