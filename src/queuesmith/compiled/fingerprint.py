"""One word for all that the machine code of a plain function depends on.

Machine code that is kept on disk under that word is never stale.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np

#: Modules that mean the same in every process.
LIBRARIES = (math, np)
#: What of a code object says what is done, not where it is written.
CODE_FIELDS = (
    "co_argcount",
    "co_cellvars",
    "co_code",
    "co_consts",
    "co_exceptiontable",
    "co_flags",
    "co_freevars",
    "co_kwonlyargcount",
    "co_names",
    "co_posonlyargcount",
    "co_varnames",
)


def fingerprint(function: Callable[..., Any], *more: object) -> str | None:
    """Return a word that changes with a function, with what it uses, and with more that is given.

    None where nobody can be sure: the function uses more than numbers, math and numpy, or it has
    other functions inside. What else is given must be written alike in every process.
    """
    code = function.__code__
    names = inspect.getclosurevars(function)
    used = sorted({**names.globals, **names.nonlocals}.items())
    written = [_written(value) for _, value in used]
    if None in written or any(isinstance(const, CodeType) for const in code.co_consts):
        return None
    parts = (
        [getattr(code, field) for field in CODE_FIELDS],
        [name for name, _ in used],
        written,
        np.__version__,
        more,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _written(value: Any) -> str | None:
    if isinstance(value, (int, float, np.number, np.bool_)):
        return f"{type(value).__name__} {value!r}"
    name = str(getattr(value, "__name__", ""))
    for library in LIBRARIES:
        if value is library or getattr(library, name, None) is value:
            return f"{library.__name__} {name}"
    return None
