"""Optimal planning: the best schedule of one planning step, with what is proven about it.

``Snapshot`` is imported when it is first used, so that the command line can read the defaults of
``options`` without waiting for anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from queuesmith.planning.snapshot import Snapshot

__all__ = ["Snapshot"]


def __getattr__(name: str) -> Any:
    if name != "Snapshot":
        raise AttributeError(f"module 'queuesmith.planning' has no attribute '{name}'")
    from queuesmith.planning.snapshot import Snapshot

    return Snapshot
