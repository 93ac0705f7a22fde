"""Who may overtake whom: each backfill keeps the promise of its sentence."""

import numpy as np
import pytest

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.policy import BACKFILLS
from queuesmith.testing.policy import random_workload

SEEDS = range(8)
CORES = 12


def random_jobs(seed, exact=False):
    workload = random_workload(np.random.default_rng(seed), 60, CORES)
    return workload.replaced(walltime=workload.runtime) if exact else workload


def starts(workload, policy):
    return verify(simulate(workload, Cluster(CORES), policy)).start


def free_cores(workload, start, instants):
    """Cores that no job holds just after each instant."""
    end = start + workload.runtime
    running = (start <= instants[:, None]) & (instants[:, None] < end)
    return CORES - running @ workload.cores


def test_every_backfill_is_defined_in_a_sentence():
    assert list(BACKFILLS) == ["none", "list", "easy", "conservative", "plan"]
    assert all(len(sentence.split()) > 7 for sentence in BACKFILLS.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_under_none_nobody_overtakes(seed):
    start = starts(random_jobs(seed), "fcfs")
    assert (np.diff(start) >= 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_under_list_no_job_waits_that_fits(seed):
    workload = random_jobs(seed)
    start = starts(workload, "fcfs+list")
    instants = np.unique(np.concatenate([workload.submit, start + workload.runtime]))
    free = free_cores(workload, start, instants)
    waits = (workload.submit <= instants[:, None]) & (instants[:, None] < start)
    assert not (waits & (workload.cores <= free[:, None])).any()


@pytest.mark.parametrize("seed", SEEDS)
def test_under_easy_no_job_starts_after_the_time_it_would_have_without_those_behind_it(seed):
    workload = random_jobs(seed, exact=True)
    start = starts(workload, "fcfs+easy")
    # The head's reservation: the first instant at which the jobs before it leave enough cores.
    for job in range(1, len(workload)):
        before = workload.select(np.arange(job))
        if (start[:job] <= workload.submit[job]).all():
            instants = np.unique(np.append(start[:job] + before.runtime, workload.submit[job]))
            instants = instants[instants >= workload.submit[job]]
            free = free_cores(before, start[:job], instants)
            assert start[job] <= instants[np.argmax(free >= workload.cores[job])]


@pytest.mark.parametrize("backfill", ["none", "conservative", "plan"])
@pytest.mark.parametrize("seed", SEEDS)
def test_with_exact_walltimes_no_job_is_delayed_by_those_behind_it(seed, backfill):
    workload = random_jobs(seed, exact=True)
    # A job of no length is planned as one second, so that walltimes are not exact there.
    workload = workload.select(workload.runtime > 0)
    whole = starts(workload, f"fcfs+{backfill}")
    for count in (10, 25, 40):
        part = starts(workload.select(np.arange(count)), f"fcfs+{backfill}")
        assert part.tolist() == whole[:count].tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_with_exact_walltimes_planning_afresh_is_conservative(seed):
    workload = random_jobs(seed, exact=True)
    workload = workload.select(workload.runtime > 0)
    planned, conservative = (starts(workload, f"fcfs+{b}") for b in ("plan", "conservative"))
    assert planned.tolist() == conservative.tolist()


@pytest.mark.parametrize("backfill", BACKFILLS)
def test_a_machine_that_is_wide_enough_makes_nobody_wait(backfill):
    workload = random_jobs(0)
    schedule = simulate(workload, cores=int(workload.cores.sum()), policy=f"sjf+{backfill}")
    assert not schedule.wait.any()


@pytest.mark.parametrize("backfill", BACKFILLS)
def test_jobs_as_wide_as_the_machine_run_one_after_another_in_queue_order(backfill):
    workload = Workload([0, 0, 0, 1], [9, 4, 6, 1], [9, 4, 6, 1], [CORES] * 4)
    start = starts(workload, f"sjf+{backfill}")
    promised = [10, 0, 4, 19] if backfill == "conservative" else [11, 0, 5, 4]
    assert start.tolist() == promised
