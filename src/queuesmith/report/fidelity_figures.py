"""A replay beside what really happened, in pictures: wait against wait, both queues over time."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.figures.palette import HISTORY_COLOUR, INK, POLICY_COLOURS
from queuesmith.figures.style import style
from queuesmith.report.figure_data import Floats
from queuesmith.report.plain_figures import time_axis, time_edges
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.schedule.timeline import curve
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: More points than these hide each other.
MOST_POINTS = 4_000


@dataclass(frozen=True, eq=False)
class WaitPairs:
    """The real and the replayed wait of jobs, in minutes from 1 up, so that they fit a log axis."""

    real: Floats
    replayed: Floats
    job: Ints


def wait_pairs(fidelity: Fidelity, most: int = MOST_POINTS) -> WaitPairs:
    """Return the waits of the jobs, of every so many where there are many."""
    chosen = np.arange(0, len(fidelity.history), max(1, len(fidelity.history) // most))

    def minutes(wait: NDArray[Any]) -> Floats:
        return np.maximum(wait[chosen] / 60.0, 1.0)

    ids = fidelity.history.workload.id[chosen]
    return WaitPairs(minutes(fidelity.history.wait), minutes(fidelity.replayed.wait), ids)


def draw_waits_against(fidelity: Fidelity) -> go.Figure:
    """Draw each job's wait in the replay against its real one; on the line both are the same."""
    import plotly.graph_objects as go

    pairs = wait_pairs(fidelity)
    longest = float(max(pairs.real.max(), pairs.replayed.max(), 10.0))
    figure = go.Figure()
    figure.add_scattergl(
        x=pairs.real,
        y=pairs.replayed,
        mode="markers",
        name="jobs",
        marker={"color": POLICY_COLOURS[0], "size": 5, "opacity": 0.4},
        customdata=pairs.job,
        hovertemplate="job %{customdata}: really %{x:.4~g} min, replayed %{y:.4~g} min",
    )
    figure.add_scatter(
        x=[1, longest],
        y=[1, longest],
        mode="lines",
        name="the same",
        line={"color": INK, "dash": "dot"},
    )
    style(figure, height=520, x="real wait (min)", y="replayed wait (min)")
    figure.update_xaxes(type="log")
    figure.update_yaxes(type="log")
    return figure


def draw_queues(fidelity: Fidelity) -> go.Figure:
    """Draw how many jobs waited over time, really and in the replay."""
    import plotly.graph_objects as go

    edges = time_edges([fidelity.history, fidelity.replayed])
    when, unit = time_axis(fidelity.history.workload, edges)
    figure = go.Figure()
    for schedule, colour in (
        (fidelity.history, HISTORY_COLOUR),
        (fidelity.replayed, POLICY_COLOURS[0]),
    ):
        mean = curve(schedule, "queue_length").between(edges).mean
        figure.add_scatter(
            x=when,
            y=np.append(mean, mean[-1]),
            name=escape(schedule.policy, quote=False),
            mode="lines",
            line={"color": colour, "shape": "hv", "width": 1.6},
        )
    style(figure, height=380, x=unit, y="waiting jobs")
    figure.update_yaxes(rangemode="tozero")
    return figure
