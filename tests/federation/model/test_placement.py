"""What a placement says of itself, and its files."""

import numpy as np
import pytest
from hypothesis import given
from tests.federation.cases import chance_federation, chance_jobs, seeds

from queuesmith.base.errors import ScheduleError
from queuesmith.federation import Federation, FederationCluster, FederationJobs, Placement
from queuesmith.federation.heuristics.heuristics import place_by_heuristic
from queuesmith.federation.model.placement import assign_nodes
from queuesmith.federation.model.verify import verify
from queuesmith.solving.status import Status


@pytest.fixture
def placement():
    """Job a on node 0 and, slower, on node 2; then job b alone on node 1."""
    federation = Federation(
        [FederationCluster("fast", 2, 1.0, 100), FederationCluster("slow", 2, 0.5, 50)]
    )
    jobs = FederationJobs([2, 1], [100, 50], [40, 40], [0.5, 1.0], submit=[0, 20], id=["a", "b"])
    return Placement(federation, jobs, [0, 150], [150, 200], [0, 2, 1], "by hand", lower_bound=150)


def test_its_figures_are_those_worked_out_by_hand(placement):
    verify(placement)
    assert placement.makespan == 200
    assert placement.busy.tolist() == [150, 50, 150, 0]
    assert placement.compaction_percent == pytest.approx(100 * 350 / (4 * 200))
    assert placement.utilization == pytest.approx((150 + 50 + 75) / (3 * 200))
    assert placement.cluster_utilization == {"fast": 0.5, "slow": 0.375}
    assert placement.wait.tolist() == [0, 130]
    assert placement.co_allocated == 1
    assert placement.slowest_power.tolist() == [0.5, 1.0]
    assert placement.gap_percent == pytest.approx(100 * 50 / 150)
    assert placement.status is Status.FEASIBLE


def test_links_carry_what_co_allocated_jobs_send(placement):
    load = placement.link_load()
    assert load.time.tolist() == [0, 150, 200]
    assert load.load.tolist() == [[40, 40], [0, 0]]
    assert placement.peak_link_load == 0.8


def test_all_that_the_command_promises_is_in_the_dictionary(placement):
    keys = {
        "makespan", "lower_bound", "gap_percent", "status", "compaction_percent", "seconds",
    }  # fmt: skip
    assert keys <= set(placement.to_dict())


def test_what_is_written_reads_back(placement, tmp_path):
    placement.write(tmp_path / "p.csv")
    again = Placement.read(tmp_path / "p.csv", placement.federation, placement.jobs)
    for column in ("start", "end", "nodes"):
        assert getattr(again, column).tolist() == getattr(placement, column).tolist()


def test_a_file_of_other_jobs_is_refused(placement, tmp_path):
    placement.write(tmp_path / "p.csv")
    others = FederationJobs([1, 1], [1, 1], [0, 0], [1, 1], id=["a", "b"])
    with pytest.raises(ScheduleError, match="2 nodes for job a, but it has 1 tasks"):
        Placement.read(tmp_path / "p.csv", placement.federation, others)


@pytest.mark.parametrize("text", ["id,start\na,1\n", "id,start,end,nodes\na,soon,2,0\n"])
def test_a_wrong_file_is_refused(placement, tmp_path, text):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(ScheduleError, match="no part of a placement"):
        Placement.read(tmp_path / "p.csv", placement.federation, placement.jobs)


def test_every_task_needs_a_node(placement):
    with pytest.raises(ScheduleError, match="'nodes'"):
        Placement(placement.federation, placement.jobs, [0, 0], [9, 9], [0, 1], "short")


@given(seed=seeds)
def test_counts_of_nodes_are_enough_to_assign_them(seed):
    rng = np.random.default_rng(seed)
    federation = chance_federation(rng)
    jobs = chance_jobs(rng, federation).fitting(federation)
    if not len(jobs):
        return
    found = place_by_heuristic(federation, jobs, "fpfs", "most-free")
    counts = np.zeros((len(jobs), len(federation.group_nodes)), np.int64)
    np.add.at(counts, (found.task_job, federation.node_group[found.nodes]), 1)
    nodes = assign_nodes(federation, jobs, found.start, found.end, counts)
    verify(Placement(federation, jobs, found.start, found.end, nodes, "assigned"))


def test_too_many_nodes_at_once_cannot_be_assigned():
    federation = Federation([FederationCluster("a", 1)])
    jobs = FederationJobs([1, 1], [5, 5], [0, 0], [1, 1])
    with pytest.raises(ScheduleError, match="0 of them are free"):
        assign_nodes(federation, jobs, [0, 4], [5, 9], [[1], [1]])
