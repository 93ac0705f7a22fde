"""Instants and durations: whole seconds, or real numbers where a machine's times are real."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Whole seconds wherever a log is replayed; real numbers for machines whose times are real.
Times: TypeAlias = NDArray[Any]


def frozen(values: ArrayLike) -> NDArray[Any]:
    """Return a column that nobody can change any more; a copy where somebody could."""
    column = np.asarray(values)
    if column.flags.writeable:
        column = column.copy()
        column.setflags(write=False)
    return column
