"""The method that suits an instance: what was best on generated ones like it.

The rule comes from `python -m papers.grid_choice`, which maps generated instances of all kinds, of
seeds that no table uses, by every method in the same time. What decides is what is minimised, how
many pairs of job and machine there are for each second, and, for both criteria together, how
consistent the instance is. Heterogeneity made no difference to the ranking there.
"""

from __future__ import annotations

import importlib.util
from typing import NamedTuple

from queuesmith.base.words import so_many
from queuesmith.grid.etc.describe import describe
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.options import MapOptions

#: Below so many pairs of job and machine, and in less than so many seconds, annealing was better.
FEW_PAIRS, FEW_SECONDS = 2_000, 2.0
#: More pairs than this for each second leave the exact method too little time for its bound.
PAIRS_A_SECOND = 30_000
#: The same for both criteria together, where jobs do not agree on the machines.
BOTH_PAIRS_A_SECOND = 2_000
#: Above this consistency, machines have nearly the same order for all jobs.
CONSISTENT = 0.9


class MethodChoice(NamedTuple):
    """A method, the configuration of ``ga``, and why."""

    method: str
    preset: str
    why: str


def choose_method(matrix: EtcMatrix, options: MapOptions) -> MethodChoice:
    """Return the method that suits an instance, and why.

    Parameters
    ----------
    matrix
        The instance.
    options
        What is minimised, and for how long. With ``generations``, several ``runs`` or a ``preset``
        it is ``ga``.
    """
    if options.generations is not None or options.runs > 1:
        why = "generations and runs are asked for, which only ga has"
        return MethodChoice("ga", str(options.preset), why)
    if options.preset != MapOptions.preset:
        return MethodChoice("ga", str(options.preset), "a preset is asked for, which only ga has")
    if importlib.util.find_spec("scipy") is None:
        return _genetic("exact needs SciPy, which is missing: pip install queuesmith[exact]")
    pairs = matrix.jobs * matrix.machines
    if options.objective == "flowtime":
        return MethodChoice("exact", "queuesmith", "the least flowtime is found and proven")
    if options.objective == "simultaneous":
        return _for_both(matrix, pairs, options.seconds)
    if pairs < FEW_PAIRS and options.seconds < FEW_SECONDS:
        return _genetic(
            f"in less than {FEW_SECONDS:g} s it was the best on generated instances of so few pairs"
        )
    if pairs > PAIRS_A_SECOND * options.seconds:
        return _genetic(
            f"{pairs:,} pairs of job and machine are too many for the bound that guides exact in "
            f"{options.seconds:g} s"
        )
    return MethodChoice(
        "exact",
        "queuesmith",
        f"{options.seconds:g} s are enough for {so_many(pairs, 'pair')} and a bound",
    )


def _for_both(matrix: EtcMatrix, pairs: int, seconds: float) -> MethodChoice:
    """For makespan and flowtime together: by size, and by how far jobs agree on the machines."""
    few = pairs < FEW_PAIRS
    if few or pairs <= BOTH_PAIRS_A_SECOND * seconds:
        agreed = describe(matrix).consistency
        if few == (agreed >= CONSISTENT):
            says = "agree" if agreed >= CONSISTENT else "do not agree"
            why = (
                f"{so_many(pairs, 'pair')}, and jobs {says} on the machines ({100 * agreed:.0f} %)"
            )
            return MethodChoice("exact", "queuesmith", why)
    return _genetic("for both criteria together it was the best on generated instances like it")


def _genetic(why: str) -> MethodChoice:
    return MethodChoice("ga", "queuesmith", why)
