"""What explains the rest: jobs that waited for something that a replay does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster.inference.history import JobHistory
from queuesmith.cluster.inference.outages import outages_of
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.workload import Workload

Mask = NDArray[np.bool_]


def reasons(found: Fidelity) -> list[dict[str, Any]]:
    """Return what a log tells of jobs that waited for more than free nodes, ready for JSON.

    Of each reason: how many jobs, their share of all waiting that there really was, and by how many
    per cent the replay's mean wait is off without them (None where nobody else waited).

    Parameters
    ----------
    found
        What really happened beside a replay.
    """
    waits = np.maximum(found.history.wait, 0)
    whole = float(waits.sum())
    rows = []
    for reason, jobs in _masks(found.history.workload):
        if jobs.any():
            rest = None if jobs.all() else found.only(~jobs).error_percent
            rows.append(
                {
                    "reason": reason,
                    "jobs": int(jobs.sum()),
                    "share_of_waiting": float(waits[jobs].sum()) / whole if whole else 0.0,
                    "error_percent_without": rest,
                }
            )
    return rows


def _masks(log: Workload) -> Iterator[tuple[str, Mask]]:
    def above(column: str, least: int) -> Mask:
        values = log.extra.get(column, np.full(len(log), -1))
        return np.asarray(values > least, np.bool_)

    yield "held, or not to begin before a time", above("eligible_after", 0)
    yield "waited for other jobs", above("dependency", -1) | above("preceding_job", 0)
    yield "task of an array of which few may run at once", above("array_limit", 0)
    yield "ran again after it was requeued", above("attempt", 1)
    yield "waited through an outage seen in the log", _through_outages(log)


def _through_outages(log: Workload) -> Mask:
    """Tell which jobs waited while the whole machine ran nothing."""
    through = np.zeros(len(log), np.bool_)
    start = log.extra.get("real_start")
    if start is None:
        return through
    epoch = log.epoch or 0
    for outage in outages_of(JobHistory(log), {}):
        if not outage.nodes and outage.begin is not None and outage.end is not None:
            through |= (log.submit < outage.end - epoch) & (start > outage.begin - epoch)
    return through
