"""Functions whose text is put together while the program runs; nowhere else is text run as code.

Compiled code cannot take a list of functions, or names that it does not know before. So where users
choose orders, features or terms, a few lines that call them are written for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def written(text: str, names: Mapping[str, Any], module: str) -> dict[str, Any]:
    """Return the functions that a text defines.

    Parameters
    ----------
    text
        Definitions of functions, made of our own templates and of checked names and numbers.
    names
        What the functions may call.
    module
        Whose functions they are.
    """
    found: dict[str, Any] = {**names, "__name__": module}
    exec(text, found)
    return found
