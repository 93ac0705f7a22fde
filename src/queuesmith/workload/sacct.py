"""Slurm accounting: the text that ``sacct --parsable2`` prints, plain or gzipped.

A good export is

    sacct --allusers --allocations --parsable2 --starttime 2024-01-01 --endtime 2024-07-01
    --format JobID,JobIDRaw,User,Account,Group,Partition,QOS,Submit,Start,End,Elapsed,
    Timelimit,State,NNodes,AllocCPUS,ReqCPUS,Eligible,ReqMem,ReqTRES,AllocTRES,Flags,NodeList,
    Constraints

(one line), with the constraints last because they may contain the separator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.files import AnyPath, check_text, decoded, log_name, read_bytes
from queuesmith.workload.clean import Overrun, RawLog, clean, nothing_left
from queuesmith.workload.requests import attempts, request_columns
from queuesmith.workload.sacct_jobs import (
    cancelled_after,
    cancelled_first,
    finished,
    without_repeats,
    without_steps,
)
from queuesmith.workload.sacct_table import CODED_COLUMNS, SacctTable, sacct_table
from queuesmith.workload.slurm_text import (
    count,
    date_parser,
    zone_of,
)
from queuesmith.workload.submit_lines import with_submit_lines
from queuesmith.workload.table_columns import coded
from queuesmith.workload.workload import Change, Ints, Workload


def read_sacct(
    path: AnyPath,
    *,
    columns: str | Sequence[str] | None = None,
    timezone: str = "UTC",
    overrun: Overrun = "raise",
    strict: bool = False,
    cancelled: bool = False,
) -> Workload:
    """Read a Slurm accounting log, together with what really happened.

    Cores are the requested number, or the allocated number where the log has no request. Where
    Slurm allocated more than was asked for (whole nodes, or all threads of a core), the allocated
    number is used: these cores were not free for anybody else, and a replay with fewer would be
    compared with a history that had less room. Such jobs are counted among the changes.

    Parameters
    ----------
    path
        The output of ``sacct --parsable2`` (or ``--parsable``), plain or gzipped.
    columns
        What the columns are where the file has no header line: ``"xdmod"``, or the names that
        were given to ``sacct --format``, as a list or separated by commas.
    timezone
        The zone of the cluster's clock, such as ``Europe/Berlin``. Of an hour that the end of
        summer time repeats, the first is meant, unless the job would begin before its submission.
    overrun
        What to do where a job ran longer than its walltime: ``"raise"`` the walltime to the
        runtime, or ``"cut"`` the job at its walltime.
    strict
        Raise instead of leaving jobs out.
    cancelled
        Keep jobs that were cancelled while they waited beside the others, instead of leaving them
        out. Those that never could start (held, or waiting for another job) are left out anyway.

    Returns
    -------
    Workload
        Second 0 is the first submission; ``epoch`` is its Unix time. ``extra`` holds
        ``real_start``, ``jobid`` (as Slurm spells it), ``allocated_cores``,
        ``requested_cores``, ``nodes``, and, as numbers with labels, ``account``, ``log_group``,
        ``partition``, ``qos`` and ``state``; and what jobs ask nodes for, where the log tells it
        (see `queuesmith.workload.requests`).
    """
    return parse_sacct(
        read_bytes(path),
        path,
        columns=columns,
        timezone=timezone,
        overrun=overrun,
        strict=strict,
        cancelled=cancelled,
    )


def parse_sacct(
    data: bytes,
    path: AnyPath,
    *,
    columns: str | Sequence[str] | None = None,
    timezone: str = "UTC",
    overrun: Overrun = "raise",
    strict: bool = False,
    cancelled: bool = False,
) -> Workload:
    """Read a log from bytes; ``path`` is what messages call it."""
    zone = zone_of(timezone)
    table = sacct_table(decoded(check_text(data, path, "sacct's output")), path, columns)
    table, steps = without_steps(table)
    table, repeats = without_repeats(table)
    gone = cancelled_after(table, zone) if cancelled else np.full(len(table), -1, np.int64)
    ended, unfinished = finished(table, gone >= 0, strict)
    table, gone = table.where(ended), gone[ended]
    if not len(table):
        raise nothing_left(path, (steps, repeats, *unfinished))
    submit = table.dates("submit", zone)
    start, early = _starts(table, submit, zone)
    epoch = int(submit[submit >= 0].min()) if (submit >= 0).any() else 0
    runtime, short = _runtime(table, start, zone)
    log, wide = _raw_log(table, submit, start, runtime, epoch, zone)
    if (gone >= 0).any():
        log = replace(log, cancelled_after=gone)
    workload = clean(log, overrun=overrun, strict=strict)
    mended = (*workload.changes, early, short, wide)
    return workload.replaced(changes=()).noting(steps, repeats, *unfinished, *mended)


# -- what became of the jobs ---------------------------------------------------------------


def _starts(table: SacctTable, submit: Ints, zone: ZoneInfo) -> tuple[Ints, Change]:
    """Return when the jobs really began (-1 where unknown), never before their submission."""
    name = table.first_of("start")
    start = table.dates(name, zone)
    early = (start >= 0) & (start < submit)
    if early.any():
        later = table.dates(name, zone, fold=1)
        start = np.where(early & (later >= submit), later, start)
        early = (start >= 0) & (start < submit)
    reason = "began before the submission; taken to begin with it"
    change = Change(reason, int(np.count_nonzero(early)), dropped=False)
    return np.where(early, submit, start), change


def _runtime(table: SacctTable, start: Ints, zone: ZoneInfo) -> tuple[Ints, Change]:
    """Return how long the jobs ran; one that began and ended in one second counts as one second.

    Such jobs were not cancelled before their start: those were left out before.
    """
    if table.first_of("elapsedraw", "elapsed"):
        runtime = table.elapsed()
    else:
        first, second = (table.dates("end", zone, fold) for fold in (0, 1))
        end = np.where(first >= start, first, second)
        runtime = np.where((start >= 0) & (end >= start), end - start, -1)
    short = (runtime == 0) & (start >= 0) & ~cancelled_first(table)
    reason = "ran for less than a second; taken to run for one"
    change = Change(reason, int(np.count_nonzero(short)), dropped=False)
    return np.where(short, 1, runtime), change


# -- columns into a log --------------------------------------------------------------------


def _raw_log(
    table: SacctTable, submit: Ints, start: Ints, runtime: Ints, epoch: int, zone: ZoneInfo
) -> tuple[RawLog, Change]:
    allocated = table.cores(("alloccpus", "ncpus"), "alloctres")
    requested = table.cores(("reqcpus",), "reqtres")
    wide = (requested > 0) & (allocated > requested)
    reason = "allocated more cores than requested; the allocated number is used"
    change = Change(reason, int(np.count_nonzero(wide)), dropped=False)
    users, user_names = coded(table.columns.get("user", [""] * len(table)))
    extra, labels = _further_columns(table)
    extra |= {"requested_cores": requested, "allocated_cores": allocated}
    if "eligible" in table.columns:
        extra["eligible_after"] = _eligible_after(table, submit, zone)
    if (start >= 0).any():
        extra["real_start"] = np.where(start >= 0, start - epoch, -1)
    log = RawLog(
        id=table.ids(table.first_of("jobidraw", "jobid")),
        submit=np.where(submit >= 0, submit - epoch, -1),
        runtime=runtime,
        requested_time=table.walltime(),
        requested_cores=np.where(wide, allocated, requested),
        allocated_cores=allocated,
        user=users,
        extra=extra,
        labels={"user": user_names, **labels},
        name=log_name(table.path),
        epoch=epoch,
    )
    return log, change


def _further_columns(
    table: SacctTable,
) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, ...]]]:
    extra: dict[str, NDArray[Any]] = {}
    labels: dict[str, tuple[str, ...]] = {}
    for name, column in CODED_COLUMNS.items():
        if name in table.columns:
            extra[column], labels[column] = coded(table.columns[name])
    if len(set(table.columns.get("cluster", []))) > 1:
        extra["cluster"], labels["cluster"] = coded(table.columns["cluster"])
    nodes = table.first_of("allocnodes", "nnodes")
    if nodes:
        extra["nodes"] = table.convert(nodes, count, "a number of nodes")
    if "jobid" in table.columns:
        table.ids("jobid")
        extra["jobid"] = np.array([text.strip() for text in table.columns["jobid"]], dtype=str)
        if (arrays := _arrays(table.columns["jobid"])).any():
            extra["array"] = np.where(arrays > 0, arrays, -1)
    if "cluster" not in extra and (again := attempts(_ids(table))) is not None:
        extra["attempt"] = again
    asked, names = request_columns(table.columns)
    if "submitline" in table.columns:
        asked, names = with_submit_lines(asked, names, table.columns["submitline"])
    return {**extra, **asked}, {**labels, **names}


def _arrays(ids: list[str]) -> Ints:
    """Return the array of each job, 0 where it is none: ``4711_3`` is a task of 4711."""
    bases = (text.strip().partition("_") for text in ids)
    return np.array([int(base) if task and base.isdecimal() else 0 for base, task, _ in bases])


def _ids(table: SacctTable) -> list[str]:
    name = table.first_of("jobidraw", "jobid")
    assert name is not None
    return table.columns[name]


def _eligible_after(table: SacctTable, submit: Ints, zone: ZoneInfo) -> Ints:
    """Return how long after its submission each job could start at all, -1 where unknown."""
    texts, submitted = table.columns["eligible"], table.columns["submit"]
    # Most jobs can start at once; their dates need not be read again.
    later = np.fromiter((a != b for a, b in zip(texts, submitted, strict=True)), np.bool_)
    after = np.zeros(len(table), np.int64)
    parse = date_parser(zone)
    for i in np.flatnonzero(later):
        try:
            moment = parse(texts[i])
        except (ValueError, OverflowError):
            moment = -1
        after[i] = max(moment - submit[i], 0) if moment >= 0 else -1
    return after
