"""CMA-ES, from the library pycma, held so that chance comes from our generator alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class CmaSearch:
    """One search by CMA-ES: ask for vectors, tell their losses.

    Parameters
    ----------
    start, step
        Where it begins, and how far it looks at first.
    population
        How many vectors it asks for at once.
    generator
        Where chance comes from; the library's own, global one is not touched.
    diagonal
        Whether variances only are learned, no correlations: for hundreds of numbers and few
        evaluations.
    """

    def __init__(
        self,
        start: Vector,
        step: float,
        population: int,
        generator: np.random.Generator,
        *,
        diagonal: bool = False,
    ) -> None:
        options = {
            "randn": lambda *shape: generator.standard_normal(shape),
            "seed": np.nan,  # do not seed numpy's global generator
            "popsize": population,
            "CMA_diagonal": diagonal,
            "verbose": -9,  # neither prints nor writes files
        }
        self._strategy: Any = _library().CMAEvolutionStrategy(start, step, options)

    def ask(self) -> list[Vector]:
        """Return the vectors to judge next."""
        return [np.asarray(vector) for vector in self._strategy.ask()]

    def tell(self, vectors: Sequence[Vector], losses: Iterable[float]) -> None:
        """Learn from what the vectors were worth."""
        self._strategy.tell(list(vectors), [float(loss) for loss in losses])

    @property
    def centre(self) -> Vector:
        """The middle of where it looks now: what all vectors so far have taught."""
        return np.array(self._strategy.mean)


def _library() -> Any:
    """Import the library where a search begins: it brings SciPy and Matplotlib along, if there."""
    with warnings.catch_warnings():  # of Matplotlib, where it is not: nothing is drawn by it
        warnings.simplefilter("ignore")
        import cma
    return cma
