"""The checks that all makers of workloads share: one sentence for each wrong option."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from queuesmith.base.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

Kind = TypeVar("Kind")
Item = TypeVar("Item")
Function = TypeVar("Function", bound=Callable[..., Any])


#: How many of something are held in memory at once, at most: rules, parents, children.
MOST_AT_ONCE = 1_000_000
#: How many jobs, or users of them, are drawn at random, at most: some GB.
MOST_DRAWN = 100_000_000


def whole_number(
    name: str, value: int, least: int, way_out: str, *, most: int | None = None
) -> int:
    """Return ``value`` as an int, or say that it is not a whole number of at least ``least``.

    Where there is a ``most``, it must not be above that, either.
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or int(value) < least:
        raise UsageError(
            f"{name} is {value!r}, but it must be a whole number of at least {least}. {way_out}"
        )
    if most is not None and int(value) > most:
        raise UsageError(f"{name} is {value!r}, but it must be at most {most:,}. {way_out}")
    return int(value)


def count(name: str, value: int, least: int, way_out: str) -> int:
    """Return how many of something there are, from ``least`` to what can be held in memory."""
    return whole_number(name, value, least, way_out, most=MOST_AT_ONCE)


def number(name: str, value: float, low: float, high: float, way_out: str) -> float:
    """Return ``value`` as a float, or say that it is not between ``low`` and ``high``."""
    if not _is_real(value) or not low <= float(value) <= high:
        raise UsageError(
            f"{name} is {value!r}, but it must be between {low:g} and {high:g}. {way_out}"
        )
    return float(value)


def positive(name: str, value: float, way_out: str) -> float:
    """Return ``value`` as a float, or say that it is not a finite number above 0."""
    if not _is_real(value) or not 0 < float(value) < math.inf:
        raise UsageError(f"{name} is {value!r}, but it must be a number above 0. {way_out}")
    return float(value)


def of_kind(name: str, value: object, kind: type[Kind], way_out: str) -> Kind:
    """Return ``value``, or say that it is of another kind than is wanted."""
    if isinstance(value, kind):
        return value
    raise UsageError(
        f"{name} is {_shown(value)}, but it must be of the kind {kind.__name__}. {way_out}"
    )


def all_of_kind(
    name: str, values: Iterable[Kind], kind: type[Kind], way_out: str
) -> tuple[Kind, ...]:
    """Return values in a tuple, or say that one is of another kind, or that they are no list."""
    each = several(name, values, way_out)
    return tuple(of_kind(f"one of the {name}", value, kind, way_out) for value in each)


def several(name: str, values: Iterable[Item], way_out: str) -> tuple[Item, ...]:
    """Return values in a tuple, or say that they are no list of several, such as a single text."""
    return tuple(one_by_one(name, values, way_out))


def one_by_one(name: str, values: Iterable[Item], way_out: str) -> Iterable[Item]:
    """Return values that may be made only when they are asked for, or say that they are no list."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise UsageError(f"{name} is {_shown(values)}, but it must be a list. {way_out}")
    return values


def table(name: str, values: Mapping[str, Item], way_out: str) -> dict[str, Item]:
    """Return values by their names, or say that they are no table of names and values."""
    if not isinstance(values, Mapping):
        raise UsageError(f"{name} is {_shown(values)}, but it must be a dictionary. {way_out}")
    for key in values:
        of_kind(f"one of the names in {name}", key, str, way_out)
    return dict(values)


def progress_function(function: Function | None, name: str = "progress") -> Function | None:
    """Return what is told how far the work is, if anything is, or say that it is no function."""
    if function is None or callable(function):
        return function
    raise UsageError(
        f"{name} is {_shown(function)}, but it must be a function, which is told how far the work "
        "is. Give for example print."
    )


def _shown(value: object) -> str:
    plain = value is None or isinstance(value, (str, Path, int, float))
    return repr(value) if plain else f"of the kind {type(value).__name__}"


def seeded(seed: int) -> np.random.Generator:
    """Return the one random generator that a seed stands for."""
    import numpy as np  # commands read options, and their defaults, without it

    return np.random.default_rng(whole_number("the seed", seed, 0, "Give for example 0."))


def _is_real(value: object) -> bool:
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return False
    return isinstance(value, Real) and not isinstance(value, bool)
