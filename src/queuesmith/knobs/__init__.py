"""Knobs: priorities by size, wait and runtime, bags of tasks, and the search of all settings."""

from queuesmith.knobs.bags import TaskJobs, rigid
from queuesmith.knobs.choose import Choice, choose
from queuesmith.knobs.knapsack import knapsack
from queuesmith.knobs.quick import quick_search
from queuesmith.knobs.retuning import Retuned, retune
from queuesmith.knobs.setting import Knobs
from queuesmith.knobs.sweep import sweep
from queuesmith.knobs.sweep_files import read_sweep, save_sweep
from queuesmith.knobs.sweep_result import SweepResult
from queuesmith.knobs.task_schedule import TaskSchedule

__all__ = [
    "Choice",
    "Knobs",
    "Retuned",
    "SweepResult",
    "TaskJobs",
    "TaskSchedule",
    "choose",
    "knapsack",
    "quick_search",
    "read_sweep",
    "retune",
    "rigid",
    "save_sweep",
    "sweep",
]
