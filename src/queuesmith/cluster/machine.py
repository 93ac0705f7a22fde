"""What every machine tells a schedule, whichever kind it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from queuesmith.workload.workload import Ints


class Places(NamedTuple):
    """Where on a machine a part of a job can be: its nodes, or its single processors.

    Attributes
    ----------
    names
        What figures and files call each place.
    cores
        How many cores each place has.
    """

    names: Sequence[str]
    cores: Ints


class Machine(Protocol):
    """What jobs run on: a cluster, a federation, a grid of unequal machines.

    ``places`` is None where cores are all alike and have no names. What a kind of machine demands
    beyond cores that are free (links, speeds, presence) it checks itself in ``violations``; what
    can be measured on it alone, such as the load of a link, stands in ``measures`` by name.
    """

    @property
    def name(self) -> str:
        """What messages and figures call it."""

    @property
    def cores(self) -> int:
        """How many cores it has in all."""

    @property
    def places(self) -> Places | None:
        """Its places; None where it is one pool of cores."""

    @property
    def measures(self) -> Mapping[str, Callable[[Any], float]]:
        """What only this kind of machine can measure on a schedule, by the name of the metric."""

    def violations(self, schedule: Any) -> list[str]:
        """Return a sentence for each rule of this kind of machine that a schedule breaks."""


class AlikeCores:
    """What machines have in common whose cores are all alike and have no names."""

    @property
    def places(self) -> None:
        """None: cores have no names."""
        return

    @property
    def measures(self) -> Mapping[str, Callable[[Any], float]]:
        """Nothing that other machines do not have."""
        return {}

    def violations(self, schedule: Any) -> list[str]:
        """Return nothing: a pool of cores has no rules of its own."""
        return []
