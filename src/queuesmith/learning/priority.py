"""Weights of groups and powers of wait, walltime and cores: whether rules are worth it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from queuesmith.learning.parametric import ParametricOrder


@dataclass(frozen=True)
class Priority(ParametricOrder):
    """The order ``group_power``, its weights and powers found by CMA-ES.

    Parameters
    ----------
    offspring, generations, backfills, step
        As for every parametric order.
    """

    name: ClassVar[str] = "priority"
    order: ClassVar[str] = "group_power"
    tuned: ClassVar[Mapping[str, float]] = MappingProxyType(
        {
            **dict.fromkeys(("group_1", "group_2", "group_3", "group_4"), 0.0),
            "alpha": 0.0,
            "beta": 1.0,
            "gamma": 0.0,
        }
    )

    backfills: tuple[str, ...] = ("easy", "none", "list")
