"""Independent runs of a genetic scheduler, and what they come to together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from queuesmith.base.checks import whole_number
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.genetic.config import GeneticConfig, load_config
from queuesmith.grid.genetic.evolution import evolve
from queuesmith.grid.genetic.result import GeneticResult
from queuesmith.schedule import Schedule
from queuesmith.study.pool import Pool


class Statistics(NamedTuple):
    """Mean, best and (sample) standard deviation of a value over runs."""

    mean: float
    best: float
    std: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Statistics:
        """Return the statistics of some values; the deviation of a single one is 0."""
        array = np.array(values, dtype=np.float64)
        spread = float(array.std(ddof=1)) if array.size > 1 else 0.0
        return cls(float(array.mean()), float(array.min()), spread)


@dataclass(frozen=True, eq=False)
class GeneticRuns:
    """Independent runs of one configuration on one instance."""

    results: tuple[GeneticResult, ...]

    @property
    def best(self) -> Schedule:
        """The best mapping of all runs; the first of equals."""
        return min(self.results, key=lambda result: (result.value, result.flowtime)).best

    @property
    def makespan(self) -> Statistics:
        """The makespans of the runs' best mappings."""
        return Statistics.of([r.makespan for r in self.results])

    @property
    def flowtime(self) -> Statistics:
        """The flowtimes of the runs' best mappings."""
        return Statistics.of([r.flowtime for r in self.results])

    @property
    def value(self) -> Statistics:
        """The values of the objective."""
        return Statistics.of([r.value for r in self.results])


def evolve_many(
    matrix: EtcMatrix,
    config: GeneticConfig | str | Path = "queuesmith",
    *,
    runs: int = 10,
    objective: str = "simultaneous",
    seed: int = 0,
    seconds: float | None = None,
    generations: int | None = None,
    workers: int = 1,
) -> GeneticRuns:
    """Run a genetic scheduler several times; run i has the seed ``seed + i``.

    Runs that stop by generations or stagnation are the same on any number of workers. Where time
    stops them, do not take more workers than there are cores.
    """
    whole_number("runs", runs, 1, "Give for example 10.")
    whole_number("workers", workers, 1, "Give for example 2.")
    whole_number("the seed", seed, 0, "Give 0.")
    once = partial(
        evolve,
        matrix,
        load_config(config),
        objective=objective,
        seconds=seconds,
        generations=generations,
    )
    with Pool(workers) as pool:
        return GeneticRuns(tuple(pool.each(lambda i: once(seed=seed + i), range(runs))))
