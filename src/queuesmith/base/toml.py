"""TOML in and out: small files that people write, read with limits and one sentence a mistake."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.base.files import AnyPath, check_text, decoded, read_bytes
from queuesmith.base.registry import no_such

#: A longer file is no configuration that a person has written.
MOST_BYTES = 4_000_000


def read_toml(path: AnyPath, *, error: type[QueuesmithError] = UsageError) -> dict[str, Any]:
    """Return the content of a TOML file."""
    text = decoded(check_text(read_bytes(path), path, "TOML"))
    return parse_toml(text, f"'{path}'", error=error)


def parse_toml(
    text: str, what: str, *, error: type[QueuesmithError] = UsageError
) -> dict[str, Any]:
    """Return the content of TOML text, which messages call ``what``."""
    if len(text) > MOST_BYTES:
        raise error(
            f"{what} has {len(text):,} characters, but such a file has at most {MOST_BYTES:,}. "
            "Give a smaller one."
        )
    try:
        content = tomllib.loads(text)
        _check_numbers(content)
        return content
    except tomllib.TOMLDecodeError as wrong:
        raise error(f"{what} is not TOML: {wrong}. Correct that line.") from None
    except (RecursionError, ValueError):
        # Lists within lists without end, or a number of more than 64 bits.
        raise error(
            f"{what} nests values too deeply or has a number of too many digits. Correct it."
        ) from None


def _check_numbers(value: Any) -> None:
    """Raise a ValueError for a whole number beyond 64 bits, which TOML does not have."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError
    nested = value.values() if isinstance(value, dict) else value
    for each in nested if isinstance(value, (dict, list)) else ():
        _check_numbers(each)


def check_keys(
    table: Mapping[str, Any],
    keys: Iterable[str],
    what: str,
    *,
    kind: str = "key",
    error: type[QueuesmithError] = UsageError,
) -> None:
    """Raise where a table has a key that is not among those there can be."""
    choices = list(keys)
    for key in table:
        if key not in choices:
            raise error(f"in {what}, {no_such(kind, key, choices)}")


def toml_text(table: Mapping[str, Any]) -> str:
    """Return a table as TOML: plain values first, then tables, then lists of tables.

    Values of None are left out. What comes out reads back as the same.
    """
    return "\n".join(_lines(table, ())) + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    given = {key: value for key, value in table.items() if value is not None}
    nested = {key: value for key, value in given.items() if _is_table(value) or _is_tables(value)}
    lines = [f"{_key(key)} = {_value(given[key])}" for key in given if key not in nested]
    for key, value in nested.items():
        name = ".".join(map(_key, (*path, key)))
        for each in value if _is_tables(value) else [value]:
            head = f"[[{name}]]" if _is_tables(value) else f"[{name}]"
            lines += [*([""] if lines else []), head, *_lines(each, (*path, key))]
    return lines


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_is_table, value))


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else quoted(key)


def _value(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value.item() if isinstance(value, np.generic) else value)


def quoted(text: str) -> str:
    """Return text as TOML writes it, on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
