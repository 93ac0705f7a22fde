"""How policies are written: splitting text where no parenthesis is open."""

from __future__ import annotations


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
