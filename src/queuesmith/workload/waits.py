"""Who waits how long: by user, account, partition, quality of service, size and hour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.registry import known
from queuesmith.workload.sizes import SIZES, size_classes

if TYPE_CHECKING:
    from queuesmith.workload.workload import Workload

HOUR = 3600
#: Columns of the log that waits are divided by where it has them.
NAMED = ("partition", "qos", "account")
#: What waits can always be divided by.
ALWAYS = ("user", "group", "size", "hour", "daytime")
#: Parts of the day, of six hours each.
DAYTIMES = ("00:00 to 05:59", "06:00 to 11:59", "12:00 to 17:59", "18:00 to 23:59")
#: What comes in its own order, not by the number of jobs.
ORDERED = ("size", "hour", "daytime")


@dataclass(frozen=True)
class Waits:
    """How long some of the jobs waited, in seconds."""

    part: str
    jobs: int
    mean: float
    median: float
    p95: float
    longest: float


def columns_of(workload: Workload) -> list[str]:
    """Return the columns by which the waits of a log are worth dividing."""
    named = [name for name in NAMED if len(np.unique(workload.extra.get(name, ()))) > 1]
    return [*named, "user", "size", "hour"]


def title_of(workload: Workload, column: str) -> str:
    """Return what a table calls a column; hours are those of UTC where the log has dates."""
    dated = column in ("hour", "daytime") and workload.epoch is not None
    return f"{column} (UTC)" if dated else column


def waits_by(workload: Workload, wait: NDArray[Any], column: str) -> list[Waits]:
    """Return the waits of each part of the jobs, sizes and hours in order, else most jobs first.

    Parameters
    ----------
    workload
        The jobs.
    wait
        How long each waited, in seconds.
    column
        ``user``, ``group``, ``size``, ``hour`` or ``daytime`` (of the submission, in UTC), or a
        column of the log.
    """
    codes, names = _parts(workload, column)
    order = np.argsort(codes, kind="stable")
    found, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
    sorted_waits = np.asarray(wait, np.float64)[order]
    rows = [
        _waits(names(int(code)), sorted_waits[start : start + count])
        for code, start, count in zip(found, starts, counts, strict=True)
    ]
    return rows if column in ORDERED else sorted(rows, key=lambda row: -row.jobs)


def _waits(part: str, waits: NDArray[np.float64]) -> Waits:
    median, p95 = np.quantile(waits, [0.5, 0.95])
    return Waits(
        part, len(waits), float(waits.mean()), float(median), float(p95), float(waits.max())
    )


def _parts(workload: Workload, column: str) -> tuple[NDArray[Any], Any]:
    """Return the part of each job as a number, and a function that names a part."""
    numeric = [key for key, values in workload.extra.items() if values.dtype.kind in "iu"]
    known("column to divide waits by called", column, [*ALWAYS, *numeric])
    if column == "size":
        return size_classes(workload.cores), SIZES.__getitem__
    hour = (workload.submit + (workload.epoch or 0)) // HOUR % 24
    if column == "hour":
        return hour, "{:02d}:00".format
    if column == "daytime":
        return hour // 6, DAYTIMES.__getitem__
    values = getattr(workload, column) if column in ("user", "group") else workload.extra[column]
    return values, lambda code: workload.label(column, code)
