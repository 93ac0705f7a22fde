"""How fast genetic schedulers become better: figure data first, then the drawing.

Figures 3 to 7 of Carretero, Xhafa and Abraham compare operators so: the mean makespan of the best
individual of several runs, over the generations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from queuesmith.base.errors import UsageError
from queuesmith.base.registry import known
from queuesmith.figures.palette import HISTORY_COLOUR, policy_colours, policy_dashes
from queuesmith.figures.style import style
from queuesmith.grid.etc.matrix import Floats
from queuesmith.grid.genetic.result import GeneticResult
from queuesmith.grid.genetic.runs import GeneticRuns

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_POINTS = 400
AXES = ("generations", "children", "seconds")
VALUES = ("makespan", "flowtime")


@dataclass(frozen=True, eq=False)
class Convergence:
    """The mean best value of some runs, from the start to the end of the shortest-lived axis.

    Parameters
    ----------
    x
        Generations, children or seconds.
    mean, low, high
        The mean over the runs of the best so far, the least and the greatest of them.
    """

    x: Floats
    mean: Floats
    low: Floats
    high: Floats


def convergence_data(
    runs: Mapping[str, GeneticRuns | Sequence[GeneticResult]],
    *,
    over: str = "generations",
    value: str = "makespan",
) -> dict[str, Convergence]:
    """Return one curve for each name.

    Parameters
    ----------
    runs
        The runs of each configuration, by the name that the figure shows.
    over
        ``generations``, ``children`` (where generations differ in size) or ``seconds``.
    value
        ``makespan`` or ``flowtime``.

    Notes
    -----
    The best so far stays what it is until it changes, and after a run has ended.
    """
    known("axis", over, AXES)
    known("value", value, VALUES)
    if not runs or any(not _results(r) for r in runs.values()):
        raise UsageError("a convergence figure needs at least one run of each name. Give some.")
    last = max(float(_when(r, over)[-1]) for rs in runs.values() for r in _results(rs))
    x = np.linspace(0.0, last, MOST_POINTS)
    if over != "seconds":
        x = np.unique(x.round())
    return {name: _curve(_results(some), x, over, value) for name, some in runs.items()}


def draw_convergence(
    data: Mapping[str, Convergence],
    *,
    title: str = "",
    over: str = "generations",
    value: str = "makespan",
    bound: float | None = None,
) -> go.Figure:
    """Draw the curves of ``convergence_data``, and a lower bound where there is one."""
    import plotly.graph_objects as go

    figure = go.Figure()
    colours, dashes = policy_colours(list(data)), policy_dashes(list(data))
    for name, curve in data.items():
        figure.add_scatter(
            x=curve.x,
            y=curve.mean,
            name=escape(name, quote=False),
            mode="lines",
            line={"color": colours[name], "dash": dashes[name], "shape": "hv"},
        )
    if bound is not None:
        figure.add_hline(
            y=bound, line_dash="dot", line_color=HISTORY_COLOUR, annotation_text="bound"
        )
    style(figure, height=480, x=over, y=f"best {value}, mean of the runs")
    figure.update_layout(title=escape(title, quote=False), hovermode="x unified")
    if title:
        figure.update_layout(margin_t=90)  # room for it above the legend
    return figure


def _results(runs: GeneticRuns | Sequence[GeneticResult]) -> Sequence[GeneticResult]:
    return runs.results if isinstance(runs, GeneticRuns) else runs


def _when(result: GeneticResult, over: str) -> Floats:
    """Return where on the axis the points of a run's course are."""
    course = result.course
    if over == "seconds":
        return course.seconds
    children = result.config.children if over == "children" else 1
    return np.asarray(course.generation * children, dtype=np.float64)


def _curve(results: Sequence[GeneticResult], x: Floats, over: str, value: str) -> Convergence:
    rows = np.array([_best_so_far(result, x, over, value) for result in results])
    return Convergence(x, rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0))


def _best_so_far(result: GeneticResult, x: Floats, over: str, value: str) -> Floats:
    """Return the value at each x: that of the last point at or before it."""
    place = np.searchsorted(_when(result, over), x, side="right") - 1
    return np.asarray(getattr(result.course, value))[np.maximum(place, 0)]
