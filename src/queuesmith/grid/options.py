"""How jobs are mapped. Plain values alone, so that the command line reads its defaults here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from queuesmith.base.registry import known

if TYPE_CHECKING:
    from pathlib import Path

#: What can be minimised; hierarchic mappings are judged by their makespan.
OBJECTIVES = ("makespan", "flowtime", "simultaneous", "hierarchic")


@dataclass(frozen=True, kw_only=True)
class MapOptions:
    """How jobs are mapped, and for how long.

    Parameters
    ----------
    objective
        ``makespan``, ``flowtime``, ``simultaneous`` or ``hierarchic``.
    preset
        The configuration of ``ga``: a preset or a TOML file.
    seconds
        How long ``ga`` and ``exact`` may take. What the clock stops may end elsewhere next time.
    generations
        Stop ``ga`` after so many generations instead: the same seed then gives the same result.
    runs
        How many independent runs of ``ga`` there are, of the seeds from ``seed`` on; the best is
        returned, and its facts tell their mean and deviation.
    seed
        What chance follows from.
    workers
        How many threads ``exact`` may use, by default one for each core of this computer; and how
        many runs of ``ga`` go on at once, by default one.
    """

    objective: str = "makespan"
    preset: str | Path = "queuesmith"
    seconds: float = 10.0
    generations: int | None = None
    runs: int = 1
    seed: int = 0
    workers: int | None = None

    def __post_init__(self) -> None:
        from queuesmith.base.checks import positive, whole_number

        known("objective", self.objective, OBJECTIVES)
        positive("seconds", self.seconds, "Give for example 10.")
        whole_number("runs", self.runs, 1, "Give for example 10.")
        whole_number("the seed", self.seed, 0, "Give for example 0.")
        if self.generations is not None:
            whole_number("generations", self.generations, 1, "Give for example 2500.")
        if self.workers is not None:
            whole_number("workers", self.workers, 1, "Give for example 2.")
