"""Names that are looked up, and what to say where there is no such one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from queuesmith.base.errors import QueuesmithError, UsageError

Entry = TypeVar("Entry")


def known(
    kind: str,
    name: object,
    names: Iterable[str],
    *,
    way_out: str = "",
    error: type[QueuesmithError] = UsageError,
) -> str:
    """Return a name that is among the names there are; an error that names the nearest if not.

    Parameters
    ----------
    kind
        What it is a name of, as a sentence says it: ``method``, ``kind of queue``.
    name, names
        The name that is wanted, and those there are.
    way_out
        What one may give instead of one of the names: ``give the path of a TOML file``.
    error
        The kind of error.

    >>> known("method", "exact", ["ga", "exact"])
    'exact'
    """
    choices = list(names)
    if isinstance(name, str) and name in choices:
        return name
    raise error(no_such(kind, name, choices, way_out))


def entry(
    kind: str,
    name: str,
    entries: Mapping[str, Entry],
    *,
    way_out: str = "",
    error: type[QueuesmithError] = UsageError,
) -> Entry:
    """Return the entry of a name; see `known` for the parameters."""
    return entries[known(kind, name, entries, way_out=way_out, error=error)]


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return a question for the nearest name there is, with a space behind it; empty for none.

    >>> did_you_mean("fsfc", ["sjf", "fcfs"])
    "Did you mean 'fcfs'? "
    """
    written, choices = str(name), list(names)
    near = difflib.get_close_matches(written, choices, n=1)
    if not near and len(written) > 2:
        # Letters in the wrong order are few slips, but little of a short word is alike.
        same = [each for each in choices if sorted(each) == sorted(written)]
        near = same or difflib.get_close_matches(written.lower(), choices, n=1, cutoff=0.5)
    return f"Did you mean '{near[0]}'? " if near else ""


def no_such(kind: str, name: object, names: Iterable[str], way_out: str = "") -> str:
    """Return the sentence for a name that there is not, with the nearest there is."""
    choices = list(names)
    hint = did_you_mean(name, choices)
    other = f"; or {way_out}" if way_out else ""
    return f"there is no {kind} '{name}'. {hint}Choose from: {', '.join(choices)}{other}."
