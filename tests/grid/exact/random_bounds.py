"""Instances made by chance, with the bound and the prices that guide the searches."""

import numpy as np

from queuesmith.grid import EtcMatrix
from queuesmith.grid.exact.bounds import Bound, lower_bound


def random_bound(jobs: int, machines: int, seed: int = 0) -> Bound:
    """Return the bound of an instance of which a tenth of the pairs are incompatible."""
    rng = np.random.default_rng(seed)
    times = rng.uniform(1, 100, (jobs, 1)) * rng.uniform(1, 10, (jobs, machines))
    times[rng.random(times.shape) < 0.1] = np.inf
    times[:, 0] = rng.uniform(1, 500, jobs)
    return lower_bound(EtcMatrix(times, rng.uniform(0, 20, machines)))


def makespan_of(bound: Bound, machine: np.ndarray) -> float:
    """Return the makespan of a mapping of the instance."""
    return bound.matrix.makespan(machine)
