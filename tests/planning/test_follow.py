"""A replay that follows optimal plans."""

import pytest

from queuesmith.base.errors import QueuesmithError
from queuesmith.cluster import Cluster
from queuesmith.engine import simulate
from queuesmith.planning.follow import OptimalPlanning
from queuesmith.policy import as_policy
from queuesmith.schedule.verify import verify
from queuesmith.workload import Workload
from queuesmith.workload.synthetic import lublin


def test_a_whole_log_is_replayed_and_feasible():
    log = lublin(60, 16, load=1.2, seed=5)
    schedule = verify(simulate(log, cores=16, policy="optimal(seconds=0.02)"))
    assert schedule.policy == "optimal(seconds=0.02)"
    plain = simulate(log, cores=16, policy="fcfs+plan")
    assert schedule.value("artww") < plain.value("artww")


def test_a_short_job_goes_first_where_that_is_best():
    jobs = Workload([0, 1, 1], [10, 10, 2], [10, 10, 2], [1, 1, 1])
    schedule = verify(simulate(jobs, Cluster(1), "optimal"))
    assert schedule.start.tolist() == [0, 12, 10]


def test_cores_freed_before_the_walltime_are_used_at_once():
    jobs = Workload([0, 1], [5, 5], [100, 5], [1, 1])
    assert simulate(jobs, Cluster(1), "optimal").start.tolist() == [0, 5]


def test_jobs_of_no_length_end_at_once():
    jobs = Workload([0, 0, 0], [0, 0, 3], [0, 0, 3], [1, 1, 1])
    schedule = verify(simulate(jobs, Cluster(1), "optimal"))
    assert schedule.end.max() <= 5


def test_jobs_that_are_too_wide_are_left_out():
    jobs = Workload([0, 0], [5, 5], [5, 5], [1, 9])
    assert len(simulate(jobs, Cluster(4), "optimal")) == 1


def test_it_is_written_as_a_policy(tmp_path):
    assert str(OptimalPlanning()) == "optimal(seconds=1)"
    written = "optimal(seconds=2; objective=makespan)"
    policy = as_policy(written)
    assert policy == OptimalPlanning(2, "makespan")
    assert str(policy) == written
    policy.save(tmp_path / "policy.json")
    assert as_policy(str(tmp_path / "policy.json")) == policy


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("optimal(seconds=0)", "seconds is 0"),
        ("optimal(seconds=soon)", "setting 'seconds=soon' of optimal cannot be read"),
        ("optimal(patience=3)", "the settings are seconds, a number, and objective"),
        ("optimal(objective=beauty)", "beauty"),
    ],
)
def test_wrong_settings_get_one_sentence(written, sentence):
    with pytest.raises(QueuesmithError, match=sentence):
        as_policy(written)


def test_an_empty_log_gets_one_sentence():
    with pytest.raises(QueuesmithError, match="no jobs"):
        simulate(Workload([], [], [], []), Cluster(4), "optimal")
