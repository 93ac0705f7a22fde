"""Columns of whole numbers, one value a job: what they may hold, and how jobs are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import table
from queuesmith.base.errors import WorkloadError
from queuesmith.base.words import so_many

Ints = NDArray[np.int64]

#: The largest time or product of time and cores that stays exact in every computation.
LARGEST_TIME = 2**40
LARGEST_WIDTH = 2**30
#: The last instant that a replay can reach, if all jobs run one after another.
LAST_INSTANT = 2**62


def whole_column(values: ArrayLike, column: str) -> Ints:
    """Return a column as whole numbers that nobody can change; others are refused."""
    array = _one_dimension(values, column)
    if array.dtype == np.int64 and not array.flags.writeable:
        return array
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == np.bool_):
        raise WorkloadError(
            f"column '{column}' holds {array.dtype} values, but only whole numbers are allowed. "
            "Convert it."
        )
    if np.issubdtype(array.dtype, np.floating):
        # Floats from 2**53 on no longer tell neighbouring whole numbers apart.
        broken = ~(np.abs(array) < 2.0**53) | (array != np.rint(array))
        if broken.any():
            first = int(np.argmax(broken))
            raise WorkloadError(
                f"column '{column}' holds {array[first]} at position {first}, but only whole "
                "numbers are allowed. Round it first."
            )
    return frozen_column(array.astype(np.int64))


def further_columns(columns: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
    """Return columns of any values, by name, that nobody can change."""
    way_out = "Give one value a job by the name of its column: {'weight': [1, 2]}."
    return {
        name: frozen_column(_one_dimension(values, name))
        for name, values in table("extra", columns, way_out).items()
    }


def as_array(values: ArrayLike) -> NDArray[Any]:
    """Return values as an array; lists of several lengths are an empty one of two dimensions."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.empty((0, 0))


def _one_dimension(values: ArrayLike, column: str) -> NDArray[Any]:
    array = as_array(values)
    if array.ndim != 1:
        raise WorkloadError(
            f"column '{column}' has {so_many(array.ndim, 'dimension')}, but a column has one. "
            "Give one value a job."
        )
    return array


def positions(chosen: ArrayLike, count: int, name: str) -> NDArray[Any]:
    """Return a mask or positions that choose among so many jobs; anything else is refused."""
    index = np.asarray(chosen)
    if index.ndim == 1 and not len(index) and index.dtype != np.bool_:
        return np.empty(0, dtype=np.int64)
    if index.dtype == np.bool_ and index.shape != (count,):
        raise WorkloadError(
            f"a mask of {so_many(index.size, 'value')} does not fit workload '{name}' of "
            f"{so_many(count, 'job')}. Give one value a job."
        )
    if index.dtype != np.bool_ and (index.ndim != 1 or not np.issubdtype(index.dtype, np.integer)):
        raise WorkloadError(
            f"jobs of workload '{name}' are chosen by {index.dtype} values in "
            f"{so_many(index.ndim, 'dimension')}, but only a mask or a list of positions chooses. "
            "Give one of these."
        )
    if index.dtype != np.bool_ and not np.all((-count <= index) & (index < count)):
        worst = int(index[np.argmax(np.abs(index))])
        raise WorkloadError(
            f"workload '{name}' has no job at position {worst}, but only {so_many(count, 'job')}. "
            "Positions count from 0."
        )
    return index


def frozen_column(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same values, which nobody can change."""
    if array.flags.writeable:
        array = array.copy()
        array.setflags(write=False)
    return array


def check_lengths(columns: Mapping[str, NDArray[Any]], count: int) -> None:
    """Raise where a column has not one value for each job."""
    for column, values in columns.items():
        if len(values) != count:
            raise WorkloadError(
                f"column '{column}' has {so_many(len(values), 'value')} for "
                f"{so_many(count, 'job')}. Give one value a job."
            )


def check_ranges(columns: Mapping[str, Ints]) -> None:
    """Raise where a job has a number that none can have, or that no replay can count with."""
    _check_all(columns, columns["cores"] >= 1, "cores", "at least 1")
    _check_all(columns, columns["cores"] <= LARGEST_WIDTH, "cores", f"at most {LARGEST_WIDTH}")
    _check_all(columns, columns["runtime"] >= 0, "runtime", "at least 0")
    _check_all(
        columns,
        columns["walltime"] >= columns["runtime"],
        "walltime",
        "at least the runtime",
    )
    for column in ("submit", "walltime"):
        within = (columns[column] >= -LARGEST_TIME) & (columns[column] <= LARGEST_TIME)
        _check_all(columns, within, column, f"within {LARGEST_TIME} seconds")
    _check_sum(columns)


def _check_sum(columns: Mapping[str, Ints]) -> None:
    """Raise where jobs that run one after another would leave the range of whole numbers."""
    walltime = columns["walltime"]
    if not len(walltime) or len(walltime) * int(walltime.max()) <= LAST_INSTANT - LARGEST_TIME:
        return
    last = LARGEST_TIME + np.cumsum(walltime.astype(np.float64))
    if last[-1] > LAST_INSTANT:
        first = int(np.argmax(last > LAST_INSTANT))
        raise WorkloadError(
            f"job {columns['id'][first]} has walltime {walltime[first]}, with which the walltimes "
            f"of all jobs up to it add up to more than {LAST_INSTANT} seconds: no replay can count "
            "so far. Correct the jobs or take fewer of them."
        )


def _check_all(columns: Mapping[str, Ints], holds: NDArray[Any], column: str, rule: str) -> None:
    if not holds.all():
        first = int(np.argmin(holds))
        raise WorkloadError(
            f"job {columns['id'][first]} has {column} {columns[column][first]}, but it must be "
            f"{rule}. Correct the job or leave it out."
        )
