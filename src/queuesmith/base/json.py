"""JSON in: files that people or programs write, read with limits and one sentence a mistake."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.base.files import AnyPath, unpacked

#: A longer file, deeper nesting or a longer number is nothing that this product writes.
MOST_BYTES, MOST_DEPTH, MOST_DIGITS = 16_000_000, 32, 400

#: What the value of each key may be, and which keys must be there: ``{"order": (str, True)}``.
Schema = Mapping[str, tuple[type | tuple[type, ...], bool]]


def read_json(
    path: AnyPath,
    what: str | None = None,
    *,
    error: type[QueuesmithError] = UsageError,
    most_bytes: int = MOST_BYTES,
) -> Any:
    """Return the content of a JSON file, plain or gzipped, which messages call ``what``."""
    named = what or f"'{path}'"
    try:
        with Path(path).open("rb") as file:
            data = file.read(most_bytes + 1)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        raise error(f"{named} cannot be read: {reason}. Give the name of a file.") from wrong
    try:
        text = unpacked(data, path).decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise error(f"{named} is not JSON: {wrong}. Correct it.") from None
    return parse_json(text, named, error=error, most_bytes=most_bytes)


def parse_json(
    text: str | bytes,
    what: str,
    *,
    error: type[QueuesmithError] = UsageError,
    most_bytes: int = MOST_BYTES,
) -> Any:
    """Return the content of JSON text; all numbers are finite, and no key stands twice."""
    if len(text) > most_bytes:
        raise error(f"{what} has more than {most_bytes:,} bytes, the limit. Give a smaller one.")

    def whole(digits: str) -> int:
        if len(digits) > MOST_DIGITS:
            raise error(
                f"{what} has a number of {len(digits):,} digits, but {MOST_DIGITS} is the limit. "
                "Correct it."
            )
        return int(digits)

    def real(digits: str) -> float:
        number = float(digits)
        if not math.isfinite(number):
            raise error(f"{what} has the number {digits[:40]}, which is not finite. Correct it.")
        return number

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
            raise error(f"{what} has the key '{twice[:40]}' twice. Leave one out.")
        return found

    try:
        content = json.loads(
            text, parse_int=whole, parse_float=real, parse_constant=real, object_pairs_hook=table
        )
    except RecursionError:
        raise error(_too_deep(what)) from None
    except ValueError as wrong:
        raise error(f"{what} is not JSON: {wrong}. Correct it.") from None
    if _deeper(content, MOST_DEPTH):
        raise error(_too_deep(what))
    return content


def check_schema(
    content: Any, schema: Schema, what: str, *, error: type[QueuesmithError] = UsageError
) -> None:
    """Raise unless content is an object with the keys and kinds of values that a schema asks for.

    >>> check_schema({"order": "fcfs"}, {"order": (str, True), "keep": (dict, False)}, "it")
    """
    if not isinstance(content, dict):
        raise error(f"{what} must be a JSON object, but it is {_kind(content)}. Correct it.")
    keys = ", ".join(f"'{key}'" for key in schema)
    for key, (_, needed) in schema.items():
        if needed and key not in content:
            raise error(f"{what} has no '{key}': it may have {keys}. Correct it.")
    for key, value in content.items():
        if key not in schema:
            raise error(f"{what} has an unknown '{key[:40]}': it may have {keys}. Correct it.")
        kinds = schema[key][0]
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            names = " or ".join(_KINDS[kind] for kind in wanted)
            raise error(f"'{key}' of {what} must be {names}, but it is {_kind(value)}. Correct it.")


_KINDS: dict[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "something else")


def _too_deep(what: str) -> str:
    return f"{what} nests values more than {MOST_DEPTH} deep, which is the limit. Correct it."


def _deeper(content: Any, most: int) -> bool:
    level = [content]
    for _ in range(most):
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True
