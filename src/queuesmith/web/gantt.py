"""The Gantt chart of the page: the jobs of a column that are in view, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import ClientsideFunction, Dash, Input, Output, State, no_update
from dash.exceptions import PreventUpdate

from queuesmith.base.errors import CancelledError, QueuesmithError, UsageError
from queuesmith.report.gantt import gantt_payload
from queuesmith.report.plain_figures import time_edges
from queuesmith.schedule import Schedule
from queuesmith.schedule.schedule import HISTORY
from queuesmith.web.context import Context
from queuesmith.web.parts import sentences
from queuesmith.web.replays import Question
from queuesmith.web.state import PageState

#: More jobs than these are a carpet; the busiest stretch is shown instead.
MOST_JOBS = 2_000


def in_view(
    schedule: Schedule, share: tuple[float, float], beside: Sequence[Schedule] = ()
) -> Schedule:
    """Return a schedule with only the jobs that run in a part of the time.

    Parameters
    ----------
    schedule
        All of it.
    share
        From where to where in the figure over time, 0 being its left end and 1 its right one.
    beside
        The other schedules of that figure.
    """
    edges = time_edges([schedule, *beside])
    begin, end = (edges[0] + part * (edges[-1] - edges[0]) for part in share)
    return schedule.select(np.asarray((schedule.start < end) & (schedule.end > begin)))


def chart(state: PageState, context: Context, tab: str, name: str, view: Any) -> dict[str, Any]:
    """Return what ``gantt.js`` draws: the jobs of a column that are in view."""
    schedule, *beside = _schedules(state, context, tab, name)
    shown = in_view(schedule, _shares(view), beside) if view else schedule
    if not len(shown):
        raise UsageError("no job runs in the time in view. Zoom out.")
    return gantt_payload([shown], most_jobs=MOST_JOBS)


def _schedules(state: PageState, context: Context, tab: str, name: str) -> list[Schedule]:
    """Return the schedule that is meant, then those that the figure over time shows beside it."""
    real = context.desk.real(state.log, state.filters)
    questions = [Question(state.log, state.filters, column) for column in state.columns]
    columns = context.desk.schedules(tab, questions)
    known = [each for each in (real, *columns) if isinstance(each, Schedule)]
    if name == HISTORY:
        if real is None:
            raise UsageError("the log does not tell what really happened. Choose a column.")
        return known
    wanted = columns[min(int(name.removeprefix("column ")), len(columns)) - 1]
    if not isinstance(wanted, Schedule):
        raise wanted
    return [wanted, *known]


def _shares(view: Any) -> tuple[float, float]:
    first, last = (min(max(float(part), 0.0), 1.0) for part in view)
    return first, max(last, first + 1e-6)


def wire(app: Dash, context: Context) -> None:
    """Connect the button with the chart."""
    app.callback(
        Output("gantt-data", "data"),
        Output("notices", "children", allow_duplicate=True),
        Input("gantt-draw", "n_clicks"),
        State("gantt-column", "data"),
        State("view", "data"),
        State("moved", "data"),
        State("tab", "data"),
        prevent_initial_call=True,
        running=[(Output("busy", "className"), "busy", "idle")],
    )(lambda *moves: _draw(context, *moves))
    app.clientside_callback(
        ClientsideFunction("queuesmith", "gantt"),
        Output("gantt", "title"),
        Input("gantt-data", "data"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("queuesmith", "view"),
        Output("view", "data"),
        Input("over-time", "relayoutData"),
        State("over-time", "figure"),
        prevent_initial_call=True,
    )


def _draw(
    context: Context, clicks: Any, name: str, view: Any, query: str, tab: str
) -> tuple[Any, Any]:
    if not clicks:
        raise PreventUpdate
    try:
        return chart(context.state(query), context, tab, name, view), no_update
    except CancelledError:
        raise PreventUpdate from None
    except QueuesmithError as error:
        return no_update, sentences([str(error)], "caution")
