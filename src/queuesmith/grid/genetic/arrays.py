"""Instances, individuals and workspaces as the compiled genetic schedulers take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.registry import entry
from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.grid.exact.kernels.prices import find_prices
from queuesmith.grid.genetic.kernels.marks import WORD_BITS
from queuesmith.grid.genetic.kernels.problem import (
    BAD_JOB,
    FLAGS,
    NOBODY,
    ROWS,
    VALUES,
    Population,
    Problem,
    Workspace,
)
from queuesmith.grid.genetic.kernels.value import FEW
from queuesmith.grid.heuristics.heuristics import fastest_first

#: So many products of a price and a time are spent on finding the prices of machines.
PRICE_WORK = 40_000_000
MOST_PRICE_ROUNDS = 3000
#: Annealing looks at so many pairs a job, those of least reduced cost.
CHEAP_PAIRS = 2


def objective_weights(
    objective: str, machines: int, makespan_weight: float, makespan_step: float = 0.0
) -> Floats:
    """Return the weights of makespan and flowtime in the first key, of flowtime in the second.

    The last number is the step of makespans that count as equal, relatively; 0 for none.
    """
    weights = {
        "makespan": (1.0, 0.0, 0.0, 0.0),
        "flowtime": (0.0, 1.0, 0.0, 0.0),
        "simultaneous": (makespan_weight, (1.0 - makespan_weight) / machines, 0.0, 0.0),
        "hierarchic": (1.0, 0.0, 1.0, makespan_step),
    }
    return np.array(entry("objective", objective, weights))


def machine_prices(matrix: EtcMatrix) -> tuple[Floats, float]:
    """Return a price for each machine and the lower bound of the makespan that they prove.

    They come from a few thousand rounds of raising the prices of late machines; the assignment LP
    gives slightly better ones.
    """
    size = matrix.jobs * matrix.machines
    rounds = int(min(MOST_PRICE_ROUNDS, max(PRICE_WORK // size, 50)))
    now, best, load = np.empty((3, matrix.machines))
    bound = find_prices(matrix.times, matrix.ready, rounds, now, best, load)
    return best, float(bound)


def new_problem(matrix: EtcMatrix, weights: Floats) -> Problem:
    """Return an instance as the compiled code takes it."""
    prices, _ = machine_prices(matrix)
    cost = prices * matrix.times
    ranked = np.argsort(matrix.times.T, axis=1, kind="stable")
    options = np.ascontiguousarray(np.argsort(cost, axis=1, kind="stable"), dtype=np.int64)
    near = _cheap(cost)
    job, machine = np.nonzero(near & (near.sum(axis=1) > 1)[:, None])
    arrays: tuple[NDArray[Any], ...] = (
        matrix.times,
        np.ascontiguousarray(matrix.times.T),
        matrix.ready,
        options,
        matrix.compatible.sum(axis=1, dtype=np.int64),
        prices,
        np.ascontiguousarray(np.argsort(ranked, axis=1).T, dtype=np.int64),
        ranked.astype(np.int64),
        np.take_along_axis(matrix.times.T, ranked, axis=1),
        _longest_first(matrix, options),
        fastest_first(matrix),
        near.sum(axis=1, dtype=np.int64),
        job.astype(np.int64),
        machine.astype(np.int64),
        weights,
    )
    for array in arrays:
        array.setflags(write=False)
    return Problem(*arrays)


def _longest_first(matrix: EtcMatrix, options: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the jobs by their mean time, the longest first; times are summed as options stand."""
    times = np.take_along_axis(matrix.times, options, axis=1)
    total = np.cumsum(np.where(np.isfinite(times), times, 0.0), axis=1)[:, -1]
    mean = total / matrix.compatible.sum(axis=1)
    return np.ascontiguousarray(np.argsort(mean, kind="stable")[::-1])


def _cheap(cost: Floats) -> NDArray[np.bool_]:
    """Return the pairs of least reduced cost: those of 0, one a job, and on average one more."""
    reduced = cost - cost.min(axis=1, keepdims=True)
    finite = np.sort(reduced[np.isfinite(reduced)])
    cut = finite[min(CHEAP_PAIRS * len(cost), finite.size - 1)]
    return np.asarray(reduced <= cut)


def new_population(slots: int, jobs: int, machines: int) -> Population:
    """Return room for so many individuals."""
    return Population(
        genes=np.zeros((slots, jobs), np.int64),
        completion=np.zeros((slots, machines)),
        flow=np.zeros((slots, machines)),
        value=np.zeros((slots, VALUES)),
        sequence=np.zeros((slots, jobs), np.int32),
        place=np.zeros((slots, jobs), np.int32),
        known=np.zeros((slots, 1), np.int32),
    )


def new_workspace(jobs: int, machines: int, seed: int) -> Workspace:
    """Return room for the operators, with random numbers that begin at a seed."""
    widest = max(jobs, machines, 2 * FEW)
    flags = np.zeros(FLAGS, np.int64)
    flags[BAD_JOB] = NOBODY
    state = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
    return Workspace(
        ints=np.zeros((ROWS, widest), np.int64),
        reals=np.zeros(widest),
        counts=np.zeros((2, machines), np.int64),
        marks=np.zeros((machines, -(-jobs // WORD_BITS)), np.int64),
        members=np.zeros((machines, jobs), np.int64),
        flags=flags,
        random=state,
    )
