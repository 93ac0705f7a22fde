"""The one set of rules by which the jobs of any log become a workload.

Every reader hands its columns over as the log has them, with -1 for "unknown", and gets the
workload back together with a count of all that was dropped or mended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.files import AnyPath
from queuesmith.workload.columns import LARGEST_TIME, LARGEST_WIDTH
from queuesmith.workload.workload import CANCELLED_AFTER, Change, Ints, Workload

Overrun = Literal["raise", "cut"]


@dataclass(frozen=True)
class RawLog:
    """The columns of a log as they stand there, -1 where unknown."""

    id: Ints
    submit: Ints
    runtime: Ints
    requested_time: Ints
    requested_cores: Ints
    allocated_cores: Ints
    user: Ints
    extra: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "workload"
    machine_cores: int | None = None
    epoch: int | None = None
    header: tuple[str, ...] = ()
    cancelled_after: Ints | None = None  # of jobs that were cancelled while they waited; else -1


def clean(log: RawLog, *, overrun: Overrun = "raise", strict: bool = False) -> Workload:
    """Turn the raw columns of a log into a workload.

    Parameters
    ----------
    log
        The columns as the log has them.
    overrun
        What to do where a job ran longer than its walltime: ``"raise"`` the walltime to the
        runtime, or ``"cut"`` the job at its walltime.
    strict
        Raise instead of leaving jobs out.

    Returns
    -------
    Workload
        The jobs that ran; those that the log tells to have been cancelled while they waited are
        its ``cancelled``.
    """
    if log.cancelled_after is not None and (log.cancelled_after >= 0).any():
        ran = log.cancelled_after < 0
        cancelled = _cancelled(_rows(log, ~ran))
        whole = clean(_rows(log, ran), overrun=overrun, strict=strict)
        return whole.replaced(cancelled=cancelled).grouped()
    if overrun not in ("raise", "cut"):
        raise UsageError(f"overrun is {overrun!r}, but it must be 'raise' or 'cut'. Choose one.")
    cores = np.where(log.requested_cores > 0, log.requested_cores, log.allocated_cores)
    reasons = {
        "never ran (no runtime)": log.runtime <= 0,
        "no number of cores": cores <= 0,
        "no submit time": log.submit < 0,
        "an impossibly large time or number of cores": (
            (cores > LARGEST_WIDTH)
            | (log.runtime > LARGEST_TIME)
            | (log.submit > LARGEST_TIME)
            | (log.requested_time > LARGEST_TIME)
        ),
    }
    keep, changes = left_in(reasons, log.name, "job", log.id, strict=strict)
    if not keep.any():
        raise nothing_left(log.name, changes)

    runtime, requested = log.runtime[keep], log.requested_time[keep]
    unknown = requested <= 0
    over = ~unknown & (runtime > requested)
    walltime = np.where(unknown, runtime, requested)
    if overrun == "raise":
        walltime = np.maximum(walltime, runtime)
        over_reason = "ran beyond the walltime; walltime raised to the runtime"
    else:
        runtime = np.minimum(runtime, walltime)
        over_reason = "ran beyond the walltime; runtime cut to the walltime"
    changes += [
        Change("no walltime; the runtime is used", int(np.count_nonzero(unknown)), dropped=False),
        Change(over_reason, int(np.count_nonzero(over)), dropped=False),
    ]
    return Workload(
        submit=log.submit[keep],
        runtime=runtime,
        walltime=walltime,
        cores=cores[keep],
        id=log.id[keep],
        user=log.user[keep],
        extra={key: values[keep] for key, values in log.extra.items()},
        labels=log.labels,
        name=log.name,
        machine_cores=log.machine_cores,
        epoch=log.epoch,
        header=log.header,
        changes=tuple(change for change in changes if change.count),
    )


def left_in(
    reasons: Mapping[str, NDArray[np.bool_]],
    log: AnyPath,
    what: str,
    numbers: Ints | Sequence[int],
    *,
    strict: bool,
) -> tuple[NDArray[np.bool_], list[Change]]:
    """Tell which rows of a log stay, and how many are left out for which reason.

    Parameters
    ----------
    reasons
        The rows to which each reason applies; of several reasons the first counts.
    log
        What messages call the log.
    what, numbers
        What a row is, such as a job, and the number of each.
    strict
        Raise instead of leaving a row out.
    """
    out = np.zeros(len(numbers), dtype=np.bool_)
    changes = []
    for reason, broken in reasons.items():
        fresh = broken & ~out
        if strict and fresh.any():
            raise WorkloadError(
                f"{what} {numbers[int(np.argmax(fresh))]} of '{log}' must be left out: {reason}. "
                "Leave such jobs out by not asking for --strict."
            )
        changes.append(Change(reason, int(np.count_nonzero(fresh)), dropped=True))
        out |= broken
    return ~out, changes


def nothing_left(log: AnyPath, changes: Iterable[Change]) -> WorkloadError:
    """Say that no job of a log is left, and why."""
    why = "; ".join(str(change) for change in changes if change.count) or "it has no jobs"
    return WorkloadError(
        f"nothing is left of '{log}' to replay: {why}. Give a log of jobs that ran."
    )


def _rows(log: RawLog, chosen: NDArray[np.bool_]) -> RawLog:
    """Return some rows of a log."""
    per_job = ("id", "submit", "runtime", "requested_time", "requested_cores", "allocated_cores")
    columns = {name: getattr(log, name)[chosen] for name in (*per_job, "user")}
    assert log.cancelled_after is not None
    after = log.cancelled_after[chosen]
    extra = {key: values[chosen] for key, values in log.extra.items()}
    if (after >= 0).any():
        extra[CANCELLED_AFTER] = after
    return replace(log, **columns, extra=extra, cancelled_after=None)


def _cancelled(log: RawLog) -> Workload:
    """Return jobs that never began; of these the runtime is not known, and stated as 0."""
    return Workload(
        submit=log.submit,
        runtime=np.zeros_like(log.submit),
        walltime=log.requested_time,
        cores=np.where(log.requested_cores > 0, log.requested_cores, log.allocated_cores),
        id=log.id,
        user=log.user,
        extra=log.extra,
        labels=log.labels,
        name=log.name,
        machine_cores=log.machine_cores,
        epoch=log.epoch,
    )


def told_cancelled(after: Ints, *, submit: Ints, walltime: Ints, cores: Ints) -> Ints:
    """Return after how many seconds jobs were cancelled, -1 where not all is known of them.

    Parameters
    ----------
    after
        How long jobs had waited when they were cancelled, -1 of all others.
    submit, walltime, cores
        What the log says of them.
    """
    known = (after > 0) & (after <= LARGEST_TIME) & (submit >= 0) & (submit <= LARGEST_TIME)
    known &= (cores > 0) & (cores <= LARGEST_WIDTH) & (walltime > 0) & (walltime <= LARGEST_TIME)
    return np.where(known, after, -1)
