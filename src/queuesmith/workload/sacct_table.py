"""The text that sacct prints, by column: names, cells, and columns as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.files import AnyPath
from queuesmith.base.words import so_many
from queuesmith.workload.slurm_text import (
    LARGEST,
    UNKNOWN,
    count,
    duration,
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

    def known(self, name: str) -> NDArray[np.bool_]:
        """Tell which dates of a column are known; all, where the log has no such column."""
        texts = self.columns.get(name)
        if texts is None:
            return np.ones(len(self), dtype=np.bool_)
        known = {text: text.strip().lower() not in UNKNOWN for text in set(texts)}
        return np.fromiter((known[text] for text in texts), np.bool_, len(texts))

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
    numbered = [(number, row) for number, row in enumerate(rows, 1) if row.strip()]
    if not numbered:
        raise WorkloadError(f"'{path}' has no line of text. Give the output of sacct --parsable2.")
    first = [_plain(cell) for cell in numbered[0][1].split("|")]
    if {"jobid", "jobidraw", "submit"} & set(first):
        trailing = first[-1] == ""
        names = first[:-1] if trailing else first
        # Exports that were put together have a header line each.
        header = numbered[0][1].strip()
        numbered = [line for line in numbered if line[1].strip() != header]
    elif "|" not in numbered[0][1]:
        raise WorkloadError(
            f"'{path}' has no header line of sacct's: its first line "
            f"({numbered[0][1].strip()[:60]!r}) has no '|' between columns. Export it with sacct "
            "--parsable2, or name the format of the file."
        )
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
    return SacctTable(path, by_column, [number for number, _ in numbered])


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
            f"line {number} of '{path}' has {so_many(len(cells), 'column')}, but there are "
            f"{len(names)}. Correct the line or --columns; JobName, Constraints or SubmitLine with "
            "'|' in it must be the last."
        )
    return cells
