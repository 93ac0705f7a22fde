"""The figures of a workload, drawn from their data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.figures.style import style
from queuesmith.workload.figure_data import DAY, HOUR, FigureData, Floats

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLOUR = "#4c6e91"


def draw(name: str, data: FigureData) -> go.Figure:
    """Draw the figures of a workload from their data."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    drawn = panels(data)
    figure = make_subplots(rows=2, cols=3, subplot_titles=[panel[0] for panel in drawn])
    for place, (*_, x, y) in enumerate(drawn):
        row, col = place // 3 + 1, place % 3 + 1
        figure.add_trace(go.Bar(x=x, y=y, marker_color=COLOUR), row=row, col=col)
    style(figure, height=620)
    for place, (_, x_title, y_title, _, _) in enumerate(drawn):
        row, col = place // 3 + 1, place % 3 + 1
        figure.update_xaxes(title_text=x_title, row=row, col=col)
        figure.update_yaxes(title_text=y_title, row=row, col=col)
    figure.update_xaxes(**runtime_ticks(), row=2, col=2)
    figure.update_xaxes(type="category", row=2, col=1)
    figure.update_layout(title=name, showlegend=False, bargap=0.05, meta={})
    figure.update_layout(margin={"t": 70})
    return figure


def draw_each(data: FigureData) -> list[go.Figure]:
    """Draw the figures of a workload one by one."""
    import plotly.graph_objects as go

    figures = []
    for title, x_title, y_title, x, y in panels(data):
        figure = go.Figure(go.Bar(x=x, y=y, marker_color=COLOUR))
        style(figure, height=300, x=x_title, y=y_title)
        figure.update_layout(title=title, showlegend=False, bargap=0.05, meta={})
        figures.append(figure)
    figures[3].update_xaxes(type="category")
    figures[4].update_xaxes(**runtime_ticks())
    return figures


def runtime_ticks() -> dict[str, Any]:
    """Return where the axis of runtimes, which shows their logarithm, has which names."""
    ticks = {1: "1 s", 60: "1 min", HOUR: "1 h", DAY: "1 d"}
    return {"tickvals": [math.log10(t) for t in ticks], "ticktext": list(ticks.values())}


def panels(data: FigureData) -> list[tuple[str, str, str, Any, Any]]:
    """Return title, titles of both axes, and both coordinates of each panel."""
    has_load = data.load_by_week is not None
    return [
        ("Arrivals by hour", "hour of the day", "jobs", np.arange(24), data.by_hour),
        ("Arrivals by week", "week", "jobs", data.week, data.by_week),
        (
            "Offered load by week" if has_load else "Cores asked for by week",
            "week",
            "load (share of the machine)" if has_load else "cores, mean",
            data.week,
            data.load_by_week if has_load else data.asked_cores_by_week,
        ),
        ("Sizes", "cores", "jobs", list(data.cores_label), data.by_cores),
        ("Runtimes", "runtime", "jobs", _middles(data.log_runtime_edges), data.by_log_runtime),
        (
            "Accuracy of walltimes",
            "runtime / walltime",
            "jobs",
            _middles(data.accuracy_edges),
            data.by_accuracy,
        ),
    ]


def _middles(edges: Floats) -> Floats:
    return (edges[1:] + edges[:-1]) / 2
