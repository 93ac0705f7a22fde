"""The metrics that one looks at first, in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from types import MappingProxyType
from typing import Any

from queuesmith.base.errors import MetricError, ScheduleError
from queuesmith.schedule.measures import DEFAULT_BOUND, Jobs, awrt_by_group, checked_bound
from queuesmith.schedule.metrics import METRICS
from queuesmith.schedule.schedule import Schedule

#: The metrics of a summary, in the order of its rows.
FIRST_LOOK = (
    "makespan",
    "mean_wait",
    "median_wait",
    "p95_wait",
    "max_wait",
    "mean_response",
    "mean_bounded_slowdown",
    "utilization",
    "awrt",
    "artww",
    "sldwa",
)

Value = float | int | str | None | Mapping[int, float | None]


class Summary(Mapping[str, Value]):
    """A read-only table of what a schedule is worth; prints as text, shows as HTML.

    A metric that the schedule does not have, such as an average over no work, is None.
    """

    def __init__(self, rows: Mapping[str, Value], group_names: Mapping[int, str]) -> None:
        self._rows = MappingProxyType(dict(rows))
        self._group_names = MappingProxyType(dict(group_names))

    def __getitem__(self, key: str) -> Value:
        return self._rows[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        lines = self._lines()
        names = max(len(name) for name, _ in lines)
        values = max(len(value) for _, value in lines)
        return "\n".join(f"{name:<{names}}  {value:>{values}}" for name, value in lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:right'>{escape(value)}</td></tr>"
            for name, value in self._lines()
        )
        return f"<table>{rows}</table>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; groups are named by their numbers as text."""
        return {
            key: {str(group): each for group, each in value.items()}
            if isinstance(value, Mapping)
            else value
            for key, value in self.items()
        }

    def _lines(self) -> list[tuple[str, str]]:
        lines = []
        for key, value in self.items():
            if isinstance(value, Mapping):
                for group, each in value.items():
                    name = self._group_names.get(group, str(group))
                    lines.append((f"awrt[{name}]", _shown("awrt", each)))
            else:
                lines.append((key, _shown(key, value)))
        return lines


def summarize(schedule: Schedule, *, bound: float = DEFAULT_BOUND) -> Summary:
    """Return the metrics of a schedule that one looks at first.

    Parameters
    ----------
    schedule
        What is judged.
    bound
        The bound of the bounded slowdown, in seconds.
    """
    if not len(schedule):
        raise ScheduleError(
            f"schedule '{schedule.policy}' of workload '{schedule.workload.name}' has no jobs, "
            "so there is nothing to summarise. Give a workload that has jobs."
        )
    jobs, by_group = Jobs(schedule, checked_bound(bound)), awrt_by_group(schedule)
    rows: dict[str, Value] = {
        "policy": schedule.policy,
        "jobs": len(schedule),
        "dropped": schedule.workload.dropped,
    }
    for name in FIRST_LOOK:
        rows[name] = _or_none(name, jobs)
        if name == "awrt":
            rows["awrt_by_group"] = MappingProxyType(by_group)
    rows["seconds"] = schedule.seconds
    return Summary(rows, {group: schedule.workload.label("group", group) for group in by_group})


def _or_none(name: str, jobs: Jobs) -> float | None:
    try:
        return METRICS[name].function(jobs)
    except MetricError:
        return None


def _shown(key: str, value: object) -> str:
    if value is None:
        return "-"
    if key == "seconds":
        return f"{value:,.3f} s"
    if key == "utilization":
        return f"{value:.1%}"
    if isinstance(value, float):
        unit = " s" if METRICS[key].unit == "s" else ""
        return f"{value:,.1f}{unit}" if unit else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
