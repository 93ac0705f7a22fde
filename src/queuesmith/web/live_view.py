"""Live: the queue of a running Slurm, when its jobs will start, and what a policy would change.

The page only looks, and only when it is asked to; steering stays on the command line.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.exceptions import PreventUpdate

from queuesmith.base.errors import CancelledError, QueuesmithError
from queuesmith.base.words import so_many
from queuesmith.figures.palette import POLICY_COLOURS
from queuesmith.figures.style import plain_layout
from queuesmith.live.advice import DIVIDED_BY, Advice
from queuesmith.live.forecast import Expectation, why_it_waits
from queuesmith.live.picture import span
from queuesmith.live.state import ClusterState
from queuesmith.report.plain_figures import Figure
from queuesmith.report.wording import time_scale
from queuesmith.web.context import Context
from queuesmith.web.live_desk import Seen
from queuesmith.web.parts import (
    MISSING,
    choice,
    graph,
    inked,
    nothing,
    sentences,
    table,
    text_field,
)
from queuesmith.web.state import PageState
from queuesmith.web.typed import typed_number, typed_whole

#: So many jobs of a queue are shown; the commands list them all.
MOST_SHOWN = 50
NO_SLURM = "No Slurm found here: there is no command squeue on this machine."


def view(state: PageState, context: Context) -> html.Div:
    """Return the part of the page that looks at a running Slurm."""
    if shutil.which("squeue") is None:
        return html.Div(html.P(NO_SLURM, className="note", id="live"))
    newest = context.live.newest
    by = state.by if state.by in DIVIDED_BY else "account"
    policy = state.policy or next((each.policy for each in state.columns), "")
    return html.Div(
        [
            html.P(
                "The queue as it is now. This page changes nothing; steering is for the command "
                "line (queuesmith slurm steer)."
            ),
            html.Div(
                [
                    html.Button("Look now", id="live-look", type="button"),
                    text_field("live-timeout", "Seconds a command may take", "30", size="6"),
                    text_field("live-replays", "Replays of a forecast", "30", size="6"),
                    text_field("live-policy", "Policy to compare with", policy),
                    choice("live-by", "Waits by", list(DIVIDED_BY), by),
                ],
                className="bar",
            ),
            dcc.Store(id="live-seen", data=None if newest is None else newest.number),
            html.Div(id="live-now"),
            graph("live-starts", "When jobs will start: half of the replays, and nine in ten"),
            html.Div(id="live-forecast"),
            html.Div(id="live-advice"),
        ],
        id="live",
    )


# -- what stands there -------------------------------------------------------------------------


def now_view(seen: Seen) -> list[Any]:
    """Return the cluster and its queue at the moment of a look."""
    state = seen.state
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(state.now))
    busy = sum(job.cores for job in state.running)
    waiting = sum(job.tasks for job in state.waiting)
    said = [
        f"{state.cluster}, Slurm {state.version}, looked at {at}: {busy:,} of "
        f"{so_many(state.machine.cores, 'core')} in use by {so_many(len(state.running), 'job')}; "
        f"{so_many(waiting, 'job waits', 'jobs wait')}."
    ]
    return [
        *sentences(said, "verdict"),
        *sentences([f"Not read: {note}" for note in state.notes], "note"),
        _queue(state),
        _reasons(state),
    ]


def _queue(state: ClusterState) -> html.Div:
    rows = [
        [
            str(job.id),
            job.user,
            job.account or MISSING,
            job.partition,
            f"{job.cores:,}{f' × {job.tasks}' if job.tasks > 1 else ''}",
            span(job.walltime),
            f"{job.priority:,}",
            span(max(state.now - job.submit, 0)),
            why_it_waits(state, job),
        ]
        for job in state.waiting[:MOST_SHOWN]
    ]
    heads = ["job", "user", "account", "partition", "cores", "may run", "priority", "waits since"]
    more = len(state.waiting) - len(rows)
    caption = "The queue, the highest priority first"
    caption += f"; {so_many(more, 'more job is', 'more jobs are')} not shown" if more > 0 else ""
    return html.Div(table([*heads, "why it waits"], rows, caption), id="live-queue")


def _reasons(state: ClusterState) -> html.Div:
    count: Counter[str] = Counter()
    for job in state.waiting:
        count[job.reason] += job.tasks
    rows = [[reason, f"{number:,}"] for reason, number in count.most_common()]
    return table(["reason", "jobs"], rows, "Why jobs wait, in Slurm's words")


def starts_figure(expected: Sequence[Expectation]) -> Figure:
    """Return when jobs start: a dot for half of the replays, a line up to nine in ten."""
    shown = list(expected)[:MOST_SHOWN]
    if not shown:
        return nothing()
    scale = time_scale(max(1, *(each.late for each in shown)))
    half = [each.median / scale.factor for each in shown]
    late = [(each.late - each.median) / scale.factor for each in shown]
    marks = {
        "type": "scatter",
        "mode": "markers",
        "x": half,
        "y": [f"job {each.job.id}" for each in shown],
        "customdata": [[span(each.median), span(each.late), each.job.user] for each in shown],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": late,
            "arrayminus": [0] * len(late),
        },
        "marker": {"color": POLICY_COLOURS[0], "size": 8},
        "hovertemplate": (
            "%{y} of %{customdata[2]}: half within %{customdata[0]}, nine in ten within "
            "%{customdata[1]}<extra></extra>"
        ),
    }
    layout = plain_layout(height=380, x=f"from now ({scale.unit})")
    layout["xaxis"]["rangemode"] = "tozero"
    layout["yaxis"] |= {"type": "category", "autorange": "reversed", "automargin": True}
    return {"data": [marks], "layout": layout}


def forecast_view(seen: Seen, expected: Sequence[Expectation]) -> list[Any]:
    """Return the forecasts as a table, and what they rest on."""
    if seen.past is None:
        rests = "There is no accounting to learn from, so jobs are taken to run to their limits."
    else:
        rests = (
            f"Runtimes are drawn from {so_many(len(seen.past), 'job that has', 'jobs that have')} "
            "ended."
        )
    rows = [
        [
            str(each.job.id),
            each.job.user,
            span(each.median),
            span(each.late),
            MISSING if each.slurm is None else span(each.slurm),
        ]
        for each in expected[:MOST_SHOWN]
    ]
    heads = ["job", "user", "starts within, half", "nine in ten", "Slurm says"]
    return [*sentences([rests], "note"), table(heads, rows, "When jobs will start")]


def advice_view(given: Advice) -> list[Any]:
    """Return what a policy would change: places, starts, waits, and the commands."""
    moves, waits = given.moves(), given.waits()
    orders = [f"scontrol {change.command}" for change in given.changes]
    parts: list[Any] = [
        html.H2(f"What {given.policy} would change"),
        *sentences([given.sentence], "verdict"),
        *sentences([f"Note: {note}." for note in given.notes], "note"),
        _rows(waits, f"Waits of the jobs that wait now, over the next {given.hours:g} h"),
        _rows(moves[:MOST_SHOWN], f"The order that {given.policy} wants, beside today's"),
    ]
    if not orders:
        return parts
    shown = "\n".join(orders[:MOST_SHOWN])
    more = f"\n... {len(orders) - MOST_SHOWN:,} more" if len(orders) > MOST_SHOWN else ""
    commands = [html.Summary("The commands that would do it"), html.Pre(shown + more, tabIndex=0)]
    return [*parts, html.Details(commands, className="more")]


def _rows(rows: Sequence[dict[str, Any]], caption: str) -> Any:
    if not rows:
        return html.P(f"{caption}: none.", className="note")
    cells = [[MISSING if value is None else str(value) for value in row.values()] for row in rows]
    return table(list(rows[0]), cells, caption)


# -- wiring ------------------------------------------------------------------------------------


def wire(app: Dash, context: Context) -> None:
    """Connect the controls with what they do."""
    busy = [(Output("busy", "className"), "busy", "idle")]
    app.callback(
        Output("live-seen", "data"),
        Output("notices", "children", allow_duplicate=True),
        Input("live-look", "n_clicks"),
        State("live-timeout", "value"),
        prevent_initial_call=True,
        running=[*busy, (Output("live-look", "disabled"), True, False)],
    )(lambda clicks, seconds: _look(context, clicks, seconds))
    app.callback(Output("live-now", "children"), Input("live-seen", "data"))(
        lambda number: _now(context, number)
    )
    app.callback(
        Output("live-starts", "figure"),
        Output("live-forecast", "children"),
        Output("notices", "children", allow_duplicate=True),
        Input("live-seen", "data"),
        Input("live-replays", "value"),
        State("scheme", "data"),
        State("tab", "data"),
        prevent_initial_call="initial_duplicate",
        running=busy,
    )(lambda *moves: _forecast(context, *moves))
    app.callback(
        Output("live-advice", "children"),
        Output("moved", "data", allow_duplicate=True),
        Output("notices", "children", allow_duplicate=True),
        Input("live-seen", "data"),
        Input("live-policy", "value"),
        Input("live-by", "data"),
        State("skeleton", "data"),
        prevent_initial_call="initial_duplicate",
    )(lambda *moves: _advice(context, *moves))


def _look(context: Context, clicks: Any, seconds: str) -> tuple[Any, Any]:
    if not clicks:
        raise PreventUpdate
    try:
        limit = typed_number("the seconds that a command may take", seconds, 0.1, 600)
        return context.live.look(limit).number, []
    except QueuesmithError as error:
        return no_update, sentences([str(error)], "caution")


def _now(context: Context, number: int | None) -> list[Any]:
    if number is None:
        return sentences(["Nobody has looked yet. Press Look now."], "note")
    try:
        return now_view(context.live.seen(number))
    except QueuesmithError as error:
        return sentences([str(error)], "caution")


def _forecast(
    context: Context, number: int | None, replays: str, scheme: str, tab: str
) -> tuple[Any, Any, Any]:
    if number is None:
        return nothing(), [], no_update
    try:
        wanted = typed_whole("the number of replays", replays, 1, 1000)
        seen = context.live.seen(number)
        expected = context.live.forecast(tab, seen, wanted)
    except CancelledError:
        return no_update, no_update, sentences(["Stopped. Look now to begin again."], "note")
    except QueuesmithError as error:
        return nothing(), [], sentences([str(error)], "caution")
    figure = inked(starts_figure(expected), scheme, roomy=True)
    return figure, forecast_view(seen, expected), no_update


def _advice(
    context: Context, number: int | None, policy: str, by: str, skeleton: str
) -> tuple[Any, Any, Any]:
    if number is None:
        return [], no_update, no_update
    state = replace(context.state(skeleton), policy=policy or "", by=by)
    try:
        given = context.live.advice(
            context.live.seen(number), context.policies.policy(policy or ""), by
        )
    except QueuesmithError as error:
        return no_update, state.query(), sentences([str(error)], "caution")
    return advice_view(given), state.query(), no_update
