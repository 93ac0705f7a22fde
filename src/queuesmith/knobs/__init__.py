"""Knobs: priorities by size, wait and runtime, bags of tasks, and the search of all settings.

Names are imported when they are first used, so that the command line can read the defaults of
``options`` without waiting for anything else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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

_HOME = {
    "Choice": "choosing",
    "Knobs": "setting",
    "Retuned": "retuning",
    "SweepResult": "sweep_result",
    "TaskJobs": "bags",
    "choose": "choosing",
    "knapsack": "greedy_knapsack",
    "quick_search": "quick",
    "read_sweep": "sweep_files",
    "retune": "retuning",
    "rigid": "bags",
    "save_sweep": "sweep_files",
    "sweep": "sweeping",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'queuesmith.knobs' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
