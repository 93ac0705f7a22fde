"""The machine that a slurm.conf describes."""

import pytest

from queuesmith.base.errors import ClusterError
from queuesmith.cluster.slurm_conf import machine_of_slurm_conf
from queuesmith.cluster.sources import machine_from


@pytest.fixture
def conf(tmp_path):
    """Write configuration files and read the machine."""

    def write_and_read(text, **others):
        (tmp_path / "slurm.conf").write_text(text)
        for name, content in others.items():
            (tmp_path / f"{name}.conf").write_text(content)
        return machine_from(tmp_path / "slurm.conf")

    return write_and_read


def test_nodes_take_over_what_default_lines_say(conf):
    machine = conf(
        "ClusterName=atlas\n"
        "NodeName=DEFAULT RealMemory=187000 Sockets=2 CoresPerSocket=16 Weight=60\n"
        "NodeName=n[1-2] Feature=ib,skylake\n"
        "NodeName=DEFAULT CPUs=40 CoresPerSocket=20\n"
        "NodeName=m1 Weight=70 Gres=gpu:v100:2,nic:1\n"
    )
    assert machine.name == "atlas"
    first, second = machine.kinds
    assert (first.nodes, first.cores, first.memory, first.weight) == (("n1", "n2"), 32, 187_000, 60)
    assert first.features == ("ib", "skylake")
    assert (second.cores, second.weight, second.gres) == (40, 70, {"gpu:v100": 2, "nic": 1})


@pytest.mark.parametrize(
    ("words", "cores", "threads"),
    [
        ("CPUs=12", 12, 1),
        ("Procs=12", 12, 1),
        ("", 1, 1),
        ("Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", 16, 2),
        ("CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", 16, 2),
        ("CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", 8, 1),  # a CPU is a core
        ("CPUs=7 Sockets=2 CoresPerSocket=4", 8, 1),
        ("CPUs=16 CoreSpecCount=2", 14, 1),
        ("CPUs=8 CpuSpecList=0,1", 6, 1),
        ("CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CpuSpecList=0-2", 12, 2),
        ("CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CoreSpecCount=2", 6, 1),
    ],
)
def test_cores_are_counted_as_slurm_does(conf, words, cores, threads):
    kind = conf(f"NodeName=n1 {words}\n").kinds[0]
    assert (kind.cores, kind.threads_per_core) == (cores, threads)


def test_whole_cores_are_given_out_under_cr_cpu_too_where_threads_are_named(conf):
    # Slurm 22.05 runs eight jobs of one CPU at once on 16 CPUs of eight cores, under CR_CPU, too.
    text = "NodeName=n1 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2\nNodeName=n2 CPUs=16\n"
    kinds = conf(text + "SelectTypeParameters=CR_CPU\n").kinds
    assert [(kind.cores, kind.threads_per_core) for kind in kinds] == [(16, 2), (16, 1)]


def test_partitions_overlap_and_take_over_defaults(conf):
    machine = conf(
        "NodeName=n[1-4] CPUs=4 Feature=a\nNodeName=g1 CPUs=4\n"
        "NodeSet=odd Nodes=n1,n3\nNodeSet=have_a Feature=a\n"
        "PartitionName=DEFAULT MaxTime=3-0 DefMemPerCPU=2800 State=UP\n"
        "PartitionName=all Nodes=ALL Default=YES PriorityJobFactor=5 PriorityTier=2\n"
        "PartitionName=debug Nodes=n[1-2] MaxTime=30 OverSubscribe=EXCLUSIVE MaxNodes=1 \\\n"
        "  State=DOWN\n"
        "PartitionName=odd Nodes=odd,g1 MaxTime=INFINITE AllowAccounts=bio,chem QOS=odd "
        "Priority=7\n"
        "PartitionName=some Nodes=have_a OverSubscribe=FORCE:3 ExclusiveUser=YES\n"
    )
    everywhere, debug, odd, some = machine.partitions
    assert everywhere.nodes == ("n1", "n2", "n3", "n4", "g1")
    assert (everywhere.max_time, everywhere.priority, everywhere.tier) == (3 * 86_400, 5, 2)
    assert everywhere.default and machine.default_partition is everywhere
    assert (debug.max_time, debug.exclusive, debug.max_nodes, debug.up) == (1800, "nodes", 1, False)
    assert debug.default_memory_per_core == 2800
    assert (odd.nodes, odd.max_time, odd.qos) == (("n1", "n3", "g1"), None, "odd")
    assert (odd.allow_accounts, odd.priority, odd.tier) == (("bio", "chem"), 7, 7)
    assert (some.nodes[-1], some.oversubscribe, some.exclusive) == ("n4", 3, "user")


def test_a_line_may_go_on_within_a_list(conf):
    machine = conf("SchedulerParameters=bf_continue,\\\nbf_window=10080 \\\n\nNodeName=n1\n")
    assert machine.settings["SchedulerParameters"] == "bf_continue,bf_window=10080"
    assert machine.not_understood == {}


def test_whole_nodes_are_given_out_by_select_linear(conf):
    machine = conf("SelectType=select/linear\nNodeName=n1\nPartitionName=a Nodes=n1\n")
    assert machine.partitions[0].exclusive == "nodes"


def test_what_decides_about_scheduling_is_kept_and_strange_words_are_counted(conf):
    machine = conf(
        "SchedulerParameters==bf_interval=30,bf_continue\n"
        "SlurmctldPort=6817\nStateSaveLocation=/var/spool\n"
        "PriorityWeigthAge=1\nPriorityWeigthAge=2\n"
        "NodeName=n1 CPUs=2 Colour=red NodeAddr=10.0.0.1\n"
        "PartitionName=a Nodes=n1 Speed=9\n"
    )
    assert machine.settings["SchedulerParameters"] == "bf_interval=30,bf_continue"
    assert machine.settings["AccountingStorageEnforce"] == "none"
    assert not machine.enforces_limits
    assert machine.not_understood == {
        "PriorityWeigthAge": 2,
        "Colour of NodeName": 1,
        "Speed of PartitionName": 1,
    }


def test_nodes_that_are_down_are_away_and_future_ones_are_not_there(conf):
    machine = conf(
        "NodeName=n[1-3] CPUs=2\nNodeName=n4 CPUs=2 State=DOWN Reason=fan\n"
        "NodeName=n5 CPUs=2 State=FUTURE\nDownNodes=n[1-2] State=DRAIN\n"
    )
    assert machine.node_names == ("n1", "n2", "n3", "n4")
    assert {(o.nodes, o.reason) for o in machine.outages} == {
        (("n4",), "fan"),
        (("n1", "n2"), "drain"),
    }


def test_partitions_sets_and_downnodes_may_name_nodes_that_are_not_there_yet(conf):
    machine = conf(
        "NodeName=n[1-3] CPUs=2\nNodeName=n[4-6] CPUs=2 State=FUTURE\nNodeSet=s Nodes=n[3-4]\n"
        "DownNodes=n[3-4]\nDownNodes=n5\n"
        "PartitionName=a Nodes=n[2-6]\nPartitionName=b Nodes=s\nPartitionName=c Nodes=n6\n"
    )
    assert [p.nodes for p in machine.partitions] == [("n2", "n3"), ("n3",), ()]
    assert [outage.nodes for outage in machine.outages] == [("n3",)]


def test_resources_that_are_not_consumed_are_read_as_the_manual_writes_them(conf):
    machine = conf("NodeName=n1 Gres=gpu:tesla:1,bandwidth:lustre:no_consume:4G,fpga:no_consume\n")
    assert machine.kinds[0].gres == {"gpu:tesla": 1, "bandwidth:lustre": 4 * 2**30, "fpga": 1}


def test_gres_conf_tells_the_types_of_gpus(conf):
    machine = conf(
        "NodeName=g[1-2] CPUs=4 Gres=gpu:2\nNodeName=n1 CPUs=4\n",
        gres="AutoDetect=off\nNodeName=g1 Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"
        "NodeName=g2 Name=gpu Count=1\n",
    )
    assert [(kind.nodes, kind.gres) for kind in machine.kinds] == [
        (("g1",), {"gpu:a100": 2}),
        (("g2",), {"gpu": 2}),  # slurm.conf decides how many
        (("n1",), {}),
    ]


def test_the_network_is_a_tree_of_switches(conf):
    machine = conf(
        "NodeName=n[1-2]\n",
        topology="SwitchName=a Nodes=n[1-3]\nSwitchName=top Switches=a\n",
    )
    leaf, top = machine.switches
    assert (leaf.nodes, top.switches) == (("n1", "n2"), ("a",))
    assert list(machine.not_understood) == ["nodes n3 of switch a, which there are not"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ClusterName=a\n", "has no NodeName line"),
        ("NodeName=n1\nPartitionName=a Nodes=n[1-2]\n", "line 2 .* partition 'a' the node 'n2'"),
        ("NodeName=n1\nNodeName=n1\n", "the node 'n1' twice"),
        ("NodeName=n1\nPartitionName=a\nPartitionName=a\n", "line 3 .* 'a' once more"),
        ("NodeName=n1 CPUs=many\n", "line 1 .* cpus=many"),
        ("NodeName=n1 Gres=gpu:v100:2:3:4\n", "Gres=gpu:v100:2:3:4"),
        ("NodeName=n1 CPUs=4 CpuSpecList=first\n", "line 1 .* CpuSpecList=first"),
        ("NodeName=n[1-\n", "brackets that do not close"),
        ("NodeName=n1\nPartitionName=a MaxTime=-5\n", "line 2 .* maxtime=-5"),
        ("NodeName=n1\nPartitionName=a PriorityJobFactor=high\n", "PriorityJobFactor=high"),
        ("Include slurm.conf\n", "Let no file include itself"),
        ("Include elsewhere.conf\n", r"elsewhere\.conf' cannot be read"),
    ],
)
def test_a_file_that_makes_no_sense_is_told_in_one_sentence(conf, text, sentence):
    with pytest.raises(ClusterError, match=sentence) as caught:
        conf(text)
    assert "\n" not in str(caught.value)


def test_two_files_that_include_each_other_are_told(conf):
    with pytest.raises(ClusterError, match="Let no file include itself"):
        conf("Include other.conf\n", other="Include slurm.conf\n")


def test_a_default_line_after_a_default_line_adds_to_it(conf):
    machine = conf(
        "NodeName=DEFAULT CPUs=4\nNodeName=DEFAULT RealMemory=100\nNodeName=DEFAULT\nNodeName=n1\n"
    )
    assert (machine.kinds[0].cores, machine.kinds[0].memory) == (4, 100)


@pytest.mark.data
def test_the_cluster_of_a_week_has_five_kinds_of_nodes(data):
    machine = machine_from(data / "slurm-runs" / "ub-week")
    assert [len(kind.nodes) for kind in machine.kinds] == [87, 2, 8, 96, 24]
    assert (machine.cores, sum(k.gpus * len(k.nodes) for k in machine.kinds)) == (7968, 20)
    assert [p.name for p in machine.partitions] == ["general-compute", "debug"]
    assert len(machine.qos) == 5
    assert sum(link.user is not None for link in machine.associations) == 96
    assert all("of switch" in what for what in machine.not_understood)


@pytest.mark.data
def test_the_micro_cluster_is_read_whole(data):
    folder = data / "slurm-runs" / "micro"
    machine = machine_from(folder)
    assert machine_of_slurm_conf(folder / "slurm.conf").kinds == machine.kinds
    assert machine.not_understood == {}
    assert machine.enforces_limits and machine.counts_memory
    assert [(k.nodes[0], k.memory, k.gpus) for k in machine.kinds] == [
        ("n1", 48_000, 0),
        ("m1", 48_000, 0),
        ("g1", 48_000, 2),
        ("b1", 512_000, 0),
    ]
    assert machine.qos_priority == {"normal": 0, "supporters": 100}
