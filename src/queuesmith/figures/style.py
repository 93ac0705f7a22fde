"""The one look of all figures, on light and on dark ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
GRID = "rgba(128, 140, 155, 0.3)"


def style(figure: go.Figure, *, height: int, x: str = "", y: str = "") -> None:
    """Give a figure the look that all figures of a report share."""
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 66, "r": 12, "t": 44, "b": 48},
        font={"family": FONT, "size": 13},
        paper_bgcolor="rgba(0, 0, 0, 0)",
        plot_bgcolor="rgba(0, 0, 0, 0)",
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"},
        hoverlabel={"namelength": -1},
        showlegend=True,
        meta={"legend": "page"},  # a report has room for its own legend above the figure
    )
    figure.update_xaxes(gridcolor=GRID, zeroline=False, title_text=x, automargin=True)
    figure.update_yaxes(gridcolor=GRID, zeroline=False, title_text=y, automargin=True)
