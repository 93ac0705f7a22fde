import pytest

from queuesmith.base.errors import UsageError
from queuesmith.cluster import Cluster, NodeCluster, NodeKind, Outage, Partition
from queuesmith.web.machines import machine_of, resized
from queuesmith.web.state import Column
from tests.web.conftest import small_log

MACHINE = NodeCluster(
    (NodeKind("c[1-4]", 16), NodeKind("g[1-2]", 8, gres={"gpu": 4})),
    partitions=(Partition("cpu", "c[1-4]"), Partition("all", "c[1-4],g[1-2]")),
    outages=(Outage(("c4",), 0, 100), Outage((), 500, 600)),
)


def test_more_nodes_of_a_kind_are_where_their_kind_is():
    more = resized(MACHINE, {"g1": 4})
    assert more.cores == MACHINE.cores + 16
    assert len(more.partition("all").nodes) == 8
    assert len(more.partition("cpu").nodes) == 4


def test_fewer_nodes_leave_partitions_and_outages():
    less = resized(MACHINE, {"c1": 2, "g1": 0})
    assert less.cores == 32
    assert less.partition("all").nodes == ("c1", "c2")
    assert [outage.nodes for outage in less.outages] == [()]


@pytest.mark.parametrize("counts", [{"x1": 3}, {"c1": -1}, {"c1": 0, "g1": 0}])
def test_what_cannot_be_is_refused(counts):
    with pytest.raises(UsageError):
        resized(MACHINE, counts)


def test_a_column_may_ask_for_another_number_of_cores():
    jobs = small_log()
    assert machine_of(Column("fcfs"), jobs, None).cores == 64
    assert machine_of(Column("fcfs", cores=80), jobs, None).cores == 80
    ranked = Cluster(64, partition_priority={"gpu": 2.0})
    assert machine_of(Column("fcfs", cores=80), jobs, ranked) == Cluster(
        80, partition_priority={"gpu": 2.0}
    )
    assert machine_of(Column("slurm()", nodes=(("g1", 3),)), jobs, MACHINE).cores == 88
