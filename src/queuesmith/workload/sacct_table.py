"""The text that sacct prints, by column: names, cells, and columns as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.files import AnyPath
from queuesmith.base.words import so_many
from queuesmith.workload.slurm_text import (
    LARGEST,
    UNKNOWN,
    count,
    date_parser,
    duration,
    job_number,
    state_of,
    tres_cores,
)
from queuesmith.workload.workload import Ints

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
#: So many rows are divided into cells at once; of these only the columns in use stay in memory.
_AT_ONCE = 20_000
#: Columns that may hold the separator; the one that does must be the last.
FREE_TEXTS = ("jobname", "constraints", "submitline")


@dataclass(frozen=True)
class SacctTable:
    """The text of the log by column, and where each row stands in the file."""

    path: AnyPath
    columns: dict[str, list[str]]
    lines: list[int]

    def __len__(self) -> int:
        return len(self.lines)

    def first_of(self, *names: str) -> str | None:
        """Return the first of these columns that the log has."""
        return next((name for name in names if name in self.columns), None)

    def where(self, chosen: NDArray[np.bool_]) -> SacctTable:
        """Return some of the rows."""
        columns = {name: list(compress(rows, chosen)) for name, rows in self.columns.items()}
        return replace(self, columns=columns, lines=list(compress(self.lines, chosen)))

    def convert(
        self, name: str | None, parse: Callable[[str], int], rule: str, *, distinct: bool = False
    ) -> Ints:
        """Return a column as numbers, -1 where there is none.

        Each different text is parsed once, unless they are taken to be distinct: dates and ids.
        """
        if name is None:
            return np.full(len(self), -1, dtype=np.int64)
        texts = self.columns[name]
        try:
            number = parse
            if not distinct:
                number = {text: parse(text) for text in dict.fromkeys(texts)}.__getitem__
            return np.fromiter(map(number, texts), dtype=np.int64, count=len(texts))
        except (ValueError, OverflowError):
            line, text = next(
                (line, text)
                for line, text in zip(self.lines, texts, strict=True)
                if not _parses(parse, text)
            )
            raise WorkloadError(
                f"line {line} of '{self.path}' has {text[:60]!r} as {name}, but that is {rule}. "
                "Correct the line."
            ) from None

    def dates(self, name: str | None, zone: ZoneInfo, fold: int = 0) -> Ints:
        """Return a column of dates as Unix seconds, -1 where there is none."""
        return self.convert(name, date_parser(zone, fold), "a date", distinct=True)

    def ids(self, name: str | None) -> Ints:
        """Return a column of job ids as numbers."""
        return self.convert(name, job_number, "a job id", distinct=True)

    def known(self, name: str) -> NDArray[np.bool_]:
        """Tell which dates of a column are known; all, where the log has no such column."""
        texts = self.columns.get(name)
        if texts is None:
            return np.ones(len(self), dtype=np.bool_)
        # Nearly all are dates, which begin with a digit: they need not be looked at closely.
        others = {text for text in texts if not "0" <= text[:1] <= "9"}
        unknown = {text for text in others if text.strip().lower() in UNKNOWN}
        if not unknown:
            return np.ones(len(self), dtype=np.bool_)
        return ~np.fromiter(map(unknown.__contains__, texts), np.bool_, len(texts))

    def elapsed(self) -> Ints:
        """Return the runtime that the log states, -1 where it does not."""
        if "elapsedraw" in self.columns:
            return self.convert("elapsedraw", count, "a number of seconds")
        return self.convert(self.first_of("elapsed"), duration, "a duration such as 1-02:30:00")

    def walltime(self) -> Ints:
        """Return the time limits in seconds, -1 where there is none."""
        if "timelimit" in self.columns:
            return self.convert("timelimit", duration, "a duration such as 1-02:30:00")
        minutes = self.convert(self.first_of("timelimitraw"), count, "a number of minutes")
        return np.where(minutes > 0, np.minimum(minutes, LARGEST) * 60, -1)

    def cores(self, counts: tuple[str, ...], tres: str) -> Ints:
        """Return processors from the first of these columns, else from a list of resources."""
        rule = "a number of processors"
        cores = self.convert(self.first_of(*counts), count, rule)
        if (cores > 0).all():
            return cores
        from_tres = self.convert(self.first_of(tres), tres_cores, "a list such as cpu=12,node=1")
        return np.where(cores > 0, cores, np.where(from_tres > 0, from_tres, -1))


def sacct_table(text: str, path: AnyPath, columns: str | Sequence[str] | None) -> SacctTable:
    """Return a text of sacct by column.

    Parameters
    ----------
    text, path
        The text, and what messages call it.
    columns
        What the columns are where the text has no header line; see ``read_sacct``.
    """
    rows = text.replace("\r\n", "\n").split("\n")
    lines = [number for number, row in enumerate(rows, 1) if row.strip()]
    if not lines:
        raise WorkloadError(f"'{path}' has no line of text. Give the output of sacct --parsable2.")
    if len(lines) < len(rows):
        rows = [rows[number - 1] for number in lines]
    first = [_plain(cell) for cell in rows[0].split("|")]
    if {"jobid", "jobidraw", "submit"} & set(first):
        trailing = first[-1] == ""
        names = first[:-1] if trailing else first
        # Exports that were put together have a header line each.
        header = rows[0].strip()
        jobs = [row.strip() != header for row in rows]
        rows, lines = list(compress(rows, jobs)), list(compress(lines, jobs))
    elif "|" not in rows[0]:
        raise WorkloadError(
            f"'{path}' has no header line of sacct's: its first line "
            f"({rows[0].strip()[:60]!r}) has no '|' between columns. Export it with sacct "
            "--parsable2, or name the format of the file."
        )
    elif columns is None:
        raise WorkloadError(
            f"'{path}' has no header line (its first line is {rows[0][:60]!r}), so its "
            "columns are unknown. Name them with --columns, for example --columns xdmod."
        )
    else:
        names = _column_names(columns)
        trailing = len(first) == len(names) + 1 and first[-1] == ""
    _check_names(names, path)
    by_column: dict[str, list[str]] = {name: [] for name in names if name in USED_COLUMNS}
    for begin in range(0, len(rows), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        cells = _cells(rows[part], lines[part], names, trailing, path)
        for place, name in enumerate(names):
            if name in by_column:
                by_column[name].extend(cells[place :: len(names)])
    if "state" in by_column:
        states = {text: state_of(text) for text in set(by_column["state"])}
        by_column["state"] = [states[text] for text in by_column["state"]]
    return SacctTable(path, by_column, lines)


def _parses(parse: Callable[[str], int], text: str) -> bool:
    try:
        parse(text)
    except (ValueError, OverflowError):
        return False
    return True


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


def _cells(
    rows: list[str], lines: list[int], names: list[str], trailing: bool, path: AnyPath
) -> list[str]:
    """Return the cells of some rows, one after the other: as many of each as there are names."""
    between = len(names) - 1
    if not trailing and all(row.count("|") == between and row[-1] != "\r" for row in rows):
        return "|".join(rows).split("|")
    numbered = zip(rows, lines, strict=True)
    by_row = (_cells_of(row, number, names, trailing, path) for row, number in numbered)
    return list(chain.from_iterable(by_row))


def _cells_of(row: str, number: int, names: list[str], trailing: bool, path: AnyPath) -> list[str]:
    cells = row.rstrip("\r").split("|")
    if trailing and cells[-1] == "":
        del cells[-1]
    if len(cells) > len(names) and names[-1] in FREE_TEXTS:
        last = len(names) - 1
        cells[last:] = ["|".join(cells[last:])]
    if len(cells) != len(names):
        raise WorkloadError(
            f"line {number} of '{path}' has {so_many(len(cells), 'column')}, but there are "
            f"{len(names)}. Correct the line or --columns; JobName, Constraints or SubmitLine with "
            "'|' in it must be the last."
        )
    return cells
