"""Optimal planning: the best schedule of one planning step, with what is proven about it.

``Snapshot`` is imported when it is first used, so that the command line can read the defaults of
``options`` without waiting for anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.planning.snapshot import Snapshot

__all__ = ["Snapshot"]

__getattr__, __dir__ = door(__name__, {"snapshot": ("Snapshot",)})
