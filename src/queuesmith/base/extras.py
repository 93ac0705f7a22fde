"""Libraries that not every installation has, or the one command that gets them."""

from __future__ import annotations

import importlib
from typing import Any

from queuesmith.base.errors import QueuesmithError, UsageError, raise_if_interrupted


def extra_library(
    module: str,
    extra: str,
    who: str,
    *,
    otherwise: str = "",
    error: type[QueuesmithError] = UsageError,
) -> Any:
    """Import a library of an extra, or say in one sentence how to get it.

    Parameters
    ----------
    module
        What is imported.
    extra
        The extra of this package that brings it.
    who
        Who needs it: the subject of the sentence.
    otherwise
        What one can do without it, such as ``"name a .csv file"``.
    error
        What is raised.
    """
    try:
        return importlib.import_module(module)
    except ImportError as failure:
        raise_if_interrupted(failure)
        name = module.split(".")[0]
        absent = isinstance(failure, ModuleNotFoundError) and failure.name == name
        why = "which is not installed" if absent else f"which cannot be imported ({failure})"
        instead = f", or {otherwise}" if otherwise else ""
        raise error(
            f"{who} needs the library {name}, {why}. "
            f"Install it with: pip install 'queuesmith[{extra}]'{instead}."
        ) from None
