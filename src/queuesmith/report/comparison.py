"""Schedules of one workload side by side: which policy is best at what."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.base.checks import all_of_kind, of_kind, several
from queuesmith.base.errors import MetricError, UsageError
from queuesmith.base.words import so_many
from queuesmith.schedule.confidence import Interval, confidence
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.schedule.measures import DEFAULT_BOUND
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.schedule import HISTORY, Schedule
from queuesmith.workload import Workload

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

DEFAULT_METRICS = ("mean_wait", "p95_wait", "mean_bounded_slowdown", "awrt", "utilization")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What several policies make of one workload on one cluster.

    Parameters
    ----------
    schedules
        One for each policy. What really happened (``history``) is put first; the first replay is
        what the others are measured against.
    metrics
        Metrics, or expressions over metrics such as ``10*awrt[1] + 4*awrt[2]``.
    warm_up, cool_down
        Shares of the log at its beginning and end whose jobs run but do not count in the metrics.
    bound
        The bound of the bounded slowdown, in seconds.
    today
        A replay of the policy that really ran, by which the machine is graded; by default the
        first replay.
    """

    schedules: tuple[Schedule, ...]
    metrics: tuple[str, ...] = DEFAULT_METRICS
    warm_up: float = 0.0
    cool_down: float = 0.0
    bound: float = DEFAULT_BOUND
    today: Schedule | None = None
    #: The metrics as objectives, by the text of the expression.
    objectives: Mapping[str, Objective] = field(init=False)

    def __post_init__(self) -> None:
        way_out = "Give what simulate(...) returned for each policy."
        schedules = all_of_kind("schedules", self.schedules, Schedule, way_out)
        if self.today is not None:
            of_kind("the replay of today's policy", self.today, Schedule, way_out)
        metrics = several("metrics", self.metrics, "Give for example ['mean_wait'].")
        ordered = sorted(schedules, key=lambda schedule: schedule.policy != HISTORY)
        object.__setattr__(self, "schedules", tuple(ordered))
        object.__setattr__(self, "metrics", tuple(map(str, metrics)))
        self._check_alike()
        _check_metrics(self.metrics)
        # A slip in an expression is told before anything is computed.
        objectives = {metric: Objective(metric, bound=self.bound) for metric in self.metrics}
        object.__setattr__(self, "objectives", objectives)

    def _check_alike(self) -> None:
        """Raise where the schedules cannot be compared."""
        check_labels(self.schedules)
        for schedule in self.schedules[1:]:
            _check_alike(self.schedules[0], schedule)

    # -- looking ---------------------------------------------------------------------------

    @property
    def workload(self) -> Workload:
        """What was replayed."""
        return self.schedules[0].workload

    @property
    def dated(self) -> Workload:
        """The workload whose dates hold for all schedules."""
        return self.workload

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies in the order of the schedules."""
        return tuple(schedule.policy for schedule in self.schedules)

    @property
    def simulated(self) -> tuple[str, ...]:
        """The policies without what really happened."""
        return tuple(policy for policy in self.policies if policy != HISTORY)

    @property
    def baseline(self) -> str:
        """What the others are measured against: the first replay, history only where it is alone.

        A replay does not know all that shaped history, so that the two are not measured by each
        other.
        """
        return next(iter(self.simulated), self.policies[0])

    @cached_property
    def counted(self) -> tuple[Schedule, ...]:
        """The schedules without the jobs that do not count."""
        if not self.warm_up and not self.cool_down:
            return self.schedules
        return tuple(each.trimmed(self.warm_up, self.cool_down) for each in self.schedules)

    @cached_property
    def values(self) -> Mapping[str, Mapping[str, float]]:
        """The value of each metric by policy, then by metric."""
        return {
            schedule.policy: {metric: self.objectives[metric](schedule) for metric in self.metrics}
            for schedule in self.counted
        }

    @cached_property
    def fidelity(self) -> Fidelity | None:
        """How well the replay of today's policy agrees with what really happened.

        None where the log does not tell what happened, or nothing was replayed.
        """
        real = self.schedules[0]
        first = next((each for each in self.schedules if each.policy != HISTORY), None)
        replayed = self.today or first
        if real.policy != HISTORY or replayed is None:
            return None
        return Fidelity(real, replayed)

    @cached_property
    def _known_intervals(self) -> dict[tuple[str, str], Interval]:
        return {}

    def interval(self, policy: str, metric: str) -> Interval:
        """Return a value with its confidence interval; each is computed once."""
        if (policy, metric) not in self._known_intervals:
            schedule = self.counted[self.policies.index(policy)]
            self._known_intervals[policy, metric] = _interval(schedule, self.objectives[metric])
        return self._known_intervals[policy, metric]

    @cached_property
    def intervals(self) -> Mapping[str, Mapping[str, Interval]]:
        """Values with their confidence intervals by policy, then by metric.

        A metric that has no bootstrap, such as the makespan, has a value but no range.
        """
        return {
            policy: {metric: self.interval(policy, metric) for metric in self.metrics}
            for policy in self.policies
        }

    def winners(self, metric: str) -> tuple[str, ...]:
        """Return the simulated policies of the best value; several where they are equal.

        What really happened is never among them.
        """
        self._check_metric(metric)
        values = {policy: self.values[policy][metric] for policy in self.policies}
        if not self.simulated:
            return ()
        choose = max if self.objectives[metric].better == "higher" else min
        best = choose(values[policy] for policy in self.simulated)
        return tuple(policy for policy in self.simulated if values[policy] == best)

    def best(self, metric: str) -> str | None:
        """Return the first simulated policy of the best value, None where none was simulated."""
        return next(iter(self.winners(metric)), None)

    def _check_metric(self, metric: str) -> None:
        if metric not in self.metrics:
            raise UsageError(
                f"metric '{metric}' is not part of this comparison. "
                f"Choose one of: {', '.join(self.metrics)}."
            )

    # -- out of here -----------------------------------------------------------------------

    def rows(self) -> list[dict[str, str | float]]:
        """Return one mapping for each policy: ``policy`` and the metrics."""
        return [{"policy": policy, **values} for policy, values in self.values.items()]

    def to_frame(self) -> pd.DataFrame:
        """Return the values as a pandas table, one row a policy."""
        import pandas as pd

        return pd.DataFrame(self.rows()).set_index("policy")

    def to_dict(self, *, intervals: bool = False) -> dict[str, Any]:
        """Return the comparison ready for JSON, if wanted with confidence intervals."""
        return {
            "workload": self.workload.name,
            "jobs": len(self.workload),
            "cores": self.schedules[0].cluster.cores,
            "warm_up": self.warm_up,
            "cool_down": self.cool_down,
            "bound": self.bound,
            "policies": self.rows(),
            "best": {metric: self.best(metric) for metric in self.metrics},
            "fidelity": None if self.fidelity is None else _grade(self.fidelity),
            **({"intervals": self._plain_intervals()} if intervals else {}),
        }

    def _plain_intervals(self) -> dict[str, dict[str, list[float | None]]]:
        return {
            policy: {metric: [interval.low, interval.high] for metric, interval in row.items()}
            for policy, row in self.intervals.items()
        }

    def to_csv(self, *, intervals: bool = False) -> str:
        """Return the comparison as CSV text, one line a policy.

        With ``intervals``, each metric has two further columns for its confidence interval.
        """
        rows: list[dict[str, Any]] = [dict(row) for row in self.rows()]
        if intervals:
            for row in rows:
                for metric, interval in self.intervals[row["policy"]].items():
                    row |= {f"{metric} low": interval.low, f"{metric} high": interval.high}
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def plot(self) -> go.Figure:
        """Draw every metric relative to the first policy, with confidence intervals."""
        from queuesmith.report.drawing import draw_relative

        return draw_relative(self)

    def __repr__(self) -> str:
        from queuesmith.report.table import text_table

        jobs, cores = len(self.workload), self.schedules[0].cluster.cores
        title = (
            f"<Comparison of '{self.workload.name}': {so_many(jobs, 'job')} on "
            f"{so_many(cores, 'core')}>"
        )
        return f"{title}\n{text_table(self)}"

    def _repr_html_(self) -> str:
        from queuesmith.report.table import html_table

        return html_table(self)


def _grade(fidelity: Fidelity) -> dict[str, Any]:
    return {
        **fidelity.figures(),
        "grade": str(fidelity.grade),
        "trustworthy": fidelity.grade.trustworthy,
        "policy": fidelity.replayed.policy,
        "sentence": fidelity.sentence,
    }


def _interval(schedule: Schedule, objective: Objective) -> Interval:
    try:
        return confidence(schedule, objective)
    except MetricError:
        return Interval(objective(schedule), None, None, 0)


def check_labels(schedules: tuple[Schedule, ...]) -> None:
    """Raise where there is nothing to compare, or a name stands twice."""
    if not schedules or not len(schedules[0]):
        raise UsageError(
            "a comparison needs at least one schedule that has jobs, but there is none. "
            "Give the schedules of one workload."
        )
    policies = [schedule.policy for schedule in schedules]
    twice = [policy for i, policy in enumerate(policies) if policy in policies[:i]]
    if twice:
        raise UsageError(
            f"policy '{twice[0]}' is compared twice, but every policy is compared once. "
            "Leave one of them out."
        )


def _check_alike(one: Schedule, other: Schedule) -> None:
    if one.cluster.cores != other.cluster.cores:
        raise UsageError(
            f"'{one.policy}' runs on {so_many(one.cluster.cores, 'core')} and '{other.policy}' on "
            f"{other.cluster.cores}, but one machine is compared. Replay both on the same cluster."
        )
    columns = ("id", "submit", "runtime", "cores", "group")
    a, b = one.workload, other.workload
    if a is not b and not all(np.array_equal(getattr(a, c), getattr(b, c)) for c in columns):
        raise UsageError(
            f"'{one.policy}' runs {so_many(len(a), 'job')} of '{a.name}' and '{other.policy}' "
            f"{so_many(len(b), 'job')} of '{b.name}', but the same jobs are compared. Replay one "
            "workload under both."
        )


def _check_metrics(metrics: tuple[str, ...]) -> None:
    if not metrics:
        raise UsageError("a comparison needs at least one metric. Give for example 'mean_wait'.")
    if len(set(metrics)) < len(metrics):
        raise UsageError(f"a metric is named twice among {', '.join(metrics)}. Name each once.")
