"""Whether a job can be spread at all, beside trying every way."""

import itertools

import numpy as np
from hypothesis import given
from tests.federation.cases import seeds

from queuesmith.federation.model.fitting import LINK_TOLERANCE, can_split
from queuesmith.federation.model.time_cost import link_use


@given(seed=seeds)
def test_a_job_fits_where_some_way_to_spread_it_does(seed):
    rng = np.random.default_rng(seed)
    clusters = int(rng.integers(1, 4))
    free = rng.integers(0, 5, clusters)
    room = rng.choice([0.0, 5.0, 11.0, 20.0, 33.0, np.inf], clusters)
    tasks, each = int(rng.integers(1, 13)), float(rng.choice([0.0, 3.0, 7.0, 10.0]))
    ways = itertools.product(*(range(int(nodes) + 1) for nodes in free))
    possible = any(
        (link_use(tasks, each, way) <= room * (1 + LINK_TOLERANCE)).all()
        for way in ways
        if sum(way) == tasks
    )
    assert can_split(np.array([tasks]), np.array([each]), free, room).tolist() == [possible]
