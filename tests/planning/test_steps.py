"""The planning steps of a replay."""

import numpy as np
import pytest

from queuesmith.base.errors import QueuesmithError
from queuesmith.cluster import Cluster
from queuesmith.engine import simulate
from queuesmith.planning.plans import plan
from queuesmith.planning.steps import snapshots, step_instants
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload
from queuesmith.workload.synthetic import lublin

CORES = 32


@pytest.fixture(scope="module")
def schedule():
    return simulate(lublin(300, CORES, load=1.2, seed=3), cores=CORES, policy="fcfs+plan")


def test_a_step_knows_what_waits_and_what_runs(schedule):
    jobs = schedule.workload
    for step in snapshots(schedule, steps=40, seed=1):
        waits = [i for i in range(len(jobs)) if jobs.submit[i] <= step.now <= schedule.start[i]]
        assert step.jobs.id.tolist() == jobs.id[waits].tolist()
        for time, free in zip(step.time, step.free, strict=True):
            held = sum(
                int(jobs.cores[i])
                for i in range(len(jobs))
                if schedule.start[i] < step.now < schedule.end[i]
                and schedule.start[i] + max(jobs.walltime[i], 1) > time
            )
            assert free == CORES - held


def test_the_plan_of_a_step_starts_the_jobs_that_the_replay_started(schedule):
    for step in snapshots(schedule, steps=40, seed=2):
        planned = set(step.jobs.id[plan(step, "fcfs").start == step.now].tolist())
        began = set(schedule.workload.id[schedule.start == step.now].tolist())
        assert planned == began


def test_there_is_a_step_at_each_instant_of_submission():
    jobs = Workload([0, 0, 5], [10, 10, 10], [10, 10, 10], [1, 1, 1])
    schedule = Schedule(jobs, Cluster(1), [0, 10, 20], "by hand")
    steps = list(snapshots(schedule))
    assert [step.now for step in steps] == [0, 5]
    assert [len(step) for step in steps] == [2, 2]
    assert steps[1].time.tolist() == [5, 10]
    assert steps[1].free.tolist() == [0, 1]


def test_a_walltime_of_nothing_counts_as_a_second():
    jobs = Workload([0, 0], [0, 5], [0, 5], [1, 1])
    schedule = Schedule(jobs, Cluster(1), [0, 0], "by hand")
    assert next(iter(snapshots(schedule))).jobs.walltime.tolist() == [1, 5]


def test_steps_are_sampled_by_their_number_of_jobs(schedule):
    chosen = list(snapshots(schedule, steps=10, seed=4, fewest=3, most=9))
    assert len(chosen) == 10
    assert all(3 <= len(step) <= 9 for step in chosen)
    again = list(snapshots(schedule, steps=10, seed=4, fewest=3, most=9))
    assert [step.now for step in chosen] == [step.now for step in again]
    assert len(list(snapshots(schedule, steps=10**6))) == len(step_instants(schedule))


def test_a_workload_is_replayed_first(schedule):
    source = schedule.workload
    steps = list(snapshots(source, "fcfs+plan", cores=CORES, steps=5))
    assert [step.now for step in steps] == [s.now for s in snapshots(schedule, steps=5)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"fewest": 10_000}, "no step of .* has at least 10,000"),
        ({"fewest": 5, "most": 4}, "has 5 to 4 waiting jobs"),
        ({"steps": 0}, "the number of steps is 0"),
    ],
)
def test_steps_that_are_not_there_get_one_sentence(schedule, options, sentence):
    with pytest.raises(QueuesmithError, match=sentence):
        list(snapshots(schedule, **options))


def test_a_workload_alone_has_no_steps(schedule):
    with pytest.raises(QueuesmithError, match="Give a policy"):
        list(snapshots(schedule.workload))


def test_steps_are_whole_numbers(schedule):
    step = next(iter(snapshots(schedule)))
    assert step.time.dtype == step.free.dtype == np.int64
