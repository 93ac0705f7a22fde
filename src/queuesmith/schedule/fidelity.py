"""How well a replay agrees with what really happened: the grade that every what-if carries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import all_of_kind, of_kind
from queuesmith.base.errors import ScheduleError
from queuesmith.base.frames import Framed
from queuesmith.base.words import so_many
from queuesmith.schedule.schedule import Schedule
from queuesmith.workload import Workload
from queuesmith.workload.sizes import SIZES, size_classes

Floats = NDArray[np.float64]

#: Starts no further apart than this count as the same.
NEAR_SECONDS = 300
#: From so many per cent of error on, absolute values of replays must not be believed.
UNTRUE_PERCENT = 20.0
MONTH_SECONDS = 30 * 86_400


#: What a log says has changed of jobs whose constraints were inferred.
INFERRED = "bound by a constraint that was inferred from where jobs ran and who was let past them"


class Grade(StrEnum):
    """How far a replay can be believed."""

    A = "A"  # mean wait within 5 %, and jobs wait in the same order
    B = "B"  # within 10 %
    C = "C"  # within 20 %
    D = "D"  # compare policies with each other if need be, but believe no absolute value

    @property
    def trustworthy(self) -> bool:
        """Whether absolute values may be believed."""
        return self is not Grade.D


#: The largest error of the mean wait in per cent, and the least rank correlation, of each grade.
REQUIRED = {Grade.A: (5.0, 0.9), Grade.B: (10.0, 0.8), Grade.C: (UNTRUE_PERCENT, 0.6)}


@dataclass(frozen=True, eq=False, repr=False)
class Fidelity(Framed):
    """What really happened beside a replay of the same jobs.

    Parameters
    ----------
    history, replayed
        Schedules of the same jobs.
    draws
        Further replays that differ from the first in what nobody knows, such as the instants at
        which Slurm looked. The mean wait of a job over all replays is then what is graded.
    as_logged
        The same with the constraints as logged, where others were asked for.
    """

    history: Schedule
    replayed: Schedule
    draws: tuple[Schedule, ...] = ()
    as_logged: Fidelity | None = None

    def __post_init__(self) -> None:
        for what, each in (("the history", self.history), ("the replay", self.replayed)):
            of_kind(what, each, Schedule, "Give what history(...) and simulate(...) return.")
        draws = all_of_kind("draws", self.draws, Schedule, "Give what simulate(...) returns.")
        object.__setattr__(self, "draws", draws)
        a = self.history.workload
        for b in (each.workload for each in (self.replayed, *self.draws)):
            same = np.array_equal(a.id, b.id) and np.array_equal(a.submit, b.submit)
            if not len(a) or not same:
                raise ScheduleError(
                    f"history has {len(a)} jobs of '{a.name}' and the replay {len(b)} of "
                    f"'{b.name}', but both must have the same jobs, at least one. Replay the jobs "
                    "of the history."
                )

    @property
    def inferred(self) -> int:
        """Of how many jobs constraints were inferred from where they ran, for the log has none."""
        changes = self.history.workload.changes
        return sum(change.count for change in changes if change.reason == INFERRED)

    @cached_property
    def replayed_wait(self) -> Floats:
        """The wait of each job in the replay, in seconds; over several replays its mean."""
        waits = np.array([each.wait for each in (self.replayed, *self.draws)], np.float64)
        mean: Floats = waits.mean(axis=0)
        return mean

    @property
    def mean_wait_history(self) -> float:
        """The mean wait that there really was, in seconds."""
        return float(self.history.wait.mean())

    @property
    def mean_wait_replayed(self) -> float:
        """The mean wait of the replay, in seconds."""
        return float(self.replayed_wait.mean())

    @property
    def error_percent(self) -> float | None:
        """By how many per cent the replay's mean wait is off; None where nobody really waited."""
        return _percent(self.mean_wait_replayed, self.mean_wait_history)

    @property
    def median_error_percent(self) -> float | None:
        """The same for the median wait; None where more than half of the jobs never waited."""
        return _percent(np.median(self.replayed_wait), np.median(self.history.wait))

    @cached_property
    def mean_error(self) -> float:
        """How many seconds the wait of a job is off on average, whichever way."""
        return float(np.abs(self.replayed_wait - self.history.wait).mean())

    @cached_property
    def rank_correlation(self) -> float | None:
        """Spearman's correlation of the waits; None where all waited alike in one of the two."""
        return rank_correlation(self.history.wait, self.replayed_wait)

    @cached_property
    def within_five_minutes(self) -> float:
        """The share of the jobs whose start is off by five minutes at most."""
        off = np.abs(self.replayed_wait - self.history.wait)
        return float((off <= NEAR_SECONDS).mean())

    @property
    def grade(self) -> Grade:
        """How far the replay can be believed."""
        error, correlation = self.error_percent, self.rank_correlation
        if error is None:
            return Grade.A if self.mean_error <= NEAR_SECONDS else Grade.D
        for grade, (most_error, least_correlation) in REQUIRED.items():
            agrees = correlation is None or correlation >= least_correlation
            if abs(error) <= most_error and agrees:
                return grade
        return Grade.D

    @property
    def sentence(self) -> str:
        """What the grade means, in a sentence or two."""
        replayed, real = self.mean_wait_replayed, self.mean_wait_history
        off = "" if self.error_percent is None else f" ({self.error_percent:+.0f} %)"
        times = f" {len(self.draws) + 1} times with other clocks" if self.draws else ""
        fact = (
            f"Replayed{times} under {self.replayed.policy}, jobs wait {_time(replayed)} on "
            f"average; really they waited {_time(real)}{off}, grade {self.grade}"
            f"{self._with_inferred()}."
        )
        if self.grade.trustworthy:
            return f"{fact} What-ifs on this machine can be believed to about that error."
        return (
            f"{fact} Absolute values of these replays must not be believed: they show at best "
            "which of two policies is better on the machine as it is described."
        )

    def _with_inferred(self) -> str:
        jobs = so_many(self.inferred, "job")
        return f" with constraints of {jobs} inferred from where they ran" if self.inferred else ""

    def __repr__(self) -> str:
        return f"<Fidelity of '{self.history.workload.name}': {self.sentence}>"

    def rows(self) -> list[dict[str, Any]]:
        """Return the figures of all jobs; those of parts of them are ``by`` a column."""
        return [{"jobs": len(self.history), "grade": str(self.grade), **self.figures()}]

    def by(self, column: str) -> list[dict[str, Any]]:
        """Return the same figures for parts of the jobs.

        Parameters
        ----------
        column
            ``size``, ``month``, ``user``, ``group``, or a column of the log such as ``partition``.
        """
        return [
            {column: label, "jobs": int(mask.sum()), **self.only(mask).figures()}
            for label, mask in parts_by(self.history.workload, column)
        ]

    def only(self, jobs: NDArray[np.bool_]) -> Fidelity:
        """Return the same of some of the jobs."""
        draws = tuple(each.select(jobs) for each in self.draws)
        other = self.as_logged.only(jobs) if self.as_logged else None
        return Fidelity(self.history.select(jobs), self.replayed.select(jobs), draws, other)

    def figures(self) -> dict[str, Any]:
        """Return the figures, ready for JSON."""
        return {
            "mean_wait_history": self.mean_wait_history,
            "mean_wait_replayed": self.mean_wait_replayed,
            "error_percent": self.error_percent,
            "median_error_percent": self.median_error_percent,
            "mean_error": self.mean_error,
            "rank_correlation": self.rank_correlation,
            "within_five_minutes": self.within_five_minutes,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all figures, by every column that the log has, ready for JSON."""
        return {
            **self.figures(),
            "grade": str(self.grade),
            "trustworthy": self.grade.trustworthy,
            "sentence": self.sentence,
            "policy": self.replayed.policy,
            "replays": len(self.draws) + 1,
            "workload": self.history.workload.name,
            "jobs": len(self.history),
            "constraints_inferred": self.inferred,
            "as_logged": self.as_logged.figures() if self.as_logged else None,
            "by": {column: self.by(column) for column in columns_of(self.history.workload)},
        }


def columns_of(workload: Workload) -> list[str]:
    """Return the columns by which a grade is worth dividing, of those that a log has."""
    named = [name for name in ("partition", "qos", "account") if name in workload.extra]
    return [*named, "size", "month"]


def parts_by(workload: Workload, column: str) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the name of each part of the jobs and which jobs belong to it."""
    codes, labels = codes_by(workload, column)
    for code in np.unique(codes).tolist():
        yield labels(code), codes == code


def codes_by(workload: Workload, column: str) -> tuple[NDArray[Any], Callable[[int], str]]:
    """Return the number of each job's part, and what a number stands for; as ``Fidelity.by``."""
    if column == "size":
        return size_classes(workload.cores), SIZES.__getitem__
    if column == "month":
        if workload.epoch is None:
            return (workload.submit - workload.submit[0]) // MONTH_SECONDS, "month {0}".format
        dates = (workload.submit + workload.epoch).astype("datetime64[s]").astype("datetime64[M]")
        return dates.astype(np.int64), lambda code: str(np.datetime64(code, "M"))
    if column in ("user", "group"):
        return getattr(workload, column), lambda code: workload.label(column, code)
    if column not in workload.extra:
        raise ScheduleError(
            f"the log '{workload.name}' has no column '{column}'. Choose from: "
            f"{', '.join(['size', 'month', 'user', 'group', *workload.extra])}."
        )
    return workload.extra[column], lambda code: workload.label(column, code)


def rank_correlation(one: Floats, other: Floats) -> float | None:
    """Return Spearman's rank correlation; None where one of the two is the same for all."""
    a, b = _ranks(one), _ranks(other)
    spread = np.sqrt(np.square(a).sum() * np.square(b).sum())
    return float((a * b).sum() / spread) if spread > 0 else None


def _ranks(values: Floats) -> Floats:
    """Return the ranks about their mean; equals share the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2.0)[place] - (len(values) + 1) / 2.0


def _time(seconds: float) -> str:
    """Return a wait in hours, or in minutes where it is short."""
    return f"{seconds / 3600:,.1f} h" if seconds >= 7200 else f"{seconds / 60:,.1f} min"


def _percent(value: float, base: float) -> float | None:
    return 100.0 * (float(value) - float(base)) / float(base) if base > 0 else None
