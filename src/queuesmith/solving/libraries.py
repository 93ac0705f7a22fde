"""The solvers that exact methods need, or a word on how to get them."""

from __future__ import annotations

from typing import Any

from queuesmith.base.errors import QueuesmithError
from queuesmith.base.extras import extra_library


def solver_library(module: str) -> Any:
    """Import a library of the extra ``exact``, or say how to get it."""
    return extra_library(module, "exact", "an exact method", error=QueuesmithError)
