"""The knapsack: against its twin, against the engine, and against its own rules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith import Cluster, Workload, simulate
from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.knobs.bag_schedule import chunk_tasks
from queuesmith.knobs.bags import TaskJobs, rigid
from queuesmith.knobs.greedy_knapsack import knapsack
from queuesmith.knobs.setting import Knobs
from queuesmith.schedule.verify import verify
from tests.knobs.conftest import CORES, crowded, workloads
from tests.knobs.knapsack_twin import knapsack_slowly

pytestmark = pytest.mark.uncompiled

EXPONENTS = st.sampled_from([-2.0, -1.0, -0.3, 0.0, 0.5, 1.0, 1.7])
KNOBS = st.builds(Knobs, EXPONENTS, EXPONENTS, EXPONENTS)
BACKFILLS = st.sampled_from(["none", "list", "easy"])


def chunks(schedule):
    parts = schedule.parts
    return [parts.job.tolist(), parts.start.tolist(), chunk_tasks(schedule).tolist()]


@settings(max_examples=100)
@given(
    workloads(),
    st.lists(st.booleans(), min_size=12, max_size=12),
    st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=12, max_size=12),
    st.integers(1, 3),
    KNOBS,
    BACKFILLS,
)
def test_the_compiled_knapsack_agrees_with_its_twin(
    workload, malleable, shares, per_task, knobs, backfill
):
    count = len(workload)
    jobs = TaskJobs(
        workload, shares[:count], cores_per_task=per_task, malleable=np.array(malleable[:count])
    )
    quick = verify(knapsack(jobs, cores=CORES, knobs=knobs, backfill=backfill))
    slow = verify(knapsack_slowly(jobs, Cluster(CORES), knobs, backfill=backfill))
    assert chunks(quick) == chunks(slow)


def test_hundreds_of_random_cases_agree_with_the_twin():
    rng = np.random.default_rng(1)
    cluster = Cluster(CORES)
    for case in range(500):
        workload = crowded(int(rng.integers(1, 9)), seed=case)
        jobs = TaskJobs(
            workload,
            rng.choice([0.1, 0.5, 1.0], len(workload)),
            cores_per_task=int(rng.integers(1, 4)),
            malleable=rng.random(len(workload)) < 0.7,
        )
        knobs = Knobs(*rng.integers(-20, 21, 3) / 10)
        backfill = ("none", "list", "easy")[case % 3]
        quick = knapsack(jobs, cluster, knobs, backfill=backfill)
        assert chunks(quick) == chunks(knapsack_slowly(jobs, cluster, knobs, backfill=backfill))


@settings(max_examples=60)
@given(workloads(), KNOBS, BACKFILLS)
def test_rigid_jobs_with_share_one_are_scheduled_as_by_the_engine(workload, knobs, backfill):
    ours = knapsack(rigid(workload), cores=CORES, knobs=knobs, backfill=backfill)
    engine = simulate(workload, cores=CORES, policy=knobs.policy(backfill))
    assert ours.start.tolist() == engine.start.tolist()
    assert ours.end.tolist() == engine.end.tolist()


@pytest.mark.data
def test_a_real_log_is_scheduled_as_by_the_engine(data):
    from queuesmith import read

    log = read(data / "traces" / "ANL-Intrepid-2009-1.swf.gz").head(5000)
    for backfill in ("list", "easy"):
        knobs = Knobs(0.7, -0.4, 1.1)
        ours = verify(knapsack(rigid(log), knobs=knobs, backfill=backfill))
        assert np.array_equal(ours.start, simulate(log, policy=knobs.policy(backfill)).start)


def test_the_first_job_takes_what_fits_and_the_next_the_rest():
    log = Workload(submit=[0, 0], runtime=[10, 5], walltime=[10, 5], cores=[3, 2])
    found = verify(knapsack(log, cores=4, knobs=Knobs(1, 0, 0)))
    assert chunks(found) == [[0, 1, 1], [0, 0, 5], [3, 1, 1]]


def test_an_exact_fit_is_taken_whole():
    log = Workload(submit=[0], runtime=[10], walltime=[10], cores=[4])
    assert chunks(knapsack(log, cores=4)) == [[0], [0], [4]]


def test_a_job_wider_than_the_machine_runs_in_pieces_if_it_may_be_split():
    log = Workload(submit=[0], runtime=[10], walltime=[10], cores=[10])
    assert verify(knapsack(log, cores=4)).makespan == 30
    with pytest.raises(WorkloadError, match="needs 10 cores at once"):
        knapsack(rigid(log), cores=4)


def test_jobs_that_never_fit_are_left_out_and_counted():
    log = Workload(submit=[0, 0], runtime=[1, 1], walltime=[1, 1], cores=[10, 1])
    found = knapsack(rigid(log), cores=4)
    assert (len(found), found.workload.dropped) == (1, 1)
    with pytest.raises(WorkloadError, match="Give a larger machine"):
        knapsack(rigid(log), cores=4, strict=True)


def test_a_share_caps_the_tasks_at_once():
    log = Workload(submit=[0], runtime=[10], walltime=[10], cores=[10])
    found = verify(knapsack(TaskJobs(log, 0.3), cores=10))
    assert chunk_tasks(found).tolist() == [3, 3, 3, 1]
    one_by_one = verify(knapsack(TaskJobs(log, 0.0), cores=10))
    assert one_by_one.makespan == 100


def test_nothing_is_preempted_by_a_later_job_of_higher_priority():
    log = Workload(submit=[0, 1], runtime=[10, 10], walltime=[10, 10], cores=[4, 8])
    found = verify(knapsack(log, cores=4, knobs=Knobs(2, 0, 0)))
    assert found.start.tolist() == [0, 10]


def test_random_shares_follow_from_the_seed(log):
    one, same, other = (TaskJobs(log, "random", seed=seed).shares for seed in (3, 3, 4))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert one.min() >= 0.1 and one.max() <= 1.0


@pytest.mark.parametrize("share", [-0.1, 1.01, float("nan"), "half", [0.5, 2.0]])
def test_a_share_outside_0_to_1_is_refused(share):
    log = Workload(submit=[0, 0], runtime=[1, 1], walltime=[1, 1], cores=[1, 1])
    with pytest.raises(UsageError, match="share"):
        TaskJobs(log, share)


def test_there_must_be_jobs():
    empty = Workload(submit=[], runtime=[], walltime=[], cores=[])
    with pytest.raises(WorkloadError, match="no jobs"):
        TaskJobs(empty)


def test_an_unknown_backfill_is_refused(log):
    with pytest.raises(UsageError, match="there is no backfill 'plan'"):
        knapsack(log, cores=8, backfill="plan")


def test_as_many_shares_and_marks_as_jobs_are_wanted(log):
    with pytest.raises(UsageError, match="2 shares are given for"):
        TaskJobs(log, [0.5, 0.5])
    with pytest.raises(UsageError, match="malleable has the shape"):
        TaskJobs(log, malleable=[True, False])


def test_a_job_that_is_no_whole_number_of_tasks_gets_one_more():
    log = Workload(submit=[0], runtime=[1], walltime=[1], cores=[5])
    jobs = TaskJobs(log, cores_per_task=2)
    assert (jobs.tasks.tolist(), jobs.cores.tolist()) == ([3], [6])
