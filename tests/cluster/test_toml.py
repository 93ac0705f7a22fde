"""Machines as TOML, written by people and by the product."""

import pytest

from queuesmith.base.errors import ClusterError, UsageError
from queuesmith.base.toml import parse_toml
from queuesmith.cluster import (
    Amounts,
    Association,
    Limits,
    NodeCluster,
    NodeKind,
    Outage,
    Partition,
    QualityOfService,
    Switch,
)
from queuesmith.cluster.sources import machine_from
from queuesmith.cluster.toml import machine_of_table, machine_text, write_machine

SHORT = """\
name = "atlas"

[[nodes]]
names = "n[1-4]"
cores = 12
memory = "48G"

[[nodes]]
names = "g1"
cores = 12
gpus = {v100 = 2}
features = ["ib"]

[[partitions]]
name = "day"
nodes = "all"
max_time = "1-00:00:00"
default = true

[[qos]]
name = "normal"
max_time = "12:00:00"
user = {cores = 24, jobs = 2}

[[accounts]]
account = "bio"
shares = 30
group = {gpus = 1}

[[accounts]]
account = "bio"
user = "ann"
shares = "parent"
each_user = {jobs = 3}

[[outages]]
nodes = "n1"
begin = 2024-05-31T08:00:00Z
end = "2024-05-31T20:00:00"

[settings]
PriorityWeightAge = 1000
PriorityFavorSmall = false
"""


def parsed(text):
    return machine_of_table(parse_toml(text, "'a.toml'"), "'a.toml'")


def test_what_a_person_writes_in_a_minute_is_read():
    machine = parsed(SHORT)
    assert machine.kinds[0] == NodeKind("n[1-4]", 12, 48 * 1024)
    assert machine.kinds[1] == NodeKind("g1", 12, gres={"gpu:v100": 2}, features=("ib",))
    nodes = ("n1", "n2", "n3", "n4", "g1")
    assert machine.partitions == (Partition("day", nodes, default=True, max_time=86_400),)
    limits = Limits(user=Amounts(cores=24, jobs=2), max_time=43_200)
    assert machine.qos == (QualityOfService("normal", limits=limits),)
    assert machine.associations[2].shares is None
    assert machine.associations[2].limits.user.jobs == 3
    assert machine.outages[0].end - machine.outages[0].begin == 12 * 3600
    assert machine.settings == {"PriorityWeightAge": "1000", "PriorityFavorSmall": "NO"}


def test_two_lines_are_enough():
    machine = parsed('[[nodes]]\nnames = "n[1-2]"\ncores = 4\ngpus = 1\n')
    assert (machine.cores, machine.kinds[0].gres) == (8, {"gpu": 1})


def test_what_is_written_reads_back_the_same():
    limits = Limits(
        job=Amounts(cores=5, gres={"gpu:a100": 3}),
        user=Amounts(jobs=1, core_minutes=9),
        group=Amounts(memory=100),
        max_time=90_061,
    )
    machine = NodeCluster(
        (NodeKind("n[08-11],x", 8, 100, {"gpu:a": 1, "nic": 2}, ("b", "a"), 7, 2),),
        'the "machine"',
        partitions=(
            Partition("a", "x,n08", default_time=60, exclusive="user", allow_qos=("q",), qos="q"),
        ),
        qos=(
            QualityOfService("q", 3, limits, ("F",), ("p",), "requeue", 5, 0.5),
            QualityOfService("p"),
        ),
        associations=(Association("bio", "ann", "a", shares=None, limits=limits, default=True),),
        outages=(Outage("n08", 5, 9, "why", planned=False), Outage()),
        switches=(Switch("s", "n08"), Switch("t", switches=("s",))),
        settings={"SchedulerType": "sched/backfill"},
        inferred={"qos q: jobs of a user": "guess"},
        not_understood={"Colour": 2},
    )
    text = machine_text(machine)
    assert text.startswith("# not understood: Colour (2)\n")
    assert parsed(text) == machine


@pytest.mark.data
@pytest.mark.parametrize("name", ["micro", "ub-week"])
def test_real_machines_read_back_the_same(data, tmp_path, name):
    machine = machine_from(data / "slurm-runs" / name)
    write_machine(machine, tmp_path / "machine.toml")
    assert machine_from(tmp_path) == machine
    assert machine_from(tmp_path / "machine.toml") == machine


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nodes = 4\n", "nodes must be tables"),
        ('[[nodes]]\nnames = "n1"\n', "nodes number 1 of 'a.toml' has no cores"),
        ('[[nodes]]\nnames = "n1"\ncores = 4\ncolour = 1\n', "there is no key 'colour'"),
        ("[[nodes]]\nnames = 4\ncores = 4\n", "a value of the wrong kind"),
        ('[[nodes]]\nnames = "n1"\ncores = "four"\n', "cores of the nodes from 'n1' on is 'four'"),
        ('[[nodes]]\nnames = "n1"\ncores = 4\nmemory = "much"\n', 'has memory = "much"'),
        ('[[nodes]]\nnames = "n1"\ncores = 4\nfeatures = 3\n', "a value of the wrong kind"),
        ('[[qos]]\nname = "a"\nuser = {jobs = -2}\n', "a limit of jobs is -2"),
        ('[[qos]]\nname = "a"\nuser = {shoes = 2}\n', "there is no key 'shoes'"),
        ('colour = "red"\n', "there is no key 'colour'"),
    ],
)
def test_a_file_that_makes_no_sense_is_told_in_one_sentence(text, sentence):
    with pytest.raises(UsageError) as caught:
        parsed(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_machine_says_what_is_looked_for(tmp_path):
    with pytest.raises(ClusterError, match=r"no machine\.toml, no slurm\.conf"):
        machine_from(tmp_path)
    with pytest.raises(ClusterError, match="there is no file or folder"):
        machine_from(tmp_path / "absent")
