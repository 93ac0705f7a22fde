"""A picture of a placement: nodes by time with jobs in colour, the load of the links below."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from queuesmith.base.errors import UsageError
from queuesmith.federation.model.federation import Floats, Ints
from queuesmith.federation.model.placement import Placement

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: Told apart by colour-blind readers (Okabe and Ito 2008, Tol's muted scheme).
COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
    "#d55e00", "#999933", "#aa4499", "#44aa99", "#cc6677",
)  # fmt: skip
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


def picture_data(placement: Placement) -> PictureData:
    """Return what a picture of a placement shows."""
    rectangles = [
        Rectangle(job, int(run[0]), len(run), int(placement.start[job]), int(placement.end[job]))
        for job in range(len(placement.jobs))
        for run in _neighbours(np.sort(placement.nodes_of(job)))
    ]
    load = placement.link_load()
    return PictureData(rectangles, load.time, load.load / placement.federation.bandwidth)


def draw(placement: Placement) -> go.Figure:
    """Draw a placement as a Plotly figure."""
    from plotly.subplots import make_subplots

    data = picture_data(placement)
    if len(data.rectangles) > MOST_RECTANGLES:
        raise UsageError(
            f"the picture would have {len(data.rectangles):,} rectangles, but at most "
            f"{MOST_RECTANGLES:,} can be looked at. Draw a placement of fewer jobs."
        )
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.72, 0.28], vertical_spacing=0.06
    )
    figure.add_trace(_jobs_trace(placement, data), row=1, col=1)
    for link, name in enumerate(placement.federation.names):
        figure.add_trace(_link_trace(name, link, data), row=2, col=1)
    _add_borders(figure, placement)
    figure.update_layout(
        title=_title(placement), bargap=0, template="plotly_white", height=760, hovermode="closest"
    )
    figure.update_yaxes(title="node", autorange="reversed", row=1, col=1)
    figure.update_yaxes(title="load of links", tickformat=".0%", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(title="seconds", row=2, col=1)
    return figure


def _neighbours(nodes: Ints) -> list[Ints]:
    """Runs of nodes whose numbers follow each other."""
    return np.split(nodes, np.flatnonzero(np.diff(nodes) != 1) + 1)


def _jobs_trace(placement: Placement, data: PictureData) -> go.Bar:
    import plotly.graph_objects as go

    shown = data.rectangles
    return go.Bar(
        orientation="h",
        base=[one.start for one in shown],
        x=[one.end - one.start for one in shown],
        y=[one.first_node + (one.nodes - 1) / 2 for one in shown],
        width=[one.nodes for one in shown],
        marker={
            "color": [COLOURS[one.job % len(COLOURS)] for one in shown],
            "line": {"color": "white", "width": 1},
        },
        text=[placement.jobs.id[one.job] for one in shown],
        textposition="inside",
        insidetextanchor="middle",
        hovertext=[_told(placement, one) for one in shown],
        hoverinfo="text",
        showlegend=False,
    )


def _told(placement: Placement, one: Rectangle) -> str:
    counts = placement.on_cluster[one.job]
    where = ", ".join(
        f"{count} on {name}"
        for name, count in zip(placement.federation.names, counts, strict=True)
        if count
    )
    return f"job {placement.jobs.id[one.job]}: {where}<br>{one.start:,} to {one.end:,} s"


def _link_trace(name: str, link: int, data: PictureData) -> go.Scatter:
    import plotly.graph_objects as go

    share = data.link_share[:, link]
    return go.Scatter(
        x=data.link_time,
        y=np.append(share, share[-1:]),
        name=f"link of {name}",
        mode="lines",
        line={"shape": "hv", "color": COLOURS[link % len(COLOURS)]},
    )


def _add_borders(figure: go.Figure, placement: Placement) -> None:
    """Lines between the clusters, whose names stand beside them; and where links are full."""
    last = 0
    for cluster in placement.federation.clusters:
        middle = last + (cluster.nodes - 1) / 2
        figure.add_annotation(
            x=1.0, xref="paper", y=middle, yref="y", text=cluster.name, xanchor="left",
            showarrow=False,
        )  # fmt: skip
        last += cluster.nodes
        if last < placement.federation.nodes:
            figure.add_hline(y=last - 0.5, line={"color": "#888", "width": 1}, row=1, col=1)
    figure.add_hline(y=1.0, line={"color": "#888", "dash": "dash", "width": 1}, row=2, col=1)


def _title(placement: Placement) -> str:
    words = f"{placement.jobs.name} on {placement.federation.name}, {placement.method}: "
    words += f"makespan {placement.makespan:,} s, compaction {placement.compaction_percent:.1f} %"
    if placement.gap_percent is not None:
        words += f", at most {placement.gap_percent:.2f} % above the optimum"
    return words
