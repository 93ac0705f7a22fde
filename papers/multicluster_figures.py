"""Figures 3 and 4 of the multi-cluster study, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from queuesmith.federation.model.placed import compaction_percent, last_end
from queuesmith.figures.palette import POLICY_COLOURS
from queuesmith.figures.style import style

if TYPE_CHECKING:
    from papers.multicluster import Compared


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
    _titled(figure, "Figure 3: the size of the time slots", 760)
    for row, title in ((1, "makespan, s"), (2, "seconds"), (3, "%")):
        figure.update_yaxes(title=title, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title=names[0], row=3, col=1)
    return figure


def draw_workloads(workloads: Sequence[Compared], *, compaction: bool) -> Any:
    """Draw figure 4(a), the makespans, or 4(b), the compaction degrees."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for colour, method in enumerate(workloads[0].schedules):
        found = [each.schedules[method] for each in workloads]
        figure.add_bar(
            x=[each.name for each in workloads],
            y=[compaction_percent(each) if compaction else last_end(each) for each in found],
            name=method,
            marker_color=POLICY_COLOURS[colour % len(POLICY_COLOURS)],
        )
    title = "Figure 4(b): compaction" if compaction else "Figure 4(a): makespan"
    figure.update_layout(barmode="group")
    _titled(figure, title, 460)
    figure.update_yaxes(title="%" if compaction else "seconds")
    return figure


def all_figures(slots: Sequence[dict[str, object]], workloads: Sequence[Compared]) -> list[Any]:
    """Draw figures 3 and 4."""
    return [
        draw_slots(slot_data(slots)),
        draw_workloads(workloads, compaction=False),
        draw_workloads(workloads, compaction=True),
    ]


def _titled(figure: Any, title: str, height: int) -> Any:
    style(figure, height=height)
    figure.update_layout(title=title, margin={"t": 90})
    return figure
