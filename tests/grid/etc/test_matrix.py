import copy
import pickle

import numpy as np
import pytest

from queuesmith.base.errors import WorkloadError
from queuesmith.grid import EtcMatrix


def error_of(*values, **options):
    with pytest.raises(WorkloadError) as error:
        EtcMatrix(*values, **options)
    return str(error.value)


def test_a_matrix_knows_its_jobs_machines_and_names():
    matrix = EtcMatrix([[1, 2, 3], [4, 5, np.inf]], name="small", job_names=("a", "b"))
    assert (matrix.jobs, matrix.machines) == (2, 3)
    assert matrix.job_names == ("a", "b")
    assert matrix.machine_names == ("0", "1", "2")
    assert matrix.ready.tolist() == [0, 0, 0]
    assert matrix.compatible.tolist() == [[True] * 3, [True, True, False]]
    assert repr(matrix) == "<EtcMatrix 'small': 2 jobs on 3 machines>"


def test_a_matrix_does_not_change_with_the_array_it_was_made_of():
    times = np.ones((2, 2))
    matrix = EtcMatrix(times)
    times[0, 0] = 7
    assert matrix.times[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        matrix.times[0, 0] = 7


@pytest.mark.parametrize("make", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_matrix_can_be_copied_and_sent(make):
    matrix = EtcMatrix([[1, 2]], [3, 4], name="sent")
    again = make(matrix)
    assert again.times.tolist() == [[1, 2]]
    assert again.ready.tolist() == [3, 4]
    assert again.name == "sent"


@pytest.mark.parametrize("times", [[], [[]], [1, 2], np.ones((0, 3)), np.ones((3, 0))])
def test_no_jobs_or_no_machines_is_an_error(times):
    assert "at least one of both" in error_of(times)


@pytest.mark.parametrize("time", [0, -1, float("nan"), -np.inf])
def test_a_time_must_be_above_zero(time):
    sentence = error_of([[1, 2], [3, time]], name="bad")
    assert f"job 1 of instance 'bad' takes {float(time)} on machine 1" in sentence


def test_a_time_beyond_all_measure_is_an_error():
    assert "a time of 1e+200, but a time may be at most 1e+100" in error_of([[1e200, 1]])


def test_a_job_that_no_machine_can_run_is_an_error():
    assert "job 1 of instance 'etc' can run on no machine" in error_of([[1, 2], [np.inf, np.inf]])


@pytest.mark.parametrize("ready", [[1], [1, -1], [1, np.inf], [[1, 2]]])
def test_every_machine_needs_one_ready_time(ready):
    assert "one for each of its 2 machines, from 0 up" in error_of([[1, 2]], ready)


def test_names_must_be_as_many_as_things():
    assert "3 machine names are given" in error_of([[1, 2]], machine_names=("a", "b", "c"))
    assert "0 job names are given" in error_of([[1, 2]], job_names=())


def test_a_matrix_is_a_machine_with_a_core_for_each_of_its_machines():
    matrix = EtcMatrix([[1.5, 2.25], [4, np.inf]], job_names=("x", "y"), machine_names=("a", "b"))
    assert matrix.cores == 2
    assert matrix.places.names == ("a", "b")
    assert matrix.places.cores.tolist() == [1, 1]
    jobs = matrix.workload
    assert jobs.runtime.tolist() == [2, 4]  # on the quickest machine, rounded up
    assert jobs.cores.tolist() == [1, 1]
    assert jobs.label("id", int(jobs.id[1])) == "y"
    assert matrix.workload is jobs


def test_times_beyond_what_a_log_can_hold_are_no_trouble():
    assert EtcMatrix([[1e90]]).workload.runtime[0] > 0
