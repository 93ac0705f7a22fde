"""Log: what is in it, which of its jobs are taken, and how to bring another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from dash import ALL, Dash, Input, Output, State, html, no_update
from dash.exceptions import PreventUpdate

from queuesmith.base.errors import QueuesmithError
from queuesmith.figures.style import plain_layout
from queuesmith.report.plain_figures import Figure
from queuesmith.web.context import Context
from queuesmith.web.logs import choices
from queuesmith.web.parts import (
    choice,
    graph,
    inked,
    nothing,
    sentences,
    table,
    text_field,
    upload_place,
)
from queuesmith.web.state import Filters, PageState
from queuesmith.workload import Workload
from queuesmith.workload.drawing import COLOUR, panels, runtime_ticks
from queuesmith.workload.figure_data import figure_data

#: What a filter is called, and what may stand there.
FIELDS = {
    "since": ("Submitted from", "a date, or seconds of the log"),
    "until": ("Submitted before", "a date, or seconds of the log"),
    "partition": ("Partition", ""),
    "account": ("Account", ""),
    "user": ("User", ""),
    "narrowest": ("Fewest cores", ""),
    "widest": ("Most cores", ""),
}
ALL_OF_THEM = "(all)"
#: What is drawn of a log, in the order of ``panels``.
PANELS = (
    "Arrivals by hour of the day",
    "Arrivals by week",
    "Load by week",
    "Sizes in cores",
    "Runtimes",
    "Accuracy of walltimes: runtime over walltime",
)


def view(state: PageState, context: Context) -> html.Div:
    """Return the part of the page that shows the log."""
    whole = context.logs.whole(state.log)
    limit = context.logs.limit
    return html.Div(
        [
            html.Div(
                [
                    choice(
                        "log-choice", "Log", context.logs.names, state.log or context.logs.first
                    ),
                    upload_place("log", "Upload a log (SWF, sacct, CSV, Parquet)", limit),
                ],
                className="bar",
            ),
            html.Div([_filter(name, state, whole) for name in FIELDS], className="bar"),
            html.Div(_described(state, context), id="described"),
            html.Div(
                [graph({"type": "panel", "place": i}, title) for i, title in enumerate(PANELS)],
                className="pair",
            ),
        ]
    )


def _filter(name: str, state: PageState, whole: Workload) -> html.Label | html.Span:
    label, hint = FIELDS[name]
    value = getattr(state.filters, name)
    id = {"type": "filter", "name": name}
    if name not in ("partition", "account", "user"):
        return text_field(id, label, value, hint)
    listed = choices(whole, name)
    if not listed:
        return html.Span()
    return choice(
        {**id, "type": "chosen-filter"}, label, [ALL_OF_THEM, *listed], value or ALL_OF_THEM
    )


def _described(state: PageState, context: Context) -> Any:
    jobs = context.logs.jobs(state.log, state.filters)
    rows = [[what, value] for what, value in jobs.describe().rows()]
    return html.Div(
        table(["what", "value"], rows, f"What is in the log {jobs.name}"), className="wide"
    )


def figures(state: PageState, context: Context, scheme: str) -> list[Figure]:
    """Return what is in the log, drawn: one figure for each of ``PANELS``."""
    jobs = context.logs.jobs(state.log, state.filters)
    drawn = []
    for title, x_title, y_title, x, y in panels(figure_data(jobs)):
        layout = plain_layout(height=300, x=x_title, y=y_title) | {"bargap": 0.05}
        if title == "Sizes":
            layout["xaxis"]["type"] = "category"
        if title == "Runtimes":
            layout["xaxis"] |= runtime_ticks()
        bars = {"type": "bar", "x": x, "y": y, "marker": {"color": COLOUR}}
        drawn.append(inked({"data": [bars], "layout": layout}, scheme))
    return drawn


def wire(app: Dash, context: Context) -> None:
    """Connect the controls with what they do."""
    app.callback(
        Output("search", "data", allow_duplicate=True),
        Output("notices", "children", allow_duplicate=True),
        Input("log-choice", "data"),
        Input({"type": "filter", "name": ALL}, "value"),
        Input({"type": "chosen-filter", "name": ALL}, "data"),
        State({"type": "filter", "name": ALL}, "id"),
        State({"type": "chosen-filter", "name": ALL}, "id"),
        State("skeleton", "data"),
        prevent_initial_call=True,
    )(lambda *moves: _choose(context, *moves))
    app.callback(
        Output({"type": "panel", "place": ALL}, "figure"),
        Input("described", "children"),
        State("scheme", "data"),
        State("skeleton", "data"),
    )(lambda _, scheme, skeleton: _figures(context, scheme, skeleton))


def _figures(context: Context, scheme: str, skeleton: str) -> list[Figure]:
    try:
        return figures(context.state(skeleton), context, scheme)
    except QueuesmithError:
        return [nothing()] * len(PANELS)


def _choose(
    context: Context,
    log: str,
    texts: Sequence[Any],
    words: Sequence[Any],
    text_ids: Sequence[Any],
    word_ids: Sequence[Any],
    skeleton: str,
) -> tuple[Any, Any]:
    state = context.state(skeleton)
    given = {
        id["name"]: "" if value in (None, ALL_OF_THEM) else str(value)
        for value, id in zip([*texts, *words], [*text_ids, *word_ids], strict=True)
    }
    known = [each.name for each in fields(Filters)]
    filters = Filters(**{name: given.get(name, "") for name in known})
    after = replace(state, log=log, filters=filters if log == state.log else Filters())
    if after == state:
        raise PreventUpdate
    try:
        context.logs.jobs(after.log, after.filters)
    except QueuesmithError as error:
        return no_update, sentences([str(error)], "caution")
    return after.query(), []
