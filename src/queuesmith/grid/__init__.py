"""Grids: independent jobs on heterogeneous machines.

``etc`` holds instances and their files; ``heuristics``, ``genetic`` and ``exact`` map jobs, each by
its own door or all by ``map_jobs``; in ``dynamic`` jobs arrive and machines come and go.
"""

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.grid.etc.mapping import mapped
    from queuesmith.grid.etc.matrix import EtcMatrix
    from queuesmith.grid.methods import METHODS, compare_methods, map_jobs
    from queuesmith.grid.options import OBJECTIVES, MapOptions

__all__ = [
    "METHODS",
    "OBJECTIVES",
    "EtcMatrix",
    "MapOptions",
    "compare_methods",
    "map_jobs",
    "mapped",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "etc.mapping": ("mapped",),
        "etc.matrix": ("EtcMatrix",),
        "methods": ("METHODS", "compare_methods", "map_jobs"),
        "options": ("OBJECTIVES", "MapOptions"),
    },
)
