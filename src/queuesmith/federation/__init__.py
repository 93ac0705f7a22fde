"""Federations: parallel jobs across clusters of different speed, joined by links.

>>> from queuesmith.federation import Federation, FederationJobs, place
>>> schedule = place(Federation.read("f.toml"), FederationJobs.read("q.csv"))  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.federation.methods import compare_methods, place
    from queuesmith.federation.model import (
        Federation,
        FederationCluster,
        FederationJobs,
        as_schedule,
        read_placement,
        write_placement,
    )
    from queuesmith.federation.options import PlaceOptions

__all__ = [
    "Federation",
    "FederationCluster",
    "FederationJobs",
    "PlaceOptions",
    "as_schedule",
    "compare_methods",
    "place",
    "read_placement",
    "write_placement",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "methods": ("compare_methods", "place"),
        "model": (
            "Federation",
            "FederationCluster",
            "FederationJobs",
            "as_schedule",
            "read_placement",
            "write_placement",
        ),
        "options": ("PlaceOptions",),
    },
)
