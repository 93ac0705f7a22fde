"""Figures 3 and 4 of the multi-cluster study, drawn: means over seeds with 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from papers.multicluster_runs import LOADS, PAPER_HEURISTICS, SLOT_PERCENTS
from papers.study import mean_and_half
from queuesmith.figures.palette import POLICY_COLOURS
from queuesmith.figures.style import style

if TYPE_CHECKING:
    from papers.multicluster_tables import Summary


def all_figures(summary: Summary) -> dict[str, Any]:
    """Draw figures 3, 4(a) and 4(b), and the streams, by their titles."""
    return {
        "Figure 3: the size of the time slots": draw_slots(summary),
        "Figure 4a: makespan above oas": draw_workloads(summary, compaction=False),
        "Figure 4b: compaction": draw_workloads(summary, compaction=True),
        "Streams: the mean wait of oas against each heuristic": draw_streams(summary),
    }


def draw_slots(summary: Summary) -> Any:
    """Draw figure 3: what slots cost, and how much of the nodes' time they leave in use."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.1)
    lines = {
        "loss, %": [summary.loss(p) for p in SLOT_PERCENTS],
        "compaction, %": [[x["compaction"] for x in summary.slot_pieces[p]] for p in SLOT_PERCENTS],
    }
    for row, (name, values) in enumerate(lines.items(), 1):
        figure.add_scatter(
            x=list(SLOT_PERCENTS),
            name=name,
            mode="lines+markers",
            line={"color": POLICY_COLOURS[row - 1]},
            row=row,
            col=1,
            **_bars(values),
        )
    _titled(figure, "Figure 3: the size of the time slots", 560)
    for row, name in enumerate(lines, 1):
        figure.update_yaxes(title=name, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title="slot size, % of the mean base time", row=2, col=1)
    return figure


def draw_workloads(summary: Summary, *, compaction: bool) -> Any:
    """Draw figure 4(a), how far makespans are above oas, or 4(b), the compaction."""
    import plotly.graph_objects as go

    from papers.multicluster_tables import METHODS

    figure = go.Figure()
    names = list(summary.workloads)
    for colour, method in enumerate(METHODS if compaction else METHODS[:-1]):
        values = [
            [piece[method]["compaction"] for piece in summary.workloads[name]]
            if compaction
            else summary.above(name, method)
            for name in names
        ]
        figure.add_bar(
            x=names,
            name=method,
            marker_color=POLICY_COLOURS[colour % len(POLICY_COLOURS)],
            **_bars(values),
        )
    figure.update_layout(barmode="group")
    title = "Figure 4(b): compaction" if compaction else "Figure 4(a): makespan above oas"
    return _titled(figure, title, 460, "compaction, %" if compaction else "above oas, %")


def draw_streams(summary: Summary) -> Any:
    """Draw by how much oas changes the mean wait of streams against each heuristic."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for colour, load in enumerate(LOADS):
        values = [
            [100 * (p["oas"]["wait"] / p[name]["wait"] - 1) for p in summary.streams_at[load]]
            for name in PAPER_HEURISTICS
        ]
        figure.add_bar(
            x=[name.upper() for name in PAPER_HEURISTICS],
            name=f"load {load:g}",
            marker_color=POLICY_COLOURS[colour],
            **_bars(values),
        )
    title = "Streams: oas against each heuristic"
    return _titled(figure, title, 460, "change of the mean wait by oas, %")


def _bars(values: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return means and half intervals as Plotly takes them."""
    found = [mean_and_half(some) if some else (None, None) for some in values]
    halves = [half or 0.0 for _, half in found]
    return {"y": [mean for mean, _ in found], "error_y": {"type": "data", "array": halves}}


def _titled(figure: Any, title: str, height: int, y: str = "") -> Any:
    style(figure, height=height, y=y)
    figure.update_layout(title=title, margin={"t": 90})
    return figure
