"""What is written in one option: lists of names and numbers, settings, own metrics."""

from __future__ import annotations

import math
import re

from queuesmith.base.errors import PolicyError, UsageError


def numbers(
    text: str, option: str, *, separator: str = ",", count: int | None = None
) -> list[float]:
    """Read a list of numbers."""
    try:
        values = [float(part) for part in text.split(separator)]
    except ValueError:
        values = []
    if not values or len(values) != (count or len(values)) or not all(map(math.isfinite, values)):
        wanted = "numbers" if count is None else f"{count} numbers"
        raise UsageError(
            f"--{option} is '{text}', but it must be {wanted} separated by '{separator}'. "
            "Correct it."
        )
    return values


def settings(text: str, option: str, example: str) -> dict[str, float]:
    """Read ``name=number,name=number``."""
    from queuesmith.policy.policy import parse_settings

    try:
        return parse_settings(text)
    except PolicyError:
        raise UsageError(
            f"--{option} is '{text}', but it must be name=number, each name once. Write for "
            f"example {example}."
        ) from None


def own_metrics(text: str) -> list[str]:
    """Read a list of metrics; those of the user's own files are loaded and called by name."""
    return [own_metric(name) for name in names(text)]


def own_metric(text: str) -> str:
    """Return an objective; where it is ``my.py:function``, load that and return its name."""
    if not re.fullmatch(r".+\.py:\w+", text.strip()):
        return text
    from queuesmith.policy.own_metrics import add_metric

    return add_metric(text.strip())


def names(text: str) -> list[str]:
    """Read a comma-separated list; commas within brackets do not separate."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
