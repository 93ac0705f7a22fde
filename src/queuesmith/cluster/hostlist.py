"""Names of nodes as Slurm shortens them: ``n[1-4,7],m01`` and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from queuesmith.base.errors import ClusterError, QueuesmithError

#: No machine has more nodes; a slip such as ``n[1-99999999]`` is told instead of filling memory.
MOST_NAMES = 2**20

_PART = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})", re.DOTALL)
_DIGITS = re.compile(r"([0-9]+)")


def expanded(text: str, *, error: type[QueuesmithError] = ClusterError) -> tuple[str, ...]:
    """Return the names that a shortened list stands for, in its order.

    >>> expanded("n[1-3,07],login")
    ('n1', 'n2', 'n3', 'n07', 'login')
    """
    names: list[str] = []
    for word in _words(text, error):
        choices = [_choices(match, text, error) for match in _PART.finditer(word)]
        count = 1
        for choice in choices:
            count *= len(choice)
        if len(names) + count > MOST_NAMES:
            raise error(
                f"the list of nodes '{text[:60]}' stands for more than {MOST_NAMES:,} names, but "
                "no machine has so many. Correct it."
            )
        names += ("".join(parts) for parts in product(*choices))
    return tuple(names)


def folded(names: Iterable[str]) -> str:
    """Return names in Slurm's short form, each once, in their order: the inverse of `expanded`.

    >>> folded(["n1", "n2", "n3", "n7", "m01", "login"])
    'n[1-3,7],m01,login'
    """
    stems: list[tuple[str, list[list[str]]]] = []  # a stem and its runs of numbers
    for name in dict.fromkeys(names):
        match = _NUMBERED.fullmatch(name)
        stem, number = (match[1], match[2]) if match else (name, "")
        if not number or not stems or stems[-1][0] != stem or not stems[-1][1]:
            stems.append((stem, [[number]] if number else []))
        elif _follows(number, stems[-1][1][-1]):
            stems[-1][1][-1].append(number)
        else:
            stems[-1][1].append([number])
    return ",".join(_word(stem, runs) for stem, runs in stems)


def natural(name: str) -> tuple[tuple[int, int | str], ...]:
    """Return a key that sorts names as people do: ``n2`` before ``n10``."""
    parts = _DIGITS.split(name)
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts if part)


def _words(text: str, error: type[QueuesmithError]) -> Iterator[str]:
    """Yield the parts between commas that stand outside of brackets."""
    depth, start = 0, 0
    for place, character in enumerate(f"{text},"):
        depth += (character == "[") - (character == "]")
        if depth not in (0, 1):
            break
        if character == "," and depth == 0:
            if word := text[start:place].strip():
                yield word
            start = place + 1
    if depth:
        raise error(
            f"the list of nodes '{text[:60]}' has brackets that do not close. Write it as n[1-4,7]."
        )


def _choices(match: re.Match[str], text: str, error: type[QueuesmithError]) -> list[str]:
    if match[1] is None:
        return [match[2]]
    return [name for part in match[1].split(",") for name in _numbers(part.strip(), text, error)]


def _numbers(part: str, text: str, error: type[QueuesmithError]) -> list[str]:
    match = _RANGE.fullmatch(part)
    if match is None or (match[2] and int(match[2]) < int(match[1])):
        raise error(
            f"the list of nodes '{text[:60]}' has '{part}' in brackets, but a number or a rising "
            "range stands there. Write it as n[1-4,7]."
        )
    first, last = int(match[1]), int(match[2] or match[1])
    if last - first >= MOST_NAMES:
        raise error(
            f"the list of nodes '{text[:60]}' stands for more than {MOST_NAMES:,} names, but no "
            "machine has so many. Correct it."
        )
    return [f"{number:0{len(match[1])}d}" for number in range(first, last + 1)]


def _follows(number: str, run: list[str]) -> bool:
    return number == f"{int(run[-1]) + 1:0{len(run[0])}d}"


def _word(stem: str, runs: list[list[str]]) -> str:
    ranges = [run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    if len(ranges) == 1 and len(runs[0]) == 1:
        return stem + ranges[0]
    return f"{stem}[{','.join(ranges)}]" if ranges else stem
