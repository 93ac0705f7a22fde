"""Files of jobs and machines: the benchmark's format, CSV, work and capacities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from queuesmith.base.checks import positive
from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, format_suffix, log_name, write_bytes
from queuesmith.base.words import so_many
from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.grid.etc.tables import (
    MOST_DIGITS,
    TABLE_SUFFIXES,
    csv_text,
    has_separator,
    is_name,
    number,
    numbers,
    one_width,
    rows_of,
    text_of,
    whole,
)

#: What stands above a column of job names: one of these words, or what begins as these do.
JOB_WORDS = ("name", "id", "index")
JOB_BEGINNINGS = ("job", "task")


def read_etc(
    path: AnyPath,
    *,
    jobs: int | None = None,
    machines: int | None = None,
    ready: ArrayLike | None = None,
    zero_as: float | None = None,
) -> EtcMatrix:
    """Read an instance, plain or gzipped.

    Parameters
    ----------
    path
        Either the benchmark's format: a line ``jobs machines k``, then one value a line, job by
        job; or a table separated by commas, semicolons, tabs or, in a ``.csv``, blanks: a row
        for each job, a column for each machine, ``inf`` or nothing where a machine cannot run a
        job, and if wanted a first row of machine names and a first column of job names.
    jobs, machines
        How many there are, where a file of the benchmark's format has no first line that says so.
    ready
        When each machine has finished what it did before; by default 0.
    zero_as
        What a time of 0 counts as, in files that round short times down to it; by default such a
        time is an error.
    """
    text = text_of(path, "an instance")
    named_table = format_suffix(path) in TABLE_SUFFIXES and not _has_header(text)
    if named_table or has_separator(text):
        table = _from_table(text, path)
    else:
        table = _from_values(text, path, jobs, machines)
    _agreed(table.times.shape[0], jobs, "jobs", path)
    _agreed(table.times.shape[1], machines, "machines", path)
    return EtcMatrix(
        _without_zeros(table.times, zero_as, path),
        ready,
        name=log_name(path),
        job_names=table.job_names,
        machine_names=table.machine_names,
    )


def write_etc(matrix: EtcMatrix, path: AnyPath) -> None:
    """Write an instance: a table with names where the name ends in ``.csv``, else the benchmark's.

    Every time reads back as the same number. Ready times are not kept.
    """
    suffix = format_suffix(path)
    if suffix in TABLE_SUFFIXES:
        rows = [
            [name, *map(repr, row)]
            for name, row in zip(matrix.job_names, matrix.times.tolist(), strict=True)
        ]
        head = ["job", *matrix.machine_names]
        write_bytes(path, csv_text([head, *rows], "\t" if suffix == ".tsv" else ","))
    else:
        lines = [f"{matrix.jobs} {matrix.machines} 0", *map(repr, matrix.times.ravel().tolist())]
        write_bytes(path, ("\n".join(lines) + "\n").encode())


def from_work(
    work: ArrayLike,
    mips: ArrayLike,
    *,
    ready: ArrayLike | None = None,
    name: str = "etc",
    job_names: tuple[str, ...] | None = None,
    machine_names: tuple[str, ...] | None = None,
) -> EtcMatrix:
    """Return the instance of jobs of so much work on machines of such capacities.

    Parameters
    ----------
    work
        Of each job, in millions of instructions.
    mips
        The capacity of each machine, in millions of instructions a second.
    ready, name, job_names, machine_names
        As in `EtcMatrix`.
    """
    amounts, capacities = np.asarray(work, np.float64), np.asarray(mips, np.float64)
    _check_positive(amounts, "work", "job", name)
    _check_positive(capacities, "mips", "machine", name)
    return EtcMatrix(
        amounts[:, None] / capacities,
        ready,
        name=name,
        job_names=job_names,
        machine_names=machine_names,
    )


def read_work(
    work: AnyPath, mips: AnyPath, *, ready: ArrayLike | None = None, name: str | None = None
) -> EtcMatrix:
    """Read the work of jobs (millions of instructions) and the mips of machines from two files.

    Each is a table of one value a row; a name may stand before it, a header above it, and in the
    file of the machines a ready time behind it.
    """
    jobs, machines = read_amounts(work), read_amounts(mips)
    return from_work(
        jobs.value,
        machines.value,
        ready=machines.ready if ready is None else ready,
        name=log_name(work) if name is None else name,
        job_names=jobs.names,
        machine_names=machines.names,
    )


class _Table(NamedTuple):
    """What a file of times holds."""

    times: Floats
    job_names: tuple[str, ...] | None = None
    machine_names: tuple[str, ...] | None = None


class Amounts(NamedTuple):
    """What a file of jobs or of machines holds."""

    names: tuple[str, ...] | None
    value: Floats
    ready: Floats | None


def read_amounts(path: AnyPath) -> Amounts:
    """Read rows of ``value``, ``name,value`` or ``name,value,ready``."""
    rows = rows_of(text_of(path, "a list of jobs or machines"), path)
    if len(rows) > 1 and number(rows[0][-1]) is None:
        rows = rows[1:]
    width = one_width(rows, path)
    if width > 3:
        raise WorkloadError(
            f"'{path}' has {width} columns, but a list of jobs or machines has a value, or a name "
            "and a value, and for machines a ready time. Leave the others out."
        )
    names = tuple(row[0] for row in rows) if width > 1 else None
    values = numbers([row[1:] if width > 1 else row for row in rows], path)
    return Amounts(names, values[:, 0], values[:, 1] if width == 3 else None)


# -- one value a line ------------------------------------------------------------------------------


def _from_values(text: str, path: AnyPath, jobs: int | None, machines: int | None) -> _Table:
    words = text.split()
    head = text.lstrip().split("\n", 1)[0].split()
    given = jobs is not None and machines is not None and len(words) == jobs * machines
    if not given and _is_header(head):
        words = words[len(head) :]
        shape = (
            _agreed(whole(head[0], "its number of jobs", path), jobs, "jobs", path),
            _agreed(whole(head[1], "its number of machines", path), machines, "machines", path),
        )
    elif jobs is None or machines is None:
        raise WorkloadError(
            f"'{path}' does not begin with a line 'jobs machines k', so that its shape is unknown. "
            "Give the number of jobs and of machines, or a table with commas."
        )
    else:
        shape = jobs, machines
    values = _values(words, path)
    _check_count(len(values), shape, path)
    return _Table(values.reshape(shape))


def _is_header(words: Sequence[str]) -> bool:
    return len(words) in (2, 3) and all(word.isascii() and word.isdigit() for word in words)


def _has_header(text: str) -> bool:
    """Tell whether a file has the benchmark's first line, and as many values as that says."""
    words = text.split()
    head = text.lstrip().split("\n", 1)[0].split()
    if not _is_header(head) or any(len(word) > MOST_DIGITS for word in head):
        return False
    return len(words) - len(head) == int(head[0]) * int(head[1])


def _agreed(said: int, asked: int | None, what: str, path: AnyPath) -> int:
    if asked is not None and asked != said:
        raise WorkloadError(
            f"'{path}' has {said} {what}, but {asked} are asked for. Leave that number out, or "
            "give another file."
        )
    if said < 1:
        raise WorkloadError(
            f"'{path}' has {said} {what}, but there must be at least one. Give another file."
        )
    return said


def _check_count(count: int, shape: tuple[int, int], path: AnyPath) -> None:
    jobs, machines = shape
    if jobs < 1 or machines < 1 or count != jobs * machines:
        verb = "breaks off after" if count < jobs * machines else "has"
        raise WorkloadError(
            f"'{path}' {verb} {so_many(count, 'time')}, but {so_many(jobs, 'job')} on "
            f"{so_many(machines, 'machine')} {'needs' if jobs == 1 else 'need'} "
            f"{jobs * machines:,}, at least one. Correct the numbers, or copy the file again."
        )


def _values(words: Sequence[str], path: AnyPath) -> Floats:
    try:
        quick = np.fromiter(map(float, words), np.float64, len(words))
    except ValueError:
        quick = np.array([np.inf])
    if np.isfinite(quick).all() and not any("_" in word for word in words):
        return quick
    numbers = [number(word) for word in words]
    if None in numbers:
        place = numbers.index(None)
        raise WorkloadError(
            f"'{path}' has '{words[place][:40]}' as its time number {place + 1}, which is no "
            "number. Correct it, or give inf where a machine cannot run a job."
        )
    return np.array(numbers, dtype=np.float64)


# -- tables ----------------------------------------------------------------------------------------


def _from_table(text: str, path: AnyPath) -> _Table:
    rows = rows_of(text, path)
    width = one_width(rows, path)
    machine_names: tuple[str, ...] | None = None
    job_names: tuple[str, ...] | None = None
    head = rows[0]
    named = _is_above_jobs(head[0])
    if named or all(is_name(cell) for cell in head[1:] or head):
        rows, machine_names = rows[1:], tuple(head)
        named = named or not head[0]
    if rows and width > 1 and (named or all(is_name(row[0]) for row in rows)):
        job_names = tuple(row[0] for row in rows)
        rows = [row[1:] for row in rows]
        machine_names = machine_names and machine_names[1:]
    _check_names(machine_names, "machine", path)
    _check_names(job_names, "job", path)
    if not rows:
        raise WorkloadError(f"'{path}' has no row below its header. Give a row for each job.")
    if machine_names is not None and job_names is None:
        _check_no_count(rows, machine_names[0], path)
    return _Table(numbers(rows, path), job_names, machine_names)


def _is_above_jobs(cell: str) -> bool:
    """Tell whether a cell of a header says that names of jobs stand below it."""
    word = cell.lower()
    return word in JOB_WORDS or word.startswith(JOB_BEGINNINGS)


def _check_no_count(rows: list[list[str]], head: str, path: AnyPath) -> None:
    """Refuse a first column that numbers the rows: as times, it would be the fastest machine."""
    column = [row[0] for row in rows]
    if (
        len(rows) > 1
        and len(rows[0]) > 1
        and any(
            column == [str(number) for number in range(first, first + len(rows))]
            for first in (0, 1)
        )
    ):
        raise WorkloadError(
            f"'{path}' counts its rows below '{head}', which may be names of jobs or times. Call "
            "that column 'job' if it names jobs; write its times as 1.0 and so on if it is a "
            "machine."
        )


def _check_names(names: tuple[str, ...] | None, what: str, path: AnyPath) -> None:
    seen: set[str] = set()
    for name in names or ():
        if name in seen:
            raise WorkloadError(
                f"'{path}' has two {what}s called '{name}', but names must differ. Rename one."
            )
        seen.add(name)


# -- all ------------------------------------------------------------------------------------------


def _without_zeros(times: Floats, zero_as: float | None, path: AnyPath) -> Floats:
    """Return the times with every 0 replaced; refuse zeros where that is not asked for."""
    zero = times == 0
    if not zero.any():
        return times
    if zero_as is None:
        job, machine = (int(place) for place in np.argwhere(zero)[0])
        raise WorkloadError(
            f"job {job} of '{path}' takes 0 on machine {machine}, but a time must be above 0. "
            "Correct it; where a file rounds short times down, say what 0 counts as: zero_as=1e-6."
        )
    return np.where(zero, positive("zero_as", zero_as, "Give for example 1e-6."), times)


def _check_positive(values: Floats, what: str, of: str, name: str) -> None:
    if values.ndim != 1 or not len(values):
        raise WorkloadError(
            f"the {what} of instance '{name}' has the shape {values.shape}, but there must be one "
            f"value for each {of}, at least one. Correct it."
        )
    wrong = ~((values > 0) & np.isfinite(values))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise WorkloadError(
            f"{of} {place} of instance '{name}' has {what} {values[place]:g}, but it must be a "
            "number above 0. Correct it."
        )
