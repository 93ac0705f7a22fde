"""The off-line front as a figure: what could be had, and where the policies are."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from queuesmith.compiled.pareto import undominated
from queuesmith.figures.palette import FAINT, INK, POLICY_COLOURS
from queuesmith.figures.style import style
from queuesmith.learning.offline_front import Front
from queuesmith.report.figure_data import Floats
from queuesmith.report.wording import Scale, common_time_scale, duration, metric_title

if TYPE_CHECKING:
    import plotly.graph_objects as go

POINT_COLOUR, EDGE_COLOUR = FAINT, INK
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "hexagon", "pentagon")
#: How much of the figure is left empty around what it must show.
MARGIN = 0.06


@dataclass(frozen=True, eq=False)
class FrontData:
    """The front on its two axes, in seconds.

    Parameters
    ----------
    axes
        The objectives on the axes.
    x, y
        All points of the front; those behind its edge are better in another objective.
    edge_x, edge_y
        The points that none is better than on these two axes, from left to right.
    policies
        Where each policy is.
    """

    axes: tuple[str, str]
    x: Floats
    y: Floats
    edge_x: Floats
    edge_y: Floats
    policies: dict[str, tuple[float, float]]


def front_data(front: Front) -> FrontData:
    """Return what the figure shows."""
    x, y = front.projection()
    edge = undominated(np.column_stack([x, y]))
    edge = edge[np.argsort(x[edge], kind="stable")]
    first, second = front.axes
    policies = {each.name: (each.values[first], each.values[second]) for each in front.policies}
    return FrontData(front.axes, x, y, x[edge], y[edge], policies)


def draw_front(front: Front, names: dict[str, str] | None = None) -> go.Figure:
    """Draw the front as figure 7 of the paper does, with the policies marked.

    Parameters
    ----------
    front
        What is drawn.
    names
        What some of its policies are called in the figure.
    """
    import plotly.graph_objects as go

    data = front_data(front)
    scale = common_time_scale([*data.edge_x, *data.edge_y, *np.ravel(list(data.policies.values()))])
    called = names or {}
    figure = go.Figure()
    figure.add_scatter(
        x=data.x / scale.factor,
        y=data.y / scale.factor,
        name="off-line schedules, none better in all objectives",
        mode="markers",
        marker={"color": POINT_COLOUR, "size": 5},
        customdata=[_shortened(point.name) for point in front.points],
        hovertemplate="%{x:.4g}, %{y:.4g}<br>%{customdata}<extra></extra>",
    )
    figure.add_scatter(
        x=data.edge_x / scale.factor,
        y=data.edge_y / scale.factor,
        name="the best on these two axes",
        mode="lines",
        line={"color": EDGE_COLOUR, "shape": "hv", "width": 1.5, "dash": "solid"},
        hoverinfo="skip",
    )
    for place, (policy, (x, y)) in enumerate(data.policies.items()):
        figure.add_scatter(
            x=[x / scale.factor],
            y=[y / scale.factor],
            name=escape(called.get(policy, policy), quote=False),
            mode="markers",
            marker={
                "color": POLICY_COLOURS[place % len(POLICY_COLOURS)],
                "symbol": SYMBOLS[place % len(SYMBOLS)],
                "size": 12,
                "line": {"width": 1, "color": "white"},
            },
            hovertemplate=f"{duration(x)}, {duration(y)}",
        )
    first, second = (f"{metric_title(axis)} ({scale.unit})" for axis in data.axes)
    style(figure, height=480, x=first, y=second)
    figure.update_xaxes(range=_range([*data.edge_x, *_column(data, 0)], scale))
    figure.update_yaxes(range=_range([*data.edge_y, *_column(data, 1)], scale))
    return figure


def _column(data: FrontData, axis: int) -> list[float]:
    return [place[axis] for place in data.policies.values()]


def _range(values: list[float], scale: Scale) -> list[float]:
    """Return the part of an axis that holds the edge and all policies."""
    low, high = min(values) / scale.factor, max(values) / scale.factor
    room = MARGIN * max(high - low, 0.01 * high)
    return [low - room, high + room]


def _shortened(recipe: str) -> str:
    """Return a recipe in lines that fit beside a pointer."""
    return escape(recipe, quote=False).replace(",alpha", ",<br>alpha").replace(",wide", ",<br>wide")
