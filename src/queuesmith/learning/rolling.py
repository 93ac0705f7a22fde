"""Learn again each month: on all jobs so far, judged on those of the next month."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

import numpy as np

from queuesmith.base.checks import number, progress_function, whole_number
from queuesmith.base.errors import MetricError, WorkloadError
from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.cluster.fitting import jobs_that_fit
from queuesmith.engine.simulate import as_machine
from queuesmith.learning.method import Method
from queuesmith.learning.methods import DEFAULT_METHOD
from queuesmith.learning.result import Tuned
from queuesmith.learning.tune import BASELINE, tune
from queuesmith.learning.verdict import Verdict
from queuesmith.policy import AnyPolicy, as_policy
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.starvation import DEFAULT_FACTOR
from queuesmith.study.runner import simulate_many
from queuesmith.workload import Workload

DAY = 86_400
#: How long one learns and judges at a time, in days.
MONTH = 30.0


@dataclass(frozen=True, eq=False)
class Origin:
    """What was learned up to an instant, and what it was worth in the time after it.

    Parameters
    ----------
    day
        Days from the first submission up to which jobs were learned from.
    tuned
        What was learned.
    next
        The verdict on the jobs of the next period.
    """

    day: float
    tuned: Tuned
    next: Verdict

    @cached_property
    def is_valued(self) -> bool:
        """Whether the objective has a value there: some job is of each group that it names."""
        try:
            self.next.objective(self.next.baseline)
        except MetricError:
            return False
        return True

    def to_dict(self) -> dict[str, Any]:
        """Return the row and the whole verdict, ready for JSON."""
        return {**self.row(), "next": self.next.to_dict() if self.is_valued else None}

    def row(self) -> dict[str, Any]:
        """Return a row of a table; gains in per cent, None where there are none; waits in days."""
        waits = self.next.waits
        return {
            "learned up to day": _days(self.day),
            "jobs learned from": len(self.tuned.learning.learned),
            "jobs judged": len(self.next.learned),
            "best fixed": self.tuned.best_fixed,
            "over fcfs+easy (%)": _rounded(self.gain("baseline")),
            "over best fixed (%)": _rounded(self.gain("best_fixed")),
            **{
                f"longest wait (d), {part.replace('_', ' ')}": round(
                    max(each.longest for each in waits[part].values()) / DAY, 2
                )
                for part in ("baseline", "learned")
            },
            "beyond a week": sum(each.beyond_a_week for each in waits["learned"].values()),
        }

    def gain(self, part: str) -> float | None:
        """By how many per cent it is better than the `baseline` or the `best_fixed` strategy.

        None where the objective has no value there.
        """
        return self.next.improvement_percent[part] if self.is_valued else None


def _rounded(percent: float | None) -> float | None:
    return None if percent is None else round(percent, 2)


def _days(day: float) -> float:
    """A day of the log, as a whole number where it is one."""
    return int(day) if day == int(day) else round(day, 2)


def rolling_conclusion(origins: Sequence[Origin]) -> str:
    """Say in how many months learning again was worth it."""
    gains = [gain for each in origins if (gain := each.gain("best_fixed")) is not None]
    if not gains:
        return (
            "Nothing says what learning again would bring: in no month has the objective a value, "
            "or it is zero under the best fixed strategy."
        )
    better, middle = sum(gain > 0 for gain in gains), median(gains)
    side = "better" if middle >= 0 else "worse"
    told = (
        f"What was learned up to then is better than the best fixed strategy in {better} of "
        f"{so_many(len(gains), 'month')}, in the middle one {abs(middle):.1f} % {side}."
    )
    if 2 * better <= len(gains):
        return f"{told} The best fixed strategy needs no learning: learning again is not worth it."
    return f"{told} So few months say little about the next one."


def roll(
    workload: Workload,
    cluster: Cluster | NodeCluster | None = None,
    objective: str | Objective | None = None,
    method: str | Method = DEFAULT_METHOD,
    *,
    days: float = MONTH,
    origins: int = 3,
    longest_wait: float | None = DEFAULT_FACTOR,
    cores: int | None = None,
    strict: bool = False,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Origin]:
    """Learn on the jobs of months 1 to k and judge on month k + 1, for the last k of the log.

    Operators learn again from time to time; this shows what that would have brought.

    Parameters
    ----------
    workload, cluster, objective, method, longest_wait, cores, strict, seed, workers
        As for ``tune``.
    days
        How long a month is.
    origins
        For how many months, the last of the log, one learns and judges.
    progress
        Is called with the share that is done.

    >>> from queuesmith import demo_workload
    >>> from queuesmith.learning.rolling import roll
    >>> found = roll(demo_workload(), days=2, origins=2)  # doctest: +SKIP
    """
    number("the number of days", days, 0.001, 1e6, "Give for example 30.")
    whole_number("the number of origins", origins, 1, "Give for example 3.")
    progress_function(progress)
    machine = as_machine(workload, cluster, cores)
    jobs = jobs_that_fit(workload, machine, strict=strict)
    found = []
    for done, (day, before, after) in enumerate(_parts(jobs, days, origins)):
        tuned = tune(
            before,
            machine,
            objective,
            method,
            longest_wait=longest_wait,
            seed=seed,
            split=None,
            workers=workers,
        )
        found.append(Origin(day, tuned, _judged(after, machine, tuned, workers)))
        if progress is not None:
            progress((done + 1) / origins)
    return found


def _judged(
    jobs: Workload, machine: Cluster | NodeCluster, tuned: Tuned, workers: int | None
) -> Verdict:
    policies: list[AnyPolicy] = [tuned.policy, BASELINE, as_policy(tuned.best_fixed)]
    ours, easy, fixed = simulate_many(jobs, machine, policies, workers=workers)
    verdict = tuned.learning
    return Verdict(tuned.objective, ours, easy, fixed, verdict.guards, verdict.starving)


def _parts(jobs: Workload, days: float, origins: int) -> Iterator[tuple[float, Workload, Workload]]:
    """Yield for each origin its day, the jobs before it, and those of the next period."""
    months = int(jobs.span // (days * DAY))
    if months <= origins:
        raise WorkloadError(
            f"workload '{jobs.name}' has {jobs.span / DAY:,.1f} days, but "
            f"{so_many(origins, 'origin')} of {so_many(float(days), 'day')} "
            f"{'needs' if origins == 1 else 'need'} more than {(origins + 1) * days:g}. Give fewer "
            "origins, or fewer days."
        )
    begin = int(jobs.submit[0])
    for month in range(months - origins, months):
        border = begin + month * days * DAY
        after = (jobs.submit >= border) & (jobs.submit < border + days * DAY)
        before = jobs.submit < border
        if not np.any(after) or not np.any(before):
            raise WorkloadError(
                f"workload '{jobs.name}' has no jobs in the {so_many(float(days), 'day')} from day "
                f"{month * days:g} on. Give longer months."
            )
        yield month * days, jobs.select(before), jobs.select(after)
