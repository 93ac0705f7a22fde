"""How policies are written: splitting text where no parenthesis is open, settings once."""

from __future__ import annotations

from collections.abc import Container

from queuesmith.base.errors import PolicyError


def split_outside(text: str, separator: str) -> list[str]:
    """Split a text at a separator, but not within parentheses.

    >>> split_outside("fcfs, dynp(fcfs,sjf)", ",")
    ['fcfs', ' dynp(fcfs,sjf)']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == separator and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def check_once(name: str, known: Container[str], whole: str) -> None:
    """Raise where a setting stands a second time in what is written: one of them would be lost."""
    if name in known:
        raise PolicyError(f"'{whole}' sets '{name}' more than once. Leave one of them out.")
