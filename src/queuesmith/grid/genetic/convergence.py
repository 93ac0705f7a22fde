"""How fast genetic schedulers become better: figure data first, then the drawing.

Figures 3 to 7 of Carretero, Xhafa and Abraham compare operators so: the mean makespan of the best
individual of several runs, over the generations.
"""

from __future__ import annotations

from collections.abc import Mapping as Dict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from queuesmith.base.errors import UsageError
from queuesmith.grid.etc.matrix import Floats
from queuesmith.grid.genetic.evolve import GeneticResult
from queuesmith.grid.genetic.runs import GeneticRuns

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_POINTS = 400
#: Okabe and Ito (2008): told apart by colour-blind readers too.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933", "#aa4499")
DASHES = ("solid", "dash", "dot", "dashdot")
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
    runs: Dict[str, GeneticRuns | Sequence[GeneticResult]],
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
    _check_choice("axis", over, AXES)
    _check_choice("value", value, VALUES)
    if not runs or any(not _results(r) for r in runs.values()):
        raise UsageError("a convergence figure needs at least one run of each name. Give some.")
    last = max(float(_when(r, over)[-1]) for rs in runs.values() for r in _results(rs))
    x = np.linspace(0.0, last, MOST_POINTS)
    if over != "seconds":
        x = np.unique(x.round())
    return {name: _curve(_results(some), x, over, value) for name, some in runs.items()}


def draw_convergence(
    data: Dict[str, Convergence],
    *,
    title: str = "",
    over: str = "generations",
    value: str = "makespan",
    bound: float | None = None,
) -> go.Figure:
    """Draw the curves of ``convergence_data``, and a lower bound where there is one."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for i, (name, curve) in enumerate(data.items()):
        figure.add_scatter(
            x=curve.x,
            y=curve.mean,
            name=escape(name, quote=False),
            mode="lines",
            line={
                "color": COLOURS[i % len(COLOURS)],
                "dash": DASHES[i // len(COLOURS) % len(DASHES)],
                "shape": "hv",
            },
        )
    if bound is not None:
        figure.add_hline(y=bound, line_dash="dot", line_color="#8a8f98", annotation_text="bound")
    figure.update_layout(
        title=escape(title, quote=False),
        xaxis_title=over,
        yaxis_title=f"best {value}, mean of the runs",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        hovermode="x unified",
    )
    grid = "rgba(128, 140, 155, 0.3)"
    figure.update_xaxes(gridcolor=grid, zeroline=False)
    figure.update_yaxes(gridcolor=grid, zeroline=False)
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


def _check_choice(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise UsageError(f"there is no {what} '{name}'. Choose from: {', '.join(known)}.")
