"""Hours by which groups, short jobs and narrow ones come earlier: favour that has an end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from queuesmith.base.checks import positive
from queuesmith.learning.cma_library import Vector
from queuesmith.learning.parametric import ParametricOrder
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.policy import Policy

GROUPS = ("group_1", "group_2", "group_3", "group_4")
DOUBLINGS = ("walltime", "cores")
#: So many doublings, of a walltime or of cores, are worth as many hours as a group at most.
WHOLE_RANGE = 12


@dataclass(frozen=True)
class HeadStart(ParametricOrder):
    """The order ``head_start``, its hours found by CMA-ES.

    It begins with first come, first served, which keeps the guard. Who is favoured stands before
    others for some hours only, so many orders around it keep the guard as well.

    Parameters
    ----------
    offspring, generations, backfills, step
        As for every parametric order.
    most
        The hours that no group's head start exceeds, nor what twelve doublings of walltime or
        cores are worth; the other way round as well.
    """

    name: ClassVar[str] = "head_start"
    order: ClassVar[str] = "head_start"
    tuned: ClassVar[Mapping[str, float]] = MappingProxyType(
        dict.fromkeys((*GROUPS, *DOUBLINGS), 0.0)
    )

    backfills: tuple[str, ...] = ("easy", "plan")
    step: float = 0.25
    most: float = 48.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("the longest head start", self.most, "Give hours, for example 48.")

    @property
    def offered(self) -> tuple[AnyPolicy, ...]:
        """The order as it is by default, with each backfill: what learning has to beat."""
        return tuple(Policy(ORDERS[self.order], backfill) for backfill in self.backfills)

    def values(self, steps: Vector) -> Vector:
        """Return hours that one can read, none above the most, however far a search goes."""
        most = np.array([self.most] * len(GROUPS) + [self.most / WHOLE_RANGE] * len(DOUBLINGS))
        return (most * np.tanh(steps)).round(2)
