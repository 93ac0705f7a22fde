"""When and where each job ran, whoever decided it: a replay, a solver, or the real machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.errors import ScheduleError
from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster, Machine
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.times import Times, frozen
from queuesmith.solving.status import Proof, Status
from queuesmith.workload import Workload
from queuesmith.workload.columns import as_array
from queuesmith.workload.workload import checked_workload

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import plotly.graph_objects as go

    from queuesmith.schedule.reservations import RequestAnswer
    from queuesmith.schedule.summary import Summary


#: What stands for the policy where a schedule is what really happened.
HISTORY = "history"


@dataclass(frozen=True, eq=False, repr=False)
class Schedule:
    """The start and the end of every job of a workload on a machine, and where it ran.

    Parameters
    ----------
    workload, cluster
        What ran, and on what: a cluster, a federation, a grid of unequal machines.
    start
        When each job began, in the order of the workload's jobs: whole seconds, or real numbers
        where the machine's own times are real.
    policy
        What decided it, as one writes it: ``fcfs+easy``, ``min-min``, or ``history``.
    seconds
        How long the decision took to compute, where it was computed here.
    decisions
        How a policy that chooses has decided, where it is one.
    reservations
        Requests for cores in advance and how they were answered; those accepted hold their cores.
    own_end
        When each job ended, where that is not the workload's runtime after its start.
    own_submit
        When each job arrived, where that is not what the workload says.
    pieces
        The parts in which jobs ran, where a job is more than its cores from start to end.
    proof
        What was minimised, and what is proven about it, where something was.
    facts
        Further facts about how it came about, ready for JSON.
    """

    workload: Workload
    cluster: Machine
    start: Times
    policy: str
    seconds: float | None = None
    decisions: Any = None
    reservations: tuple[RequestAnswer, ...] = ()
    own_end: Times | None = None
    own_submit: Times | None = None
    pieces: Pieces | None = None
    proof: Proof | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checked_workload(self.workload)
        real = self.own_end is not None
        for column in ("start", "own_end", "own_submit"):
            if getattr(self, column) is not None:
                times = self._times(column, getattr(self, column), real=real)
                object.__setattr__(self, column, times)

    def _times(self, column: str, values: ArrayLike, *, real: bool) -> Times:
        times = as_array(values)
        if times.shape != self.workload.submit.shape:
            raise ScheduleError(
                f"schedule '{self.policy}' has {so_many(times.size, 'value')} of '{column}', but "
                f"workload '{self.workload.name}' has {so_many(len(self.workload), 'job')}. Give "
                f"one {column} a job."
            )
        if np.issubdtype(times.dtype, np.integer):
            return frozen(times.astype(np.int64, copy=False))
        numbers = np.issubdtype(times.dtype, np.floating) and bool(np.isfinite(times).all())
        if numbers and real:
            return frozen(times.astype(np.float64, copy=False))
        if not numbers or not np.all(times == np.rint(times)):
            raise ScheduleError(
                f"schedule '{self.policy}' has values of '{column}' that are no whole numbers, but "
                "time is in whole seconds. Round them first."
            )
        return frozen(times.astype(np.int64))

    def __len__(self) -> int:
        return len(self.workload)

    def __repr__(self) -> str:
        where = f"{so_many(len(self), 'job')} on {so_many(self.cluster.cores, 'core')}"
        return f"<Schedule '{self.policy}' of '{self.workload.name}': {where}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_() if len(self) else escape(repr(self))

    # -- job by job ------------------------------------------------------------------------

    @property
    def submit(self) -> Times:
        """When each job arrived."""
        return self.workload.submit if self.own_submit is None else self.own_submit

    @property
    def end(self) -> Times:
        """When each job ended."""
        return self.start + self.workload.runtime if self.own_end is None else self.own_end

    @property
    def wait(self) -> Times:
        """Seconds from submission to start."""
        return self.start - self.submit

    @property
    def response(self) -> Times:
        """Seconds from submission to end."""
        return self.end - self.submit

    @cached_property
    def runtime(self) -> Times:
        """How long each job ran; of a job in several pieces, how long its last one took."""
        if self.pieces is None:
            return self.workload.runtime if self.own_end is None else self.own_end - self.start
        order = np.lexsort((self.pieces.end, self.pieces.job))
        length = np.zeros(len(self), self.pieces.length.dtype)
        length[self.pieces.job[order]] = self.pieces.length[order]  # the last one stays
        return length

    @property
    def work(self) -> NDArray[np.float64]:
        """Core-seconds of each job."""
        return self.workload.cores.astype(np.float64) * self.runtime

    @property
    def lost_work(self) -> float:
        """Core-seconds of runs that were cut short, and whose jobs ran again."""
        return float((self.parts.cores * self.parts.length)[self.cut_short].sum())

    @property
    def stopped_jobs(self) -> int:
        """How many jobs were stopped so that others could start, and ran again or never."""
        ended = self.end < self.start + self.workload.runtime
        ended[self.parts.job[self.cut_short]] = True
        return int(ended.sum())

    @property
    def cut_short(self) -> NDArray[np.bool_]:
        """Which parts belong to runs that were cut short, and whose jobs ran again."""
        parts = self.parts
        last = self.start[parts.job]
        return np.asarray((parts.start < last) & (parts.end <= last), np.bool_)

    @cached_property
    def parts(self) -> Pieces:
        """The pieces; one for each job where they are not told apart."""
        if self.pieces is not None:
            return self.pieces
        return Pieces(np.arange(len(self)), self.start, self.end, self.workload.cores)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a job: the workload's columns, start, end and wait."""
        return self.workload.to_frame().assign(start=self.start, end=self.end, wait=self.wait)

    # -- as a whole ------------------------------------------------------------------------

    @property
    def makespan(self) -> float:
        """Seconds from the first submission to the last end."""
        return float(self.end.max() - self.submit.min())

    @property
    def lower_bound(self) -> float | None:
        """What the objective of no schedule is below, where that was proven."""
        return None if self.proof is None else self.proof.lower_bound

    @property
    def gap_percent(self) -> float | None:
        """By how many per cent the objective may at most lie above the optimum, if known."""
        return None if self.proof is None else self.proof.gap_percent

    @property
    def status(self) -> Status:
        """Whether the schedule is proven to be the best."""
        return Status.FEASIBLE if self.proof is None else self.proof.status

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
        numbers = isinstance(warm_up, Real) and isinstance(cool_down, Real)
        if not (numbers and warm_up >= 0 and cool_down >= 0 and warm_up + cool_down < 1):
            raise ScheduleError(
                f"the warm-up is {warm_up!r} and the cool-down {cool_down!r}, but they must be "
                "shares from 0 up that leave something between them. Give for example 0.05 and "
                "0.05."
            )
        submit = self.workload.submit
        if not len(submit):
            return self
        first, span = int(submit[0]), self.workload.span
        return self.select(
            (submit >= first + warm_up * span) & (submit <= first + (1 - cool_down) * span)
        )

    def select(self, keep: NDArray[np.bool_]) -> Schedule:
        """Keep the jobs of a mask; they ran when they ran."""
        return replace(
            self,
            workload=self.workload.select(keep),
            start=self.start[keep],
            own_end=None if self.own_end is None else self.own_end[keep],
            own_submit=None if self.own_submit is None else self.own_submit[keep],
            pieces=None if self.pieces is None else self.pieces.select(keep),
        )

    def plot(self) -> go.Figure:
        """Draw the busy cores and the waiting jobs over time."""
        from queuesmith.schedule.drawing import draw_schedule

        return draw_schedule(self)

    def save(self, path: str | Path) -> None:
        """Write every job as CSV: id, submit, start, end, and where it ran if that is known."""
        from queuesmith.schedule.export import save_csv

        save_csv(self, path)


def history(workload: Workload, cluster: Machine | None = None) -> Schedule | None:
    """Return the schedule that really happened, or None where the log does not tell.

    The log tells where its ``real_start`` is known for every job.
    """
    real_start = checked_workload(workload).real_start
    if real_start is None:
        return None
    if cluster is None:
        cores = workload.machine_cores or int(workload.cores.max())
        cluster = Cluster(cores, workload.name)
    return Schedule(workload, cluster, real_start, HISTORY)
