"""What the header of a log in the Standard Workload Format states."""

from __future__ import annotations

import re
from collections.abc import Iterator

from queuesmith.workload.columns import LARGEST_TIME

LARGEST_LABEL = 100_000
_HEADER_LINE = re.compile(r"\s*;\s*([A-Za-z]+)\s*:\s*(.*?)\s*")
_NUMBERED_NAME = re.compile(r"([0-9]{1,6})\s+(.+)")
_LEADING_NUMBER = re.compile(r"[0-9]{1,15}")


def entries(header: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the keys, in small letters, and the texts that a header states."""
    for line in header:
        if match := _HEADER_LINE.fullmatch(line):
            yield match[1].lower(), match[2]


def facts_of(header: tuple[str, ...]) -> dict[str, int]:
    """Return the whole numbers above 0 that the header states; the first of a key counts."""
    facts: dict[str, int] = {}
    for key, text in entries(header):
        if match := _LEADING_NUMBER.match(text):
            number = int(match[0])
            if 0 < number <= LARGEST_TIME:
                facts.setdefault(key, number)
    return facts


def labels_of(header: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the names that the header gives the numbers of queues and partitions."""
    labels = {}
    for column in ("queue", "partition"):
        found = (_NUMBERED_NAME.match(text) for key, text in entries(header) if key == column)
        names = {int(match[1]): match[2] for match in found if match}
        names = {number: name for number, name in names.items() if number < LARGEST_LABEL}
        if names:
            every = range(max(names) + 1)
            labels[column] = tuple(names.get(number, str(number)) for number in every)
    return labels
