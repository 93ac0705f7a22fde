"""Bags of tasks that really run: commands under dynamic priority, safe against crashes.

Names are imported when they are first used, so that workers begin at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.running.bag_files import Bag, read_bags
    from queuesmith.running.run_state import RunState, read_state
    from queuesmith.running.runner import run_bags, send
    from queuesmith.running.tuning import KnobTuning

__all__ = ["Bag", "KnobTuning", "RunState", "read_bags", "read_state", "run_bags", "send"]

__getattr__, __dir__ = door(
    __name__,
    {
        "bag_files": ("Bag", "read_bags"),
        "run_state": ("RunState", "read_state"),
        "runner": ("run_bags", "send"),
        "tuning": ("KnobTuning",),
    },
)
