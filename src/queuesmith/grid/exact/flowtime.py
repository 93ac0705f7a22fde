"""The least flowtime, or weighted sum of it and completion times, by linear assignment."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import QueuesmithError
from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.grid.exact.bounds import ROUNDING
from queuesmith.solving.libraries import solver_library

#: Linear assignments of more cells (jobs times positions) are not begun.
MOST_CELLS = 20_000_000
#: With more jobs than this, the time of an assignment is estimated before it is begun ...
SMALL = 600
#: ... from that of so many of them, by this power of the number of jobs, as measured.
PROBE_JOBS, GROWTH = 400, 3.25


class Weighted(NamedTuple):
    """The mapping that minimises a weighted sum of flowtime and the machines' completion times."""

    machine: NDArray[np.int64]
    value: float


def least_weighted(
    matrix: EtcMatrix, *, flow: float = 1.0, price: Floats | None = None
) -> Weighted:
    """Return the least ``flow * flowtime + sum_m price_m * completion_m``, and its mapping.

    A job that is the k-th from the end of its machine delays k jobs, itself included. So this is a
    linear assignment of jobs to positions counted from the end. Only as many positions as are
    needed are looked at: where the last one of a machine stays empty, its price is 0, and those
    after it, which cost every job more, cannot be of use.
    """
    weights = np.zeros(matrix.machines) if price is None else np.asarray(price, dtype=np.float64)
    depth = _likely_positions(matrix)
    while True:
        _check_size(matrix, int(depth.sum()))
        found = _assign(matrix, flow, weights, depth)
        if found is None:
            depth = np.minimum(2 * depth, matrix.jobs)
            continue
        machine, value = found
        full = (np.bincount(machine, minlength=matrix.machines) == depth) & (depth < matrix.jobs)
        if not full.any():
            return Weighted(machine, value + math.fsum(weights * matrix.ready))
        depth[full] = np.minimum(2 * depth[full], matrix.jobs)


def can_assign(matrix: EtcMatrix) -> bool:
    """Return whether the linear assignment of this instance fits into memory and patience."""
    return matrix.jobs * int(_likely_positions(matrix).sum()) <= MOST_CELLS


def assignment_seconds(matrix: EtcMatrix) -> float:
    """Return about how long the linear assignment takes, from that of a part of the jobs."""
    solver_library("scipy.optimize")  # whose import would be measured, too
    part = np.linspace(0, matrix.jobs - 1, PROBE_JOBS).astype(np.int64)
    few = EtcMatrix(matrix.times[part], matrix.ready)
    began = time.perf_counter()
    least_weighted(few)
    spent = time.perf_counter() - began
    return float(spent * (matrix.jobs / PROBE_JOBS) ** GROWTH)


def assignable_within(matrix: EtcMatrix, seconds: float) -> bool:
    """Return whether the linear assignment fits into memory, and likely into so many seconds.

    Once begun it cannot be stopped. That of a small instance is always worth its while.
    """
    if not can_assign(matrix):
        return False
    return matrix.jobs <= SMALL or assignment_seconds(matrix) <= seconds


def plain_flowtime_bound(matrix: EtcMatrix) -> float:
    """Return what no flowtime is below, at once: jobs alone, or on machines that differ in speed.

    Every job takes at least its least time, times how much slower a machine is than that for the
    job that suits it best. With such times the least flowtime is known: the longest jobs go to the
    cheapest positions, the k-th from the end of a machine costing k times its slowness.
    """
    alone = math.fsum((matrix.ready + matrix.times).min(axis=1))
    least = matrix.times.min(axis=1)
    slowness = (matrix.times / least[:, None]).min(axis=0)
    limit = (matrix.jobs + matrix.machines) / (1 / slowness).sum()  # so many positions are below
    depth = np.floor(limit / slowness).astype(np.int64)
    costs = np.sort(
        np.concatenate([one * _places(k) for one, k in zip(slowness, depth, strict=True) if k])
    )
    together = math.fsum(np.sort(least)[::-1] * costs[: matrix.jobs])
    ready = matrix.jobs * float(matrix.ready.min())
    return max(alone, together + ready) * (1 - 8 * ROUNDING)


def _assign(
    matrix: EtcMatrix, flow: float, weights: Floats, depth: NDArray[np.int64]
) -> tuple[NDArray[np.int64], float] | None:
    """Assign jobs to the positions given; None where they do not suffice."""
    linear_sum_assignment = solver_library("scipy.optimize").linear_sum_assignment
    owner = np.repeat(np.arange(matrix.machines), depth)
    position = np.concatenate([_places(count) for count in depth])
    costs = matrix.times[:, owner] * (flow * position + weights[owner])
    costs += flow * matrix.ready[owner]
    try:
        job, slot = linear_sum_assignment(costs)
    except ValueError:
        return None
    return owner[slot].astype(np.int64), math.fsum(costs[job, slot])


def _likely_positions(matrix: EtcMatrix) -> NDArray[np.int64]:
    """Guess how many jobs each machine gets: short jobs first, each where it ends first."""
    load = np.array(matrix.ready)
    count = np.zeros(matrix.machines, np.int64)
    for job in np.argsort(matrix.times.min(axis=1), kind="stable"):
        own = int(np.argmin(load + matrix.times[job]))
        load[own] += matrix.times[job, own]
        count[own] += 1
    return np.asarray(np.minimum(count + count // 4 + 4, matrix.jobs), dtype=np.int64)


def _check_size(matrix: EtcMatrix, positions: int) -> None:
    if matrix.jobs * positions > 4 * MOST_CELLS:
        raise QueuesmithError(
            f"instance '{matrix.name}' needs {matrix.jobs * positions:,} cells for its linear "
            f"assignment, but at most {4 * MOST_CELLS:,} fit. Use the method ga."
        )


def _places(count: int) -> NDArray[np.int64]:
    """Number the positions of a machine, from its end."""
    return np.arange(1, count + 1)
