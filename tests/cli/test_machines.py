"""``queuesmith machine``."""

import json

import pytest

CONF = """\
ClusterName=atlas
NodeName=n[1-4] CPUs=12 RealMemory=48000 Feature=ib
NodeName=g1 CPUs=12 RealMemory=48000 Gres=gpu:2
PartitionName=day Nodes=ALL Default=YES MaxTime=1-0
PriorityWeigthAge=5
"""
SACCTMGR = "add qos name=normal MaxTRESPerUser=cpu=24\nadd account name=bio Fairshare=3\n"
EVENTS = """\
-dt 0 -e submit_batch_job | -J j_1 -sim-walltime 60 --uid=ann -t 60 -n 12 run.sh
-dt 5 -e submit_batch_job | -J j_2 -sim-walltime 60 --uid=ann -t 60 -n 1 -p nihgt run.sh
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "sacctmgr.script").write_text(SACCTMGR)
    (tmp_path / "jobs.events").write_text(EVENTS)
    return tmp_path


def test_a_machine_is_shown(run, folder):
    shown = run("machine", folder)
    assert shown.code == 0, shown.err
    assert shown.out.startswith("atlas: 5 nodes, 60 cores, 240,000 MB, 2 GPUs, 1 partition")
    for text in ("n[1-4]", "2 gpu", "day (default)", "user: 24 cores", "bio", "PriorityWeigthAge"):
        assert text in shown.out


def test_a_machine_is_shown_as_json_and_csv(run, folder):
    content = json.loads(run("machine", folder, "--format", "json").out)
    assert (content["name"], content["cores"], content["node_count"]) == ("atlas", 60, 5)
    assert content["nodes"][0]["names"] == "n[1-4]"
    assert content["not_understood"] == {"PriorityWeigthAge": 1}
    lines = run("machine", folder, "--format", "csv").out.splitlines()
    assert lines[1].startswith("n[1-4],4,12,48000")


def test_a_machine_is_written_as_toml_and_read_back(run, folder, tmp_path):
    written = run("machine", folder, "--out", tmp_path / "own.toml", "--format", "json")
    assert "wrote" in written.err
    again = json.loads(run("machine", tmp_path / "own.toml", "--format", "json").out)
    assert again["partitions"] == json.loads(written.out)["partitions"]


def test_a_log_beside_it_tells_which_jobs_fit(run, folder):
    shown = run("machine", folder, "--log", folder / "jobs.events")
    assert "1 job left out: asks for a partition that the machine has not" in shown.err
    assert "1 of 2 jobs fits machine 'atlas'" in shown.err
    strict = run("machine", folder, "--log", folder / "jobs.events", "--strict")
    assert strict.code == 1
    assert "job 2 cannot run: there is no partition 'nihgt'" in strict.err


def test_a_machine_is_inferred_from_a_log(run, sacct):
    shown = run("machine", "infer", "--log", sacct)
    assert shown.code == 0, shown.err
    assert "Inferred from the log" in shown.said
    assert "main (default)" in shown.said


def test_many_rows_are_cut_short(run, folder):
    users = "".join(f"add user name=u{i} Account=bio MaxJobs=2\n" for i in range(40))
    (folder / "sacctmgr.users").write_text(users)
    assert "and 20 more" in run("machine", folder).said


@pytest.mark.parametrize(
    ("conf", "sentence"),
    [
        ("NodeName=n1\nPartitionName=day Nodes=n[1-2]\n", "partition 'day' the node 'n2'"),
        ("Include slurm.conf\n", "Let no file include itself"),
        ("NodeName=n1 CPUs=-4\n", "cpus=-4"),
        ("ClusterName=x\n", "no NodeName line"),
    ],
)
def test_a_bad_configuration_is_told_in_one_sentence(run, folder, conf, sentence):
    (folder / "slurm.conf").write_text(conf)
    shown = run("machine", folder)
    assert shown.code == 2
    assert sentence in shown.err
    assert shown.err.count("\n") == 1


def test_a_negative_limit_is_told_in_one_sentence(run, folder):
    (folder / "sacctmgr.script").write_text("add qos name=a GrpJobs=-7\n")
    shown = run("machine", folder)
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    assert "line 1 of" in shown.err and "grpjobs=-7" in shown.err


@pytest.mark.parametrize("words", [("nowhere",), ("infer",)])
def test_a_machine_that_is_nowhere_is_told(run, words):
    shown = run("machine", *words)
    assert shown.code == 2
    assert shown.err.count("\n") == 1
