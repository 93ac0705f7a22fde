"""What a run of a genetic scheduler found, and how it came to that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.grid.etc.mapping import flowtime, machine_of, matrix_of
from queuesmith.grid.etc.matrix import Floats
from queuesmith.grid.genetic.config import GeneticConfig
from queuesmith.schedule import Schedule

#: The most points of the course of a run among the facts of its mapping.
MOST_POINTS = 200


class GeneticProgress(NamedTuple):
    """How far a run is."""

    seconds: float
    generation: int
    makespan: float
    flowtime: float


@dataclass(frozen=True, eq=False)
class Course:
    """How the best of a run became better: a point at the start, at each change, and at the end.

    Parameters
    ----------
    generation, seconds
        When; seconds inside a block of generations are interpolated.
    makespan, flowtime
        Of the best individual so far.
    """

    generation: NDArray[np.int64]
    seconds: Floats
    makespan: Floats
    flowtime: Floats

    def at(self, seconds: float) -> GeneticProgress:
        """Return how far the run was after so many seconds."""
        place = max(int(np.searchsorted(self.seconds, seconds, side="right")) - 1, 0)
        return GeneticProgress(
            float(self.seconds[place]),
            int(self.generation[place]),
            float(self.makespan[place]),
            float(self.flowtime[place]),
        )

    def to_list(self) -> list[dict[str, float]]:
        """Return at most ``MOST_POINTS`` of the points, ready for JSON."""
        count = len(self.generation)
        chosen = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).round().astype(int))
        return [
            {
                "generation": int(self.generation[i]),
                "seconds": round(float(self.seconds[i]), 4),
                "makespan": float(self.makespan[i]),
                "flowtime": float(self.flowtime[i]),
            }
            for i in chosen
        ]


@dataclass(frozen=True, eq=False)
class GeneticResult:
    """What one run of a genetic scheduler found.

    Parameters
    ----------
    best
        The best mapping by the objective.
    course
        How the best became better.
    config, seed
        What was run.
    generations, evaluations
        How many there were.
    stopped
        What ended the run: ``generations``, ``seconds``, ``stagnation``, or ``bound`` where the
        makespan is proven to be the shortest.
    """

    best: Schedule
    course: Course
    config: GeneticConfig
    seed: int
    generations: int
    evaluations: int
    stopped: str

    @property
    def makespan(self) -> float:
        """The makespan of the best mapping."""
        return matrix_of(self.best).makespan(machine_of(self.best))

    @property
    def flowtime(self) -> float:
        """The flowtime of the best mapping."""
        return flowtime(matrix_of(self.best), machine_of(self.best))

    @property
    def value(self) -> float:
        """The value of the objective."""
        assert self.best.proof is not None
        return self.best.proof.value
