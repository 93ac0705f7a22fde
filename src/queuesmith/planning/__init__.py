"""Optimal planning: the best schedule of one planning step, with what is proven about it.

Names are imported when they are first used, so that the command line can read the defaults of
``options`` without waiting for anything else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from queuesmith.planning.gap import GapStudy
    from queuesmith.planning.options import SolveOptions
    from queuesmith.planning.plans import best_policy, plan
    from queuesmith.planning.snapshot import Snapshot
    from queuesmith.planning.steps import snapshots

_HOME = {
    "GapStudy": "gap",
    "Snapshot": "snapshot",
    "SolveOptions": "options",
    "best_policy": "plans",
    "plan": "plans",
    "snapshots": "steps",
}

__all__ = ["GapStudy", "Snapshot", "SolveOptions", "best_policy", "plan", "snapshots"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'queuesmith.planning' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
