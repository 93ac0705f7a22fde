"""Schedules as files."""

from __future__ import annotations

import os

import numpy as np

from queuesmith.base.files import atomic_write
from queuesmith.schedule.schedule import Schedule

COLUMNS = ("id", "submit", "start", "end")
_ROWS_AT_ONCE = 100_000


def save_csv(schedule: Schedule, path: str | os.PathLike[str]) -> None:
    """Write id, submit, start and end of every job as CSV.

    The file appears under its name only once it is complete.
    """
    jobs = schedule.workload
    table = np.column_stack([jobs.id, jobs.submit, schedule.start, schedule.end])
    with atomic_write(path) as file:
        file.write(f"{','.join(COLUMNS)}\n".encode())
        for first in range(0, len(table), _ROWS_AT_ONCE):
            rows = table[first : first + _ROWS_AT_ONCE]
            file.write(("%d,%d,%d,%d\n" * len(rows) % tuple(rows.ravel().tolist())).encode())
