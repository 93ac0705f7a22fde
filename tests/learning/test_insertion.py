"""Jobs inserted where they fit: the quick profile against an obvious one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith import Cluster, Workload, lublin
from queuesmith.learning.insertion import insert_jobs
from queuesmith.learning.kernels.insertion import BLOCK
from queuesmith.schedule.verify import verify

pytestmark = pytest.mark.uncompiled

CORES = 8


def slowly(workload: Workload, cores: int, order) -> list[int]:
    """Look at every second, for every job."""
    busy: dict[int, int] = {}
    start = [0] * len(workload)
    for job in order:
        begin, lasts = int(workload.submit[job]), max(int(workload.runtime[job]), 1)
        width = int(workload.cores[job])
        while any(busy.get(begin + s, 0) + width > cores for s in range(lasts)):
            begin += 1
        for second in range(begin, begin + lasts):
            busy[second] = busy.get(second, 0) + width
        start[job] = begin
    return start


@st.composite
def ordered_jobs(draw):
    jobs = draw(
        st.lists(st.tuples(*(st.integers(a, b) for a, b in ((0, 30), (0, 9), (1, CORES))))),
    )
    jobs = sorted(jobs) or [(0, 1, 1)]
    submit, runtime, cores = zip(*jobs, strict=True)
    workload = Workload(submit, runtime, [max(each, 1) for each in runtime], cores)
    return workload, draw(st.permutations(range(len(jobs))))


@given(ordered_jobs())
def test_insertion_does_what_looking_at_every_second_does(given_jobs):
    workload, order = given_jobs
    schedule = insert_jobs(workload, Cluster(CORES), np.array(order), "x")
    verify(schedule)
    assert schedule.start.tolist() == slowly(workload, CORES, order)


@pytest.mark.parametrize("seed", [0, 1])
def test_many_jobs_fill_many_blocks_and_stay_right(seed):
    workload = lublin(3 * BLOCK, 64, load=1.2, seed=seed)
    minutes = workload.replaced(
        submit=workload.submit // 600,
        runtime=workload.runtime // 600,
        walltime=np.maximum(workload.walltime // 600, 1),
    )
    order = np.random.default_rng(seed).permutation(len(minutes))
    schedule = insert_jobs(minutes, Cluster(64), order, "x")
    verify(schedule)
    assert schedule.start.tolist() == slowly(minutes, 64, order)


def test_a_job_inserted_early_is_not_delayed_by_one_submitted_before_it():
    workload = Workload([0, 5], [100, 10], [100, 10], [8, 8])
    later_first = insert_jobs(workload, Cluster(8), np.array([1, 0]), "x")
    assert later_first.start.tolist() == [15, 5]
