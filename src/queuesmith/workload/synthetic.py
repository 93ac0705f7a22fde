"""The generators by name, and the workload of the demo."""

from __future__ import annotations

from collections.abc import Callable

from queuesmith.workload.airs import airs
from queuesmith.workload.bag_of_tasks import bag_of_tasks
from queuesmith.workload.lublin import lublin
from queuesmith.workload.workload import Workload

__all__ = ["GENERATORS", "airs", "bag_of_tasks", "demo_workload", "lublin"]

#: Each takes ``jobs`` and ``cores``, and at least ``load``, ``seed``, ``estimates``, ``users``
#: and ``name`` as keywords.
GENERATORS: dict[str, Callable[..., Workload]] = {
    "lublin": lublin,
    "bag-of-tasks": bag_of_tasks,
    "airs": airs,
}

DEMO_JOBS = 5000
DEMO_CORES = 256
DEMO_LOAD = 0.85


def demo_workload() -> Workload:
    """Return the same small, busy workload every time: five user groups, 256 cores, load 0.85."""
    return lublin(DEMO_JOBS, DEMO_CORES, load=DEMO_LOAD, seed=0, name="demo")
