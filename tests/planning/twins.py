"""Slow, obvious twins of optimal planning, and random snapshots to compare on."""

from itertools import permutations

import numpy as np
from hypothesis import strategies as st

from queuesmith.planning import Snapshot


def place_slowly(snapshot: Snapshot, order) -> list[int]:
    """Start jobs in an order, each at the first second from which on it fits, second by second."""
    jobs = snapshot.jobs
    start = {}
    for job in order:
        instant = int(max(snapshot.now, jobs.submit[job]))
        while not _fits(snapshot, start, job, instant):
            instant += 1
        start[job] = instant
    return [start[job] for job in range(len(jobs))]


def _fits(snapshot: Snapshot, start: dict[int, int], job: int, instant: int) -> bool:
    jobs = snapshot.jobs
    for second in range(instant, instant + int(jobs.walltime[job])):
        free = snapshot.free[np.flatnonzero(snapshot.time <= second)[-1]]
        for other, begun in start.items():
            if begun <= second < begun + jobs.walltime[other]:
                free -= jobs.cores[other]
        if free < jobs.cores[job]:
            return False
    return True


def least_value(snapshot: Snapshot, value_of) -> float:
    """Return the least value of all orders; one of them gives the optimum."""
    orders = permutations(range(len(snapshot)))
    return min(value_of(np.array(place_slowly(snapshot, order))) for order in orders)


@st.composite
def small_snapshots(draw, most: int = 5, releases: bool = False) -> Snapshot:
    """A few jobs of a few seconds on a few cores."""
    cores = draw(st.integers(1, 6))
    count = draw(st.integers(1, most))
    sizes = st.lists(st.integers(1, cores), min_size=count, max_size=count)
    latest = 12 if releases else 0
    submit = draw(st.lists(st.integers(-8, latest), min_size=count, max_size=count))
    free = sorted(draw(st.lists(st.integers(0, cores), max_size=3)))
    gaps = draw(st.lists(st.integers(1, 6), min_size=len(free), max_size=len(free)))
    time = np.concatenate([[0], np.cumsum(gaps)]).astype(int)
    return Snapshot.make(
        now=0,
        cores=cores,
        staircase=list(zip(time.tolist(), [*free, cores], strict=True)),
        submit=submit,
        walltime=draw(st.lists(st.integers(1, 7), min_size=count, max_size=count)),
        width=draw(sizes),
        weight=draw(st.lists(st.integers(1, 4), min_size=count, max_size=count)),
    )


def random_snapshot(jobs: int, seed: int = 0, cores: int = 32) -> Snapshot:
    """A snapshot like that of a busy machine."""
    rng = np.random.default_rng(seed)
    free = np.sort(rng.integers(0, cores, 4))
    time = np.concatenate([[0], np.sort(rng.choice(np.arange(60, 7200), 4, replace=False))])
    return Snapshot.make(
        now=1000,
        cores=cores,
        staircase=list(zip((time + 1000).tolist(), [*free.tolist(), cores], strict=True)),
        submit=np.sort(rng.integers(0, 1000, jobs)),
        walltime=rng.integers(10, 7200, jobs),
        width=np.minimum(2 ** rng.integers(0, 6, jobs), cores),
    )
