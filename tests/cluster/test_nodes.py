"""Nodes, partitions, limits and outages check themselves at birth."""

import ast
import inspect
from dataclasses import fields

import pytest

from queuesmith.base.errors import UsageError
from queuesmith.cluster import (
    Amounts,
    Association,
    Limits,
    NodeCluster,
    NodeKind,
    Outage,
    Partition,
    QualityOfService,
    nodes,
)
from queuesmith.cluster.limits import inherited, ordered, share_tree

KIND = NodeKind("n[1-4]", 12, 48_000, {"gpu:v100": 2, "nic": 1}, ("ib",))


def test_a_machine_tells_its_nodes_as_places():
    machine = NodeCluster((KIND, NodeKind("b1", 40)), "atlas")
    assert machine.cores == 88
    assert machine.places.names == ("n1", "n2", "n3", "n4", "b1")
    assert machine.places.cores.tolist() == [12, 12, 12, 12, 40]
    assert machine.measures == {}
    assert KIND.gpus == 2


def test_names_of_nodes_are_given_as_such_or_in_short():
    given = [NodeKind("n[1-2]", 4), NodeKind(["n1", "n2"], 4), NodeKind(("n1", "n2"), 4)]
    assert {kind.nodes for kind in given} == {("n1", "n2")}
    assert len(set(map(str, given))) == 1


def test_what_a_kind_of_nodes_may_be_given_is_declared_for_each_of_its_fields():
    tree = ast.parse(inspect.getsource(nodes))
    (own,) = (each for each in tree.body if getattr(each, "name", "") == "NodeKind")
    (init,) = (each for each in ast.walk(own) if getattr(each, "name", "") == "__init__")
    assert [each.arg for each in init.args.args[1:]] == [each.name for each in fields(NodeKind)]


def test_without_partitions_there_is_one_of_all_nodes():
    machine = NodeCluster((KIND,))
    assert machine.default_partition == machine.partition("all")
    assert machine.default_partition.nodes == KIND.nodes


def test_priorities_are_those_of_partitions_and_qos():
    partitions = (Partition("a", "n1", priority=3), Partition("b", "n[2-4]", default=True))
    machine = NodeCluster((KIND,), partitions=partitions, qos=(QualityOfService("high", 9),))
    assert machine.partition_priority == {"a": 3, "b": 1}
    assert machine.qos_priority == {"high": 9}
    assert machine.default_partition.name == "b"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: NodeKind("", 4), "has no node"),
        (lambda: NodeKind("n1", 0), "cores of the nodes from 'n1' on is 0"),
        (lambda: NodeKind("n1", 4, -5), "memory of the nodes"),
        (lambda: NodeKind("n1,n1", 4), "names the node 'n1' twice"),
        (lambda: NodeKind("n1", 4, gres={"gpu": -1}), "'gpu' of the nodes"),
        (lambda: Partition("", "n1"), "a partition has no name"),
        (lambda: Partition("a", "n1", exclusive="maybe"), "Choose from: no, nodes, user"),
        (lambda: Partition("a", "n1", max_time=-3), "max_time of partition 'a' is -3"),
        (lambda: Partition("a", "n1", priority=-1), "priority of partition 'a'"),
        (lambda: NodeCluster(()), "has no nodes"),
        (lambda: NodeCluster((KIND, KIND)), "has the node 'n1' twice"),
        (
            lambda: NodeCluster((KIND,), partitions=(Partition("a", "n[4-5]"),)),
            "partition 'a' names the node 'n5'",
        ),
        (
            lambda: NodeCluster((KIND,), partitions=(Partition("a", "n1"), Partition("a", "n2"))),
            "has the partition 'a' twice",
        ),
        (
            lambda: NodeCluster(
                (KIND,), partitions=(Partition("a", "n1", qos="hihg"),), qos=(_qos("high"),)
            ),
            "in partition 'a', there is no QOS 'hihg'. Did you mean 'high'",
        ),
        (
            lambda: NodeCluster((KIND,), qos=(QualityOfService("high", preempts=("lwo",)),)),
            "in Preempt of QOS 'high', there is no QOS 'lwo'",
        ),
        (
            lambda: NodeCluster(
                (KIND,),
                qos=(
                    QualityOfService("high", preempts=("low",)),
                    QualityOfService("low", preempts=("high",)),
                ),
            ),
            "QOS 'high' preempts itself: high > low > high",
        ),
        (lambda: NodeCluster((KIND,)).partition("gpu"), "there is no partition 'gpu'"),
        (lambda: Outage("n1", 10, 5), "ends at 5, but it begins at 10"),
        (lambda: Amounts(jobs=-1), "a limit of jobs is -1"),
        (lambda: Amounts(gres={"gpu:v100": -2}), "a limit of gpu:v100 is -2"),
        (lambda: Limits(max_time=0), "a limit of time is 0"),
        (lambda: QualityOfService("a", -4), "priority of QOS 'a' is -4"),
        (lambda: Association("bio", shares=-1), "shares of account 'bio' is -1"),
        (lambda: ordered([Association("a"), Association("a")]), "stands twice"),
        (
            lambda: ordered([Association("a", parent="b"), Association("b", parent="a")]),
            "account 'a' is its own ancestor",
        ),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(make, sentence):
    with pytest.raises(UsageError) as caught:
        make()
    assert sentence in str(caught.value)


def _qos(name):
    return QualityOfService(name)


def test_the_tree_of_shares_has_parents_before_children():
    links = ordered(
        [
            Association("bio", "ann", shares=None),
            Association("lab", parent="bio", shares=3),
            Association("bio", shares=7),
            Association("lab", "bob"),
        ]
    )
    assert [str(link) for link in links] == [
        "account 'root'",
        "account 'bio'",
        "account 'lab'",
        "user 'ann' of account 'bio'",
        "user 'bob' of account 'lab'",
    ]
    tree = share_tree(links)
    assert tree.parent.tolist() == [-1, 0, 1, 1, 2]
    assert tree.shares.tolist() == [1, 7, 3, -1, 1]
    assert tree.account.tolist() == [0, 1, 2, 1, 2]
    assert tree.is_user.tolist() == [False, False, False, True, True]


def test_users_take_over_what_their_account_says_but_not_its_group_limits():
    above = Limits(user=Amounts(jobs=5, cores=64), group=Amounts(cores=100), max_time=60)
    own = Limits(user=Amounts(jobs=9))
    links = ordered(
        [
            Association("bio", limits=above, qos=("a", "b"), default_qos="a"),
            Association("bio", "ann", limits=own),
        ]
    )
    ann = inherited(links)[-1]
    assert ann.limits == Limits(user=Amounts(jobs=9, cores=64), max_time=60)
    assert (ann.qos, ann.default_qos) == (("a", "b"), "a")


@pytest.mark.parametrize(
    ("settings", "memory", "limits"),
    [
        ({}, True, True),
        ({"SelectTypeParameters": "CR_Core", "AccountingStorageEnforce": "none"}, False, False),
        ({"SelectTypeParameters": "CR_CPU_Memory"}, True, True),
        ({"AccountingStorageEnforce": "associations,qos"}, True, False),
        ({"AccountingStorageEnforce": "safe"}, True, True),
    ],
)
def test_what_slurm_is_told_decides_what_is_counted(settings, memory, limits):
    machine = NodeCluster((KIND,), settings=settings)
    assert machine.counts_memory is memory
    assert machine.enforces_limits is limits


def test_a_machine_is_shown_in_a_line():
    machine = NodeCluster((NodeKind("n[1-300]", 4), NodeKind("fat", 64)), name="atlas")
    assert repr(machine) == "<NodeCluster 'atlas': 301 nodes, 1,264 cores>"
