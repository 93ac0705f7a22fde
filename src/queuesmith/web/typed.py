"""Numbers that somebody typed into a field of the page."""

from __future__ import annotations

import math

from queuesmith.base.errors import UsageError


def typed_number(
    what: str, text: str | None, least: float, most: float, way_out: str = "Correct it."
) -> float:
    """Return the number that was typed, or say what it must be."""
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise UsageError(
            f"{what} is '{(text or '')[:40]}', but it must be a number from {least:g} to {most:g}. "
            f"{way_out}"
        )
    return value


def typed_whole(what: str, text: str | None, least: int, most: int) -> int:
    """Return the whole number that was typed, or say what it must be."""
    stripped = (text or "").strip()
    whole = stripped.isascii() and stripped.isdecimal() and len(stripped) < 19
    if not whole or not least <= int(stripped) <= most:
        raise UsageError(
            f"{what} is '{stripped[:40]}', but it must be a whole number from {least:,} to "
            f"{most:,}. Correct it."
        )
    return int(stripped)
