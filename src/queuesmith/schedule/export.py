"""Schedules as files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.base.files import atomic_write, write_bytes
from queuesmith.workload.workload import TASK_CORES

if TYPE_CHECKING:
    from queuesmith.schedule.schedule import Schedule

COLUMNS = ("id", "submit", "start", "end")
_ROWS_AT_ONCE = 100_000


def save_csv(schedule: Schedule, path: str | os.PathLike[str]) -> None:
    """Write id, submit, start and end of every job as CSV, and its places where they are known.

    The file appears under its name only once it is complete.
    """
    times = [schedule.submit, schedule.start, schedule.end]
    named = "id" in schedule.workload.labels or schedule.cluster.places is not None
    if named or any(not np.issubdtype(column.dtype, np.integer) for column in times):
        _write_rows(path, _head(schedule), _job_rows(schedule))
        return
    table = np.column_stack([schedule.workload.id, *times])
    with atomic_write(path) as file:
        file.write(f"{','.join(COLUMNS)}\n".encode())
        for first in range(0, len(table), _ROWS_AT_ONCE):
            rows = table[first : first + _ROWS_AT_ONCE]
            file.write(("%d,%d,%d,%d\n" * len(rows) % tuple(rows.ravel().tolist())).encode())


def save_pieces(schedule: Schedule, path: str | os.PathLike[str]) -> None:
    """Write job, start, end and cores of every piece as CSV, and its tasks and place if known."""
    parts, places = schedule.parts, schedule.cluster.places
    names, width = _job_names(schedule), schedule.workload.extra.get(TASK_CORES)
    columns: dict[str, Sequence[Any]] = {
        "job": [names[job] for job in parts.job.tolist()],
        "start": parts.start.tolist(),
        "end": parts.end.tolist(),
    }
    if width is not None:
        columns["tasks"] = (parts.cores // width[parts.job]).tolist()
    columns["cores"] = parts.cores.tolist()
    if places is not None and parts.place is not None:
        columns["place"] = [places.names[place] for place in parts.place.tolist()]
    _write_rows(path, list(columns), list(zip(*columns.values(), strict=True)))


def _head(schedule: Schedule) -> tuple[str, ...]:
    return (*COLUMNS, "place") if schedule.cluster.places is not None else COLUMNS


def _job_rows(schedule: Schedule) -> list[tuple[Any, ...]]:
    columns: list[Sequence[Any]] = [
        _job_names(schedule),
        schedule.submit.tolist(),
        schedule.start.tolist(),
        schedule.end.tolist(),
    ]
    places, parts = schedule.cluster.places, schedule.parts
    if places is not None:
        where: list[list[str]] = [[] for _ in range(len(schedule))]
        if parts.place is not None:
            last = ~schedule.cut_short
            pairs = zip(parts.job[last].tolist(), parts.place[last].tolist(), strict=True)
            for job, place in pairs:
                where[job].append(places.names[place])
        columns.append([" ".join(names) for names in where])
    return list(zip(*columns, strict=True))


def _job_names(schedule: Schedule) -> list[str]:
    jobs = schedule.workload
    return [jobs.label("id", number) for number in jobs.id.tolist()]


def _write_rows(
    path: str | os.PathLike[str], head: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(head)
    table.writerows(rows)
    write_bytes(path, text.getvalue().encode())
