"""The checks that all makers of workloads share: one sentence for each wrong option."""

from __future__ import annotations

import math
import sys
from numbers import Integral, Real
from typing import TYPE_CHECKING

from queuesmith.base.errors import UsageError

if TYPE_CHECKING:
    import numpy as np


def whole_number(name: str, value: int, least: int, way_out: str) -> int:
    """Return ``value`` as an int, or say that it is not a whole number of at least ``least``."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or int(value) < least:
        raise UsageError(
            f"{name} is {value!r}, but it must be a whole number of at least {least}. {way_out}"
        )
    return int(value)


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


def seeded(seed: int) -> np.random.Generator:
    """Return the one random generator that a seed stands for."""
    import numpy as np  # commands read options, and their defaults, without it

    return np.random.default_rng(whole_number("the seed", seed, 0, "Give for example 0."))


def _is_real(value: object) -> bool:
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return False
    return isinstance(value, Real) and not isinstance(value, bool)
