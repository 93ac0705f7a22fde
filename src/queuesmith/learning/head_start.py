"""Hours by which groups, short jobs and narrow ones come earlier: unfairness that has an end."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from queuesmith.learning.parametric import ParametricOrder


@dataclass(frozen=True)
class HeadStart(ParametricOrder):
    """The order ``head_start``, its hours found by CMA-ES.

    It begins with first come, first served, which keeps the guard; under any such order a job is
    overtaken by later ones of some hours only, so many orders beside it keep the guard as well.

    Parameters
    ----------
    offspring, generations, backfills, step
        As for every parametric order; a step of 1 is 12 hours.
    """

    name: ClassVar[str] = "head_start"
    order: ClassVar[str] = "head_start"
    tuned = MappingProxyType(
        dict.fromkeys(("group_1", "group_2", "group_3", "group_4", "walltime", "cores"), 0.0)
    )
    unit: ClassVar[float] = 12.0
    digits: ClassVar[int] = 2

    backfills: tuple[str, ...] = ("easy", "plan")
