import itertools

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.federation.every_plan import shortest_makespan, tiny_queues

from queuesmith.federation import Federation, FederationJobs
from queuesmith.federation.exact.area_bound import _functions, quick_bound
from queuesmith.federation.heuristics.heuristics import place_by_heuristic
from queuesmith.federation.model.generate import (
    generate_federation,
    generate_queue,
    paper_federation,
)
from queuesmith.federation.model.quick_bound import simple_bound


@settings(max_examples=25)
@given(tiny_queues())
def test_no_plan_is_below_the_bound(queue: tuple[Federation, FederationJobs]) -> None:
    federation, jobs = queue
    least = shortest_makespan(federation, jobs)
    assume(least is not None)
    assert simple_bound(federation, jobs) <= quick_bound(federation, jobs) <= least


@given(st.integers(1, 12))
def test_jobs_side_by_side_never_count_for_more_than_one(nodes: int) -> None:
    weight = _functions(np.arange(1, nodes + 1), nodes)
    for size in (1, 2, 3, 4):
        for widths in itertools.combinations_with_replacement(range(1, nodes + 1), size):
            if sum(widths) <= nodes:
                assert (weight[:, np.array(widths) - 1].sum(axis=1) <= 1 + 1e-12).all()


def test_wide_jobs_that_never_overlap_raise_the_bound() -> None:
    jobs = FederationJobs([7, 7, 7], [100, 100, 100], [0.0] * 3, [1.0] * 3)
    assert quick_bound(paper_federation(), jobs) == 402  # 7 tasks need nodes of 0.75: 134 s each
    assert simple_bound(paper_federation(), jobs) < 402


def test_a_thousand_jobs_on_twenty_clusters_are_bounded() -> None:
    federation = generate_federation(20, 64, powers=[1 - 0.03 * i for i in range(20)])
    jobs = generate_queue("general", 1000, nodes=federation.nodes, most_tasks=200, seed=1)
    bound = quick_bound(federation, jobs)
    span = place_by_heuristic(federation, jobs, "area-fit").makespan
    assert simple_bound(federation, jobs) <= bound <= span
