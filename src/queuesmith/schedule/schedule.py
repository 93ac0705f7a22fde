"""When each job ran, whoever decided it: a replay, a solver, or the real machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import ScheduleError
from queuesmith.cluster import Cluster
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from queuesmith.schedule.reservations import Answer
    from queuesmith.schedule.summary import Summary


@dataclass(frozen=True, eq=False, repr=False)
class Schedule:
    """The start of every job of a workload on a cluster.

    Parameters
    ----------
    workload, cluster
        What ran, and on what.
    start
        The second at which each job began, in the order of the workload's jobs.
    policy
        What decided it, as one writes it: ``fcfs+easy``, or ``history``.
    seconds
        How long the decision took to compute, where it was computed here.
    decisions
        How a policy that chooses has decided, where it is one.
    reservations
        Requests for cores in advance and how they were answered; those accepted hold their cores.
    """

    workload: Workload
    cluster: Cluster
    start: Ints
    policy: str
    seconds: float | None = None
    decisions: Any = None
    reservations: tuple[Answer, ...] = ()

    def __post_init__(self) -> None:
        start = np.asarray(self.start)
        if start.shape != self.workload.submit.shape:
            raise ScheduleError(
                f"schedule '{self.policy}' has {start.size} starts, but workload "
                f"'{self.workload.name}' has {len(self.workload)} jobs. Give one start a job."
            )
        start = self._whole(start)
        if start.flags.writeable:
            start = start.copy()
            start.setflags(write=False)
        object.__setattr__(self, "start", start)

    def _whole(self, start: NDArray[Any]) -> Ints:
        if not np.issubdtype(start.dtype, np.integer):
            numbers = np.issubdtype(start.dtype, np.floating)
            if not numbers or not np.all(np.isfinite(start) & (start == np.rint(start))):
                raise ScheduleError(
                    f"schedule '{self.policy}' has starts that are no whole numbers, but time is "
                    "in whole seconds. Round them first."
                )
        return start.astype(np.int64, copy=False)

    def __len__(self) -> int:
        return len(self.workload)

    def __repr__(self) -> str:
        where = f"{len(self):,} jobs on {self.cluster.cores:,} cores"
        return f"<Schedule '{self.policy}' of '{self.workload.name}': {where}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_() if len(self) else escape(repr(self))

    @property
    def end(self) -> Ints:
        """When each job ended."""
        return self.start + self.workload.runtime

    @property
    def wait(self) -> Ints:
        """Seconds from submission to start."""
        return self.start - self.workload.submit

    @property
    def response(self) -> Ints:
        """Seconds from submission to end."""
        return self.wait + self.workload.runtime

    @property
    def table(self) -> pd.DataFrame:
        """One row a job: the workload's columns, start, end and wait."""
        return self.workload.table.assign(start=self.start, end=self.end, wait=self.wait)

    def value(self, expression: str, *, bound: float = 10.0) -> float:
        """Return a metric, or an expression over metrics such as ``10*awrt[1] + 4*awrt[2]``.

        ``bound`` is that of the bounded slowdown, in seconds.
        """
        from queuesmith.schedule.objective import Objective

        return Objective(expression, bound=bound)(self)

    def summary(self, *, bound: float = 10.0) -> Summary:
        """Return the metrics that one looks at first.

        ``bound`` is that of the bounded slowdown, in seconds.
        """
        from queuesmith.schedule.summary import summarize

        return summarize(self, bound=bound)

    def trimmed(self, warm_up: float = 0.0, cool_down: float = 0.0) -> Schedule:
        """Leave out the jobs submitted in the first and last part of the log.

        Parameters
        ----------
        warm_up, cool_down
            Shares of the span of submissions, from 0 up; together less than 1.
        """
        if not (warm_up >= 0 and cool_down >= 0 and warm_up + cool_down < 1):
            raise ScheduleError(
                f"the warm-up is {warm_up} and the cool-down {cool_down}, but they must be shares "
                "from 0 up that leave something between them. Give for example 0.05 and 0.05."
            )
        submit = self.workload.submit
        if not len(submit):
            return self
        first, span = int(submit[0]), self.workload.span
        keep = (submit >= first + warm_up * span) & (submit <= first + (1 - cool_down) * span)
        return replace(self, workload=self.workload.select(keep), start=self.start[keep])

    def save(self, path: str | Path) -> None:
        """Write id, submit, start and end of every job as CSV."""
        from queuesmith.schedule.export import save_csv

        save_csv(self, path)


def history(workload: Workload, cluster: Cluster | None = None) -> Schedule | None:
    """Return the schedule that really happened, or None where the log does not tell.

    The log tells where its ``real_start`` is known for every job.
    """
    real_start = workload.extra.get("real_start")
    if real_start is None or not len(workload) or (real_start < workload.submit).any():
        return None
    if cluster is None:
        cores = workload.machine_cores or int(workload.cores.max())
        cluster = Cluster(cores, workload.name)
    return Schedule(workload, cluster, real_start, "history")
