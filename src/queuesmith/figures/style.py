"""The one look of all figures, on light and on dark ground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
GRID = "rgba(128, 140, 155, 0.3)"


def style(figure: go.Figure, *, height: int, x: str = "", y: str = "") -> None:
    """Give a figure the look that all figures of a report share."""
    figure.update_layout(template="none", **_look(height))
    figure.update_xaxes(**plain_axis(x))
    figure.update_yaxes(**plain_axis(y))


def plain_layout(*, height: int, x: str = "", y: str = "") -> dict[str, Any]:
    """Return the same look as plain values, for figures that must be drawn in milliseconds."""
    # What Plotly itself makes of the template "none".
    template = {"data": {"scatter": [{"type": "scatter"}]}}
    axes = {"xaxis": plain_axis(x), "yaxis": plain_axis(y)}
    return {**_look(height), "template": template, **axes}


def plain_axis(title: str = "") -> dict[str, Any]:
    """Return the look of an axis."""
    return {
        "gridcolor": GRID,
        "zeroline": False,
        "title": {"text": title},
        "automargin": True,
    }


def _look(height: int) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 66, "r": 12, "t": 44, "b": 48},
        "font": {"family": FONT, "size": 13},
        "paper_bgcolor": "rgba(0, 0, 0, 0)",
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"},
        "hoverlabel": {"namelength": -1},
        "showlegend": True,
        "meta": {"legend": "page"},  # a report has room for its own legend above the figure
    }
