"""Figures as plain values, which Plotly draws as they are.

Plotly's own classes check every field and take a tenth of a second for a figure. A page that
follows a slider has not that much time; a report makes them from the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.base.words import so_many
from queuesmith.figures.palette import policy_colours, policy_dashes
from queuesmith.figures.style import plain_axis, plain_layout
from queuesmith.report.figure_data import (
    OverTime,
    common_parts,
    mean_waits,
    nice_edges,
    over_time_data,
    share_at_most,
    sorted_waits,
)
from queuesmith.report.wording import duration, time_scale
from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.timeline import horizon
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from queuesmith.report.comparison import Comparison

#: ``data`` and ``layout``, as Plotly takes them.
Figure = dict[str, Any]

TIME_TICKS = (1, 10, 60, 600, 3600, 21_600, 86_400, 864_000, 8_640_000)
TIME_NAMES = ("1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "10 d", "100 d")
#: What is drawn over time, one below the other.
OVER_TIME: Sequence[tuple[str, Callable[[OverTime], Any]]] = (
    ("utilization", lambda data: data.utilization),
    ("waiting jobs", lambda data: data.queue_length),
    ("backlog (core-h)", lambda data: data.backlog),
)
#: The share of the height between two of them.
SPACING = 0.05


def waits_figure(comparison: Comparison) -> Figure:
    """Return the figure of which share of the jobs started within which time."""
    longest = max(float(sorted_waits(each)[-1]) for each in comparison.schedules)
    lines = []
    waited: list[str] = []
    for schedule in comparison.schedules:
        curve = share_at_most(sorted_waits(schedule), largest=longest)  # at the same waits for all
        waited = waited or [duration(x) for x in curve.x.tolist()]
        line = line_of(comparison, schedule.policy, curve.x, curve.share)
        line["customdata"] = waited
        lines.append(line | {"hovertemplate": "%{y:.2%} waited at most %{customdata}"})
    layout = plain_layout(height=400, x="wait", y="share of jobs")
    shown = [i for i, seconds in enumerate(TIME_TICKS) if seconds <= max(longest * 1.5, 60)]
    layout["xaxis"] |= {
        "type": "log",
        "tickvals": [TIME_TICKS[i] for i in shown],
        "ticktext": [TIME_NAMES[i] for i in shown],
    }
    layout["yaxis"] |= {"tickformat": ".0%", "rangemode": "tozero"}
    return {"data": lines, "layout": layout}


def groups_figure(comparison: Comparison, by: str = "group") -> Figure:
    """Return the figure of the mean wait of each part of the jobs under each policy."""
    parts = common_parts([each.workload for each in comparison.schedules], by)
    means = {each.policy: mean_waits(each, parts) for each in comparison.schedules}
    scale = time_scale(max(float(data.mean.max()) for data in means.values()))
    bars = [
        {
            "type": "bar",
            "x": [escape(label, quote=False) for label in data.labels],
            "y": data.mean / scale.factor,
            "name": escape(policy, quote=False),
            "marker": {"color": policy_colours(comparison.policies)[policy]},
            "customdata": [
                f"{duration(mean)} ({so_many(jobs, 'job')})"
                for mean, jobs in zip(data.mean.tolist(), data.jobs.tolist(), strict=True)
            ],
            "hovertemplate": "%{x}: %{customdata}",
        }
        for policy, data in means.items()
    ]
    layout = plain_layout(height=380, y=f"mean wait ({scale.unit})")
    return {"data": bars, "layout": layout | {"barmode": "group", "bargap": 0.25}}


def over_time_figure(comparison: Comparison) -> Figure:
    """Return the figure of utilization, queue length and backlog over time."""
    edges = time_edges(comparison.schedules)
    when, unit = time_axis(comparison.dated, edges)
    lines = []
    for schedule in comparison.schedules:
        data = over_time_data(schedule, edges)
        for place, (_, values) in enumerate(OVER_TIME):
            drawn = np.append(values(data), values(data)[-1])
            line = line_of(comparison, schedule.policy, when, drawn, shown=place == 0)
            line["line"] |= {"shape": "hv", "width": 1.4}
            lines.append(line | {"xaxis": _axis("x", place), "yaxis": _axis("y", place)})
    layout = plain_layout(height=720) | _axes_over_time(unit) | {"hovermode": "x unified"}
    return {"data": lines, "layout": layout}


def _axes_over_time(unit: str) -> Figure:
    """Return the axes of the figures that stand one below the other and share their time."""
    count = len(OVER_TIME)
    height = (1 - SPACING * (count - 1)) / count
    axes: Figure = {}
    for place, (title, _) in enumerate(OVER_TIME):
        last = place == count - 1
        low = (count - 1 - place) * (height + SPACING)
        number = "" if place == 0 else str(place + 1)
        axes[f"xaxis{number}"] = plain_axis(unit if last else "") | {
            "anchor": _axis("y", place),
            "domain": [0.0, 1.0],
            **({} if last else {"matches": _axis("x", count - 1), "showticklabels": False}),
        }
        axes[f"yaxis{number}"] = plain_axis(title) | {
            "anchor": _axis("x", place),
            "domain": [low, low + height],
            "rangemode": "tozero",
            **({"tickformat": ".0%"} if place == 0 else {}),
        }
    return axes


def _axis(letter: str, place: int) -> str:
    return letter if place == 0 else f"{letter}{place + 1}"


def line_of(comparison: Comparison, policy: str, x: Any, y: Any, *, shown: bool = True) -> Figure:
    """Return the line of a policy, in its colour."""
    name = escape(policy, quote=False)
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "name": name,
        "mode": "lines",
        "line": {
            "color": policy_colours(comparison.policies)[policy],
            "dash": policy_dashes(comparison.policies)[policy],
            "width": 2,
        },
        "legendgroup": name,
        "showlegend": shown,
    }


def time_edges(schedules: Sequence[Schedule]) -> Ints:
    """Return the bins of time that all schedules share."""
    first, last = zip(*map(horizon, schedules), strict=True)
    return nice_edges(min(first), max(last))


def time_axis(workload: Workload, edges: Ints) -> tuple[Any, str]:
    """Return instants as an axis shows them, and its title: dates, or time since the beginning."""
    if workload.epoch is not None:
        return (edges + workload.epoch).astype("datetime64[s]"), ""
    scale = time_scale(float(edges[-1] - edges[0]))
    return (edges - edges[0]) / scale.factor, f"time ({scale.unit})"
