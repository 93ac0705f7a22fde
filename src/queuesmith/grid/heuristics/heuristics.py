"""Quick mappings by a rule: OLB, MET, MCT, Min-Min, Max-Min, Duplex, Sufferage and others."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import seeded
from queuesmith.base.registry import entry
from queuesmith.grid.etc.mapping import mapped
from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.schedule import Schedule

# Each heuristic imports its own kernel: only what is used is compiled.

Ints = NDArray[np.int64]
Heuristic = Callable[[EtcMatrix, Ints], Ints]


def olb(matrix: EtcMatrix, order: Ints) -> Ints:
    """Opportunistic load balancing: each job to the machine that is free first."""
    from queuesmith.grid.heuristics.kernels.filling import fill_olb

    machine = np.empty(matrix.jobs, np.int64)
    fill_olb(matrix.times, matrix.ready, order, machine)
    return machine


def met(matrix: EtcMatrix, order: Ints) -> Ints:
    """Minimum execution time: each job to its quickest machine, however busy that is."""
    return np.asarray(np.argmin(matrix.times, axis=1), dtype=np.int64)


def mct(matrix: EtcMatrix, order: Ints) -> Ints:
    """Minimum completion time: each job in turn to the machine that finishes it first."""
    from queuesmith.grid.heuristics.kernels.filling import fill_mct

    machine = np.empty(matrix.jobs, np.int64)
    fill_mct(matrix.times, matrix.ready, order, machine)
    return machine


def min_min(matrix: EtcMatrix, order: Ints) -> Ints:
    """Min-Min: always the job that can finish first."""
    from queuesmith.grid.heuristics.kernels.filling import fill_min_min

    machine = np.empty(matrix.jobs, np.int64)
    columns = np.ascontiguousarray(matrix.times.T)
    fill_min_min(matrix.times, matrix.ready, np.argsort(columns, axis=1, kind="stable"), machine)
    return machine


def max_min(matrix: EtcMatrix, order: Ints) -> Ints:
    """Max-Min: always the job whose earliest finish is the latest."""
    from queuesmith.grid.heuristics.kernels.shortlists import fill_max_min

    machine = np.empty(matrix.jobs, np.int64)
    fill_max_min(matrix.times, matrix.ready, machine)
    return machine


def duplex(matrix: EtcMatrix, order: Ints) -> Ints:
    """Duplex: the better of Min-Min and Max-Min by makespan."""
    both = (min_min(matrix, order), max_min(matrix, order))
    return min(both, key=matrix.makespan)


def sufferage(matrix: EtcMatrix, order: Ints) -> Ints:
    """Sufferage: each round, each machine takes the job that would suffer most elsewhere."""
    from queuesmith.grid.heuristics.kernels.shortlists import fill_sufferage

    machine = np.empty(matrix.jobs, np.int64)
    fill_sufferage(matrix.times, matrix.ready, machine)
    return machine


def x_sufferage(matrix: EtcMatrix, order: Ints) -> Ints:
    """XSufferage: always the one job that would suffer most, looked at anew after each."""
    from queuesmith.grid.heuristics.kernels.shortlists import fill_x_sufferage

    machine = np.empty(matrix.jobs, np.int64)
    fill_x_sufferage(matrix.times, matrix.ready, machine)
    return machine


def ljfr_sjfr(matrix: EtcMatrix, order: Ints) -> Ints:
    """Longest job to fastest resource, then shortest job to fastest resource, in turn."""
    from queuesmith.grid.heuristics.kernels.filling import fill_ljfr_sjfr

    machine = np.empty(matrix.jobs, np.int64)
    longest = np.argsort(-_mean_where_possible(matrix, axis=1), kind="stable")
    fill_ljfr_sjfr(matrix.times, matrix.ready, longest, fastest_first(matrix), machine)
    return machine


def fastest_first(matrix: EtcMatrix) -> Ints:
    """Return the machines by their mean time, the fastest first."""
    return np.argsort(_mean_where_possible(matrix, axis=0), kind="stable")


def map_by_heuristic(
    matrix: EtcMatrix, name: str, *, seed: int | None = None, objective: str = "makespan"
) -> Schedule:
    """Map jobs by one of ``HEURISTICS``.

    Parameters
    ----------
    matrix
        The jobs and machines.
    name
        A name in ``HEURISTICS``, such as ``min-min``.
    seed
        Where the jobs come one after another (``olb``, ``mct``): shuffle them by this seed. By
        default they come in the order of the matrix. The other heuristics have no order.
    objective
        What the mapping is judged by; the heuristics themselves do not look at it.

    >>> from queuesmith.grid import EtcMatrix
    >>> map_by_heuristic(EtcMatrix([[3, 4], [2, 5], [4, 4]]), "min-min").makespan
    6.0
    """
    heuristic = heuristic_named(name)
    load_heuristic(heuristic)
    order = np.arange(matrix.jobs) if seed is None else seeded(seed).permutation(matrix.jobs)
    began = time.perf_counter()
    machine = heuristic(matrix, order)
    seconds = time.perf_counter() - began
    return mapped(matrix, machine, name, objective, seconds=seconds)


@functools.cache
def load_heuristic(heuristic: Heuristic) -> None:
    """Compile what a heuristic calls, so that no mapping's time goes there."""
    heuristic(EtcMatrix([[1.0]]), np.zeros(1, np.int64))


def heuristic_named(name: str) -> Heuristic:
    """Return the heuristic of a name, or say which names there are."""
    return entry("heuristic", name, HEURISTICS)


def _mean_where_possible(matrix: EtcMatrix, axis: int) -> Floats:
    """Return the mean finite time of each job (axis 1) or machine (axis 0)."""
    possible = matrix.compatible
    total = np.where(possible, matrix.times, 0.0).sum(axis=axis)
    count = possible.sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.inf)


#: A function of the matrix and the order in which jobs come; returns the machine of each job.
HEURISTICS: dict[str, Heuristic] = {
    "olb": olb,
    "met": met,
    "mct": mct,
    "min-min": min_min,
    "max-min": max_min,
    "duplex": duplex,
    "sufferage": sufferage,
    "x-sufferage": x_sufferage,
    "ljfr-sjfr": ljfr_sjfr,
}
