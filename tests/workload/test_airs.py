import numpy as np
import pytest

from queuesmith.base.errors import UsageError
from queuesmith.workload.airs import GRANULES, AirsParameters, airs


def test_the_same_seed_gives_the_same_jobs():
    one, same, other = (airs(98, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.cores, same.cores)
    assert not np.array_equal(one.runtime, other.runtime)


def test_most_jobs_are_small_and_a_few_are_whole_days():
    log = airs(1000, seed=0)
    assert np.median(log.cores) < 50
    assert 0.03 < np.mean(log.cores == GRANULES) < 0.2
    assert log.cores.max() == GRANULES


def test_a_workflow_may_have_exactly_220_tasks():
    for jobs in (1, 40, 220):
        assert airs(jobs, tasks=220).cores.sum() == 220


def test_cores_per_task_multiply_the_width():
    thin, wide = airs(30), airs(30, parameters=AirsParameters(cores_per_task=4))
    assert np.array_equal(wide.cores, 4 * thin.cores)


def test_all_jobs_are_there_at_once_unless_a_load_is_wanted():
    assert airs(50).span == 0
    assert airs(500, 64, load=0.8).load(64) == pytest.approx(0.8, rel=0.2)


def test_walltimes_are_runtimes_unless_users_estimate():
    log = airs(50)
    assert np.array_equal(log.walltime, log.runtime)
    assert (airs(50, estimates=True).walltime > log.runtime).any()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"jobs": 0}, "the number of jobs"),
        ({"tasks": 10}, "the number of tasks"),
        ({"load": -1}, "the load"),
        ({"seed": -1}, "the seed"),
    ],
)
def test_options_that_cannot_be_are_refused(options, sentence):
    with pytest.raises(UsageError, match=sentence):
        airs(**options)


@pytest.mark.parametrize(
    "parameters",
    [{"median_tasks": 0}, {"large_share": 2}, {"task_seconds": 0}, {"cores_per_task": 0}],
)
def test_parameters_that_cannot_be_are_refused(parameters):
    with pytest.raises(UsageError, match=next(iter(parameters))):
        AirsParameters(**parameters)
