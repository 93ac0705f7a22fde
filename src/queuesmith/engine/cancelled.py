"""Jobs that were cancelled while they waited: in the queue until then, in no schedule."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import WorkloadError
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.cluster.fitting import jobs_that_fit
from queuesmith.engine.kernels.constants import NEVER
from queuesmith.schedule.pieces import Pieces
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import AFTER
from queuesmith.workload.workload import CANCELLED_AFTER, CORE_COLUMNS, Ints

Mask = NDArray[np.bool_]


def with_cancelled(workload: Workload, machine: Cluster | NodeCluster) -> Workload | None:
    """Return jobs together with those that were cancelled; None where no such job fits the machine.

    One that gets room before it is cancelled leaves at once: really it never ran, and nobody knows
    how long it would have.

    Parameters
    ----------
    workload
        Jobs that fit, with those that were cancelled beside them.
    machine
        What they run on.
    """
    if workload.cancelled is None:
        return None
    try:
        other = jobs_that_fit(workload.cancelled, machine)
    except WorkloadError:  # none of them fits
        return None
    # Who was cancelled before it could start at all never stood in the queue.
    eligible = other.extra.get("eligible_after", np.zeros(len(other), np.int64))
    in_queue = eligible < other.extra[CANCELLED_AFTER]
    if not in_queue.any():
        return None
    other = other.select(in_queue)
    columns = {
        name: np.concatenate([getattr(workload, name), getattr(other, name)])
        for name in CORE_COLUMNS
    }
    after = np.concatenate([np.full(len(workload), -1), other.extra[CANCELLED_AFTER]])
    extra = {
        name: np.concatenate([values, _column(other, name, values)])
        for name, values in workload.extra.items()
    }
    # Sorted by submission and id, jobs keep their order among themselves.
    return workload.replaced(**columns, extra={**extra, CANCELLED_AFTER: after}, cancelled=None)


def _column(other: Workload, name: str, like: NDArray[Any]) -> NDArray[Any]:
    """Return a column of the cancelled jobs; unknown where they have none of that name."""
    if name in other.extra and name != AFTER:  # they come when they are submitted
        return other.extra[name]
    unknown = -1 if np.issubdtype(like.dtype, np.number) else ""
    return np.full(len(other), unknown, like.dtype)


def ran(workload: Workload) -> Mask:
    """Tell which jobs of such a workload were not cancelled."""
    return np.asarray(workload.extra[CANCELLED_AFTER] < 0, np.bool_)


def cancel_times(workload: Workload) -> Ints:
    """Return when each job is cancelled, NEVER where it is not."""
    after = workload.extra.get(CANCELLED_AFTER)
    if after is None:
        return np.full(len(workload), NEVER, np.int64)
    return np.where(after >= 0, workload.submit + after, NEVER)


def in_order_of_cancels(times: Ints) -> Ints:
    """Return the jobs that are cancelled, those first that are cancelled first."""
    gone = np.flatnonzero(times < NEVER)
    return gone[np.argsort(times[gone], kind="stable")].astype(np.int64)


class NodeReplayRun(Protocol):
    """A replay on nodes, ready to run."""

    @property
    def counters(self) -> Ints:
        """The counters of the kernel."""

    @property
    def pieces(self) -> Pieces:
        """The parts of jobs on nodes."""

    def run(self) -> Ints:
        """Replay all jobs and return their starts."""


class RunWithCancelled:
    """A replay in whose queue stand jobs that were cancelled; it tells of all others alone."""

    decisions = None
    answers = ()

    def __init__(self, run: NodeReplayRun, kept: Mask) -> None:
        self._run, self._kept = run, kept

    @property
    def counters(self) -> Ints:
        """The counters of the kernel."""
        return self._run.counters

    def run(self) -> Ints:
        """Replay all jobs and return the starts of those that were not cancelled."""
        return self._run.run()[self._kept]

    @property
    def own_end(self) -> Ints | None:
        """When these jobs ended, where some were stopped before their end."""
        end: Ints | None = getattr(self._run, "own_end", None)
        return None if end is None else end[self._kept]

    @property
    def pieces(self) -> Pieces:
        """The parts of these jobs on nodes."""
        return self._run.pieces.select(self._kept)
