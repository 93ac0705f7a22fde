"""The solvers that exact methods need, or a word on how to get them."""

from __future__ import annotations

import importlib
from typing import Any

from queuesmith.base.errors import QueuesmithError, raise_if_interrupted


def solver_library(module: str) -> Any:
    """Import a library of the extra ``exact``, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise_if_interrupted(error)
        name = module.split(".")[0]
        raise QueuesmithError(
            f"exact methods need {name}, but it cannot be imported ({error}). "
            "Install it with: pip install queuesmith[exact]"
        ) from error
