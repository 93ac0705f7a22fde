"""Small logs with many ties, and how hypothesis makes them."""

import numpy as np
import pytest
from hypothesis import strategies as st

from queuesmith import Workload

CORES = 8


def crowded(count: int = 40, seed: int = 0, cores: int = CORES) -> Workload:
    """A burst of jobs of few different shapes, so that many scores are equal or nearly so."""
    rng = np.random.default_rng(seed)
    runtime = rng.integers(0, 30, count)
    return Workload(
        submit=np.sort(rng.integers(0, 60, count)),
        runtime=runtime,
        walltime=runtime + rng.choice([0, 1, 30], count),
        cores=rng.integers(1, cores + 1, count),
        name="crowded",
    )


@st.composite
def workloads(draw: st.DrawFn, most: int = 12) -> Workload:
    """Any few jobs for a machine of CORES cores."""
    count = draw(st.integers(1, most))

    def column(low: int, high: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    runtime = np.array(column(0, 9))
    return Workload(
        submit=np.sort(column(0, 12)),
        runtime=runtime,
        walltime=runtime + np.array(column(0, 4)),
        cores=column(1, CORES),
    )


@pytest.fixture
def log() -> Workload:
    return crowded()
