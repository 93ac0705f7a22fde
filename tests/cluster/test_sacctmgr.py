"""QOS, accounts and users as sacctmgr tells them."""

import pytest

from queuesmith.base.errors import ClusterError
from queuesmith.cluster import Amounts
from queuesmith.cluster.sacctmgr import read_sacctmgr

SCRIPT = """\
# a comment
sacctmgr -i add qos name=high,low Priority=100 MaxTRESPerUser=cpu=64,gres/gpu=4 Flags=DenyOnLimit
sacctmgr -i modify qos where name=low set Priority=1 MaxWall=1-0 GrpTRES=cpu=200,node=-1
sacctmgr -i modify qos set high GraceTime=00:02:00 Preempt=low UsageFactor=2
add cluster Name=atlas Fairshare=1 QOS=high,low
add account name=bio Fairshare=30 GrpTRES=gres/gpu:v100=8,mem=2T
add account name=lab Parent=bio MaxJobs=5
add user name=ann,bob Account=bio,lab DefaultAccount=lab Fairshare=parent
add user name=guest Account=bio
modify user name=ann set qos+=urgent MaxSubmitJobs=100
modify user set DefaultQOS=low
modify account name=lab set MaxJobs=-1 GrpJobs=7
remove user where name=guest
archive dump
list associations format=Account tree withd
"""
DUMP = """\
# To edit this file start with a cluster line for the new cluster
Cluster - 'atlas':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'bio':Description='the biologists':Organization='uni':Fairshare=30:GrpTRES=cpu=100
Parent - 'bio'
Account - 'lab':Description='lab':Organization='uni':Fairshare=2
User - 'ann':DefaultAccount='bio':Fairshare=5:MaxJobs=3:MaxWallDurationPerJob=60
Parent - 'lab'
User - 'bob':Partition='debug':DefaultAccount='lab':Fairshare=1
"""
QOS = """\
Name|Priority|GraceTime|Preempt|PreemptExemptTime|PreemptMode|Flags|UsageFactor|GrpTRES|MaxWall|MaxTRESPU|MaxJobsPU|MinTRES
normal|0|00:00:00|||cluster||1.000000|||||
gpu|50|00:05:00|normal|00:10:00|requeue|DenyOnLimit,OverPartQOS|0.500000|gres/gpu=16|2-00:00:00|cpu=128,gres/gpu=4|8|gres/gpu=1
"""
ASSOC = """\
Cluster|Account|User|Partition|Share|GrpJobs|GrpTRES|MaxJobs|MaxTRES|MaxSubmit|MaxWall|QOS|Def QOS|
atlas|root|||1||||||||normal|
atlas| bio|||30||cpu=512|||||normal,gpu||
atlas|  lab|||2|||||||normal,gpu|gpu|
atlas|  lab|ann||parent|||4|cpu=64|||normal||
atlas| chem|||10|||||||normal||
"""


@pytest.fixture
def told(tmp_path):
    """Write what sacctmgr tells, and read it."""

    def write_and_read(*texts):
        paths = []
        for number, text in enumerate(texts):
            paths.append(tmp_path / f"sacctmgr.{number}")
            paths[-1].write_text(text)
        return read_sacctmgr(*paths)

    return write_and_read


def links(accounting):
    return {(link.account, link.user): link for link in accounting.associations}


def test_a_script_of_commands_is_followed(told):
    found = told(SCRIPT)
    high, low = found.qos
    assert found.cluster == "atlas"
    assert (high.priority, high.flags, high.preempts) == (100, ("DenyOnLimit",), ("low",))
    assert (high.grace_time, high.usage_factor) == (120, 2)
    assert high.limits.user == Amounts(cores=64, gpus=4)
    assert (low.priority, low.limits.max_time) == (1, 86_400)
    assert low.limits.group == Amounts(cores=200)
    tree = links(found)
    assert tree["lab", None].parent == "bio"
    assert tree["bio", None].limits.group == Amounts(memory=2 * 1024**2, gres={"gpu:v100": 8})
    assert tree["lab", None].limits.user == Amounts()
    assert tree["lab", None].limits.group == Amounts(jobs=7)
    assert tree["lab", "ann"].default and not tree["bio", "ann"].default
    assert tree["bio", "bob"].shares is None
    assert tree["bio", "ann"].qos == ("urgent",)
    assert tree["bio", "ann"].limits.user.submitted == 100
    assert tree["bio", "bob"].default_qos == "low"
    assert ("bio", "guest") not in tree
    assert found.not_understood == {"archive dump of sacctmgr": 1}


def test_a_dump_is_read(told):
    found = told(DUMP)
    tree = links(found)
    assert found.cluster == "atlas"
    assert tree["bio", None].limits.group == Amounts(cores=100)
    assert (tree["lab", None].parent, tree["lab", None].shares) == ("bio", 2)
    assert tree["bio", "ann"].limits.user.jobs == 3
    assert tree["bio", "ann"].limits.max_time == 3600
    assert tree["lab", "bob"].partition == "debug"
    assert found.not_understood == {}


def test_listings_are_read(told):
    found = told(QOS, ASSOC)
    gpu = found.qos[1]
    assert (gpu.priority, gpu.preempt_mode, gpu.usage_factor) == (50, "requeue", 0.5)
    assert (gpu.preempt_exempt_time, found.qos[0].preempt_exempt_time) == (600, None)
    assert (gpu.grace_time, gpu.flags) == (300, ("DenyOnLimit", "OverPartQOS"))
    assert gpu.limits.group == Amounts(gpus=16)
    assert gpu.limits.user == Amounts(cores=128, gpus=4, jobs=8)
    assert gpu.limits.job_least == Amounts(gpus=1)
    assert gpu.limits.max_time == 2 * 86_400
    tree = links(found)
    assert tree["lab", None].parent == "bio"
    assert tree["chem", None].parent == "root"
    assert tree["lab", None].default_qos == "gpu"
    ann = tree["lab", "ann"]
    assert (ann.shares, ann.limits.user.jobs, ann.limits.job.cores) == (None, 4, 64)


def test_strange_words_are_counted(told):
    found = told("add qos name=a Colour=red\nadd qos name=b Colour=blue\npaint qos name=a\n")
    assert found.not_understood == {"colour of sacctmgr": 2, "paint qos of sacctmgr": 1}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("add qos name=a MaxJobsPerUser=-5", "line 1 .* sets maxjobsperuser=-5"),
        ("add qos name=a MaxWall=soon", "line 1 .* sets maxwall=soon"),
        ("add qos name=a GrpTRES=cpu", "line 1 .* sets grptres=cpu"),
        ("add account name=a parent=b\nadd account name=b parent=a", "its own ancestor"),
    ],
)
def test_a_limit_that_makes_no_sense_is_told_in_one_sentence(told, line, sentence):
    with pytest.raises(ClusterError, match=sentence):
        told(line + "\n")


@pytest.mark.data
def test_the_script_of_a_real_run_is_understood(data):
    found = read_sacctmgr(data / "slurm-runs" / "micro" / "sacctmgr.script")
    assert [qos.name for qos in found.qos] == ["normal", "supporters"]
    assert links(found)["account1", "user1"].limits.user.submitted == 1000
    assert links(found)["account1", "user1"].qos == ("normal", "supporters")
    assert links(found)["account2", None].shares == 100
    assert found.not_understood == {}
