"""One schedule as a picture: busy cores and waiting jobs over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from queuesmith.figures.palette import INK, POLICY_COLOURS
from queuesmith.figures.style import style
from queuesmith.schedule.timeline import CurveName, curve, horizon

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from queuesmith.schedule.schedule import Schedule

#: Over so many stretches of time averages are taken.
BINS = 400


def draw_schedule(schedule: Schedule) -> go.Figure:
    """Draw the busy cores and the number of waiting jobs, each as an average over short times."""
    from plotly.subplots import make_subplots

    first, last = horizon(schedule)
    count = max(min(BINS, last - first), 1)
    edges = np.unique(np.linspace(first, max(last, first + 1), count + 1).astype(np.int64))
    epoch = schedule.workload.epoch
    when = edges[:-1] / 3600 if epoch is None else (edges[:-1] + epoch).astype("datetime64[s]")
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    names: dict[str, CurveName] = {"busy cores": "busy_cores", "waiting jobs": "queue_length"}
    for row, (title, name) in enumerate(names.items(), start=1):
        mean = curve(schedule, name).between(edges).mean
        line = {"color": POLICY_COLOURS[row - 1], "shape": "hv"}
        figure.add_scatter(x=when, y=mean, name=title, line=line, row=row, col=1)
    style(figure, height=460)
    figure.add_hline(y=schedule.cluster.cores, line_dash="dot", line_color=INK, row=1, col=1)
    for row, title in enumerate(names, start=1):
        figure.update_yaxes(title_text=title, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title_text="" if epoch is not None else "time (h)", row=2, col=1)
    figure.update_layout(title=f"{schedule.policy} on {schedule.workload.name}", showlegend=False)
    return figure
