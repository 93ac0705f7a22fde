"""Jobs that were preempted and ran again: their runs in a log, joined to one job each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from queuesmith.workload.workload import Change, Ints, Workload

PREEMPTED = "PREEMPTED"


def joined_runs(workload: Workload) -> Workload:
    """Join the runs of jobs that were preempted and requeued, for replays that preempt themselves.

    In a log of Slurm each run is a row of its own. A job is submitted when its first run was, and
    starts and lasts as its last run did. Runs that were cut short are left out and counted.

    Parameters
    ----------
    workload
        A log with the columns ``state`` and ``attempt``; any other is returned as it is.
    """
    again = _run_after(workload)
    cut_short = again >= 0
    if not cut_short.any():
        return workload
    first = np.arange(len(workload))
    for run in np.flatnonzero(cut_short):  # in the order of submission, so chains are followed
        first[again[run]] = first[run]
    last = workload.select(~cut_short)
    extra = dict(last.extra)
    if "eligible_after" in extra:
        extra["eligible_after"] = workload.extra["eligible_after"][first][~cut_short]
    lost = Change("preempted, and its job ran again", int(cut_short.sum()), True, "run")
    whole = last.replaced(
        submit=workload.submit[first][~cut_short], extra=extra, cancelled=workload.cancelled
    )
    return whole.replaced(changes=(*workload.changes, lost), cancelled=workload.cancelled)


def _run_after(workload: Workload) -> Ints:
    """Return the run that followed each run that was preempted, -1 where none did."""
    nobody = np.full(len(workload), -1, np.int64)
    preempted = cut_runs(workload)
    if "attempt" not in workload.extra or not preempted.any():
        return nobody
    names = workload.extra.get("jobid", workload.id).tolist()
    attempt = workload.extra["attempt"].tolist()
    place = {key: i for i, key in enumerate(zip(names, attempt, strict=True))}
    for run in np.flatnonzero(preempted):
        nobody[run] = place.get((names[run], attempt[run] + 1), -1)
    return nobody


def cut_runs(workload: Workload) -> NDArray[np.bool_]:
    """Tell which runs of a log ended because they were preempted."""
    names = workload.labels.get("state", ())
    if "state" not in workload.extra or PREEMPTED not in names:
        return np.zeros(len(workload), np.bool_)
    return np.asarray(workload.extra["state"] == names.index(PREEMPTED), np.bool_)
