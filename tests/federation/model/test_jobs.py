"""Jobs of a federation: columns, files, logs, and what fits."""

import numpy as np
import pytest

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.federation import Federation, FederationCluster, FederationJobs
from queuesmith.federation.model.jobs import check_fits
from queuesmith.workload import Workload

HEAD = "id,tasks,base_time,task_bandwidth,sigma"


@pytest.fixture
def read(tmp_path):
    def from_text(text):
        (tmp_path / "queue.csv").write_text(text)
        return FederationJobs.read(tmp_path / "queue.csv")

    return from_text


def test_a_file_says_what_jobs_there_are(read):
    jobs = read(f"{HEAD}\na,2,100,5.5,0.7\n\nb,1,2.5,0,1\n")
    assert jobs.id == ("a", "b")
    assert jobs.tasks.tolist() == [2, 1]
    assert jobs.base_time.tolist() == [100, 2.5]
    assert jobs.task_bandwidth.tolist() == [5.5, 0]
    assert jobs.sigma.tolist() == [0.7, 1]
    assert jobs.submit.tolist() == [0, 0]
    assert jobs.offset.tolist() == [0, 2, 3]
    assert jobs.name == "queue"


def test_jobs_stand_in_the_order_of_their_arrival(read):
    jobs = read(f"{HEAD},submit\na,1,1,0,1,30\nb,1,1,0,1,10\nc,1,1,0,1,30\n")
    assert jobs.id == ("b", "a", "c")
    assert jobs.queued().id == ("b", "a", "c")
    assert jobs.queued().submit.tolist() == [0, 0, 0]


def test_columns_may_stand_in_any_order(read):
    assert read("sigma,id,submit,tasks,task_bandwidth,base_time\n0.5,x,3,4,9,60\n").tasks[0] == 4


def test_what_is_written_reads_back(tmp_path):
    jobs = FederationJobs([3, 1], [1 / 3, 1e9], [0.1, 7], [0.1, 1], submit=[5, 9], id=["x,y", "z"])
    jobs.write(tmp_path / "q.csv")
    again = FederationJobs.read(tmp_path / "q.csv")
    for column in ("tasks", "base_time", "task_bandwidth", "sigma", "submit"):
        assert getattr(again, column).tolist() == getattr(jobs, column).tolist()
    assert again.id == jobs.id


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("a,0,10,5,0.5", "tasks 0"),
        ("a,1.5,10,5,0.5", "tasks 1.5"),
        ("a,1,0,5,0.5", "base_time 0"),
        ("a,1,-3,5,0.5", "base_time -3"),
        ("a,1,nan,5,0.5", "base_time nan"),
        ("a,1,10,-1,0.5", "task_bandwidth -1"),
        ("a,1,10,5,1.2", "sigma 1.2"),
        ("a,1,10,5,-0.1", "sigma -0.1"),
        ("a,two,10,5,0.5", "tasks 'two'"),
        ("a,1_0,10,5,0.5", "tasks '1_0'"),
        ("a,1,inf,5,0.5", "base_time inf, but it must be seconds from 0.001 to"),
        ("a,1,10,1e13,0.5", r"task_bandwidth 1e\+13, but it must be a number from 0 to"),
        ("a,1,10,5", "4 values"),
        ("a,1,10,5,0.5\na,1,10,5,0.5", "two jobs called 'a'"),
    ],
)
def test_a_wrong_job_gets_one_clear_sentence(read, row, words):
    with pytest.raises(WorkloadError, match=words):
        read(f"{HEAD}\n{row}\n")


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("id,tasks,base_time,sigma", "no column 'task_bandwidth'"),
        (f"{HEAD},colour", "column 'colour' too much"),
        (f"{HEAD},sigma", "column 'sigma' too much"),
    ],
)
def test_a_wrong_header_gets_one_clear_sentence(read, head, words):
    with pytest.raises(WorkloadError, match=words):
        read(f"{head}\n")


def test_an_arrival_is_a_whole_second():
    with pytest.raises(WorkloadError, match=r"submit 1\.5"):
        FederationJobs([1], [1], [0], [1], submit=[1.5])


def test_columns_must_be_of_one_length():
    with pytest.raises(WorkloadError, match="one value for each job"):
        FederationJobs([1, 2], [1], [0, 0], [1, 1])


def test_columns_must_be_numbers():
    with pytest.raises(WorkloadError, match="no numbers"):
        FederationJobs([1], ["soon"], [0], [1])


def test_a_job_with_more_tasks_than_nodes_is_named():
    federation = Federation([FederationCluster("a", 2), FederationCluster("b", 2)])
    jobs = FederationJobs([4, 5], [1, 1], [0, 0], [1, 1], id=["good", "wide"])
    with pytest.raises(WorkloadError, match=r"job wide has 5 tasks, .* has 4 nodes"):
        check_fits(federation, jobs)
    kept = jobs.fitting(federation)
    assert kept.id == ("good",)
    assert kept.changes[0].count == 1


def test_a_job_that_saturates_a_link_even_alone_is_named():
    federation = Federation(
        [FederationCluster("a", 2, 1.0, 10), FederationCluster("b", 2, 1.0, 99)]
    )
    jobs = FederationJobs([3], [1], [10], [1])  # 2 x 10 x 1/2 on either link
    check_fits(federation, jobs)
    greedy = FederationJobs([4], [1], [10], [1])  # 2 x 10 x 2/3
    with pytest.raises(WorkloadError, match="loaded beyond 1 times"):
        check_fits(federation, greedy)
    check_fits(federation, greedy, saturation=1.4)


def test_no_jobs_at_all_are_refused():
    federation = Federation([FederationCluster("a", 2)])
    with pytest.raises(WorkloadError, match="no jobs"):
        check_fits(federation, FederationJobs([], [], [], []))


def test_jobs_of_a_log_follow_the_stated_assumptions():
    log = Workload([50, 60], [0, 100], [10, 200], [5, 8], id=[7, 7], name="log")
    jobs = FederationJobs.from_workload(
        log, cores_per_node=4, sigma=(0.5, 0.9), task_bandwidth=(10, 20), seed=3
    )
    assert jobs.tasks.tolist() == [2, 2]
    assert jobs.base_time.tolist() == [1, 100]
    assert jobs.submit.tolist() == [0, 10]
    assert jobs.id == ("7", "7#2")
    assert ((jobs.sigma >= 0.5) & (jobs.sigma <= 0.9)).all()
    assert ((jobs.task_bandwidth >= 10) & (jobs.task_bandwidth <= 20)).all()
    assert jobs.changes[-1].count == 1
    again = FederationJobs.from_workload(
        log, cores_per_node=4, sigma=(0.5, 0.9), task_bandwidth=(10, 20), seed=3
    )
    assert np.array_equal(again.sigma, jobs.sigma)


def test_wrong_assumptions_are_refused():
    log = Workload([0], [1], [1], [1])
    with pytest.raises(UsageError, match="greatest sigma"):
        FederationJobs.from_workload(log, sigma=(0.9, 0.5))
    with pytest.raises(UsageError, match="cores_per_node"):
        FederationJobs.from_workload(log, cores_per_node=0)
    with pytest.raises(WorkloadError, match="no jobs"):
        FederationJobs.from_workload(log.select([False]))
