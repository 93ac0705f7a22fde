"""NSGA-II and NSGA-III, from the library pymoo, held so that it imports no more than it needs."""

from __future__ import annotations

import itertools
import math
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.extras import extra_library

Floats = NDArray[np.float64]

ALGORITHMS = ("nsga3", "nsga2")


class NsgaSearch:
    """One search for a front: ask for vectors of numbers from 0 to 1, tell their losses.

    Parameters
    ----------
    algorithm
        One of `ALGORITHMS`.
    first
        The vectors of the first generation; each later one is as large.
    objectives
        How many losses a vector has.
    generations
        How many there are, the first counted.
    seed
        Where the library's chance comes from.
    """

    def __init__(
        self, algorithm: str, first: Floats, objectives: int, *, generations: int, seed: int
    ) -> None:
        extra_library("pymoo", "tune", "the front")
        from pymoo.core.problem import Problem

        self._problem = Problem(n_var=first.shape[1], n_obj=objectives, xl=0.0, xu=1.0)
        self._algorithm = _algorithm(algorithm, first, objectives)
        self._algorithm.setup(self._problem, termination=("n_gen", generations), seed=seed)
        self._asked: Any = None

    @property
    def goes_on(self) -> bool:
        """Whether there is another generation."""
        return bool(self._algorithm.has_next())

    def ask(self) -> Floats:
        """Return the vectors of the next generation, one a row."""
        self._asked = self._algorithm.ask()
        return np.asarray(self._asked.get("X"), dtype=np.float64)

    def tell(self, losses: Floats) -> None:
        """Take the losses of the vectors asked for last, one row each."""
        from pymoo.core.evaluator import Evaluator
        from pymoo.problems.static import StaticProblem

        Evaluator().eval(StaticProblem(self._problem, F=losses), self._asked)
        self._algorithm.tell(infills=self._asked)


def _algorithm(name: str, first: Floats, objectives: int) -> Any:
    """Return the algorithm, and let pymoo import no more than it needs: SciPy takes 0.4 s."""
    shared = {"pop_size": len(first), "sampling": first, "eliminate_duplicates": _no_equals()}
    if name == "nsga2":
        from pymoo.algorithms.moo.nsga2 import NSGA2

        return NSGA2(**shared)
    from pymoo.algorithms.moo.nsga3 import NSGA3

    _find_distances_alone()
    return NSGA3(_directions(objectives, len(first)), **shared)


def _no_equals() -> Any:
    """Return what lets no vector into a population twice; pymoo's own imports scipy.spatial."""
    from pymoo.core.duplicate import DuplicateElimination

    class NoEquals(DuplicateElimination):  # type: ignore[misc]
        def _do(self, population: Any, others: Any, is_equal: Any) -> Any:
            met = set() if others is None else set(map(bytes, others.get("X")))
            for place, vector in enumerate(map(bytes, population.get("X"))):
                is_equal[place] |= vector in met
                if others is None:
                    met.add(vector)
            return is_equal

    return NoEquals()


def _find_distances_alone() -> None:
    """Let pymoo find the one function that NSGA-III asks for without importing all of them.

    A version of pymoo that keeps its functions elsewhere finds it by itself.
    """
    name = "calc_perpendicular_distance"
    try:
        loader = import_module("pymoo.functions").FunctionLoader.get_instance()
        kind = "compiled" if loader.is_compiled else "standard"
        distances = getattr(import_module(f"pymoo.functions.{kind}.{name}"), name)
        find = type(loader).load
    except (ImportError, AttributeError):
        return

    def load(asked: str | None = None, mode: str | None = None) -> Any:
        return distances if (asked, mode) == (name, "auto") else find(loader, asked, mode)

    loader.load = load


def _directions(objectives: int, most: int) -> Floats:
    """Return evenly spread reference directions, as many as the population has room for.

    They are Das and Dennis's: all ways to divide a whole of equal parts among the objectives.
    """
    parts = 1
    while math.comb(objectives + parts, parts + 1) <= most:
        parts += 1
    places = parts + objectives - 1
    walls = itertools.combinations(range(places), objectives - 1)
    ends = np.array([(-1, *between, places) for between in walls], np.float64)
    return (np.diff(ends, axis=1) - 1) / parts
