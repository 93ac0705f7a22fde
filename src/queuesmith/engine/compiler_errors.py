"""What the compiler cannot compile, in one sentence: which line, and what to do."""

from __future__ import annotations

import dis
import re
from collections.abc import Callable
from typing import Any

from queuesmith.base.compiler_text import first_reason, lines_of, plain_text
from queuesmith.base.errors import PolicyError
from queuesmith.policy.features import State
from queuesmith.policy.view import Head, Job, Machine

#: What functions of users are given, by the names that the compiler knows.
GIVEN = {
    "Job": Job._fields,
    "Head": Head._fields,
    "Machine": Machine._fields,
    "State": State._fields,
}
RETURNS = {
    "order": "an order returns a number",
    "feature": "a feature returns a number",
    "backfill": "a backfill returns True or False",
}


def explain(kind: str, named: str, function: Callable[..., Any], error: Exception) -> PolicyError:
    """Say in one sentence which line of a user's function cannot be compiled, and why.

    ``kind`` is what the function is: an order, a feature or a backfill.
    """
    text = plain_text(error)
    name = re.search(r"(?:Untyped global name|NameError: global name|name) '(\w+)'", text)
    lines = lines_of(function, text)
    if name and not lines:
        lines = _lines_naming(function, name[1])
    where = f"{kind} '{named}'" + (f", line {lines[-1]}" if lines else "")
    attribute = re.search(r"Unknown attribute '(\w+)' of type (Job|Head|Machine|State)", text)
    if attribute:
        fields = GIVEN[attribute[2]]
        own = " Columns that the log has of its own are fields, too." * (attribute[2] == "Job")
        return PolicyError(
            f"{where}: a {attribute[2].lower()} has no field '{attribute[1]}'. "
            f"Its fields are: {', '.join(fields)}.{own}"
        )
    if name:
        return PolicyError(
            f"{where}: '{name[1]}' is not known to compiled code. Define it, or, if it is a "
            "function of yours, put @numba.njit above it."
        )
    returned = re.search(r">>> (?:float\(|add\(float64, )(.*)\)", text)
    if returned or "could not convert string to float" in text:
        what = _in_words(returned[1] if returned else "unicode_type")
        return PolicyError(
            f"{where} returns {what}, but {RETURNS[kind]}. Let every return give one."
        )
    if "NRT required" in text:
        return PolicyError(
            f"{where} makes a text, a list or an array, but a compiled {kind} works with single "
            "numbers. Use plain arithmetic, if, and functions of math or numpy."
        )
    return PolicyError(
        f"{where} cannot be compiled: {first_reason(text)}. Use plain arithmetic, if, and "
        "functions of math or numpy."
    )


def _lines_naming(function: Callable[..., Any], name: str) -> list[str]:
    """Return the lines of the function in which a name stands."""
    instructions = dis.get_instructions(function)
    return [
        str(instruction.positions.lineno)
        for instruction in instructions
        if instruction.argval == name and instruction.positions and instruction.positions.lineno
    ]


def _in_words(kind: str) -> str:
    """Say what the compiler's name of a type means."""
    words = {
        "none": "nothing",
        "Optional": "nothing in some cases",
        "unicode": "a text",
        "Literal[str]": "a text",
        "Tuple": "several values",
        "UniTuple": "several values",
        "complex": "a complex number",
    }
    return next((text for start, text in words.items() if kind.startswith(start)), f"a {kind}")
