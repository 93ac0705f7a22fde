"""What is to be planned, and where it is placed."""

from typing import Any, NamedTuple

from numba import types

from queuesmith.compiled.arrays import INTS, REALS

#: A start that is later than any.
NEVER = 2**60


class Jobs(NamedTuple):
    """What is to be planned. The cost is the sum of weight * start, plus that of the last end."""

    release: Any  # no start before this
    length: Any
    cores: Any
    weight: Any
    span_weight: Any  # one number: the cost of a second of the makespan


class Staircase(NamedTuple):
    """How many cores are free from each instant on. It never falls."""

    time: Any
    free: Any


class PlacingState(NamedTuple):
    """Jobs being placed: the cores that are left over time, and the starts."""

    time: Any
    free: Any
    start: Any


JOBS_TYPE = types.NamedTuple((INTS, INTS, INTS, REALS, REALS), Jobs)
STAIRCASE_TYPE = types.NamedUniTuple(INTS, 2, Staircase)
PLACING_TYPE = types.NamedUniTuple(INTS, 3, PlacingState)
