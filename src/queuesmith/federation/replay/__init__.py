"""The compiled replay of a federation, and how a federation is laid out for it.

The ways in are ``kernels.heuristic.run_heuristic`` and ``kernels.planned.run_plan``; `packing`
makes what they take. `queuesmith.federation.online` is the replay for everybody else.
"""

from queuesmith.federation.replay.packing import (
    empty_draft,
    empty_line,
    empty_site,
    nobody_running,
    pack_jobs,
    pack_layout,
)

__all__ = [
    "empty_draft",
    "empty_line",
    "empty_site",
    "nobody_running",
    "pack_jobs",
    "pack_layout",
]
