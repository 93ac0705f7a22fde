"""The heuristic for large queues: prices and patience."""

import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.federation.heuristics.heuristics import HEURISTICS, place_by_heuristic
from queuesmith.federation.heuristics.large_queue import place_by_prices
from queuesmith.federation.model.generate import (
    generate_federation,
    generate_queue,
    paper_federation,
)
from queuesmith.federation.model.placed import task_nodes
from queuesmith.schedule.verify import verify
from tests.federation.cases import chance_federation, chance_jobs, seeds


def test_a_large_queue_is_placed_within_two_per_cent_of_the_bound():
    federation = generate_federation(20, 64)
    jobs = generate_queue(jobs=1000, nodes=federation.nodes, most_tasks=128, seed=1)
    placement = verify(place_by_prices(federation, jobs, seconds=60))
    assert placement.gap_percent is not None
    assert placement.gap_percent < 2


@pytest.mark.parametrize("seed", range(3))
def test_it_is_never_above_the_heuristics_on_the_papers_federation(seed):
    federation, jobs = paper_federation(), generate_queue(jobs=40, seed=seed)
    mine = verify(place_by_prices(federation, jobs)).makespan
    others = [place_by_heuristic(federation, jobs, name).makespan for name in HEURISTICS]
    assert mine <= min(others)


def test_the_same_seed_gives_the_same_answer_and_progress_is_told():
    federation, jobs = paper_federation(), generate_queue(jobs=20, seed=3)
    shares = []
    one = place_by_prices(federation, jobs, seed=5, progress=shares.append)
    two = place_by_prices(federation, jobs, seed=5)
    assert one.start.tolist() == two.start.tolist()
    assert task_nodes(one).tolist() == task_nodes(two).tolist()
    assert shares == sorted(shares)
    assert shares[-1] <= 1.0


def test_little_time_still_gives_an_answer():
    federation, jobs = paper_federation(), generate_queue(jobs=20, seed=3)
    assert verify(place_by_prices(federation, jobs, seconds=1e-9)).facts["attempts"] == 1


@settings(max_examples=10)
@given(seed=seeds)
def test_every_answer_can_be_carried_out(seed):
    rng = np.random.default_rng(seed)
    federation = chance_federation(rng)
    limit = float(rng.choice([1.0, 1.5]))
    jobs = chance_jobs(rng, federation, latest=0).fitting(federation, limit)
    if len(jobs):
        verify(place_by_prices(federation, jobs, saturation=limit, seed=1))
