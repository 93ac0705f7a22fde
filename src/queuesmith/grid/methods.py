"""One way in to every method of mapping jobs to machines, each result with its proven bound."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from queuesmith.base.errors import UsageError
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.exact.bounds import lower_bound
from queuesmith.grid.exact.flowtime import can_assign, least_weighted, plain_flowtime_bound
from queuesmith.grid.exact.solve import OBJECTIVES, solve_exact
from queuesmith.grid.genetic.evolve import evolve
from queuesmith.grid.heuristics.heuristics import HEURISTICS, map_by_heuristic
from queuesmith.grid.mapping import LAMBDA, Mapping
from queuesmith.solving.status import TOLERANCE

METHODS = (*HEURISTICS, "ga", "exact")
DEFAULT_SECONDS = 10.0


def map_jobs(
    matrix: EtcMatrix,
    method: str = "exact",
    *,
    objective: str = "makespan",
    preset: str | Path = "queuesmith",
    seconds: float = DEFAULT_SECONDS,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Mapping:
    """Map jobs to machines by any method, and say how far from the optimum that can be.

    Parameters
    ----------
    matrix
        The jobs and machines.
    method
        A heuristic such as ``min-min``, ``ga`` or ``exact``.
    objective
        ``makespan``, ``flowtime``, ``simultaneous`` or ``hierarchic``.
    preset
        The configuration of ``ga``: a preset or a TOML file.
    seconds
        How long ``ga`` and ``exact`` may take.
    seed
        What chance follows from.
    workers
        How many threads ``exact`` may use; by default one for each core of this computer.
    progress
        Is called with the share of the time that has passed, 0 to 1.

    >>> map_jobs(EtcMatrix([[3, 4], [2, 5], [4, 4]]), "min-min").lower_bound > 0
    True
    """
    if method not in METHODS:
        raise UsageError(f"there is no method '{method}'. Choose from: {', '.join(METHODS)}.")
    if objective not in OBJECTIVES:
        raise UsageError(
            f"there is no objective '{objective}'. Choose from: {', '.join(OBJECTIVES)}."
        )
    report = progress or (lambda share: None)
    if method == "exact":
        return solve_exact(
            matrix,
            objective,
            seconds=seconds,
            seed=seed,
            workers=workers or os.cpu_count() or 1,
            progress=lambda spent, value, bound: report(min(spent / seconds, 1.0)),
        )
    if method == "ga":
        evolved = evolve(
            matrix,
            preset,
            objective=objective,
            seed=seed,
            seconds=seconds,
            progress=lambda state: report(min(state.seconds / seconds, 1.0)),
        )
        return with_bound(evolved.best)
    return with_bound(map_by_heuristic(matrix, method, objective=objective))


def with_bound(mapping: Mapping) -> Mapping:
    """Return the mapping with a proven bound on its objective, where SciPy is there to prove it."""
    if importlib.util.find_spec("scipy") is None:
        missing = {"bound": "not computed: pip install queuesmith[exact]"}
        return replace(mapping, facts={**mapping.facts, **missing})
    return replace(mapping, lower_bound=objective_bound(mapping.matrix, mapping.objective))


def objective_bound(matrix: EtcMatrix, objective: str) -> float:
    """Return what no mapping's value can be below, in a few seconds.

    For both criteria together it is the weighted sum of the two single bounds.
    """
    if objective == "flowtime":
        return _flowtime_bound(matrix)
    span = lower_bound(matrix).value
    if objective == "simultaneous":
        return LAMBDA * span + (1 - LAMBDA) * _flowtime_bound(matrix) / matrix.machines
    return span


def _flowtime_bound(matrix: EtcMatrix) -> float:
    """The least flowtime itself where it can be computed, rounded down; else a plain bound."""
    if can_assign(matrix):
        return least_weighted(matrix).value * (1 - TOLERANCE)
    return plain_flowtime_bound(matrix)


def compare_methods(
    matrices: Sequence[EtcMatrix],
    methods: Sequence[str],
    *,
    objective: str = "makespan",
    seconds: float = DEFAULT_SECONDS,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> list[Mapping]:
    """Map several instances by several methods; instance by instance, method by method."""
    found = []
    for matrix in matrices:
        for method in methods:
            found.append(map_jobs(matrix, method, objective=objective, seconds=seconds, seed=seed))
            if progress is not None:
                progress(len(found) / (len(matrices) * len(methods)))
    return found
