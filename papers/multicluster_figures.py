"""Figures 3 and 4 of the multi-cluster study, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from queuesmith.figures.palette import POLICY_COLOURS

if TYPE_CHECKING:
    from papers.multicluster import Compared

GRID = "rgba(128, 140, 155, 0.3)"


def slot_data(rows: Sequence[dict[str, object]]) -> dict[str, list[float]]:
    """Return the lines of figure 3: makespans, seconds and compaction by slot size."""
    return {
        "slot size, % of the mean base time": [float(str(row["slot %"])) for row in rows],
        "makespan of the slot model": [float(str(row["makespan then"])) for row in rows],
        "optimum without slots": [float(str(row["optimum without slots"])) for row in rows],
        "seconds of HiGHS": [float(str(row["MIP s"])) for row in rows],
        "compaction, %": [float(str(row["compaction %"])) for row in rows],
    }


def draw_slots(data: dict[str, list[float]]) -> Any:
    """Draw figure 3."""
    from plotly.subplots import make_subplots

    names = list(data)
    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    for colour, (name, row) in enumerate(zip(names[1:], (1, 1, 2, 3), strict=True)):
        figure.add_scatter(
            x=data[names[0]],
            y=data[name],
            name=name,
            mode="lines+markers",
            line={"color": POLICY_COLOURS[colour]},
            row=row,
            col=1,
        )
    for row, title in ((1, "makespan, s"), (2, "seconds"), (3, "%")):
        figure.update_yaxes(title=title, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title=names[0], row=3, col=1)
    figure.update_layout(title="Figure 3: the size of the time slots", height=760)
    return _plain(figure)


def draw_workloads(workloads: Sequence[Compared], *, compaction: bool) -> Any:
    """Draw figure 4(a), the makespans, or 4(b), the compaction degrees."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for colour, method in enumerate(workloads[0].placements):
        found = [each.placements[method] for each in workloads]
        figure.add_bar(
            x=[each.name for each in workloads],
            y=[each.compaction_percent if compaction else each.makespan for each in found],
            name=method,
            marker_color=POLICY_COLOURS[colour % len(POLICY_COLOURS)],
        )
    title = "Figure 4(b): compaction" if compaction else "Figure 4(a): makespan"
    figure.update_layout(title=title, barmode="group", height=460)
    figure.update_yaxes(title="%" if compaction else "seconds")
    return _plain(figure)


def all_figures(slots: Sequence[dict[str, object]], workloads: Sequence[Compared]) -> list[Any]:
    """Draw figures 3 and 4."""
    return [
        draw_slots(slot_data(slots)),
        draw_workloads(workloads, compaction=False),
        draw_workloads(workloads, compaction=True),
    ]


def _plain(figure: Any) -> Any:
    figure.update_layout(paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)")
    figure.update_xaxes(gridcolor=GRID, zeroline=False)
    figure.update_yaxes(gridcolor=GRID, zeroline=False)
    return figure
