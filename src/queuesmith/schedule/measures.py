"""What can be measured on a schedule: quantities of jobs, and ways to make one number of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.distinct import distinct
from queuesmith.base.errors import MetricError
from queuesmith.schedule.timeline import CURVES, CurveName, curve, horizon

if TYPE_CHECKING:
    from queuesmith.schedule.schedule import Schedule

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = int | str
IndexKind = Literal["none", "group", "class"]
Quantity = Literal["wait", "response", "slowdown", "bounded_slowdown", "one", "width", "work"]

#: Seconds below which a job's runtime does not blow up its bounded slowdown.
DEFAULT_BOUND = 10.0
#: Large and long, large and short, small and long, small and short (Simon et al., section 3.3).
CLASSES = ("A", "B", "C", "D")


def bounded_slowdown(schedule: Schedule, bound: float = DEFAULT_BOUND) -> Floats:
    """Return each job's response over its runtime, where a runtime counts ``bound`` s or more.

    Never below 1: ``max(1, response / max(runtime, bound))``.
    """
    checked_bound(bound)
    return np.maximum(1.0, schedule.response / np.maximum(schedule.runtime, bound))


def slowdown(schedule: Schedule) -> Floats:
    """Return each job's response over its runtime (Franke et al., eq. 4).

    A job of no runtime counts as one of 1 s; its slowdown, too, is at least 1.
    """
    return bounded_slowdown(schedule, 1.0)


def job_classes(schedule: Schedule) -> NDArray[np.str_]:
    """Return the class of each job, A to D (Simon et al., section 3.3).

    Large is above the average number of cores, long above the average runtime.
    """
    jobs = schedule.workload
    small = jobs.cores <= jobs.cores.mean()
    short = schedule.runtime <= schedule.runtime.mean()
    return np.asarray(np.asarray(CLASSES)[2 * small + short])


def awrt_by_group(schedule: Schedule) -> dict[int, float | None]:
    """Return the AWRT of every group that has jobs (Franke et al., eq. 3).

    None stands for a group whose jobs did no work, which has no AWRT.
    """
    jobs = schedule.workload
    groups, of_job = distinct(jobs.group)
    core_seconds = schedule.work
    work = np.bincount(of_job, weights=core_seconds, minlength=len(groups))
    weighted = np.bincount(of_job, weights=core_seconds * schedule.response, minlength=len(groups))
    return {
        int(group): float(over / total) if total > 0 else None
        for group, over, total in zip(groups, weighted, work, strict=True)
    }


# -- the jobs that a metric looks at ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Jobs:
    """Some jobs of a schedule, and what a metric may ask about each of them.

    Parameters
    ----------
    schedule
        Where they ran.
    bound
        The bound of the bounded slowdown, in seconds.
    chosen
        Which jobs; all where it is None.
    """

    schedule: Schedule
    bound: float = DEFAULT_BOUND
    chosen: Mask | None = None

    def take(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return the chosen jobs' part of a column of the schedule."""
        return column if self.chosen is None else column[self.chosen]

    def values(self, quantity: Quantity) -> Floats:
        """Return one number a job."""
        return np.asarray(getattr(self, quantity), dtype=np.float64)

    @cached_property
    def wait(self) -> Floats:
        """Seconds from submission to start."""
        return self.take(self.schedule.wait).astype(np.float64)

    @cached_property
    def response(self) -> Floats:
        """Seconds from submission to end."""
        return self.take(self.schedule.response).astype(np.float64)

    @cached_property
    def slowdown(self) -> Floats:
        """Response over runtime, which counts at least 1 s."""
        return self.take(slowdown(self.schedule))

    @cached_property
    def bounded_slowdown(self) -> Floats:
        """Response over runtime, which counts at least the bound."""
        return self.take(bounded_slowdown(self.schedule, self.bound))

    @cached_property
    def one(self) -> Floats:
        """A weight that is the same for every job."""
        return np.ones(len(self.user))

    @cached_property
    def width(self) -> Floats:
        """Cores."""
        return self.take(self.schedule.workload.cores).astype(np.float64)

    @cached_property
    def work(self) -> Floats:
        """Core-seconds, by the true runtime: p_j * m_j of Franke et al."""
        return self.take(self.schedule.work)

    @cached_property
    def user(self) -> NDArray[np.int64]:
        """The number of the user."""
        return self.take(self.schedule.workload.user)

    @cached_property
    def _classes(self) -> NDArray[np.str_]:
        return job_classes(self.schedule)

    def narrowed(self, kind: IndexKind, index: Index) -> Jobs:
        """Keep the jobs of one group or of one class; an error where there are none."""
        everyone = self.schedule.workload.group if kind == "group" else self._classes
        wanted = _group_number(self.schedule, index) if kind == "group" else index
        chosen = np.asarray(everyone == wanted)
        if not chosen.any():
            raise MetricError(
                f"{kind} {index} has no jobs in schedule '{self.schedule.policy}' of workload "
                f"'{self.schedule.workload.name}'. {_present(self.schedule, kind, everyone)}"
            )
        return Jobs(self.schedule, self.bound, chosen)


def _group_number(schedule: Schedule, index: Index) -> Index:
    names = schedule.workload.labels.get("group", ())
    return names.index(index) if isinstance(index, str) and index in names else index


def _present(schedule: Schedule, kind: str, everyone: NDArray[Any]) -> str:
    present = np.unique(everyone).tolist()
    if kind == "group":
        names = schedule.workload.labels.get("group", ())
        present = [
            f"{code} ({names[code]})" if 0 <= code < len(names) else str(code) for code in present
        ]
    shown = ", ".join(present[:20]) + (", ..." if len(present) > 20 else "")
    return f"Choose one that has: {shown}."


# -- the shapes that a metric can have; the bootstrap of confidence.py knows each of them -----


@dataclass(frozen=True)
class Average:
    """The average of a quantity over jobs, each with a weight."""

    quantity: Quantity
    weight: Quantity = "one"

    def __call__(self, jobs: Jobs) -> float:
        """Return the sum of weight times quantity over the sum of weights."""
        # Sums instead of np.dot: the last digit must not depend on the number of BLAS threads.
        weight = jobs.values(self.weight)
        total = float(weight.sum())
        if total <= 0:
            raise MetricError(
                f"the average {self.quantity} weighted by {self.weight} of schedule "
                f"'{jobs.schedule.policy}' is 0/0: its jobs have no {self.weight}. "
                "Leave out jobs of no runtime, or take an average that is not weighted."
            )
        return float((weight * jobs.values(self.quantity)).sum() / total)


@dataclass(frozen=True)
class Quantile:
    """The value that a share of the jobs does not exceed, interpolated as numpy does."""

    quantity: Quantity
    share: float

    def __call__(self, jobs: Jobs) -> float:
        """Return the quantile."""
        return float(np.quantile(jobs.values(self.quantity), self.share))


@dataclass(frozen=True)
class Gini:
    """Gini's coefficient of a quantity over jobs; 0 where all have the same, also none."""

    quantity: Quantity

    def __call__(self, jobs: Jobs) -> float:
        """Return half the mean absolute difference of two jobs over the mean."""
        values = np.sort(jobs.values(self.quantity))
        total, count = values.sum(), len(values)
        rank = 2.0 * np.arange(1, count + 1) - count - 1
        return float((rank * values).sum() / (count * total)) if total > 0 else 0.0


@dataclass(frozen=True)
class Jain:
    """Jain's index over users of each user's mean of a quantity that is above 0."""

    quantity: Quantity

    def __call__(self, jobs: Jobs) -> float:
        """Return the squared sum over the number of users times the sum of squares."""
        users, of_job = distinct(jobs.user)
        by_user = np.bincount(of_job, weights=jobs.values(self.quantity)) / np.bincount(of_job)
        return float(by_user.sum() ** 2 / (len(users) * np.square(by_user).sum()))


@dataclass(frozen=True)
class TimeAverage:
    """The average of a curve from the first submission to the last end."""

    curve: CurveName

    def __call__(self, jobs: Jobs) -> float:
        """Return the area under the curve over the makespan."""
        first, last = horizon(jobs.schedule)
        begin, finish, amount = CURVES[self.curve](jobs.schedule)
        area = float((np.maximum(finish - begin, 0) * amount).sum())
        return area / _lasting(last - first, jobs.schedule)


@dataclass(frozen=True)
class TimePeak:
    """The highest value of a curve."""

    curve: CurveName

    def __call__(self, jobs: Jobs) -> float:
        """Return the peak."""
        return curve(jobs.schedule, self.curve).max()


def utilization(jobs: Jobs) -> float:
    """Return the work over what the cores can do, first start to last end (Franke, eq. 1)."""
    schedule = jobs.schedule
    seconds = _lasting(schedule.end.max() - schedule.parts.start.min(), schedule)
    return float(busy_seconds(schedule) / (schedule.cluster.cores * seconds))


def busy_seconds(schedule: Schedule) -> float:
    """Return the core-seconds in use, those of attempts that were broken off among them."""
    return float((schedule.parts.cores.astype(np.float64) * schedule.parts.length).sum())


def flowtime(jobs: Jobs) -> float:
    """Return the sum of the jobs' times from the beginning to their ends (Carretero, eq. 1)."""
    return float(jobs.take(jobs.schedule.end - jobs.schedule.submit.min()).sum())


def load_balance(jobs: Jobs) -> float:
    """Return when places finish on average over when the last does: 1 where all do together."""
    schedule = jobs.schedule
    parts, places = schedule.parts, schedule.cluster.places
    if places is None or parts.place is None:
        raise MetricError(
            f"schedule '{schedule.policy}' does not tell where jobs ran, so has no load balance. "
            "Ask for it where jobs have nodes or machines."
        )
    begin = schedule.submit.min()
    last = np.full(len(places.names), begin, parts.end.dtype)
    np.maximum.at(last, parts.place, parts.end)
    return float((last - begin).mean() / _lasting(last.max() - begin, schedule))


@dataclass(frozen=True)
class OfMachine:
    """A number that only some kinds of machines have, and compute themselves."""

    name: str
    kind: str

    def __call__(self, jobs: Jobs) -> float:
        """Return what the machine measures on the schedule."""
        measure = jobs.schedule.cluster.measures.get(self.name)
        if measure is None:
            raise MetricError(
                f"{self.name} is a metric of {self.kind}, but schedule '{jobs.schedule.policy}' "
                f"runs on '{jobs.schedule.cluster.name}', which is none. Leave it out."
            )
        return measure(jobs.schedule)


def makespan(jobs: Jobs) -> float:
    """Return the seconds from the first submission to the last end."""
    return jobs.schedule.makespan


def _lasting(seconds: Any, schedule: Schedule) -> float:
    if seconds <= 0:
        raise MetricError(
            f"schedule '{schedule.policy}' takes no time, so it has no average over time. "
            "Give a workload with a job that runs for a second or more."
        )
    return float(seconds)


def checked_bound(bound: float) -> float:
    """Return the bound of the bounded slowdown; an error unless it is above 0."""
    if not isinstance(bound, Real) or not 0 < bound < float("inf"):
        raise MetricError(
            f"the bound of the bounded slowdown is {bound!r}, but it must be above 0 s. "
            "Give for example 10."
        )
    return float(bound)
