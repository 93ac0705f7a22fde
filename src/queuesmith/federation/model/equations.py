"""The equations of Blanco et al., 2 to 7, one by one: what slows a job, and by how much.

H. Blanco, F. Guirado, J. L. Lérida, V. M. Albornoz: MIP Model Scheduling for Multi-Clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.federation.model.fitting import LINK_TOLERANCE

#: What a job may still lack, in seconds and as a share of its time, when it counts as done: the
#: rounding of the arithmetic must not cost it another second.
GRACE_SECONDS = 1e-6
GRACE_SHARE = 1e-12


def whole_seconds(seconds: float) -> int:
    """Return a time rounded up to whole seconds, forgiving the rounding of the arithmetic.

    Nothing takes less than a second.

    >>> whole_seconds(100 * (0.7 / 0.5 + 0.3)), whole_seconds(170.01), whole_seconds(1e-9)
    (170, 171, 1)
    """
    return int(all_whole_seconds(np.float64(seconds)))


def all_whole_seconds(seconds: ArrayLike) -> Ints:
    """Return times rounded up as `whole_seconds` does."""
    exact = np.asarray(seconds, np.float64)
    rounded = np.ceil(exact - GRACE_SECONDS - GRACE_SHARE * exact)
    return np.asarray(np.maximum(rounded, 1.0), dtype=np.int64)


def processing_slowdown(power: ArrayLike) -> float:
    """Return SP of a job on nodes of such powers: the slowest rules (eq. 3)."""
    return float(1.0 / np.min(power))


def link_use(tasks: int, task_bandwidth: float, on_cluster: ArrayLike) -> Floats:
    """Return BW, the bandwidth a job consumes on each link (eq. 4).

    Parameters
    ----------
    tasks, task_bandwidth
        Of the job.
    on_cluster
        How many of its tasks are on each cluster. A job of one task talks to nobody.

    >>> link_use(4, 100.0, [1, 3, 0]).tolist()
    [100.0, 100.0, 0.0]
    """
    here = np.asarray(on_cluster, np.float64)
    return np.asarray(here * task_bandwidth * (tasks - here) / max(tasks - 1, 1))


def saturation_degree(bandwidth: ArrayLike, used: ArrayLike) -> Floats:
    """Return SAT of each link, bandwidth over use (eq. 5); infinite where nobody uses it."""
    room, load = np.asarray(bandwidth, np.float64), np.asarray(used, np.float64)
    degree = np.full(load.shape, np.inf)
    np.divide(room, load, out=degree, where=load > 0)
    return degree


def communication_slowdown(degree: ArrayLike, own_use: ArrayLike) -> float:
    """Return SC of a job: that of the most saturated link it uses, at least 1 (eq. 6 and 7)."""
    used = np.asarray(degree, np.float64)[np.asarray(own_use) > 0]
    return float(link_slowdown(1.0 / used).max()) if used.size else 1.0


def link_slowdown(load_share: ArrayLike) -> Floats:
    """Return SC of links whose load is such a share of their bandwidth (eq. 6).

    A load above the bandwidth by no more than the rounding of the arithmetic slows nobody.
    """
    share = np.asarray(load_share, np.float64)
    return np.where(share > 1.0 + LINK_TOLERANCE, share, 1.0)


def time_cost(sigma: float, processing: float, communication: float = 1.0) -> float:
    """Return ct: how many times its base time a job takes (eq. 2)."""
    return sigma * processing + (1.0 - sigma) * communication
