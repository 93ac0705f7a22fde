"""Schedules for the tests of the report, made by a plain-Python replay."""

import heapq
from collections.abc import Callable

import numpy as np
import pytest

from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.schedule.verify import verify
from queuesmith.workload import Workload

Replay = Callable[..., Schedule]


def make_workload(count: int = 400, cores: int = 64, seed: int = 1, **facts: object) -> Workload:
    """Return random jobs that load a machine of ``cores`` cores well."""
    random = np.random.default_rng(seed)
    width = np.minimum(2 ** random.integers(0, 6, count), cores)
    runtime = np.maximum(random.lognormal(6, 1.5, count).astype(int), 1)
    span = (width * runtime).sum() / cores / 0.85
    submit = np.sort(random.uniform(0, span, count).astype(int))
    user = random.zipf(1.6, count) % 40
    return Workload(submit, runtime, runtime * 2, width, user=user, **facts)


def replay(workload: Workload, cores: int, *, overtaking: bool = False) -> Schedule:
    """Start jobs in their order, or (``overtaking``) any that fits."""
    policy = "fcfs+list" if overtaking else "fcfs"
    start = np.zeros(len(workload), dtype=np.int64)
    free, now, coming, queue, running = cores, 0, 0, [], []
    while coming < len(workload) or queue:
        arrival = workload.submit[coming] if coming < len(workload) else np.inf
        now = int(min(arrival, running[0][0] if running else np.inf))
        while running and running[0][0] <= now:
            free += heapq.heappop(running)[1]
        while coming < len(workload) and workload.submit[coming] <= now:
            queue.append(coming)
            coming += 1
        waiting = []
        for job in queue:
            width = int(workload.cores[job])
            if width <= free and (overtaking or not waiting):
                start[job] = now
                free -= width
                heapq.heappush(running, (now + int(workload.runtime[job]), width))
            else:
                waiting.append(job)
        queue = waiting
    return verify(Schedule(workload, Cluster(cores, "testbed"), start, policy))


@pytest.fixture(scope="session")
def workload() -> Workload:
    return make_workload(name="testlog", epoch=1_700_000_000)


@pytest.fixture(scope="session")
def schedules(workload: Workload) -> tuple[Schedule, ...]:
    return replay(workload, 64), replay(workload, 64, overtaking=True)


@pytest.fixture(scope="session")
def long_schedules() -> tuple[Schedule, ...]:
    """Schedules of five weeks, so that there are confidence intervals."""
    jobs = make_workload(600, 64, seed=4, name="five weeks")
    jobs = jobs.replaced(
        submit=jobs.submit * (35 * 86_400 // jobs.span),
        runtime=jobs.runtime * 25,
        walltime=jobs.walltime * 25,
    )
    return replay(jobs, 64), replay(jobs, 64, overtaking=True)


@pytest.fixture(scope="session")
def large_schedules() -> tuple[Schedule, ...]:
    """Schedules of 100,000 jobs."""
    jobs = make_workload(100_000, 512, seed=2, name="large")
    return replay(jobs, 512), replay(jobs, 512, overtaking=True)
