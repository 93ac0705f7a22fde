"""The figures of a report, drawn with Plotly from the numbers of ``figure_data``.

Every policy has the same colour in all figures. Grounds are transparent, so that figures stand
on a light and on a dark page.
"""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.figures.palette import HISTORY_COLOUR, INK, policy_colours
from queuesmith.figures.style import style
from queuesmith.report.figure_data import relative_data, share_above
from queuesmith.report.plain_figures import (
    groups_figure,
    line_of,
    over_time_figure,
    waits_figure,
)
from queuesmith.report.table import scales
from queuesmith.report.wording import metric_title
from queuesmith.schedule.measures import bounded_slowdown

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from queuesmith.report.comparison import Comparison

#: Beyond so many times between the largest and the smallest bar the axis is logarithmic.
WIDE_RANGE = 20
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
    import plotly.graph_objects as go

    return go.Figure(waits_figure(comparison))


def draw_slowdowns(comparison: Comparison) -> go.Figure:
    """Draw which share of the jobs was slowed down by more than which factor."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for schedule in comparison.schedules:
        curve = share_above(bounded_slowdown(schedule, comparison.bound))
        line = line_of(comparison, schedule.policy, curve.x, curve.share)
        figure.add_scatter(**line, hovertemplate="%{y:.2%} slowed down above %{x:.3s}")
    style(figure, height=400, x="bounded slowdown", y="share of jobs above")
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1, tickformat=".3~%")
    return figure


def draw_groups(comparison: Comparison, by: str = "group") -> go.Figure:
    """Draw the mean wait of each user group, or of other parts of the jobs, under each policy."""
    import plotly.graph_objects as go

    return go.Figure(groups_figure(comparison, by))


def draw_over_time(comparison: Comparison) -> go.Figure:
    """Draw utilization, queue length and backlog over time, one below the other."""
    import plotly.graph_objects as go

    return go.Figure(over_time_figure(comparison))


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
