"""The numbers behind the figures of a workload; ``drawing`` draws them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from queuesmith.workload.workload import Ints, Workload

Floats = NDArray[np.float64]

HOUR = 3600
DAY = 24 * HOUR
WEEK = 7 * DAY


@dataclass(frozen=True)
class FigureData:
    """The arrays that the figures draw; counts are of jobs.

    Hours and weekdays are those of UTC where the log says when it began; else second 0 is taken
    as the first midnight and the weekdays count from that day.
    """

    by_hour: Ints
    by_weekday: Ints
    week: Ints
    by_week: Ints
    asked_cores_by_week: Floats
    load_by_week: Floats | None
    cores_label: tuple[str, ...]
    by_cores: Ints
    log_runtime_edges: Floats
    by_log_runtime: Ints
    accuracy_edges: Floats
    by_accuracy: Ints


def figure_data(workload: Workload) -> FigureData:
    """Return the arrays behind the figures of a workload."""
    clock = workload.submit + (workload.epoch or 0)
    # 1970 began on a Thursday; Monday is day 0.
    first_weekday = 0 if workload.epoch is None else 3
    weekday = (clock // DAY + first_weekday) % 7
    week, by_week, asked = weekly_demand(workload)
    labels, by_cores = _cores_histogram(workload.cores)
    by_runtime, runtime_edges = _log_runtime_histogram(workload.runtime)
    by_accuracy, accuracy_edges = np.histogram(accuracy_of(workload), bins=20, range=(0.0, 1.0))
    machine = workload.machine_cores
    return FigureData(
        by_hour=np.bincount(clock // HOUR % 24, minlength=24),
        by_weekday=np.bincount(weekday, minlength=7),
        week=week,
        by_week=by_week,
        asked_cores_by_week=asked,
        load_by_week=asked / machine if machine else None,
        cores_label=labels,
        by_cores=by_cores,
        log_runtime_edges=runtime_edges,
        by_log_runtime=by_runtime,
        accuracy_edges=accuracy_edges,
        by_accuracy=by_accuracy,
    )


def weekly_demand(workload: Workload) -> tuple[Ints, Ints, Floats]:
    """Return the weeks from 1, the jobs of each, and how many cores they ask for on average.

    Weeks count from the first submission; the last may be shorter, and a rest of less than a day
    belongs to the week before. Jobs all submitted in one second have no weeks.
    """
    span = workload.span
    if not span:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    weeks = max(1, span // WEEK + (span % WEEK >= DAY))
    week = np.minimum((workload.submit - workload.submit[0]) // WEEK, weeks - 1)
    seconds = np.full(weeks, float(WEEK))
    seconds[-1] = span - (weeks - 1) * WEEK
    asked = np.bincount(week, weights=workload.work, minlength=weeks) / seconds
    return np.arange(1, weeks + 1), np.bincount(week, minlength=weeks), asked


def accuracy_of(workload: Workload) -> Floats:
    """Return runtime over walltime; a job that asks for no time and takes none is exact."""
    return np.where(workload.walltime > 0, workload.runtime / np.maximum(workload.walltime, 1), 1.0)


def _cores_histogram(cores: Ints) -> tuple[tuple[str, ...], Ints]:
    """Count sizes of 1, 2, 3-4, 5-8 cores and so on."""
    if not len(cores):
        return (), np.empty(0, np.int64)
    by_cores = np.bincount(np.ceil(np.log2(cores)).astype(np.int64))
    labels = ["1", "2"] + [f"{2 ** (k - 1) + 1}-{2**k}" for k in range(2, len(by_cores))]
    return tuple(labels[: len(by_cores)]), by_cores


def _log_runtime_histogram(runtime: Ints) -> tuple[Ints, Floats]:
    """Count log10 of the runtime in bins of a quarter; runtimes of 0 count as 1 s."""
    log_runtime = np.log10(np.maximum(runtime, 1))
    top = math.floor(float(log_runtime.max(initial=0.0)) * 4) + 1
    return np.histogram(log_runtime, bins=np.arange(top + 1) / 4)
