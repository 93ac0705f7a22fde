"""Jobs that wait for others: what logs tell, and what is wrong with it."""

import numpy as np
import pytest

from queuesmith import (
    Cluster,
    Schedule,
    Workload,
    knapsack,
    pareto_front,
    read,
    retune,
    simulate,
    sweep,
    verify,
)
from queuesmith.base.errors import WorkloadError
from queuesmith.planning.solve import whole_snapshot
from queuesmith.planning.steps import snapshots
from queuesmith.schedule.verify import violations
from queuesmith.workload.dependencies import has_dependencies, predecessors, with_dependencies


def chain(after, think=None):
    extra = {"after": np.array(after)}
    if think is not None:
        extra["think_time"] = np.array(think)
    count = len(after)
    return Workload([0] * count, [10] * count, [20] * count, [1] * count, extra=extra)


def swf(tmp_path, *followed):
    lines = [
        f"{i} 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 {before} {think}"
        for i, (before, think) in enumerate(followed, 1)
    ]
    path = tmp_path / "log.swf"
    path.write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    return path


def test_a_log_in_swf_tells_who_follows_whom_only_where_that_is_asked_for(tmp_path):
    path = swf(tmp_path, (-1, -1), (1, 5), (2, -1))
    assert simulate(read(path), policy="fcfs+easy").start.tolist() == [0, 0, 0]
    followed = verify(simulate(read(path, dependencies=True), policy="fcfs+easy"))
    assert followed.start.tolist() == [0, 15, 25]
    assert followed.pieces is None  # a number of cores has no nodes


def test_jobs_that_follow_one_that_is_not_in_the_log_wait_for_none_and_are_counted(tmp_path):
    log = read(swf(tmp_path, (-1, -1), (77, 5)), dependencies=True)
    assert not has_dependencies(log)
    assert "1 job mended: follows a job that is not in the log" in map(str, log.changes)


def test_a_table_tells_it_by_a_column(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "id,submit,runtime,walltime,cores,after,think_time\n7,0,10,20,1,-1,0\n8,1,10,20,1,7,3\n"
    )
    log = read(path, dependencies=True)
    assert simulate(log, cores=4, policy="sjf+conservative").start.tolist() == [0, 13]


def test_a_log_that_does_not_tell_is_refused_in_one_sentence():
    with pytest.raises(WorkloadError, match=r"^[^\n]*does not tell which job follows which[^\n]*$"):
        with_dependencies(Workload([0], [1], [1], [1]))


def test_positions_follow_the_jobs_that_are_left():
    log = chain([-1, 1, 2])
    assert predecessors(log)[0].tolist() == [-1, 0, 1]
    assert predecessors(log.select(np.array([False, True, True])))[0].tolist() == [-1, 0]


def test_a_circle_is_refused_and_named():
    with pytest.raises(WorkloadError, match=r"^[^\n]*job 2 after 3 after 2[^\n]*$"):
        predecessors(chain([2, 3, 2]))


@pytest.mark.parametrize(
    "ignorant",
    [
        lambda log: sweep(log, cores=4, ranges="-1:1:1"),
        lambda log: knapsack(log, cores=4),
        lambda log: retune(log, cores=4),
        lambda log: pareto_front(log, cores=4),
        lambda log: list(snapshots(log, "fcfs+easy", cores=4)),
        lambda log: whole_snapshot(log, Cluster(4)),
    ],
)
def test_what_cannot_let_jobs_wait_for_each_other_refuses_them_in_one_sentence(ignorant):
    with pytest.raises(WorkloadError, match=r"^2 jobs wait for another in [^\n]* does not know"):
        ignorant(chain([-1, 1, 2]))


def test_a_schedule_in_which_a_job_does_not_wait_for_another_is_caught():
    log = chain([-1, 1, 2], think=[0, 5, 0])
    assert not violations(Schedule(log, Cluster(4), np.array([0, 15, 25]), "right"))
    (found,) = violations(Schedule(log, Cluster(4), np.array([0, 14, 25]), "soon"))
    assert found == (
        "1 job starts before it is due after another; the first is job 2, due at 15 after job 1, "
        "started at 14."
    )
