"""What a schedule is worth: every metric by its name, in a dictionary that one can read."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from queuesmith.base.errors import MetricError
from queuesmith.schedule.measures import (
    CLASSES,
    DEFAULT_BOUND,
    Average,
    Gini,
    Index,
    IndexKind,
    Jain,
    Jobs,
    Quantile,
    Quantity,
    TimeAverage,
    TimePeak,
    checked_bound,
    makespan,
    utilization,
)
from queuesmith.schedule.schedule import Schedule

Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Metric:
    """A number that tells how good a schedule is.

    Parameters
    ----------
    name
        What objectives call it.
    function
        What computes it from the jobs it looks at.
    definition
        One line for its reader.
    unit
        ``s``, ``jobs``, ``core-s``, or ``1`` for a plain ratio.
    better
        Whether a lower or a higher value is better.
    index
        What ``name[index]`` narrows the jobs to: a ``group``, a ``class``; ``none`` where the
        metric belongs to the whole machine and takes no index.
    """

    name: str
    function: Callable[[Jobs], float]
    definition: str
    unit: str
    better: Better = "lower"
    index: IndexKind = "none"


@dataclass(frozen=True)
class Term:
    """A metric as an objective names it: ``awrt[1]`` is ``Term("awrt", 1)``."""

    name: str
    index: Index | None = None

    def __str__(self) -> str:
        if self.index is None:
            return self.name
        if isinstance(self.index, int) or (self.index.isascii() and self.index.isidentifier()):
            return f"{self.name}[{self.index}]"
        quote = "'" if '"' in self.index else '"'
        return f"{self.name}[{quote}{self.index}{quote}]"


def find(term: Term) -> Metric:
    """Return the metric of a term; an error where it is unknown or takes no such index."""
    metric = METRICS.get(term.name)
    if metric is None:
        near = difflib.get_close_matches(term.name, METRICS, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise MetricError(
            f"there is no metric '{term.name}'.{hint} The metrics are: {', '.join(METRICS)}."
        )
    if term.index is not None and metric.index == "none":
        raise MetricError(
            f"'{term}' has an index, but {term.name} belongs to the whole machine and takes none. "
            f"Write '{term.name}'."
        )
    if metric.index == "class" and term.index not in (None, *CLASSES):
        raise MetricError(
            f"'{term}' asks for class {term.index}, but the classes are A, B, C and D. "
            f"Write for example '{term.name}[A]'."
        )
    return metric


def evaluate(
    schedule: Schedule, name: str, index: Index | None = None, *, bound: float = DEFAULT_BOUND
) -> float:
    """Return one metric of a schedule.

    Parameters
    ----------
    schedule
        What is judged.
    name
        A name of :data:`METRICS`.
    index
        The group (number or name) or the class to narrow the jobs to; all jobs where None.
    bound
        The bound of the bounded slowdown, in seconds.
    """
    term = Term(name, index)
    return evaluate_all(schedule, [term], bound=bound)[term]


def evaluate_all(
    schedule: Schedule, terms: Iterable[Term], *, bound: float = DEFAULT_BOUND
) -> dict[Term, float]:
    """Return several metrics, each computed once; what they share is computed once, too."""
    narrowed = jobs_of_terms(schedule, terms, bound=bound)
    return {term: find(term).function(jobs) for term, jobs in narrowed.items()}


def jobs_of_terms(
    schedule: Schedule, terms: Iterable[Term], *, bound: float = DEFAULT_BOUND
) -> dict[Term, Jobs]:
    """Return the jobs that each metric looks at."""
    if not len(schedule):
        raise MetricError(
            f"schedule '{schedule.policy}' has no jobs, so it has no metrics. "
            "Give a workload that has jobs."
        )
    everyone = Jobs(schedule, checked_bound(bound))
    parts: dict[tuple[IndexKind, Index], Jobs] = {}
    found = {}
    for term in dict.fromkeys(terms):
        kind, index = find(term).index, term.index
        if index is None:
            found[term] = everyone
            continue
        if (kind, index) not in parts:
            parts[kind, index] = everyone.narrowed(kind, index)
        found[term] = parts[kind, index]
    return found


_QUANTITIES: Mapping[Quantity, tuple[str, str]] = {
    "wait": ("wait: start - submit", "s"),
    "response": ("response: end - submit", "s"),
    "slowdown": ("slowdown: max(1, response / max(runtime, 1 s)) (Franke, eq. 4)", "1"),
    "bounded_slowdown": ("bounded slowdown: max(1, response / max(runtime, bound))", "1"),
}
_SHARES = {
    "median": ("median", 0.5),
    "p95": ("95th percentile of the", 0.95),
    "p99": ("99th percentile of the", 0.99),
    "max": ("largest", 1.0),
}


def _of_jobs() -> list[Metric]:
    metrics = []
    for quantity, (meaning, unit) in _QUANTITIES.items():
        mean = Average(quantity)
        metrics.append(Metric(f"mean_{quantity}", mean, f"average {meaning}", unit, index="group"))
        for name, (wording, share) in _SHARES.items():
            function = Quantile(quantity, share)
            line = f"{wording} {meaning}"
            metrics.append(Metric(f"{name}_{quantity}", function, line, unit, index="group"))
    return metrics


def _of_papers() -> list[Metric]:
    return [
        Metric(
            "awrt",
            Average("response", "work"),
            "response weighted by work: sum p m (C - r) / sum p m (Franke, eq. 2; [g]: eq. 3)",
            "s",
            index="group",
        ),
        Metric(
            "artww",
            Average("response", "width"),
            "response weighted by width: sum w (t - s + d) / sum w (Streit, eq. 2)",
            "s",
            index="group",
        ),
        Metric(
            "sldwa",
            Average("slowdown", "work"),
            "slowdown weighted by area, which is cores times runtime (Streit, section 4)",
            "1",
            index="group",
        ),
        Metric(
            "expansion_factor",
            Average("slowdown"),
            "average (wait + runtime) / runtime; [A]..[D]: of one class (Simon, section 3.3)",
            "1",
            index="class",
        ),
    ]


def _of_machine() -> list[Metric]:
    return [
        Metric(
            "utilization",
            utilization,
            "work / (cores (last end - first start)) (Franke, eq. 1)",
            "1",
            better="higher",
        ),
        Metric("makespan", makespan, "last end - first submit", "s"),
        Metric(
            "mean_queue_length",
            TimeAverage("queue_length"),
            "waiting jobs, averaged from the first submit to the last end",
            "jobs",
        ),
        Metric("max_queue_length", TimePeak("queue_length"), "most jobs waiting at once", "jobs"),
        Metric(
            "mean_backlog",
            TimeAverage("backlog"),
            "cores times walltime of the waiting jobs, averaged like the queue length",
            "core-s",
        ),
        Metric(
            "max_backlog",
            TimePeak("backlog"),
            "most core-seconds of walltime waiting at once",
            "core-s",
        ),
    ]


def _of_fairness() -> list[Metric]:
    return [
        Metric(
            "jain_fairness",
            Jain("bounded_slowdown"),
            "Jain's index over users of their mean bounded slowdown; 1: all are served alike",
            "1",
            better="higher",
            index="group",
        ),
        Metric(
            "gini_wait",
            Gini("wait"),
            "Gini's coefficient of the jobs' waits; 0: all wait the same",
            "1",
            index="group",
        ),
    ]


#: Every metric by name. A metric of one's own is one more entry.
METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (*_of_jobs(), *_of_papers(), *_of_machine(), *_of_fairness())
}
