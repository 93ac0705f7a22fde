"""The Standard Workload Format of the Parallel Workloads Archive, plain or gzipped.

One line a job, 18 numbers a line, -1 for "unknown"; header lines start with a semicolon. See
https://www.cs.huji.ac.il/labs/parallel/workload/swf.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import (
    AnyPath,
    check_text,
    decoded,
    log_name,
    read_bytes,
    write_bytes,
)
from queuesmith.workload.clean import Overrun, RawLog, clean, told_cancelled
from queuesmith.workload.columns import LARGEST_TIME
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
LARGEST_LABEL = 100_000

#: How Slurm's final states are written in the status field; every other state is a failure (0).
STATUS_OF_STATE = {"COMPLETED": 1, "CANCELLED": 5}
CANCELLED = STATUS_OF_STATE["CANCELLED"]

_HEADER_LINE = re.compile(r"\s*;\s*([A-Za-z]+)\s*:\s*(.*?)\s*")
_NUMBERED_NAME = re.compile(r"([0-9]{1,6})\s+(.+)")
_LEADING_NUMBER = re.compile(r"[0-9]{1,15}")


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
    fields, rounded = _columns(_numbers(lines, path), lines, path)
    facts = _facts(header)
    log = RawLog(
        **{key: fields[key] for key in CORE_FIELDS},
        requested_time=fields["requested_time"],
        requested_cores=fields["requested_cores"],
        allocated_cores=fields["allocated_cores"],
        extra={**_extra(fields), "rounded": rounded},
        labels=_labels(header),
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
    return workload.replaced(extra=extra).noting(Change(reason, mended, dropped=False))


def write_swf(workload: Workload, path: AnyPath) -> None:
    """Write a workload in the Standard Workload Format, gzipped where the name ends in ``.gz``.

    A log that was read from this format is written with its header and with the 18 values it had.
    Where jobs were changed since, the changed values are written. What is unknown is -1. Submit
    times below 0, which the format does not have, are moved up together with the epoch.

    Parameters
    ----------
    workload
        The jobs.
    path
        The file; it appears only once it is complete.
    """
    first = int(workload.submit.min()) if len(workload) else 0
    if first < 0:
        workload = workload.shift(-first)
    columns = [_printable(_field(workload, name)) for name in FIELDS]
    line = " ".join(["%s"] * len(FIELDS))
    body = [line % row for row in zip(*columns, strict=True)]
    text = "\n".join([*_header_to_write(workload), *body, ""])
    write_bytes(path, text.encode("utf-8", "replace"))


# -- the body, read ------------------------------------------------------------------------


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
                f"line {number} of '{path}' has {len(parts)} fields, but the Standard Workload "
                f"Format has {len(FIELDS)}. Correct the line, or name the format of the file."
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


# -- the header, read ----------------------------------------------------------------------


def _entries(header: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for line in header:
        if match := _HEADER_LINE.fullmatch(line):
            yield match[1].lower(), match[2]


def _facts(header: tuple[str, ...]) -> dict[str, int]:
    """Return the whole numbers above 0 that the header states; the first of a key counts."""
    facts: dict[str, int] = {}
    for key, text in _entries(header):
        if match := _LEADING_NUMBER.match(text):
            number = int(match[0])
            if 0 < number <= LARGEST_TIME:
                facts.setdefault(key, number)
    return facts


def _labels(header: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    labels = {}
    for column in ("queue", "partition"):
        found = (_NUMBERED_NAME.match(text) for key, text in _entries(header) if key == column)
        names = {int(match[1]): match[2] for match in found if match}
        names = {number: name for number, name in names.items() if number < LARGEST_LABEL}
        if names:
            every = range(max(names) + 1)
            labels[column] = tuple(names.get(number, str(number)) for number in every)
    return labels


# -- writing -------------------------------------------------------------------------------


def _field(workload: Workload, name: str) -> NDArray[Any]:
    """Return a field as the log had it, or anew where the jobs were changed since."""
    if name in ("id", "submit", "runtime", "user"):
        return np.asarray(getattr(workload, name))
    if name == "wait":
        return _wait(workload)
    if name == "requested_time":
        return _requested_time(workload)
    if name in ("requested_cores", "allocated_cores"):
        return _cores(workload, name)
    if name == "status" and name not in workload.extra:
        return _status(workload)
    return _recorded(workload, name)


def _recorded(workload: Workload, name: str) -> NDArray[Any]:
    values = workload.extra.get(name)
    if values is None or not np.issubdtype(values.dtype, np.number):
        return np.full(len(workload), -1, dtype=np.int64)
    if np.issubdtype(values.dtype, np.floating):
        return np.where(np.isfinite(values), values, -1.0)
    return values.astype(np.int64)


def _wait(workload: Workload) -> NDArray[Any]:
    # Where arrivals were moved, real_start is gone, and a recorded wait no longer holds.
    unknown: NDArray[Any] = np.minimum(_recorded(workload, "wait"), -1).astype(np.int64)
    real_start = workload.extra.get("real_start")
    if real_start is None or not np.issubdtype(real_start.dtype, np.integer):
        return unknown
    return np.where(real_start >= workload.submit, real_start - workload.submit, unknown)


def _requested_time(workload: Workload) -> NDArray[Any]:
    if "requested_time" not in workload.extra:
        return workload.walltime
    recorded = _recorded(workload, "requested_time")
    read_back = np.maximum(np.where(recorded > 0, recorded, 0), workload.runtime)
    return np.where(read_back == workload.walltime, recorded, workload.walltime)


def _cores(workload: Workload, name: str) -> NDArray[Any]:
    requested = _recorded(workload, "requested_cores")
    allocated = _recorded(workload, "allocated_cores")
    if not {"requested_cores", "allocated_cores"} & workload.extra.keys():
        return workload.cores if name == "requested_cores" else allocated
    holds = np.where(requested > 0, requested, allocated) == workload.cores
    return np.where(holds, requested if name == "requested_cores" else allocated, workload.cores)


def _status(workload: Workload) -> NDArray[Any]:
    state, names = workload.extra.get("state"), workload.labels.get("state")
    if state is None or not names or not np.issubdtype(state.dtype, np.integer):
        return np.full(len(workload), -1, dtype=np.int64)
    codes = np.array([STATUS_OF_STATE.get(name, 0) for name in names], dtype=np.int64)
    known = (state >= 0) & (state < len(codes))
    return np.where(known, codes[np.clip(state, 0, len(codes) - 1)], -1)


def _printable(values: NDArray[Any]) -> list[Any]:
    if not np.issubdtype(values.dtype, np.floating):
        return list(values.tolist())
    return [int(value) if value.is_integer() else value for value in values.tolist()]


def _header_to_write(workload: Workload) -> list[str]:
    lines = [re.sub(r"[\r\n\0]", " ", line) for line in workload.header or _new_header(workload)]
    lines = [line if line.lstrip().startswith(";") else f"; {line}" for line in lines]
    facts = _facts(tuple(lines))
    if facts.get("maxprocs", facts.get("maxnodes")) != workload.machine_cores:
        lines = _restated(lines, ("maxprocs", "maxnodes"), "MaxProcs", workload.machine_cores)
    if facts.get("unixstarttime") != workload.epoch:
        lines = _restated(lines, ("unixstarttime",), "UnixStartTime", workload.epoch)
    return lines


def _new_header(workload: Workload) -> list[str]:
    lines = ["; Version: 2.2", f"; Computer: {workload.name}", "; Conversion: Queuesmith"]
    lines += [f"; MaxJobs: {len(workload)}", f"; MaxRecords: {len(workload)}"]
    for column in ("queue", "partition"):
        names = workload.labels.get(column, ())
        lines += [f"; {column.capitalize()}: {i} {name}" for i, name in enumerate(names)]
    return lines


def _restated(lines: list[str], keys: tuple[str, ...], key: str, value: int | None) -> list[str]:
    """Take lines of the header that no longer hold out, and state the new value."""
    stale = [bool([1 for found, _ in _entries((line,)) if found in keys]) for line in lines]
    kept = [line for line, out in zip(lines, stale, strict=True) if not out]
    return kept if value is None else [*kept, f"; {key}: {value}"]
