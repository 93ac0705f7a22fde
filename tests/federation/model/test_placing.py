"""From starts, ends and nodes to a schedule, and its files."""

import numpy as np
import pytest
from hypothesis import given

from queuesmith.base.errors import ScheduleError
from queuesmith.federation import (
    Federation,
    FederationCluster,
    FederationJobs,
    as_schedule,
    read_placement,
    write_placement,
)
from queuesmith.federation.heuristics import place_by_heuristic
from queuesmith.federation.model.placed import group_counts, task_nodes
from queuesmith.federation.model.placing import assign_nodes, placement_facts
from queuesmith.schedule.verify import verify
from tests.federation.cases import chance_federation, chance_jobs, seeds


@pytest.fixture
def federation():
    return Federation(
        [FederationCluster("fast", 2, 1.0, 100), FederationCluster("slow", 2, 0.5, 50)]
    )


@pytest.fixture
def jobs():
    return FederationJobs([2, 1], [100, 50], [40, 40], [0.5, 1.0], submit=[0, 20], id=["a", "b"])


@pytest.fixture
def schedule(federation, jobs):
    return as_schedule(federation, jobs, [0, 150], [150, 200], [0, 2, 1], "by hand")


def test_all_that_the_command_promises_is_in_the_dictionary(schedule):
    keys = {
        "makespan", "lower_bound", "gap_percent", "status", "compaction_percent", "seconds",
    }  # fmt: skip
    assert keys <= set(placement_facts(schedule))


def test_a_placement_with_a_job_twice_is_refused(schedule, federation, jobs, tmp_path):
    write_placement(schedule, tmp_path / "p.csv")
    text = (tmp_path / "p.csv").read_text()
    (tmp_path / "p.csv").write_text(text + text.splitlines()[1] + "\n")
    with pytest.raises(ScheduleError, match="is the second of job"):
        read_placement(tmp_path / "p.csv", federation, jobs)


def test_what_is_written_reads_back(schedule, federation, jobs, tmp_path):
    write_placement(schedule, tmp_path / "p.csv")
    again = verify(read_placement(tmp_path / "p.csv", federation, jobs))
    assert again.start.tolist() == schedule.start.tolist()
    assert again.end.tolist() == schedule.end.tolist()
    assert task_nodes(again).tolist() == task_nodes(schedule).tolist()


def test_a_file_of_other_jobs_is_refused(schedule, federation, tmp_path):
    write_placement(schedule, tmp_path / "p.csv")
    others = FederationJobs([1, 1], [1, 1], [0, 0], [1, 1], id=["a", "b"])
    with pytest.raises(ScheduleError, match="2 nodes for job a, but it has 1 task"):
        read_placement(tmp_path / "p.csv", federation, others)


@pytest.mark.parametrize(
    "text",
    [
        "id,start\na,1\n",
        "id,start,end,nodes\na,soon,2,0\n",
        f"id,start,end,nodes\na,{'9' * 5000},2,0\n",
        f"id,start,end,nodes\na,0,2,{'9' * 40}\n",
    ],
)
def test_a_wrong_file_is_refused(federation, jobs, tmp_path, text):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(ScheduleError, match="no part of a placement"):
        read_placement(tmp_path / "p.csv", federation, jobs)


def test_every_task_needs_a_node(federation, jobs):
    with pytest.raises(ScheduleError, match="2 values of 'nodes', but 'jobs' needs 3"):
        as_schedule(federation, jobs, [0, 0], [9, 9], [0, 1], "short")
    with pytest.raises(ScheduleError, match="1 value of 'start'"):
        as_schedule(federation, jobs, [0], [9], [0, 1, 2], "short")


def test_jobs_become_a_workload_and_jobs_again(jobs):
    again = FederationJobs.of(jobs.workload)
    assert again.id == jobs.id
    assert jobs.workload is jobs.workload
    for column in ("tasks", "base_time", "task_bandwidth", "sigma", "submit"):
        assert getattr(again, column).tolist() == getattr(jobs, column).tolist()
    assert jobs.workload.runtime.tolist() == [100, 50]
    assert FederationJobs([1], [2.5], [0], [1]).workload.runtime.tolist() == [3]


@given(seed=seeds)
def test_counts_of_nodes_are_enough_to_assign_them(seed):
    rng = np.random.default_rng(seed)
    federation = chance_federation(rng)
    jobs = chance_jobs(rng, federation).fitting(federation)
    if not len(jobs):
        return
    found = place_by_heuristic(federation, jobs, "fpfs", "most-free")
    nodes = assign_nodes(federation, jobs, found.start, found.end, group_counts(found))
    verify(as_schedule(federation, jobs, found.start, found.end, nodes, "assigned"))


def test_too_many_nodes_at_once_cannot_be_assigned():
    federation = Federation([FederationCluster("a", 1)])
    jobs = FederationJobs([1, 1], [5, 5], [0, 0], [1, 1])
    with pytest.raises(ScheduleError, match="0 of them are free"):
        assign_nodes(federation, jobs, [0, 4], [5, 9], [[1], [1]])
