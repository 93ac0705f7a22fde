"""Files that say which machine runs which job."""

from __future__ import annotations

import numpy as np

from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, format_suffix, log_name, write_bytes
from queuesmith.grid.etc.mapping import Machines, machine_of, mapped, matrix_of
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.etc.tables import TABLE_SUFFIXES, csv_text, one_width, rows_of, text_of, whole
from queuesmith.schedule import Schedule


def read_solution(path: AnyPath) -> Machines:
    """Read a published solution: the machine of each job, counted from 0."""
    words = text_of(path, "a solution").split()
    return np.array([whole(word, "the number of a machine", path) for word in words], np.int64)


def read_mapping(path: AnyPath, matrix: EtcMatrix) -> Schedule:
    """Read a mapping of an instance: a published solution, or a table that names jobs and machines.

    Of a table, the columns ``job`` and ``machine`` count, as `write_mapping` writes them.
    """
    if format_suffix(path) not in TABLE_SUFFIXES:
        return mapped(matrix, read_solution(path), log_name(path))
    rows = rows_of(text_of(path, "a mapping"), path)
    one_width(rows, path)
    head = [cell.lower() for cell in rows[0]]
    if "job" not in head or "machine" not in head:
        raise WorkloadError(
            f"'{path}' has the columns {', '.join(rows[0])}, but a mapping needs 'job' and "
            "'machine'. Name them in the first row."
        )
    chosen = _machine_by_job(rows[1:], head, matrix, path)
    number = {name: place for place, name in enumerate(matrix.machine_names)}
    machine = [number.get(chosen.get(job, ""), -1) for job in matrix.job_names]
    if -1 in machine:
        job = matrix.job_names[machine.index(-1)]
        raise WorkloadError(
            f"'{path}' gives job '{job}' the machine '{chosen.get(job, '')}', but instance "
            f"'{matrix.name}' has no machine of that name. Give one of its machines to every job."
        )
    return mapped(matrix, machine, log_name(path))


def _machine_by_job(
    rows: list[list[str]], head: list[str], matrix: EtcMatrix, path: AnyPath
) -> dict[str, str]:
    """Return the machine's name for each job of the instance; one row each, and no other."""
    chosen: dict[str, str] = {}
    for row in rows:
        job = row[head.index("job")]
        if job in chosen:
            raise WorkloadError(
                f"'{path}' has two rows for job '{job}', but a job runs on one machine. Remove one."
            )
        chosen[job] = row[head.index("machine")]
    known = set(matrix.job_names)
    strangers = [job for job in chosen if job not in known]
    if strangers:
        raise WorkloadError(
            f"'{path}' has a row for job '{strangers[0]}', but instance '{matrix.name}' has no job "
            "of that name. Give the instance that the mapping is of."
        )
    return chosen


def write_mapping(schedule: Schedule, path: AnyPath) -> None:
    """Write a mapping as CSV: job, machine, start and finish, in the order of the jobs."""
    matrix = matrix_of(schedule)
    columns = (
        matrix.job_names,
        [matrix.machine_names[machine] for machine in machine_of(schedule)],
        map(repr, schedule.start.tolist()),
        map(repr, schedule.end.tolist()),
    )
    rows = [("job", "machine", "start", "finish"), *zip(*columns, strict=True)]
    write_bytes(path, csv_text(rows, "\t" if format_suffix(path) == ".tsv" else ","))
