"""What if: policies side by side, each with its knobs; the figures follow the sliders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from queuesmith.base.errors import CancelledError, QueuesmithError
from queuesmith.cluster import NodeCluster
from queuesmith.figures.palette import policy_colours
from queuesmith.policy import BACKFILLS, AnyPolicy, Policy, SelfTuning, Slurm
from queuesmith.report.caution import history_caution
from queuesmith.report.comparison import Comparison
from queuesmith.report.plain_figures import Figure, groups_figure, over_time_figure, waits_figure
from queuesmith.report.wording import duration, metric_title, scale_of
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.schedule import HISTORY, Schedule
from queuesmith.web.context import Context
from queuesmith.web.keeping import keep_view
from queuesmith.web.knobs import Knob, knobs_of, turned
from queuesmith.web.machines import machine_of
from queuesmith.web.parts import (
    MISSING,
    choice,
    graph,
    inked,
    nothing,
    sentences,
    slider,
    table,
    text_field,
)
from queuesmith.web.replays import Question, SupersededError
from queuesmith.web.side_by_side import SideBySide, facts_of, sentence_of_change
from queuesmith.web.state import DIVISIONS, MOST_COLUMNS, Column, PageState
from queuesmith.workload import Workload

SLURM, PLANNER = "slurm", "dynp"
#: What a column that is added begins with; the first that is not there yet.
FURTHER = ("sjf+easy", "fcfs+conservative", "power+easy", "wfp3+easy", "fcfs", "saf+easy")
METRIC_EXAMPLES = "a metric, or an expression such as 10*awrt[1] + 4*awrt[2]"


# -- what stands there -------------------------------------------------------------------------


def view(state: PageState, context: Context) -> html.Div:
    """Return the part of the page that compares policies."""
    jobs = context.logs.jobs(state.log, state.filters)
    columns = [_column(i, column, context, jobs) for i, column in enumerate(state.columns)]
    divisions = [each for each in DIVISIONS if divides(jobs, each)]
    return html.Div(
        [
            dcc.Store(id="skeleton", data=state.query()),
            dcc.Store(id="later"),
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
            html.Div(id="keep"),
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
    kinds = [choice({"type": "order", **id}, "Order", _orders(context), _order_of(policy, column))]
    if isinstance(policy, Policy):
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


def _order_of(policy: AnyPolicy, column: Column) -> str:
    if isinstance(policy, Policy):
        return policy.order.name
    if isinstance(policy, Slurm):
        return SLURM
    return PLANNER if isinstance(policy, SelfTuning) else column.policy


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


# -- what was moved ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Moves:
    """How the controls of the page stand: values by column and name of the knob."""

    knobs: Mapping[tuple[int, str], float]
    objective: str | None
    by: str | None

    @classmethod
    def read(cls, values: Sequence[Any], ids: Sequence[Any], objective: Any, by: Any) -> Moves:
        """Read what the browser sent."""
        knobs = {}
        for value, id in zip(values, ids, strict=True):
            try:
                knobs[int(id["column"]), str(id["name"])] = float(value)
            except (TypeError, ValueError):
                continue  # a field that is being emptied
        return cls(knobs, objective, by)


def moved(state: PageState, moves: Moves, context: Context) -> PageState:
    """Return the state with all controls as they stand."""
    columns = tuple(
        _turned(column, {n: v for (c, n), v in moves.knobs.items() if c == place}, context, state)
        for place, column in enumerate(state.columns)
    )
    state = replace(state, columns=columns)
    if moves.objective:
        state = state.having("objective", moves.objective)
    return state.having("by", moves.by) if moves.by else state


def _turned(
    column: Column, values: Mapping[str, float], context: Context, state: PageState
) -> Column:
    if not values:
        return column
    policy = context.desk.policy(column)
    stated = context.machine.settings if isinstance(context.machine, NodeCluster) else {}
    changed = turned(policy, values, stated)
    text = column.policy if changed == policy else str(changed)
    if "load" in values:
        column = replace(column, load=round(values["load"], 6))
    if "cores" in values:
        jobs = context.logs.jobs(state.log, state.filters)
        own = machine_of(Column(""), jobs, context.machine).cores
        cores = int(values["cores"])
        column = replace(column, cores=None if cores == own else cores)
    return replace(column, policy=text, nodes=_nodes(values, context))


def _nodes(values: Mapping[str, float], context: Context) -> tuple[tuple[str, int], ...]:
    if not isinstance(context.machine, NodeCluster):
        return ()
    own = {kind.nodes[0]: len(kind.nodes) for kind in context.machine.kinds}
    asked = {
        name.removeprefix("nodes."): int(value)
        for name, value in values.items()
        if name.startswith("nodes.")
    }
    return tuple((name, count) for name, count in asked.items() if own.get(name) != count)


def restructured(state: PageState, what: Any, value: Any, context: Context) -> PageState:
    """Return the state after a column was added, removed, or has another policy."""
    columns = list(state.columns)
    if what == "add-column":
        taken = {column.policy for column in columns}
        further = next((each for each in FURTHER if each not in taken), "ljf+easy")
        columns.append(Column(further))
        return replace(state, columns=tuple(columns[:MOST_COLUMNS]))
    place = int(what["column"])
    if what["type"] == "remove":
        del columns[place]
        return replace(state, columns=tuple(columns) or state.columns)
    columns[place] = replace(
        columns[place], policy=_other(columns[place], what["type"], value, context)
    )
    return replace(state, columns=tuple(columns))


def _other(column: Column, what: str, value: str, context: Context) -> str:
    """Return the text of a column's policy after another order, backfill or text was chosen."""
    if what == "text":
        return value.strip() or column.policy
    try:
        policy = context.desk.policy(column)
    except QueuesmithError:
        policy = None
    backfill = policy.backfill if isinstance(policy, Policy) else "easy"
    if what == "backfill" and isinstance(policy, Policy):
        keep = policy.keep if value in ("none", "list", "easy") else None
        depth = policy.depth if value in ("conservative", "plan") else None
        return str(replace(policy, backfill=value, keep=keep, depth=depth))
    if value in context.policies.orders and (
        not isinstance(policy, Policy) or policy.order.name != value
    ):
        return str(Policy(context.policies.orders[value], backfill))
    if value in context.policies.named or value in (SLURM, PLANNER):
        same = policy is not None and _order_of(policy, column) == value
        return column.policy if same else value
    return column.policy


# -- the answer --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What the page shows for a state."""

    said: list[Any]
    figures: tuple[Figure, Figure, Figure]
    complaints: list[str]


def answered(state: PageState, context: Context, tab: str, scheme: str) -> Answer:
    """Replay what the columns ask for, and return tables, sentences and figures."""
    objective = Objective(state.objective)
    columns = list(dict.fromkeys(state.columns))  # one that two columns show is replayed once
    questions = [Question(state.log, state.filters, column) for column in columns]
    found = context.desk.schedules(tab, questions)
    complaints = [str(each) for each in found if not isinstance(each, Schedule)]
    replays = [each for each in found if isinstance(each, Schedule)]
    real = context.desk.real(state.log, state.filters)
    shown = [*([] if real is None else [real]), *replays]
    if not shown:
        return Answer([], (nothing(), nothing(), nothing()), complaints)
    names = tuple(str(column) for column in state.columns)
    comparison = SideBySide(tuple(shown), ("mean_wait",), columns=names)
    return Answer(
        [
            html.Div(_changes(replays, state.by), id="changes", role="status"),
            html.Div(_facts(comparison, objective), id="facts"),
            *sentences(_cautions(real, replays, state), "caution"),
        ],
        (
            inked(groups_figure(comparison, state.by), scheme, roomy=True),
            inked(waits_figure(comparison), scheme),
            inked(over_time_figure(comparison), scheme),
        ),
        complaints,
    )


def _facts(comparison: SideBySide, objective: Objective) -> Any:
    facts = {each.policy: facts_of(each, objective) for each in comparison.schedules}
    scale = scale_of(objective, [each.objective.value for each in facts.values()])
    colours = policy_colours(comparison.policies)
    rows = []
    for policy, each in facts.items():
        low, high = each.objective.low, each.objective.high
        between = (
            MISSING if low is None or high is None else f"{scale.text(low)} to {scale.text(high)}"
        )
        swatch = html.I(className="swatch", style={"background": colours[policy]})
        rows.append(
            [
                [swatch, policy],
                [html.B(scale.text(each.objective.value)), html.Small(between)],
                duration(each.mean_wait),
                duration(each.p95_wait),
                duration(each.longest_wait),
                f"{each.beyond_a_week:,}",
                f"{100 * each.utilization:.1f} %",
                f"{each.jobs:,}",
            ]
        )
    title = f"{metric_title(str(objective))}, with its 95 % interval"
    heads = [
        *("column", title, "mean wait", "95 % wait at most", "longest wait"),
        *("beyond a week", "utilisation", "jobs"),
    ]
    return table(
        heads, rows, f"What each column is worth; of the objective, {objective.better} is better"
    )


def _changes(replays: Sequence[Schedule], by: str) -> list[html.P]:
    if len(replays) < 2:
        return sentences(["Add a column to see who gains and who pays."], "note")
    said = [sentence_of_change(replays[0], each, by) for each in replays[1:]]
    return sentences(said, "verdict")


def _cautions(real: Schedule | None, replays: Sequence[Schedule], state: PageState) -> list[str]:
    """Say how far the replays can be believed, where it is known what really happened."""
    if real is None:
        return []
    columns = {str(column): column for column in state.columns}
    alike = [
        schedule
        for schedule in replays
        if columns[schedule.policy].load == 1.0
        and len(schedule) == len(real)
        and schedule.cluster.cores == real.cluster.cores
    ]
    if not alike:
        return ["What really happened stands beside replays of another load or machine."]
    return [history_caution(Comparison((real, alike[0]))) or ""]


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
        Output("later", "data"),
        Output("keep", "children"),
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
    # The figure over time is drawn once the others are seen.
    app.clientside_callback(
        ClientsideFunction("queuesmith", "later"),
        Output("over-time", "figure"),
        Input("later", "data"),
        prevent_initial_call=True,
    )
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
    unchanged = [no_update] * 6
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
        keep_view(state, context),
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
