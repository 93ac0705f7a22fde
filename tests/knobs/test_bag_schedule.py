"""Schedules of tasks: what they tell, and what verify finds wrong."""

from dataclasses import replace

import numpy as np
import pytest

from queuesmith import Workload, simulate
from queuesmith.base.errors import ScheduleError
from queuesmith.knobs import sweep
from queuesmith.knobs.bag_schedule import (
    bag_summary,
    chunk_tasks,
    running_jobs,
    running_tasks,
    value_or_none,
)
from queuesmith.knobs.bags import TaskJobs, class_numbers, rigid
from queuesmith.knobs.greedy_knapsack import knapsack
from queuesmith.knobs.setting import Knobs
from queuesmith.knobs.sweep_result import TERMS
from queuesmith.schedule.export import save_pieces
from queuesmith.schedule.measures import CLASSES, job_classes
from queuesmith.schedule.timeline import curve
from queuesmith.schedule.verify import verify

pytestmark = pytest.mark.uncompiled


def test_rigid_jobs_have_the_metrics_of_the_product(log):
    knobs = Knobs(1, 0.5, -1)
    ours = knapsack(rigid(log), cores=8, knobs=knobs)
    theirs = simulate(log, cores=8, policy=knobs.policy("list"))
    names = ["makespan", "mean_wait", "mean_response", "expansion_factor", "utilization"]
    names += [f"expansion_factor[{letter}]" for letter in CLASSES]
    for name in names:
        assert bag_summary(ours)[name] == pytest.approx(theirs.value(name))


@pytest.mark.parametrize("per_task", [1, 2, 3])
def test_a_sweep_costs_what_the_metrics_of_its_schedules_say(log, per_task):
    jobs = TaskJobs(log, 0.5, per_task)
    found = sweep(jobs, cores=8, ranges="-1:1:1")
    for i in range(len(found)):
        schedule = knapsack(jobs, cores=8, knobs=found.knobs(i))
        assert found.costs[i] == pytest.approx([schedule.value(str(term)) for term in TERMS])


def test_classes_are_those_of_the_metric(log):
    schedule = simulate(log, cores=8)
    assert [CLASSES[i] for i in class_numbers(log)] == job_classes(schedule).tolist()


def test_a_class_without_jobs_has_no_expansion_factor():
    log = Workload(submit=[0, 0], runtime=[5, 5], walltime=[5, 5], cores=[1, 1])
    found = knapsack(log, cores=2)
    factors = [value_or_none(found, f"expansion_factor[{letter}]") for letter in CLASSES]
    assert factors == [None, None, None, 1.0]


def test_busy_cores_over_time_are_those_of_the_product(log):
    ours = curve(knapsack(rigid(log), cores=8), "busy_cores")
    theirs = curve(simulate(log, cores=8, policy="power+list"), "busy_cores")
    assert ours.mean() == pytest.approx(theirs.mean())
    assert ours.max() == theirs.max()


def test_a_job_counts_once_however_many_of_its_tasks_run():
    log = Workload(submit=[0, 0], runtime=[4, 4], walltime=[4, 4], cores=[6, 2])
    found = knapsack(log, cores=4, knobs=Knobs(1, 0, 0))
    assert running_jobs(found).at([0, 3, 4, 7, 8]).tolist() == [1, 1, 2, 2, 0]
    assert running_tasks(found).at([0, 4]).tolist() == [4, 4]


def test_the_chunks_are_written_as_csv(log, tmp_path):
    found = knapsack(TaskJobs(log, 0.5), cores=8)
    save_pieces(found, tmp_path / "chunks.csv")
    lines = (tmp_path / "chunks.csv").read_text().splitlines()
    assert lines[0] == "job,start,end,tasks,cores"
    assert len(lines) == len(found.parts) + 1


def test_the_summary_says_how_many_tasks_and_chunks_there_are(log):
    found = knapsack(TaskJobs(log, 0.5), cores=8)
    assert bag_summary(found)["tasks"] == log.cores.sum() == chunk_tasks(found).sum()
    assert bag_summary(found)["chunks"] == len(found.parts) > len(log)


def test_jobs_of_no_length_have_no_utilization():
    log = Workload(submit=[0], runtime=[0], walltime=[1], cores=[3])
    found = verify(knapsack(log, cores=2))
    assert bag_summary(found)["utilization"] is None
    assert running_jobs(found).max() == 0


@pytest.fixture
def good():
    log = Workload(submit=[0, 5], runtime=[10, 10], walltime=[10, 10], cores=[4, 4])
    return verify(knapsack(TaskJobs(log, 0.5), cores=4))


def chunks_moved(schedule, start):
    """Let the chunks of a schedule begin at other seconds."""
    pieces = replace(schedule.pieces, start=start, end=start + 10)
    first = [start[pieces.job == job].min() for job in range(len(schedule))]
    last = [pieces.end[pieces.job == job].max() for job in range(len(schedule))]
    return replace(schedule, pieces=pieces, start=first, own_end=last)


def test_a_task_left_out_is_found(good):
    fewer = good.pieces.cores - np.eye(len(good.pieces), dtype=int)[0]
    with pytest.raises(ScheduleError, match="not run each of its cores once; the first is job 1"):
        verify(replace(good, pieces=replace(good.pieces, cores=fewer)))


def test_a_chunk_of_no_tasks_is_found(good):
    none = np.where(np.arange(len(good.pieces)) == 0, 0, good.pieces.cores)
    with pytest.raises(ScheduleError, match="1 job does not run each of its cores once"):
        verify(replace(good, pieces=replace(good.pieces, cores=none)))


def test_a_core_used_twice_is_found(good):
    with pytest.raises(ScheduleError, match="cores are busy at second"):
        verify(chunks_moved(good, np.full_like(good.pieces.start, 5)))


def test_a_start_before_the_submission_is_found(good):
    with pytest.raises(ScheduleError, match="before they are submitted; the first is job 1"):
        verify(chunks_moved(good, good.pieces.start - 1))


def test_more_than_the_share_at_once_is_found(good):
    strict = TaskJobs(good.workload, 0.25).in_tasks()
    with pytest.raises(ScheduleError, match="holds more than the 1 core of its share"):
        verify(replace(good, workload=strict))


def test_a_task_that_is_cut_short_is_found(good):
    with pytest.raises(ScheduleError, match="not as long as the job says"):
        verify(replace(good, pieces=replace(good.pieces, end=good.pieces.end - 1)))


def test_a_start_that_is_not_that_of_the_first_task_is_found(good):
    with pytest.raises(ScheduleError, match="begin or end beyond it; the first is job 2"):
        verify(replace(good, start=good.start + np.array([0, 1])))
