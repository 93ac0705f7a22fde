"""Jobs and nodes as plain arrays, and which jobs fit where."""

import numpy as np
import pytest

from queuesmith.base.errors import ClusterError, WorkloadError
from queuesmith.cluster import (
    Association,
    NodeCluster,
    NodeKind,
    Partition,
    QualityOfService,
)
from queuesmith.cluster.features import nodes_with
from queuesmith.cluster.fitting import fitting
from queuesmith.cluster.node_arrays import gpu_types, node_arrays
from queuesmith.cluster.requests import job_requests
from queuesmith.cluster.sources import machine_from
from queuesmith.workload.events import parse_events
from queuesmith.workload.files import read
from queuesmith.workload.requests import with_requests

KINDS = (
    NodeKind("n[1-3]", 12, 48_000, features=("ib", "new")),
    NodeKind("g1", 12, 48_000, {"gpu:v100": 2}, ("ib",), 5),
    NodeKind("b1", 24, 512_000, features=("old",)),
)
ALL = ("n1", "n2", "n3", "g1", "b1")
MACHINE = NodeCluster(
    KINDS,
    "atlas",
    partitions=(
        Partition("day", ALL, default=True, default_memory_per_core=1000, max_time=7200),
        Partition("debug", "n[1-2]", tier=9, exclusive="nodes"),
    ),
    qos=(QualityOfService("normal"), QualityOfService("high", 5)),
    associations=(
        Association("bio", "ann", default=True),
        Association("bio", "bob", default_qos="high"),
        Association("chem", "bob", default=True),
    ),
)


def jobs(*options):
    lines = [
        f"-dt {i} -e submit_batch_job | -sim-walltime 60 -t 60 {o} x\n"
        for i, o in enumerate(options)
    ]
    return parse_events("".join(lines).encode(), "made.events")


def requests(*options, machine=MACHINE):
    return job_requests(jobs(*options), machine)


def test_nodes_become_arrays():
    nodes = node_arrays(MACHINE)
    assert nodes.cores.tolist() == [12, 12, 12, 12, 24]
    assert nodes.memory.tolist() == [48_000] * 4 + [512_000]
    assert nodes.gpus.tolist() == [[0], [0], [0], [2], [0]]
    assert nodes.weight.tolist() == [1, 1, 1, 5, 1]
    assert nodes.partitions.tolist() == [[True] * 5, [True, True, False, False, False]]
    assert nodes.features.shape == (3, 5)
    assert gpu_types(MACHINE) == ("v100",)


def test_memory_that_is_not_given_out_is_nowhere():
    machine = NodeCluster(KINDS, settings={"SelectTypeParameters": "CR_Core"})
    assert not node_arrays(machine).memory.any()
    assert not requests("--mem=5G", machine=machine).memory_per_node.any()


@pytest.mark.parametrize(
    ("constraint", "nodes"),
    [
        ("ib", "n1 n2 n3 g1"),
        ("ib&new", "n1 n2 n3"),
        ("new|old", "n1 n2 n3 b1"),
        ("ib&(new|old)", "n1 n2 n3"),
        ("[new|old]", "n1 n2 n3 b1"),
        ("new*2&old*1", "n1 n2 n3 b1"),
        ("!ib", "b1"),
        ("purple", ""),
    ],
)
def test_constraints_choose_nodes(constraint, nodes):
    chosen = np.array(ALL)[nodes_with(MACHINE, constraint)]
    assert " ".join(chosen) == nodes


@pytest.mark.parametrize("constraint", ["ib&", "(ib", "&", "ib)", "a b"])
def test_a_constraint_that_cannot_be_read_is_told(constraint):
    with pytest.raises(ClusterError, match="constraint"):
        nodes_with(MACHINE, constraint)


def test_the_shape_of_jobs_is_settled():
    found = requests("-n 24 --ntasks-per-node=12", "-N 2 -n 18", "-n 6 -c 2", "-N 2-4", "-n 7")
    assert found.least_nodes.tolist() == [2, 2, 1, 2, 1]
    assert found.most_nodes.tolist() == [0, 2, 0, 4, 0]
    assert found.cores.tolist() == [24, 18, 12, 2, 7]
    assert found.cores_per_node.tolist() == [12, 0, 0, 0, 0]
    assert found.cores_per_task.tolist() == [1, 1, 2, 1, 1]


def test_memory_is_what_jobs_ask_for_or_the_default_of_their_partition():
    found = requests("-n 4", "--mem=5G", "--mem-per-cpu=300", "--mem=0", "-p debug")
    assert found.memory_per_core.tolist() == [1000, 0, 300, 0, 0]
    assert found.memory_per_node.tolist() == [0, 5120, 0, 0, 0]
    assert found.whole_memory.tolist() == [False, False, False, True, False]


def test_where_slurm_has_no_default_a_job_gets_all_memory_of_its_nodes():
    machine = NodeCluster(KINDS, settings={"SelectTypeParameters": "CR_Core_Memory"})
    assert requests("-n 1", "--mem=5G", machine=machine).whole_memory.tolist() == [True, False]


def test_gpus_are_counted_by_node():
    found = requests("--gres=gpu:v100:2", "-N 2 -n 2 --gpus=4", "--gres=gpu:1", "-n 1")
    assert found.gpus_per_node.tolist() == [2, 2, 1, 0]
    assert found.gpu_type.tolist() == [0, -1, -1, -1]


def test_partitions_and_features_decide_where_a_job_may_run():
    found = requests("-n 1", "-p debug", "-p day,debug", "-C old", "-x n1 -p debug", "-p nowhere")
    sets = [found.node_sets[i].tolist() for i in found.node_set]
    assert sets[0] == sets[2] == [True] * 5
    assert sets[1] == [True, True, False, False, False]
    assert sets[3] == [False] * 4 + [True]
    assert sets[4] == [False, True, False, False, False]
    assert sets[5] == [False] * 5
    assert found.partition.tolist() == [0, 1, 1, 0, 1, -1]
    assert found.exclusive.tolist() == [0, 1, 1, 0, 1, 0]


def test_qos_and_association_are_stated_or_those_of_the_user():
    found = requests("--uid=ann -q high", "--uid=bob -A bio", "--uid=bob", "--uid=eve")
    accounts = [str(MACHINE.associations[i]) if i >= 0 else "" for i in found.association]
    assert accounts == [
        "user 'ann' of account 'bio'",
        "user 'bob' of account 'bio'",
        "user 'bob' of account 'chem'",
        "",
    ]
    assert found.qos.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("-p dya", "job 1 cannot run: there is no partition 'dya'. Did you mean 'day'?"),
        ("-C purple", "asks for 'purple', but no node of partition 'day' has that"),
        ("--gres=gpu:k80:1", "asks for 'k80'"),
        ("--mem=600000", "asks for 1 core, 600000 MB on a node"),
        ("--gres=gpu:4", "4 GPUs on a node, but no node of partition 'day'"),
        ("-n 48 --ntasks-per-node=24", "asks for 48 cores on 2 nodes"),
        ("-N 6", "asks for 6 cores on 6 nodes"),
        ("-n 100", "asks for 100 cores on 1 node,"),
        ("-t 3:00:00", "asks for 10800 seconds, but partition 'day' gives 7200"),
    ],
)
def test_a_job_that_fits_nowhere_is_told_in_one_sentence(options, sentence):
    with pytest.raises(WorkloadError) as caught:
        fitting(jobs(options), MACHINE)
    assert sentence in str(caught.value)
    with pytest.raises(WorkloadError, match="not asking for --strict"):
        fitting(jobs("-n 1", options), MACHINE, strict=True)


def test_jobs_that_fit_nowhere_are_left_out_and_counted():
    fit = fitting(jobs("-n 1", "-p dya", "--mem=600000", "-C purple", "-n 24"), MACHINE)
    assert len(fit) == 2
    assert sorted(c.count for c in fit.changes if c.dropped) == [1, 1, 1]


def test_where_all_fit_nothing_changes():
    log = jobs("-n 72", "-n 24 --ntasks-per-node=12 -p debug")
    assert fitting(log, MACHINE) is log


@pytest.mark.data
def test_a_real_log_and_what_was_submitted_are_the_same_jobs(data):
    folder = data / "slurm-runs" / "micro"
    machine, log = machine_from(folder), read(folder / "sacct.out")
    submitted = read(folder / "jobs500.events")
    assert np.array_equal(log.id, submitted.id)
    assert np.array_equal(log.submit, submitted.submit)
    both = with_requests(log, submitted)
    assert fitting(both, machine) is both
    found, asked = job_requests(both, machine), job_requests(submitted, machine)
    for name in ("cores", "cores_per_node", "least_nodes", "gpus_per_node", "memory_per_node"):
        assert np.array_equal(getattr(found, name), getattr(asked, name))
    assert np.array_equal(found.association, asked.association)
    # Where the jobs really ran is where they may run.
    index = machine.node_index
    from queuesmith.cluster.hostlist import expanded

    for job in range(len(both)):
        nodes = expanded(both.label("node_list", int(both.extra["node_list"][job])))
        assert found.node_sets[found.node_set[job], [index[n] for n in nodes]].all()


@pytest.mark.data
def test_all_jobs_of_a_real_week_fit(data):
    folder = data / "slurm-runs" / "ub-week"
    log = read(folder / "workload_week.events.gz")
    assert len(log) == 19_579
    assert fitting(log, machine_from(folder)) is log
