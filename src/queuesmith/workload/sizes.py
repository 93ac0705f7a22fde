"""Jobs by how many cores they take: the classes that waits and grades are divided by."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from queuesmith.workload.workload import Ints

#: The most cores of a job of each class but the last.
WIDTHS = (1, 4, 16, 64, 256, 1024)
#: What the classes are called.
SIZES = (
    "1 core",
    *(f"{low + 1} to {high} cores" for low, high in itertools.pairwise(WIDTHS)),
    f"over {WIDTHS[-1]} cores",
)


def size_classes(cores: Ints) -> NDArray[np.int64]:
    """Return the class of each job as its place in ``SIZES``."""
    return np.searchsorted(WIDTHS, cores).astype(np.int64)
