"""A picture of a schedule: nodes by time with jobs in colour, the load of the links below."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from queuesmith.base.errors import UsageError
from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.federation.model.placed import (
    clusters_of,
    compaction_percent,
    job_names,
    job_nodes,
    last_end,
    link_load,
    on_cluster,
)
from queuesmith.figures.palette import POLICY_COLOURS
from queuesmith.figures.style import style
from queuesmith.schedule import Schedule

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: More rectangles than this make a page that no browser likes.
MOST_RECTANGLES = 20_000


class Rectangle(NamedTuple):
    """A job on neighbouring nodes: from ``first_node`` on, so many of them."""

    job: int
    first_node: int
    nodes: int
    start: int
    end: int


class PictureData(NamedTuple):
    """All that the picture shows.

    Attributes
    ----------
    rectangles
        Jobs on nodes.
    link_time
        When the load of some link changes; the last one is the end.
    link_share
        One row for each span, one column for each link: its load as a share of its bandwidth.
    """

    rectangles: list[Rectangle]
    link_time: Ints
    link_share: Floats


def picture_data(schedule: Schedule) -> PictureData:
    """Return what a picture of a schedule shows."""
    rectangles = [
        Rectangle(job, int(run[0]), len(run), int(schedule.start[job]), int(schedule.end[job]))
        for job, nodes in enumerate(job_nodes(schedule))
        for run in _neighbours(np.sort(nodes))
    ]
    load = link_load(schedule)
    return PictureData(rectangles, load.time, load.load / clusters_of(schedule).bandwidth)


def draw(schedule: Schedule) -> go.Figure:
    """Draw a schedule on a federation as a Plotly figure."""
    from plotly.subplots import make_subplots

    data = picture_data(schedule)
    if len(data.rectangles) > MOST_RECTANGLES:
        raise UsageError(
            f"the picture would have {len(data.rectangles):,} rectangles, but at most "
            f"{MOST_RECTANGLES:,} can be looked at. Draw a schedule of fewer jobs."
        )
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.72, 0.28], vertical_spacing=0.06
    )
    figure.add_trace(_jobs_trace(schedule, data), row=1, col=1)
    for link, name in enumerate(clusters_of(schedule).names):
        figure.add_trace(_link_trace(name, link, data), row=2, col=1)
    _add_borders(figure, schedule)
    style(figure, height=760)
    figure.update_layout(
        title=_title(schedule),
        bargap=0,
        hovermode="closest",
        margin={"t": 90, "r": 80},  # the title stands above the legend, clusters beside the nodes
    )
    figure.update_yaxes(title="node", autorange="reversed", row=1, col=1)
    figure.update_yaxes(title="load of links", tickformat=".0%", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(title="seconds", row=2, col=1)
    return figure


def _neighbours(nodes: Ints) -> list[Ints]:
    """Runs of nodes whose numbers follow each other."""
    return np.split(nodes, np.flatnonzero(np.diff(nodes) != 1) + 1)


def _jobs_trace(schedule: Schedule, data: PictureData) -> go.Bar:
    import plotly.graph_objects as go

    shown, names, clusters = data.rectangles, job_names(schedule), on_cluster(schedule)
    return go.Bar(
        orientation="h",
        base=[one.start for one in shown],
        x=[one.end - one.start for one in shown],
        y=[one.first_node + (one.nodes - 1) / 2 for one in shown],
        width=[one.nodes for one in shown],
        marker={
            "color": [_colour(one.job) for one in shown],
            "line": {"color": "white", "width": 1},
        },
        text=[names[one.job] for one in shown],
        textposition="inside",
        insidetextanchor="middle",
        hovertext=[
            f"job {names[one.job]}: {_where(schedule, clusters[one.job])}"
            f"<br>{one.start:,} to {one.end:,} s"
            for one in shown
        ],
        hoverinfo="text",
        showlegend=False,
    )


def _where(schedule: Schedule, counts: Ints) -> str:
    pairs = zip(clusters_of(schedule).names, counts, strict=True)
    return ", ".join(f"{count} on {name}" for name, count in pairs if count)


def _colour(number: int) -> str:
    return POLICY_COLOURS[number % len(POLICY_COLOURS)]


def _link_trace(name: str, link: int, data: PictureData) -> go.Scatter:
    import plotly.graph_objects as go

    share = data.link_share[:, link]
    return go.Scatter(
        x=data.link_time,
        y=np.append(share, share[-1:]),
        name=f"link of {name}",
        mode="lines",
        line={"shape": "hv", "color": _colour(link)},
    )


def _add_borders(figure: go.Figure, schedule: Schedule) -> None:
    """Lines between the clusters, whose names stand beside them; and where links are full."""
    last, everything = 0, clusters_of(schedule)
    for cluster in everything.clusters:
        middle = last + (cluster.nodes - 1) / 2
        figure.add_annotation(
            x=1.0, xref="paper", y=middle, yref="y", text=cluster.name, xanchor="left",
            showarrow=False,
        )  # fmt: skip
        last += cluster.nodes
        if last < everything.nodes:
            figure.add_hline(y=last - 0.5, line={"color": "#888", "width": 1}, row=1, col=1)
    figure.add_hline(y=1.0, line={"color": "#888", "dash": "dash", "width": 1}, row=2, col=1)


def _title(schedule: Schedule) -> str:
    words = f"{schedule.workload.name} on {schedule.cluster.name}, {schedule.policy}: "
    words += f"makespan {last_end(schedule):,} s, "
    words += f"compaction {compaction_percent(schedule):.1f} %"
    if schedule.gap_percent is not None:
        words += f", at most {schedule.gap_percent:.2f} % above the optimum"
    return words
