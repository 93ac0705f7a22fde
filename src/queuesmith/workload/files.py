"""Logs of any format: told apart by their name and their content, read and written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.files import AnyPath, format_suffix, read_bytes
from queuesmith.base.registry import known
from queuesmith.workload.batsim import parse_batsim
from queuesmith.workload.clean import Overrun
from queuesmith.workload.dependencies import with_dependencies
from queuesmith.workload.events import parse_events
from queuesmith.workload.sacct import parse_sacct
from queuesmith.workload.swf import parse_swf
from queuesmith.workload.swf_writing import write_swf
from queuesmith.workload.tables import (
    check_parquet,
    parse_csv,
    parse_parquet,
    write_csv,
    write_parquet,
)
from queuesmith.workload.workload import Workload, checked_workload

READERS: dict[str, Callable[..., Workload]] = {
    "swf": parse_swf,
    "sacct": parse_sacct,
    "events": parse_events,
    "csv": parse_csv,
    "parquet": parse_parquet,
    "batsim": parse_batsim,
}
WRITERS: dict[str, Callable[[Workload, AnyPath], None]] = {
    "swf": write_swf,
    "csv": write_csv,
    "parquet": write_parquet,
}
FORMAT_OF_SUFFIX = {
    ".swf": "swf",
    ".sacct": "sacct",
    ".events": "events",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "batsim",
}


def read(
    path: AnyPath,
    *,
    format: str = "auto",
    columns: str | Sequence[str] | None = None,
    timezone: str = "UTC",
    overrun: Overrun = "raise",
    strict: bool = False,
    dependencies: bool = False,
    cancelled: bool = False,
) -> Workload:
    """Read a log of jobs, whatever its format.

    Parameters
    ----------
    path
        The file, plain or gzipped.
    format
        ``"swf"``, ``"sacct"``, ``"events"``, ``"csv"``, ``"parquet"``, ``"batsim"``, or ``"auto"``:
        by the name of the file, and where that does not tell, by its content.
    columns
        What the columns of a sacct log without a header line are: ``"xdmod"`` or their names.
    timezone
        The zone of the dates of a sacct log, such as ``Europe/Berlin``.
    overrun
        What to do where a job ran longer than its walltime: ``"raise"`` the walltime to the
        runtime, or ``"cut"`` the job at its walltime.
    strict
        Raise instead of leaving jobs out.
    dependencies
        Let jobs wait for those that they follow in the log: ``preceding_job`` and ``think_time`` of
        a log in SWF, ``after`` and ``think_time`` of a table.
    cancelled
        Let jobs that were cancelled while they waited stand in the queue of a replay until then,
        where a log of sacct or in SWF tells it; they are ``cancelled`` of the workload.

    Examples
    --------
    >>> log = read("atlas.swf.gz")  # doctest: +SKIP
    >>> log = read("export.txt", columns="xdmod", timezone="Europe/Berlin")  # doctest: +SKIP
    """
    _check_format(format, READERS, "read")
    options = {"overrun": overrun, "strict": strict}
    workload = _read(path, format, columns, timezone, options, cancelled)
    return with_dependencies(workload) if dependencies else workload


def _read(
    path: AnyPath,
    format: str,
    columns: str | Sequence[str] | None,
    timezone: str,
    options: Mapping[str, Any],
    cancelled: bool,
) -> Workload:
    data = read_bytes(path)
    if format == "auto":
        format = _detected(data, path, columns)
    if cancelled and format in ("sacct", "swf"):
        options = {**options, "cancelled": True}
    if format == "sacct":
        return parse_sacct(data, path, columns=columns, timezone=timezone, **options)
    if columns is not None:
        raise UsageError(
            f"columns are named for '{path}', but it is read as {format}, which names its own. "
            "Leave --columns out, or give --log-format sacct."
        )
    return READERS[format](data, path, **options)


def write(workload: Workload, path: AnyPath, format: str = "auto") -> None:
    """Write a workload; the file appears under its name only once it is complete.

    Parameters
    ----------
    workload
        The jobs.
    path
        The file; ``.gz`` at the end of the name compresses SWF and CSV.
    format
        ``"swf"``, ``"csv"``, ``"parquet"``, or ``"auto"``: by the name of the file.
    """
    WRITERS[_written_format(path, format)](checked_workload(workload), path)


def check_writable(path: AnyPath) -> None:
    """Raise where a log could not be written to a file of this name, before it is there."""
    if _written_format(path, "auto") == "parquet":
        check_parquet()


def _written_format(path: AnyPath, format: str) -> str:
    _check_format(format, WRITERS, "written")
    if format != "auto":
        return format
    by_name = FORMAT_OF_SUFFIX.get(format_suffix(path), "unknown")
    if by_name not in WRITERS:
        raise UsageError(
            f"the name '{path}' does not tell a format that can be written. "
            f"End it in .swf, .swf.gz, .csv or .parquet, or name one of: {', '.join(WRITERS)}."
        )
    return by_name


def _check_format(format: str, formats: Collection[str], verb: str) -> None:
    known(f"format to be {verb} called", format, ["auto", *formats])


def _detected(data: bytes, path: AnyPath, columns: str | Sequence[str] | None) -> str:
    if data.startswith(b"PAR1"):
        return "parquet"
    by_name = FORMAT_OF_SUFFIX.get(format_suffix(path))
    if by_name:
        return by_name
    if columns is not None:
        return "sacct"
    lines = (line.strip() for line in data[:65_536].splitlines())
    first = next((line for line in lines if line), b"").decode("latin-1")
    if first.startswith(";") or (len(first.split()) == 18 and "|" not in first):
        return "swf"
    if first.startswith("-dt") and "|" in first:
        return "events"
    if "|" in first:
        return "sacct"
    if any(separator in first for separator in ",;\t"):
        return "csv"
    raise WorkloadError(
        f"neither the name nor the first line of '{path}' ({first[:60]!r}) tells its format. "
        f"Name one of: {', '.join(READERS)}."
    )
