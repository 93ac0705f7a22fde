"""One word for all that the machine code of a plain function depends on.

Machine code that is kept on disk under that word is never stale.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
import math
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np

#: Modules that mean the same in every process.
LIBRARIES = (math, np)
#: Instructions that load something by its name in the module.
LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
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
    used = sorted(_used(function).items())
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


def _used(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what a function uses of its module and of the functions around it, by name.

    A field of a job may have the name of a function beside it: only what is loaded counts.
    """
    names = inspect.getclosurevars(function)
    loads = [each for each in dis.get_instructions(function) if each.opname in LOADS]
    loaded = {each.argval for each in loads} & names.globals.keys()
    return {name: names.globals[name] for name in loaded} | dict(names.nonlocals)


def _written(value: Any) -> str | None:
    if isinstance(value, (int, float, np.number, np.bool_)):
        return f"{type(value).__name__} {value!r}"
    name = str(getattr(value, "__name__", ""))
    for library in LIBRARIES:
        if value is library or getattr(library, name, None) is value:
            return f"{library.__name__} {name}"
    return None
