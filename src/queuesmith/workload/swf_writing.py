"""Writes the Standard Workload Format, plain or gzipped."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.files import AnyPath, write_bytes
from queuesmith.workload.swf import FIELDS, STATUS_OF_STATE
from queuesmith.workload.swf_header import entries, facts_of
from queuesmith.workload.workload import Workload


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
    facts = facts_of(tuple(lines))
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
    stale = [bool([1 for found, _ in entries((line,)) if found in keys]) for line in lines]
    kept = [line for line, out in zip(lines, stale, strict=True) if not out]
    return kept if value is None else [*kept, f"; {key}: {value}"]
