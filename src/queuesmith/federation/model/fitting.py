"""Whether a job can be spread over clusters without loading a link too much."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Shares of a bandwidth below which a load counts as equal to it.
LINK_TOLERANCE = 1e-9


def can_split(
    tasks: NDArray[np.int64],
    task_bandwidth: NDArray[np.float64],
    free: NDArray[np.int64],
    room: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return whether each job's tasks can be spread over clusters, if it runs alone.

    Only talk between clusters loads links, so that a link has room for few tasks of a job or for
    nearly all of them: for up to ``few``, and for at least ``tasks - few``. So either every
    cluster takes few, or one takes nearly all and the others few.

    Parameters
    ----------
    tasks, task_bandwidth
        Of each job.
    free, room
        The free nodes of each cluster, and the bandwidth that its link has left.
    """
    wide = tasks[:, None]
    few = _few_tasks(wide, task_bandwidth[:, None], room * (1 + LINK_TOLERANCE))
    takes = np.minimum(few, free)
    others = takes.sum(axis=1, keepdims=True) - takes
    nearly_all = np.minimum(free, wide)
    alone = (nearly_all >= wide - few) & (wide - nearly_all <= others)
    return np.asarray((takes.sum(axis=1) >= tasks) | alone.any(axis=1))


def _few_tasks(
    tasks: NDArray[np.int64], each: NDArray[np.float64], room: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The most tasks, up to all, such that a link has room for them and for any fewer (eq. 4)."""
    all_fit = _use(tasks, each, tasks // 2) <= room  # half of them talk most
    product = np.zeros(all_fit.shape)
    np.divide(np.where(all_fit, 0.0, room) * (tasks - 1), each, out=product, where=~all_fit)
    inside = tasks.astype(np.float64) ** 2 - 4.0 * product
    few = np.floor((tasks - np.sqrt(inside)) / 2.0).astype(np.int64)
    # The root is rounded: one more may still fit, or the last may not.
    few = np.where(_use(tasks, each, few) > room, few - 1, few)
    few = np.where(_use(tasks, each, few + 1) <= room, few + 1, few)
    return np.where(all_fit, tasks, np.maximum(few, 0))


def _use(
    tasks: NDArray[np.int64], each: NDArray[np.float64], here: NDArray[np.int64]
) -> NDArray[np.float64]:
    return np.asarray(here * each * (tasks - here) / np.maximum(tasks - 1, 1))
