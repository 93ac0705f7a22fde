"""Knobs: priorities by size, wait and runtime, bags of tasks, and the search of all settings.

Names are imported when they are first used, so that the command line can read the defaults of
``options`` without waiting for anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.knobs.bags import TaskJobs, rigid
    from queuesmith.knobs.choosing import Choice, choose
    from queuesmith.knobs.greedy_knapsack import knapsack
    from queuesmith.knobs.quick import quick_search
    from queuesmith.knobs.retuning import Retuned, retune
    from queuesmith.knobs.setting import Knobs
    from queuesmith.knobs.sweep_files import read_sweep, save_sweep
    from queuesmith.knobs.sweep_result import SweepResult
    from queuesmith.knobs.sweeping import sweep

__all__ = [
    "Choice",
    "Knobs",
    "Retuned",
    "SweepResult",
    "TaskJobs",
    "choose",
    "knapsack",
    "quick_search",
    "read_sweep",
    "retune",
    "rigid",
    "save_sweep",
    "sweep",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "bags": ("TaskJobs", "rigid"),
        "choosing": ("Choice", "choose"),
        "greedy_knapsack": ("knapsack",),
        "quick": ("quick_search",),
        "retuning": ("Retuned", "retune"),
        "setting": ("Knobs",),
        "sweep_files": ("read_sweep", "save_sweep"),
        "sweep_result": ("SweepResult",),
        "sweeping": ("sweep",),
    },
)
