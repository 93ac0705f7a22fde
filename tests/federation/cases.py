"""Small federations and jobs, made by chance."""

import math

import numpy as np
from hypothesis import strategies as st

from queuesmith.federation import Federation, FederationCluster, FederationJobs

POWERS = (1.0, 0.75, 0.5, 0.3)
LIMITS = (1.0, 1.5, math.inf)


def chance_federation(rng: np.random.Generator) -> Federation:
    """One to three clusters of one to four nodes, in half of the cases of unequal ones."""
    clusters = []
    for number in range(int(rng.integers(1, 4))):
        nodes = int(rng.integers(1, 5))
        unequal = rng.random() < 0.5
        power = rng.choice(POWERS, nodes).tolist() if unequal else float(rng.choice(POWERS))
        clusters.append(FederationCluster(f"c{number}", nodes, power, float(rng.integers(5, 60))))
    return Federation(clusters)


def chance_jobs(
    rng: np.random.Generator, federation: Federation, most: int = 12, *, latest: int = 300
) -> FederationJobs:
    """Up to so many jobs, some of which may be too much for the links."""
    count = int(rng.integers(1, most + 1))
    return FederationJobs(
        rng.integers(1, federation.nodes + 1, count),
        rng.integers(1, 300, count),
        rng.integers(0, 30, count),
        rng.choice([0.0, 0.3, 0.7, 1.0], count),
        submit=rng.integers(0, latest + 1, count),
    )


seeds = st.integers(0, 2**32 - 1)
