"""The pictures of knobs, drawn with Plotly from the numbers of ``figure_data``."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.figures.palette import HISTORY_COLOUR, POLICY_COLOURS
from queuesmith.figures.style import plain_axis, style
from queuesmith.knobs.figure_data import Activity, Cloud, SizeCurve
from queuesmith.knobs.scaling import Scaling
from queuesmith.schedule.measures import CLASSES

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLOURS = dict(zip(CLASSES, POLICY_COLOURS, strict=False))
LINE, SECOND_LINE = POLICY_COLOURS[0], POLICY_COLOURS[5]
HEIGHT = 450
MEANING = {"A": "large, long", "B": "large, short", "C": "small, long", "D": "small, short"}
_HOVER = (
    "alpha %{customdata[0]:g}, beta %{customdata[1]:g}, gamma %{customdata[2]:g}<br>"
    "E<sub>f</sub> %{y:.4g}, makespan %{x:,.0f} s<br>%{customdata[3]:,} settings"
)


def draw_cloud(clouds: Sequence[Cloud], *, title: str = "") -> go.Figure:
    """Draw E_f by class against the makespan, the front of each class marked (figure 6)."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for cloud in clouds:
        name = f"{cloud.name}: {MEANING[cloud.name]}"
        _add_points(figure, cloud, ~cloud.on_front, name, {"size": 4, "opacity": 0.5})
        front = {"size": 9, "symbol": "diamond", "line": {"width": 1, "color": "#222"}}
        _add_points(figure, cloud, cloud.on_front, f"{name}, front", front)
    return _styled(figure, title, "makespan (s)", "E<sub>f</sub>, mean of the class")


def _add_points(
    figure: go.Figure, cloud: Cloud, chosen: Any, name: str, marker: dict[str, Any]
) -> None:
    knobs = np.column_stack([cloud.settings[chosen], cloud.count[chosen]])
    figure.add_scatter(  # SVG, since not every browser has WebGL
        x=cloud.makespan[chosen],
        y=cloud.expansion_factor[chosen],
        customdata=knobs,
        hovertemplate=_HOVER,
        mode="markers",
        name=name,
        marker={"color": COLOURS[cloud.name], **marker},
    )


def draw_activity(activity: Activity, *, title: str = "") -> go.Figure:
    """Draw utilization and running jobs over time (figures 2 and 3)."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.add_scatter(
        x=activity.seconds,
        y=100 * activity.utilization,
        name="utilization (%)",
        line={"color": LINE, "shape": "hv"},
    )
    figure.add_scatter(
        x=activity.seconds,
        y=activity.running_jobs,
        name="running jobs",
        yaxis="y2",
        line={"color": SECOND_LINE, "shape": "hv"},
    )
    _styled(figure, title, "second", "utilization (%)")
    figure.update_yaxes(rangemode="tozero")
    right = {**plain_axis("running jobs"), "overlaying": "y", "side": "right", "showgrid": False}
    return figure.update_layout(yaxis2={**right, "rangemode": "tozero"}, margin_r=66)


def draw_shares(scaling: Scaling, *, title: str = "") -> go.Figure:
    """Draw the makespan against the share (figure 4)."""
    import plotly.graph_objects as go

    figure = go.Figure()
    names = [at if isinstance(at, str) else f"{float(at):g}" for at in scaling.at]  # type: ignore[arg-type]
    figure.add_bar(x=names, y=scaling.makespans, marker_color=LINE, name="makespan")
    figure.update_xaxes(type="category")
    return _styled(figure, title, "share", "makespan (s)")


def draw_sizes(curve: SizeCurve, *, title: str = "", law: str = "power law") -> go.Figure:
    """Draw the makespan against the size of the machine, with its power law (figure 5)."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.add_scatter(
        x=[*curve.x, *curve.x[::-1]],
        y=[*curve.high, *curve.low[::-1]],
        fill="toself",
        fillcolor="rgba(138, 143, 152, 0.25)",
        line={"width": 0},
        hoverinfo="skip",
        name="95 % of the exponent",
    )
    figure.add_scatter(
        x=curve.x,
        y=curve.law,
        name=escape(law, quote=False),
        line={"color": HISTORY_COLOUR, "dash": "dash"},
    )
    figure.add_scatter(
        x=curve.cores,
        y=curve.makespan,
        name="measured",
        mode="markers",
        marker={"color": LINE, "size": 9},
    )
    figure.update_xaxes(type="log", tickvals=curve.cores.tolist())
    figure.update_yaxes(type="log")
    return _styled(figure, title, "cores", "makespan (s)")


def _styled(figure: go.Figure, title: str, x: str, y: str) -> go.Figure:
    style(figure, height=HEIGHT, x=x, y=y)
    figure.update_layout(title=escape(title, quote=False), legend={"y": -0.2, "yanchor": "top"})
    return figure
