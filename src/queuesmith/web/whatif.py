"""What if: policies side by side, each with its knobs; the figures follow the sliders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from queuesmith.base.errors import CancelledError, QueuesmithError
from queuesmith.cluster import NodeCluster
from queuesmith.figures.palette import policy_colours
from queuesmith.policy import BACKFILLS, Policy
from queuesmith.schedule.schedule import HISTORY
from queuesmith.web.context import Context
from queuesmith.web.knobs import Knob, knobs_of
from queuesmith.web.machines import machine_of
from queuesmith.web.parts import (
    choice,
    graph,
    sentences,
    slider,
    text_field,
)
from queuesmith.web.replays import SupersededError
from queuesmith.web.state import DIVISIONS, Column, PageState
from queuesmith.web.whatif_answer import answered
from queuesmith.web.whatif_moves import PLANNER, SLURM, Moves, moved, order_of, restructured
from queuesmith.workload import Workload

METRIC_EXAMPLES = "a metric, or an expression such as 10*awrt[1] + 4*awrt[2]"
#: Of a policy that has no knobs since what is turned is written as a text.
NAMED_GROUPS = (
    "It knows its groups by their names, which a text does not hold: it is taken as it is. "
    "Change it with --set on the command line."
)


# -- what stands there -------------------------------------------------------------------------


def view(state: PageState, context: Context) -> html.Div:
    """Return the part of the page that compares policies."""
    jobs = context.logs.jobs(state.log, state.filters)
    columns = [_column(i, column, context, jobs) for i, column in enumerate(state.columns)]
    divisions = [each for each in DIVISIONS if divides(jobs, each)]
    return html.Div(
        [
            dcc.Store(id="skeleton", data=state.query()),
            dcc.Store(id="keep-asked"),
            html.Div(columns, className="columns"),
            html.Div(
                [
                    html.Button("Add a column", id="add-column", type="button"),
                    text_field("objective", "Objective", state.objective, METRIC_EXAMPLES),
                    choice("by", "Waits by", divisions, state.by),
                ],
                className="bar",
            ),
            html.Div(id="said"),
            html.Div(
                [
                    graph("by-part", "Mean wait of each part of the jobs, by column"),
                    graph("distribution", "Share of the jobs that started within a given wait"),
                ],
                className="pair",
            ),
            graph("over-time", "Use of the machine, waiting jobs and backlog over time", 600),
            gantt_view(state),
            html.Details(
                [html.Summary("Keep this"), html.Div(id="keep")], id="keep-more", className="more"
            ),
        ]
    )


def divides(jobs: Workload, by: str) -> bool:
    """Tell whether a log can be divided by something."""
    return by in ("group", "size", "user", "month") or by in jobs.extra


def _column(place: int, column: Column, context: Context, jobs: Workload) -> html.Section:
    id = {"column": place}
    swatch = html.I(className="swatch", style={"background": _colour(place)})
    try:
        controls = _controls(place, column, context, jobs)
    except QueuesmithError as error:
        controls = [html.P(str(error), className="caution")]
    return html.Section(
        [
            html.H2(
                [swatch, html.Span(str(column), id={"type": "label", **id})],
                className="column-name",
            ),
            *controls,
            html.Div(
                [
                    text_field(
                        {"type": "text", **id}, "Another policy", "", "write it, then press Enter"
                    ),
                    html.Button(
                        "Remove",
                        id={"type": "remove", **id},
                        type="button",
                        **{"aria-label": f"Remove column {place + 1}"},
                    ),
                ],
                className="bar",
            ),
        ],
        className="column",
        **{"aria-label": f"Column {place + 1}"},
    )


def _colour(place: int) -> str:
    names = [str(i) for i in range(place + 1)]
    return policy_colours(names)[names[place]]


def _controls(place: int, column: Column, context: Context, jobs: Workload) -> list[Any]:
    policy = context.desk.policy(column)
    machine = machine_of(column, jobs, context.machine)
    id = {"column": place}
    kinds = [choice({"type": "order", **id}, "Order", _orders(context), order_of(policy, column))]
    if policy.groups is not None:
        kinds.append(html.P(NAMED_GROUPS))
    elif isinstance(policy, Policy):
        kinds.append(
            choice({"type": "backfill", **id}, "Backfill", list(BACKFILLS), policy.backfill)
        )
    stated = machine.settings if isinstance(machine, NodeCluster) else {}
    knobs = [*knobs_of(policy, stated), *_machine_knobs(column, context, jobs)]
    turns = [slider({"type": "knob", "name": knob.name, **id}, knob) for knob in knobs]
    return [html.Div(kinds, className="kinds"), html.Div(turns, className="turns")]


def _orders(context: Context) -> list[str]:
    further = [SLURM] if isinstance(context.machine, NodeCluster) else []
    return [*further, *context.policies.orders, PLANNER, *context.policies.named]


def _machine_knobs(column: Column, context: Context, jobs: Workload) -> list[Knob]:
    load = Knob("load", column.load, 0.5, 2.0, 0.05, "× the log's")
    given = context.machine
    if isinstance(given, NodeCluster):
        asked = dict(column.nodes)
        kinds = {kind.nodes[0]: len(kind.nodes) for kind in given.kinds}
        return [
            load,
            *(
                Knob(f"nodes.{name}", asked.get(name, count), 0, max(2 * count, 8), 1, "nodes")
                for name, count in list(kinds.items())[:6]
            ),
        ]
    own = machine_of(Column(""), jobs, given).cores
    cores = column.cores or own
    low, high = min(max(own // 4, 1), cores), max(4 * own, cores)
    return [load, Knob("cores", cores, low, high, max(own // 64, 1))]


# -- the Gantt chart ---------------------------------------------------------------------------


def gantt_view(state: PageState) -> html.Details:
    """Return the place of the Gantt chart, which is drawn once it is opened."""
    names = [*(f"column {place + 1}" for place in range(len(state.columns))), HISTORY]
    return html.Details(
        [
            html.Summary("Gantt chart of what is in view"),
            html.P(
                "Choose a column, then draw. Zoom in the figure over time above to choose the "
                "time in view; of more than 2,000 jobs the busiest stretch is drawn.",
                className="note",
            ),
            html.Div(
                [
                    choice("gantt-column", "Column", names, names[0]),
                    html.Button("Draw", id="gantt-draw", type="button"),
                ],
                className="bar",
            ),
            html.Div(id="gantt", className="gantt"),
            dcc.Store(id="gantt-data"),
        ],
        className="more",
    )


# -- wiring ------------------------------------------------------------------------------------

KNOBS = {"type": "knob", "column": ALL, "name": ALL}


def wire(app: Dash, context: Context) -> None:
    """Connect the controls with what they do."""
    app.callback(
        Output("said", "children"),
        Output("by-part", "figure"),
        Output("distribution", "figure"),
        Output("over-time", "figure"),
        Output("moved", "data"),
        Output("notices", "children"),
        Input(KNOBS, "value"),
        Input("objective", "value"),
        Input("by", "data"),
        State("scheme", "data"),
        State(KNOBS, "id"),
        State("skeleton", "data"),
        State("tab", "data"),
        running=[(Output("busy", "className"), "busy", "idle")],
    )(lambda *moves: _follow(context, *moves))
    app.callback(
        Output("search", "data", allow_duplicate=True),
        Output("notices", "children", allow_duplicate=True),
        Input("add-column", "n_clicks"),
        Input({"type": "remove", "column": ALL}, "n_clicks"),
        Input({"type": "order", "column": ALL}, "data"),
        Input({"type": "backfill", "column": ALL}, "data"),
        Input({"type": "text", "column": ALL}, "n_submit"),
        State({"type": "text", "column": ALL}, "value"),
        State(KNOBS, "value"),
        State(KNOBS, "id"),
        State("objective", "value"),
        State("by", "data"),
        State("skeleton", "data"),
        prevent_initial_call=True,
    )(lambda *moves: _restructure(context, *moves))
    app.clientside_callback(
        ClientsideFunction("queuesmith", "readouts"),
        Output("written", "data", allow_duplicate=True),
        Input(KNOBS, "value"),
        State(KNOBS, "id"),
        prevent_initial_call="initial_duplicate",
    )


def _follow(
    context: Context,
    values: Sequence[Any],
    objective: Any,
    by: Any,
    scheme: str,
    ids: Sequence[Any],
    skeleton: str,
    tab: str,
) -> tuple[Any, ...]:
    """Answer a move of a slider."""
    state = context.state(skeleton)
    unchanged = [no_update] * 5
    try:
        state = moved(state, Moves.read(values, ids, objective, by), context)
        answer = answered(state, context, tab, scheme)
    except SupersededError:
        raise PreventUpdate from None
    except CancelledError:
        words = sentences(["Stopped. Move a slider to go on."], "note")
        return (*unchanged, words)
    except QueuesmithError as error:
        return (*unchanged, sentences([str(error)], "caution"))
    return (
        answer.said,
        *answer.figures,
        state.query(),
        sentences([*state.complaints, *answer.complaints], "caution"),
    )


def _restructure(
    context: Context,
    add: Any,
    remove: Any,
    orders: Any,
    backfills: Any,
    submits: Any,
    texts: Sequence[Any],
    values: Sequence[Any],
    ids: Sequence[Any],
    objective: Any,
    by: Any,
    skeleton: str,
) -> tuple[Any, Any]:
    """Answer a click or a choice that changes which controls there are."""
    what, value = ctx.triggered_id, ctx.triggered[0]["value"] if ctx.triggered else None
    if what is None or value is None:
        raise PreventUpdate
    if not isinstance(what, str) and what["type"] == "text":
        value = str(texts[int(what["column"])] or "")
    before = context.state(skeleton)
    try:
        state = moved(before, Moves.read(values, ids, objective, by), context)
        after = restructured(state, what, value, context)
    except QueuesmithError as error:
        return no_update, sentences([str(error)], "caution")
    if after == state:
        raise PreventUpdate
    return after.query(), no_update
