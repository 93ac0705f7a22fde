"""Slurm accounting: the text that ``sacct --parsable2`` prints, plain or gzipped.

A good export is

    sacct --allusers --allocations --parsable2 --starttime 2024-01-01 --endtime 2024-07-01
    --format JobID,JobIDRaw,User,Account,Group,Partition,QOS,Submit,Start,End,Elapsed,
    Timelimit,State,NNodes,AllocCPUS,ReqCPUS,Eligible,ReqMem,ReqTRES,AllocTRES,Flags,NodeList,
    Constraints

(one line), with the constraints last because they may contain the separator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.files import AnyPath, check_text, decoded, log_name, read_bytes
from queuesmith.workload.clean import Overrun, RawLog, clean, told_cancelled
from queuesmith.workload.requests import attempts, request_columns
from queuesmith.workload.slurm_text import (
    LARGEST,
    UNKNOWN,
    count,
    date_parser,
    duration,
    job_number,
    state_of,
    tres_cores,
    zone_of,
)
from queuesmith.workload.submit_lines import with_submit_lines
from queuesmith.workload.tables import coded
from queuesmith.workload.workload import Change, Ints, Workload

#: The columns in the order in which Open XDMoD asks sacct for them.
XDMOD_COLUMNS = (
    "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,"
    "elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,"
    "jobname"
)
COLUMN_SETS = {"xdmod": XDMOD_COLUMNS}

#: Text columns that become numbers with labels, by the name of the column in the workload.
CODED_COLUMNS = {
    "account": "account",
    "group": "log_group",
    "partition": "partition",
    "qos": "qos",
    "state": "state",
}
#: All columns that are looked at; the others are passed over.
USED_COLUMNS = (
    *("jobid", "jobidraw", "cluster", "user", *CODED_COLUMNS),
    *("submit", "start", "end", "elapsed", "elapsedraw", "timelimit", "timelimitraw"),
    *("alloccpus", "ncpus", "reqcpus", "alloctres", "reqtres", "allocnodes", "nnodes"),
    *("eligible", "reqmem", "reqgres", "reqnodes", "ntasks", "constraints", "flags", "nodelist"),
    *("submitline", "reservation"),
)
#: Columns that may hold the separator; the one that does must be the last.
FREE_TEXTS = ("jobname", "constraints", "submitline")
WAITING_STATES = ("PENDING", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT")
ACTIVE_STATES = (
    "RUNNING",
    "SUSPENDED",
    "STOPPED",
    "CONFIGURING",
    "COMPLETING",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
)


@dataclass(frozen=True)
class _Table:
    """The text of the log by column, and where each row stands in the file."""

    path: AnyPath
    columns: dict[str, list[str]]
    lines: list[int]

    def __len__(self) -> int:
        return len(self.lines)

    def first_of(self, *names: str) -> str | None:
        """Return the first of these columns that the log has."""
        return next((name for name in names if name in self.columns), None)

    def where(self, chosen: NDArray[np.bool_]) -> _Table:
        columns = {name: list(compress(rows, chosen)) for name, rows in self.columns.items()}
        return replace(self, columns=columns, lines=list(compress(self.lines, chosen)))

    def convert(self, name: str | None, parse: Callable[[str], int], rule: str) -> Ints:
        """Return a column as numbers, each distinct text parsed once; -1 where there is none."""
        if name is None:
            return np.full(len(self), -1, dtype=np.int64)
        texts = self.columns[name]
        numbers: dict[str, int] = {}
        try:
            for text in texts:
                if text not in numbers:
                    numbers[text] = parse(text)
        except (ValueError, OverflowError):
            line = self.lines[texts.index(text)]
            raise WorkloadError(
                f"line {line} of '{self.path}' has {text[:60]!r} as {name}, but that is {rule}. "
                "Correct the line."
            ) from None
        return np.fromiter((numbers[text] for text in texts), dtype=np.int64, count=len(texts))


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
    table = _split(decoded(check_text(data, path, "sacct's output")), path, columns)
    table, steps = _without_steps(table)
    gone = _cancelled_after(table, zone) if cancelled else np.full(len(table), -1, np.int64)
    finished, unfinished = _finished(table, gone >= 0, strict)
    table, gone = table.where(finished), gone[finished]
    if not len(table):
        why = "; ".join(str(change) for change in (steps, *unfinished) if change.count)
        raise WorkloadError(
            f"nothing is left of '{path}' to replay: {why or 'it has no jobs'}. "
            "Give a log of jobs that ran."
        )
    submit = table.convert("submit", date_parser(zone), "a date")
    start, early = _starts(table, submit, zone)
    epoch = int(submit[submit >= 0].min()) if (submit >= 0).any() else 0
    runtime, short = _runtime(table, start, zone)
    log, wide = _raw_log(table, submit, start, runtime, epoch, zone)
    if (gone >= 0).any():
        log = replace(log, cancelled_after=gone)
    workload = clean(log, overrun=overrun, strict=strict)
    mended = (*workload.changes, early, short, wide)
    return workload.replaced(changes=()).noting(steps, *unfinished, *mended)


def peak_cores(workload: Workload) -> int:
    """Return the most cores that were really busy at once: the least the machine can have had.

    A log of sacct does not tell the size of the machine; this is a sensible stand-in.

    Parameters
    ----------
    workload
        Jobs whose ``real_start`` is known; jobs where it is not are passed over.
    """
    real_start = workload.extra.get("real_start")
    known = None if real_start is None else real_start >= workload.submit
    if real_start is None or known is None or not known.any():
        raise WorkloadError(
            f"workload '{workload.name}' does not tell when its jobs began, so the peak of busy "
            "cores is unknown. Give the number of cores of the machine."
        )
    cores = workload.cores[known]
    times = np.concatenate([real_start[known], (real_start + workload.runtime)[known]])
    change = np.concatenate([cores, -cores])
    # At one instant, ends release cores before starts take them.
    return int(np.cumsum(change[np.lexsort((change, times))]).max())


# -- lines into columns --------------------------------------------------------------------


def _split(text: str, path: AnyPath, columns: str | Sequence[str] | None) -> _Table:
    rows = text.replace("\r\n", "\n").split("\n")
    numbered = [(number, row) for number, row in enumerate(rows, 1) if row.strip()]
    if not numbered:
        raise WorkloadError(f"'{path}' has no line of text. Give the output of sacct --parsable2.")
    first = [_plain(cell) for cell in numbered[0][1].split("|")]
    if {"jobid", "jobidraw", "submit"} & set(first):
        trailing = first[-1] == ""
        names = first[:-1] if trailing else first
        numbered = numbered[1:]
    elif columns is None:
        raise WorkloadError(
            f"'{path}' has no header line (its first line is {numbered[0][1][:60]!r}), so its "
            "columns are unknown. Name them with --columns, for example --columns xdmod."
        )
    else:
        names = _column_names(columns)
        trailing = len(first) == len(names) + 1 and first[-1] == ""
    _check_names(names, path)
    cells = [_cells(row, number, names, trailing, path) for number, row in numbered]
    used = {name: place for place, name in enumerate(names) if name in USED_COLUMNS}
    by_column = {name: [row[place] for row in cells] for name, place in used.items()}
    if "state" in by_column:
        states = {text: state_of(text) for text in set(by_column["state"])}
        by_column["state"] = [states[text] for text in by_column["state"]]
    return _Table(path, by_column, [number for number, _ in numbered])


def _plain(name: str) -> str:
    """Return a column's name in small letters, without a width such as ``%20``."""
    return name.partition("%")[0].strip().lower()


def _column_names(columns: str | Sequence[str]) -> list[str]:
    if isinstance(columns, str):
        columns = COLUMN_SETS.get(columns.strip().lower(), columns).split(",")
    names = [_plain(name) for name in columns]
    if len(names) < 2 or not all(names):
        raise UsageError(
            f"the columns are {','.join(columns)!r}, but they must be 'xdmod' or the names given "
            "to sacct --format, such as JobID,Submit,Start,Elapsed,AllocCPUS. Correct them."
        )
    return names


def _check_names(names: list[str], path: AnyPath) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WorkloadError(
            f"'{path}' has the column {twice[0]!r} twice, but a column's name stands once. "
            "Correct the header line or --columns."
        )
    runtime_known = {"elapsed", "elapsedraw"} & set(names) or {"start", "end"} <= set(names)
    needs = {
        "JobID": {"jobid", "jobidraw"} & set(names),
        "Submit": {"submit"} & set(names),
        "Elapsed (or Start and End)": runtime_known,
        "AllocCPUS, NCPUS, ReqCPUS, AllocTRES or ReqTRES": {
            "alloccpus",
            "ncpus",
            "reqcpus",
            "alloctres",
            "reqtres",
        }
        & set(names),
    }
    for need, found in needs.items():
        if not found:
            raise WorkloadError(
                f"'{path}' has no column {need}, but every job needs it. It has: "
                f"{', '.join(names)}. Export it with sacct --format."
            )


def _cells(row: str, number: int, names: list[str], trailing: bool, path: AnyPath) -> list[str]:
    cells = row.rstrip("\r").split("|")
    if trailing and cells[-1] == "":
        del cells[-1]
    if len(cells) > len(names) and names[-1] in FREE_TEXTS:
        last = len(names) - 1
        cells[last:] = ["|".join(cells[last:])]
    if len(cells) != len(names):
        raise WorkloadError(
            f"line {number} of '{path}' has {len(cells)} columns, but there are {len(names)}. "
            "Correct the line or --columns; JobName, Constraints or SubmitLine with '|' in it must "
            "be the last."
        )
    return cells


# -- which lines are jobs that ran ---------------------------------------------------------


def _without_steps(table: _Table) -> tuple[_Table, Change]:
    name = table.first_of("jobid", "jobidraw")
    assert name is not None
    jobs = np.fromiter(("." not in text for text in table.columns[name]), np.bool_, len(table))
    steps = int(np.count_nonzero(~jobs))
    change = Change("steps of jobs (.batch, .extern, .0)", steps, dropped=False, what="line")
    return table.where(jobs) if steps else table, change


def _finished(
    table: _Table, kept: NDArray[np.bool_], strict: bool
) -> tuple[NDArray[np.bool_], list[Change]]:
    """Leave out jobs that are still waiting or running, or were cancelled before their start.

    Those of the latter that are kept are not among them.
    """
    states = _states(table)
    began = _known(table, "start")
    ended = _known(table, "end")
    waiting = np.isin(states, WAITING_STATES) & ~(began & ended)
    reasons = {
        "still waiting when the log was written": waiting,
        "still running when the log was written": (
            np.isin(states, ACTIVE_STATES) | (began & ~ended & ~waiting)
        ),
        "cancelled before it began": _cancelled_first(table) & ~kept,
    }
    out = np.zeros(len(table), dtype=np.bool_)
    changes = []
    for reason, broken in reasons.items():
        fresh = broken & ~out
        if strict and fresh.any():
            raise WorkloadError(
                f"line {table.lines[int(np.argmax(fresh))]} of '{table.path}' must be left out: "
                f"{reason}. Leave such jobs out by not asking for --strict."
            )
        changes.append(Change(reason, int(np.count_nonzero(fresh)), dropped=True))
        out |= broken
    return ~out, changes


def _states(table: _Table) -> NDArray[Any]:
    return np.array(table.columns.get("state", [""] * len(table)), dtype=object)


def _cancelled_first(table: _Table) -> NDArray[np.bool_]:
    """Tell which jobs were cancelled before they began."""
    ran = _known(table, "start") & (_elapsed(table) != 0)
    return np.asarray((_states(table) == "CANCELLED") & ~ran, np.bool_)


def _cancelled_after(table: _Table, zone: ZoneInfo) -> Ints:
    """Return how long jobs had waited when they were cancelled, -1 of all others.

    A job whose ``Eligible`` is unknown never stood in the queue.
    """
    gone = _cancelled_first(table) & _known(table, "eligible")
    if "end" not in table.columns or not gone.any():
        return np.full(len(table), -1, np.int64)
    submit = table.convert("submit", date_parser(zone), "a date")
    end = table.convert("end", date_parser(zone), "a date")
    requested = _cores(table, ("reqcpus",), "reqtres")
    return told_cancelled(
        np.where(gone & (end > 0), end - submit, -1),
        submit=submit,
        walltime=_walltime(table),
        cores=np.where(
            requested > 0, requested, _cores(table, ("alloccpus", "ncpus"), "alloctres")
        ),
    )


def _known(table: _Table, name: str) -> NDArray[np.bool_]:
    """Tell which dates of a column are known; all, where the log has no such column."""
    texts = table.columns.get(name)
    if texts is None:
        return np.ones(len(table), dtype=np.bool_)
    known = {text: text.strip().lower() not in UNKNOWN for text in set(texts)}
    return np.fromiter((known[text] for text in texts), np.bool_, len(texts))


# -- texts into numbers --------------------------------------------------------------------


def _elapsed(table: _Table) -> Ints:
    """Return the runtime that the log states, -1 where it does not."""
    if "elapsedraw" in table.columns:
        return table.convert("elapsedraw", count, "a number of seconds")
    return table.convert(table.first_of("elapsed"), duration, "a duration such as 1-02:30:00")


def _walltime(table: _Table) -> Ints:
    if "timelimit" in table.columns:
        return table.convert("timelimit", duration, "a duration such as 1-02:30:00")
    minutes = table.convert(table.first_of("timelimitraw"), count, "a number of minutes")
    return np.where(minutes > 0, np.minimum(minutes, LARGEST) * 60, -1)


def _cores(table: _Table, counts: tuple[str, ...], tres: str) -> Ints:
    rule = "a number of processors"
    cores = table.convert(table.first_of(*counts), count, rule)
    if (cores > 0).all():
        return cores
    from_tres = table.convert(table.first_of(tres), tres_cores, "a list such as cpu=12,node=1")
    return np.where(cores > 0, cores, np.where(from_tres > 0, from_tres, -1))


def _starts(table: _Table, submit: Ints, zone: ZoneInfo) -> tuple[Ints, Change]:
    """Return when the jobs really began (-1 where unknown), never before their submission."""
    name, rule = table.first_of("start"), "a date"
    start = table.convert(name, date_parser(zone), rule)
    early = (start >= 0) & (start < submit)
    if early.any():
        later = table.convert(name, date_parser(zone, fold=1), rule)
        start = np.where(early & (later >= submit), later, start)
        early = (start >= 0) & (start < submit)
    reason = "began before the submission; taken to begin with it"
    change = Change(reason, int(np.count_nonzero(early)), dropped=False)
    return np.where(early, submit, start), change


def _runtime(table: _Table, start: Ints, zone: ZoneInfo) -> tuple[Ints, Change]:
    """Return how long the jobs ran; one that began and ended in one second counts as one second.

    Such jobs were not cancelled before their start: those were left out before.
    """
    if table.first_of("elapsedraw", "elapsed"):
        runtime = _elapsed(table)
    else:
        first, second = (table.convert("end", date_parser(zone, f), "a date") for f in (0, 1))
        end = np.where(first >= start, first, second)
        runtime = np.where((start >= 0) & (end >= start), end - start, -1)
    short = (runtime == 0) & (start >= 0) & ~_cancelled_first(table)
    reason = "ran for less than a second; taken to run for one"
    change = Change(reason, int(np.count_nonzero(short)), dropped=False)
    return np.where(short, 1, runtime), change


# -- columns into a log --------------------------------------------------------------------


def _raw_log(
    table: _Table, submit: Ints, start: Ints, runtime: Ints, epoch: int, zone: ZoneInfo
) -> tuple[RawLog, Change]:
    allocated = _cores(table, ("alloccpus", "ncpus"), "alloctres")
    requested = _cores(table, ("reqcpus",), "reqtres")
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
        id=table.convert(table.first_of("jobidraw", "jobid"), job_number, "a job id"),
        submit=np.where(submit >= 0, submit - epoch, -1),
        runtime=runtime,
        requested_time=_walltime(table),
        requested_cores=np.where(wide, allocated, requested),
        allocated_cores=allocated,
        user=users,
        extra=extra,
        labels={"user": user_names, **labels},
        name=log_name(table.path),
        epoch=epoch,
    )
    return log, change


def _further_columns(table: _Table) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, ...]]]:
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
        table.convert("jobid", job_number, "a job id")
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


def _ids(table: _Table) -> list[str]:
    name = table.first_of("jobidraw", "jobid")
    assert name is not None
    return table.columns[name]


def _eligible_after(table: _Table, submit: Ints, zone: ZoneInfo) -> Ints:
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
