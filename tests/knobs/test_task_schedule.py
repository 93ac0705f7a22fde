"""Schedules of tasks: what they tell, and what verify finds wrong."""

from dataclasses import replace

import numpy as np
import pytest

from queuesmith import Workload, simulate
from queuesmith.base.errors import ScheduleError
from queuesmith.knobs.bags import TaskJobs, class_numbers, rigid
from queuesmith.knobs.knapsack import knapsack
from queuesmith.knobs.setting import Knobs
from queuesmith.schedule.measures import CLASSES, job_classes
from queuesmith.schedule.timeline import curve


def test_rigid_jobs_have_the_metrics_of_the_product(log):
    knobs = Knobs(1, 0.5, -1)
    ours = knapsack(rigid(log), cores=8, knobs=knobs)
    theirs = simulate(log, cores=8, policy=knobs.policy("list"))
    names = ("makespan", "mean_wait", "mean_response", "expansion_factor", "utilization")
    for name in names:
        assert ours.summary()[name] == pytest.approx(theirs.value(name))
    for letter, value in ours.by_class().items():
        assert value == pytest.approx(theirs.value(f"expansion_factor[{letter}]"))


def test_classes_are_those_of_the_metric(log):
    schedule = simulate(log, cores=8)
    assert [CLASSES[i] for i in class_numbers(log)] == job_classes(schedule).tolist()


def test_a_class_without_jobs_has_no_expansion_factor():
    log = Workload(submit=[0, 0], runtime=[5, 5], walltime=[5, 5], cores=[1, 1])
    assert knapsack(log, cores=2).by_class() == {"A": None, "B": None, "C": None, "D": 1.0}


def test_busy_cores_over_time_are_those_of_the_product(log):
    ours = knapsack(rigid(log), cores=8).busy_cores()
    theirs = curve(simulate(log, cores=8, policy="power+list"), "busy_cores")
    assert ours.mean() == pytest.approx(theirs.mean())
    assert ours.max() == theirs.max()


def test_a_job_counts_once_however_many_of_its_tasks_run():
    log = Workload(submit=[0, 0], runtime=[4, 4], walltime=[4, 4], cores=[6, 2])
    found = knapsack(log, cores=4, knobs=Knobs(1, 0, 0))
    running = found.running_jobs()
    assert running.at([0, 3, 4, 7, 8]).tolist() == [1, 1, 2, 2, 0]
    assert found.running_tasks().at([0, 4]).tolist() == [4, 4]


def test_the_chunks_are_written_as_csv(log, tmp_path):
    found = knapsack(TaskJobs(log, 0.5), cores=8)
    found.save(tmp_path / "chunks.csv")
    lines = (tmp_path / "chunks.csv").read_text().splitlines()
    assert lines[0] == "job,start,end,tasks,cores"
    assert len(lines) == len(found.chunk_job) + 1


def test_its_name_says_how_many_tasks_there_are(log):
    assert f"{log.cores.sum():,} tasks" in repr(knapsack(log, cores=8))


@pytest.fixture
def good():
    log = Workload(submit=[0, 5], runtime=[10, 10], walltime=[10, 10], cores=[4, 4])
    return knapsack(TaskJobs(log, 0.5), cores=4).verify()


def test_a_task_left_out_is_found(good):
    fewer = replace(
        good, chunk_tasks=good.chunk_tasks - np.eye(len(good.chunk_tasks), dtype=int)[0]
    )
    with pytest.raises(ScheduleError, match="do not run each task once; the first is job 1"):
        fewer.verify()


def test_a_core_used_twice_is_found(good):
    with pytest.raises(ScheduleError, match="cores are busy at second"):
        replace(good, chunk_start=np.full_like(good.chunk_start, 5)).verify()


def test_a_start_before_the_submission_is_found(good):
    with pytest.raises(ScheduleError, match="before their job is there, first job 1"):
        replace(good, chunk_start=good.chunk_start - 1).verify()


def test_more_than_the_share_at_once_is_found(good):
    strict = TaskJobs(good.jobs.workload, 0.25)
    with pytest.raises(ScheduleError, match="more than the 1 tasks of its share"):
        replace(good, jobs=strict).verify()
