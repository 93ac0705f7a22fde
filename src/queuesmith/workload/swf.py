"""Reads the Standard Workload Format of the Parallel Workloads Archive, plain or gzipped.

One line a job, 18 numbers a line, -1 for "unknown"; header lines start with a semicolon. See
https://www.cs.huji.ac.il/labs/parallel/workload/swf.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, check_text, decoded, log_name, read_bytes
from queuesmith.base.words import so_many
from queuesmith.workload.clean import Overrun, RawLog, clean, told_cancelled
from queuesmith.workload.columns import LARGEST_TIME
from queuesmith.workload.swf_header import facts_of, labels_of
from queuesmith.workload.workload import Change, Ints, Workload

#: The 18 fields of a line, in their order; those that are no core column become extra columns.
FIELDS = (
    "id",
    "submit",
    "wait",
    "runtime",
    "allocated_cores",
    "cpu_time",
    "used_memory",
    "requested_cores",
    "requested_time",
    "requested_memory",
    "status",
    "user",
    "log_group",
    "executable",
    "queue",
    "partition",
    "preceding_job",
    "think_time",
)
CORE_FIELDS = ("id", "submit", "runtime", "user")
#: Seconds: a fraction is rounded. Amounts may have a fraction. All others are whole numbers.
TIMES = ("submit", "wait", "runtime", "requested_time", "think_time")
AMOUNTS = ("cpu_time", "used_memory", "requested_memory")
#: The largest whole number up to which a float is exact.
LARGEST_EXACT = 2**53

#: How Slurm's final states are written in the status field; every other state is a failure (0).
STATUS_OF_STATE = {"COMPLETED": 1, "CANCELLED": 5}
CANCELLED = STATUS_OF_STATE["CANCELLED"]
#: A part of a job that was swapped out or checkpointed: one to be continued, or the last.
PARTS = (2, 3, 4)


def read_swf(
    path: AnyPath, *, overrun: Overrun = "raise", strict: bool = False, cancelled: bool = False
) -> Workload:
    """Read a log in the Standard Workload Format.

    Parameters
    ----------
    path
        The file, plain or gzipped.
    overrun
        What to do where a job ran longer than its walltime: ``"raise"`` the walltime to the
        runtime, or ``"cut"`` the job at its walltime.
    strict
        Raise instead of leaving jobs out.
    cancelled
        Keep jobs that were cancelled while they waited (status 5 and no runtime; their wait tells
        when that was) beside the others, instead of leaving them out.

    Returns
    -------
    Workload
        Its ``extra`` holds the fields that are no core column under the names of ``FIELDS``,
        and ``real_start`` (-1 where unknown) where the log tells any job's wait. The header is
        kept line by line.
    """
    return parse_swf(read_bytes(path), path, overrun=overrun, strict=strict, cancelled=cancelled)


def parse_swf(
    data: bytes,
    path: AnyPath,
    *,
    overrun: Overrun = "raise",
    strict: bool = False,
    cancelled: bool = False,
) -> Workload:
    """Read a log from bytes; ``path`` is what messages call it."""
    lines = check_text(data, path, "the Standard Workload Format").splitlines()
    header = tuple(decoded(line) for line in lines if line.lstrip().startswith(b";"))
    values = _numbers(lines, path)
    fields, rounded = _columns(values, lines, path)
    whole, new = _whole_jobs(fields), _first_told(values)
    reason = "a part of a job that another line tells as a whole"
    passed_over = (
        Change(reason, int(np.count_nonzero(~whole & new)), dropped=False, what="line"),
        Change(
            "the same as an earlier line", len(new) - int(new.sum()), dropped=False, what="line"
        ),
    )
    if any(change.count for change in passed_over):
        kept = whole & new
        fields, rounded = {name: column[kept] for name, column in fields.items()}, rounded[kept]
    facts = facts_of(header)
    log = RawLog(
        **{key: fields[key] for key in CORE_FIELDS},
        requested_time=fields["requested_time"],
        requested_cores=fields["requested_cores"],
        allocated_cores=fields["allocated_cores"],
        extra={**_extra(fields), "rounded": rounded},
        labels=labels_of(header),
        name=log_name(path),
        machine_cores=facts.get("maxprocs", facts.get("maxnodes")),
        epoch=facts.get("unixstarttime"),
        header=header,
        cancelled_after=_cancelled_after(fields) if cancelled else None,
    )
    workload = clean(log, overrun=overrun, strict=strict)
    extra = dict(workload.extra)
    mended = int(np.count_nonzero(extra.pop("rounded")))
    reason = "fractions of a second rounded"
    return workload.replaced(extra=extra).noting(
        *passed_over, Change(reason, mended, dropped=False)
    )


def _is_job(line: bytes) -> bool:
    stripped = line.lstrip()
    return bool(stripped) and not stripped.startswith(b";")


def _numbers(lines: list[bytes], path: AnyPath) -> NDArray[np.float64]:
    body = [line for line in lines if _is_job(line)]
    if not any(line.decode("latin-1").strip() for line in body):
        raise WorkloadError(
            f"'{path}' has no line of a job, but a log has at least one. Give another file."
        )
    try:
        values = np.loadtxt(body, comments=None, ndmin=2)
    except ValueError:
        _complain_about_text(lines, path)
    if values.shape != (len(body), len(FIELDS)):
        _complain_about_text(lines, path)
    finite = np.isfinite(values)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        _complain(lines, path, int(row), FIELDS[column], values[row, column], "a finite number")
    return values


def _complain_about_text(lines: list[bytes], path: AnyPath) -> NoReturn:
    for number, line in _job_lines(lines):
        parts = line.decode("latin-1").split()
        if len(parts) != len(FIELDS):
            raise WorkloadError(
                f"line {number} of '{path}' has {so_many(len(parts), 'field')}, but the Standard "
                f"Workload Format has {len(FIELDS)}. Correct the line, or name the format of the "
                "file."
            )
        for name, text in zip(FIELDS, parts, strict=True):
            if not _is_number(text):
                raise WorkloadError(
                    f"line {number} of '{path}' has {text[:40]!r} as {name}, but that is a number "
                    "(-1 where unknown). Correct the line."
                )
    raise WorkloadError(
        f"'{path}' is not a log of {len(FIELDS)} numbers a line. Name the format of the file."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()


def _complain(
    lines: list[bytes], path: AnyPath, row: int, field: str, value: float, rule: str
) -> NoReturn:
    number = next(number for i, (number, _) in enumerate(_job_lines(lines)) if i == row)
    raise WorkloadError(
        f"line {number} of '{path}' has {value} as {field}, but that is {rule} "
        "(-1 where unknown). Correct the line."
    )


def _job_lines(lines: list[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, 1) if _is_job(line))


def _columns(
    values: NDArray[np.float64], lines: list[bytes], path: AnyPath
) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
    """Return the fields by name, and which jobs had a time rounded."""
    fields: dict[str, NDArray[Any]] = {}
    rounded = np.zeros(len(values), dtype=np.bool_)
    for name, column in zip(FIELDS, values.T, strict=True):
        whole = np.rint(column)
        broken = (whole != column) | (np.abs(column) > LARGEST_EXACT)
        if name in AMOUNTS:
            keep_float = name == "cpu_time" or broken.any()
            fields[name] = column.copy() if keep_float else whole.astype(np.int64)
            continue
        if name in TIMES:
            rounded |= broken
            whole = np.clip(whole, -LARGEST_EXACT, LARGEST_EXACT)
        elif broken.any():
            row = int(np.argmax(broken))
            _complain(lines, path, row, name, column[row], "a whole number below 2**53")
        fields[name] = whole.astype(np.int64)
    return fields, rounded


def _whole_jobs(fields: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Tell which lines are jobs, and no parts of jobs of which another line is the whole."""
    part = np.isin(fields["status"], PARTS)
    return ~part | ~np.isin(fields["id"], fields["id"][~part])


def _first_told(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which lines are not the same as an earlier one, in the job's number and all else.

    Logs of neighbouring months put together hold each job twice that was there in both.
    """
    new = np.ones(len(values), np.bool_)
    numbers, place, count = np.unique(values[:, 0], return_inverse=True, return_counts=True)
    often = np.flatnonzero((count[place] > 1) & (numbers[place] > 0))
    if len(often):
        new[often] = False
        new[often[np.unique(values[often], axis=0, return_index=True)[1]]] = True
    return new


def _extra(fields: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    extra = {name: values for name, values in fields.items() if name not in CORE_FIELDS}
    wait = fields["wait"]
    known = (wait >= 0) & (wait <= LARGEST_TIME)
    if known.any():
        extra["real_start"] = np.where(known, fields["submit"] + wait, -1)
    return extra


def _cancelled_after(fields: dict[str, NDArray[Any]]) -> Ints:
    """Return how long jobs had waited when they were cancelled, -1 of those that ran."""
    gone = (fields["status"] == CANCELLED) & (fields["runtime"] <= 0)
    requested, allocated = fields["requested_cores"], fields["allocated_cores"]
    return told_cancelled(
        np.where(gone, fields["wait"], -1),
        submit=fields["submit"],
        walltime=fields["requested_time"],
        cores=np.where(requested > 0, requested, allocated),
    )
