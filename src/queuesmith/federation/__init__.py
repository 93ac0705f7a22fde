"""Federations: parallel jobs across clusters of different speed, joined by links.

>>> from queuesmith.federation import Federation, FederationJobs, place
>>> schedule = place(Federation.read("f.toml"), FederationJobs.read("q.csv"))  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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

# Where each name lives. Names are imported when they are first used, so that the command line
# takes its defaults from `PlaceOptions` without waiting for the rest.
_HOME = {
    "Federation": "model",
    "FederationCluster": "model",
    "FederationJobs": "model",
    "PlaceOptions": "options",
    "as_schedule": "model",
    "compare_methods": "methods",
    "place": "methods",
    "read_placement": "model",
    "write_placement": "model",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
