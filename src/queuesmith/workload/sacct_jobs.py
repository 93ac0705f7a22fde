"""Which lines of sacct's are jobs that ran, and how long those waited that were cancelled."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from queuesmith.workload.clean import left_in, told_cancelled
from queuesmith.workload.sacct_table import SacctTable
from queuesmith.workload.workload import Change, Ints

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


def without_steps(table: SacctTable) -> tuple[SacctTable, Change]:
    """Pass over the lines of steps, and tell how many there were."""
    name = table.first_of("jobid", "jobidraw")
    assert name is not None
    # Long arrays that wait are shortened: 12_[1-9,...] is no step.
    ends = (text.rpartition("]")[2] for text in table.columns[name])
    jobs = np.fromiter(("." not in end for end in ends), np.bool_, len(table))
    steps = int(np.count_nonzero(~jobs))
    change = Change("steps of jobs (.batch, .extern, .0)", steps, dropped=False, what="line")
    return table.where(jobs) if steps else table, change


#: What tells one run of a job from any other line of a log.
RUN = ("cluster", "jobid", "jobidraw", "submit", "start", "end", "elapsed", "elapsedraw", "state")


def without_repeats(table: SacctTable) -> tuple[SacctTable, Change]:
    """Pass over lines that stand there once more, and tell how many there were.

    Exports of neighbouring months put together hold each job twice that was there in both.
    """
    new = np.ones(len(table), np.bool_)
    if any(len(set(table.columns.get(name, ()))) == len(table) for name in ("jobid", "jobidraw")):
        runs = []  # no id stands there twice
    else:
        columns = (table.columns[name] for name in RUN if name in table.columns)
        runs = list(zip(*columns, strict=True))
    first = dict.fromkeys(runs, False)
    if len(first) < len(runs):
        for place, run in enumerate(runs):
            new[place], first[run] = not first[run], True
    repeated = int(np.count_nonzero(~new))
    change = Change("the same run of a job once more", repeated, dropped=False, what="line")
    return table.where(new) if repeated else table, change


def finished(
    table: SacctTable, kept: NDArray[np.bool_], strict: bool
) -> tuple[NDArray[np.bool_], list[Change]]:
    """Leave out jobs that are still waiting or running, or were cancelled before their start.

    Those of the latter that are kept are not among them.
    """
    states = _states(table)
    began = table.known("start")
    ended = table.known("end")
    waiting = np.isin(states, WAITING_STATES) & ~(began & ended)
    reasons = {
        "still waiting when the log was written": waiting,
        "still running when the log was written": (
            np.isin(states, ACTIVE_STATES) | (began & ~ended & ~waiting)
        ),
        "cancelled before it began": cancelled_first(table) & ~kept,
    }
    return left_in(reasons, table.path, "line", table.lines, strict=strict)


def _states(table: SacctTable) -> NDArray[Any]:
    return np.array(table.columns.get("state", [""] * len(table)), dtype=object)


def cancelled_first(table: SacctTable) -> NDArray[np.bool_]:
    """Tell which jobs were cancelled before they began."""
    return np.asarray((_states(table) == "CANCELLED") & ~_ran(table), np.bool_)


def _ran(table: SacctTable) -> NDArray[np.bool_]:
    """Tell which jobs began and lasted; of some that never began, sacct shows the end as start."""
    if table.first_of("elapsedraw", "elapsed"):
        return np.asarray(table.known("start") & (table.elapsed() != 0), np.bool_)
    starts, ends = table.columns["start"], table.columns["end"]
    lasted = (start != end for start, end in zip(starts, ends, strict=True))
    return table.known("start") & np.fromiter(lasted, np.bool_, len(table))


def cancelled_after(table: SacctTable, zone: ZoneInfo) -> Ints:
    """Return how long jobs had waited when they were cancelled, -1 of all others.

    A job whose ``Eligible`` is unknown never stood in the queue.
    """
    gone = cancelled_first(table) & table.known("eligible")
    if "end" not in table.columns or not gone.any():
        return np.full(len(table), -1, np.int64)
    submit = table.dates("submit", zone)
    end = table.dates("end", zone)
    requested = table.cores(("reqcpus",), "reqtres")
    return told_cancelled(
        np.where(gone & (end > 0), end - submit, -1),
        submit=submit,
        walltime=table.walltime(),
        cores=np.where(requested > 0, requested, table.cores(("alloccpus", "ncpus"), "alloctres")),
    )
