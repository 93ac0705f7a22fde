"""The figures of a report, drawn with Plotly from the numbers of ``figure_data``.

Every policy has the same colour in all figures. Grounds are transparent, so that figures stand
on a light and on a dark page.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.figures.palette import HISTORY_COLOUR, INK, policy_colours, policy_dashes
from queuesmith.figures.style import style
from queuesmith.report.figure_data import (
    Curve,
    OverTime,
    group_means,
    nice_edges,
    over_time_data,
    relative_data,
    share_above,
    share_at_most,
    user_groups,
)
from queuesmith.report.table import scales
from queuesmith.report.wording import duration, metric_title, plain, time_scale
from queuesmith.schedule.measures import bounded_slowdown
from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.timeline import horizon
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from queuesmith.report.comparison import Comparison

#: Beyond so many times between the largest and the smallest bar the axis is logarithmic.
WIDE_RANGE = 20
TIME_TICKS = (1, 10, 60, 600, 3600, 21_600, 86_400, 864_000, 8_640_000)
TIME_NAMES = ("1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "10 d", "100 d")
#: A label below an axis is broken between words beyond so many characters.
LABEL_WIDTH = 14


def draw_relative(comparison: Comparison) -> go.Figure:
    """Draw every metric of every policy relative to the first replay."""
    import plotly.graph_objects as go

    scale = scales(comparison)
    titles = [_metric_label(comparison, metric) for metric in comparison.metrics]
    figure = go.Figure()
    seen: list[float] = []
    for policy, data in relative_data(comparison).items():
        seen += data.value[np.isfinite(data.value) & (data.value > 0)].tolist()
        values = [scale[m].text(comparison.values[policy][m]) for m in comparison.metrics]
        figure.add_bar(
            x=titles,
            y=data.value,
            name=escape(policy, quote=False),
            marker_color=policy_colours(comparison.policies)[policy],
            customdata=values,
            error_y=_error_bars(data.below, data.above),
            hovertemplate="%{x}: %{customdata}<br>%{y:.1f} %",
        )
    first = escape(comparison.baseline, quote=False)
    style(figure, height=380, y=f"% of {first}")
    figure.add_hline(y=100, line_width=1, line_dash="dot", line_color=HISTORY_COLOUR)
    figure.update_layout(barmode="group", bargap=0.25)
    figure.update_xaxes(tickangle=0, tickfont_size=12)
    if seen and max(seen) > WIDE_RANGE * min(seen):
        figure.update_yaxes(type="log", dtick=1)
    return figure


def draw_waits(comparison: Comparison) -> go.Figure:
    """Draw which share of the jobs started within which time."""
    longest = max(float(schedule.wait.max()) for schedule in comparison.schedules)
    figure = _curves(
        comparison,
        lambda schedule: share_at_most(schedule.wait, largest=longest),
        "waited at most",
    )
    style(figure, height=400, x="wait", y="share of jobs")
    shown = [i for i, seconds in enumerate(TIME_TICKS) if seconds <= max(longest * 1.5, 60)]
    figure.update_xaxes(
        type="log",
        tickvals=[TIME_TICKS[i] for i in shown],
        ticktext=[TIME_NAMES[i] for i in shown],
    )
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return figure


def draw_slowdowns(comparison: Comparison) -> go.Figure:
    """Draw which share of the jobs was slowed down by more than which factor."""
    figure = _curves(
        comparison,
        lambda schedule: share_above(bounded_slowdown(schedule, comparison.bound)),
        "slowed down above",
    )
    style(figure, height=400, x="bounded slowdown", y="share of jobs above")
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1, tickformat=".3~%")
    return figure


def draw_groups(comparison: Comparison) -> go.Figure:
    """Draw the mean wait of each user group under each policy."""
    import plotly.graph_objects as go

    groups = user_groups(comparison.workload)
    means = {each.policy: group_means(each, groups, each.wait) for each in comparison.schedules}
    scale = time_scale(max(float(data.mean.max()) for data in means.values()))
    figure = go.Figure()
    for policy, data in means.items():
        figure.add_bar(
            x=[escape(label, quote=False) for label in data.labels],
            y=data.mean / scale.factor,
            name=escape(policy, quote=False),
            marker_color=policy_colours(comparison.policies)[policy],
            customdata=[
                f"{duration(mean)} ({plain(jobs)} jobs)"
                for mean, jobs in zip(data.mean, data.jobs.tolist(), strict=True)
            ],
            hovertemplate="%{x}: %{customdata}",
        )
    style(figure, height=380, y=f"mean wait ({scale.unit})")
    figure.update_layout(barmode="group", bargap=0.25)
    return figure


def draw_over_time(comparison: Comparison) -> go.Figure:
    """Draw utilisation, queue length and backlog over time, one below the other."""
    from plotly.subplots import make_subplots

    parts: Sequence[tuple[str, Callable[[OverTime], Any]]] = (
        ("utilisation", lambda data: data.utilization),
        ("waiting jobs", lambda data: data.queue_length),
        ("backlog (core-h)", lambda data: data.backlog),
    )
    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.05)
    edges = time_edges(comparison.schedules)
    when, unit = time_axis(comparison.workload, edges)
    for schedule in comparison.schedules:
        data = over_time_data(schedule, edges)
        for row, (_, values) in enumerate(parts, start=1):
            drawn = np.append(values(data), values(data)[-1])
            line = _line(comparison, schedule.policy, when, drawn, shown=row == 1)
            figure.add_trace(line.update(line_shape="hv", line_width=1.4), row=row, col=1)
    style(figure, height=720)
    figure.update_layout(hovermode="x unified")
    for row, (title, _) in enumerate(parts, start=1):
        figure.update_yaxes(title_text=title, rangemode="tozero", row=row, col=1)
    figure.update_yaxes(tickformat=".0%", row=1, col=1)
    figure.update_xaxes(title_text=unit, row=3, col=1)
    return figure


def time_edges(schedules: Sequence[Schedule]) -> Any:
    """Return the bins of time that all schedules share."""
    first, last = zip(*map(horizon, schedules), strict=True)
    return nice_edges(min(first), max(last))


def _curves(comparison: Comparison, curve_of: Callable[[Schedule], Curve], words: str) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    for schedule in comparison.schedules:
        curve = curve_of(schedule)
        line = _line(comparison, schedule.policy, curve.x, curve.share)
        if words.startswith("waited"):
            line.update(customdata=[duration(x) for x in curve.x])
            line.update(hovertemplate=f"%{{y:.2%}} {words} %{{customdata}}")
        else:
            line.update(hovertemplate=f"%{{y:.2%}} {words} %{{x:.3s}}")
        figure.add_trace(line)
    return figure


def _line(comparison: Comparison, policy: str, x: Any, y: Any, *, shown: bool = True) -> go.Scatter:
    import plotly.graph_objects as go

    look = {
        "color": policy_colours(comparison.policies)[policy],
        "dash": policy_dashes(comparison.policies)[policy],
        "width": 2,
    }
    name = escape(policy, quote=False)
    return go.Scatter(
        x=x, y=y, name=name, mode="lines", line=look, legendgroup=name, showlegend=shown
    )


def _error_bars(below: Any, above: Any) -> dict[str, Any] | None:
    if not np.isfinite(above).any():
        return None
    return {
        "type": "data",
        "array": np.nan_to_num(above),
        "arrayminus": np.nan_to_num(below),
        "thickness": 1,
        "width": 3,
        "color": INK,
    }


def _metric_label(comparison: Comparison, metric: str) -> str:
    words = textwrap.wrap(metric_title(metric), LABEL_WIDTH, break_long_words=False)
    title = "<br>".join(escape(line, quote=False) for line in words)
    higher = comparison.objectives[metric].better == "higher"
    return f"{title}<br>(higher<br>is better)" if higher else title


def time_axis(workload: Workload, edges: Ints) -> tuple[Any, str]:
    """Return instants as an axis shows them, and its title: dates, or time since the beginning."""
    if workload.epoch is not None:
        return (edges + workload.epoch).astype("datetime64[s]"), ""
    scale = time_scale(float(edges[-1] - edges[0]))
    return (edges - edges[0]) / scale.factor, f"time ({scale.unit})"
