"""What all kinds of runs look like on the page: how far they are, and how to stop them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from queuesmith.base.errors import QueuesmithError
from queuesmith.report.wording import duration
from queuesmith.web.context import Context
from queuesmith.web.machines import machine_of
from queuesmith.web.parts import sentences
from queuesmith.web.runs import Run
from queuesmith.web.state import Column, PageState

#: How often the page asks how far runs are, in milliseconds.
OFTEN = 1_000
#: Older runs are in their folder, but no longer in the list.
MOST_SHOWN = 12
KINDS_OF_TAB = {"learn": ("learn",), "knobs": ("sweep",), "plan": ("gap", "placement")}


def runs_place(part: str) -> html.Div:
    """Return the place of a part's list of runs, which keeps itself up to date."""
    return html.Div(
        [
            dcc.Interval(id=f"{part}-tick", interval=OFTEN),
            html.H2("Runs"),
            html.Div(id=f"{part}-runs", className="runs"),
        ]
    )


def start(asked: dict[str, Any], state: PageState, context: Context) -> Run:
    """Begin a run on the log and the machine that the page shows."""
    jobs = context.logs.jobs(state.log, state.filters)
    machine = machine_of(Column(""), jobs, context.machine)
    priorities = {
        name: dict(getattr(machine, name, {})) for name in ("partition_priority", "qos_priority")
    }
    facts = {"cores": machine.cores, **priorities, "log": state.log, "jobs": len(jobs)}
    return context.runs.start({**asked, **facts}, jobs)


def chosen(state: PageState, context: Context) -> Run | None:
    """Return the run that is looked at: the one in the address, or the newest of its kind."""
    own = [run for run in context.runs if run.asked.get("kind") in KINDS_OF_TAB[state.tab]]
    return next((run for run in own if run.name == state.run), own[0] if own else None)


def cards(state: PageState, context: Context, words: Any) -> list[html.Div]:
    """Return a card for each run of a kind, the newest first.

    Parameters
    ----------
    state, context
        What is shown.
    words
        Says of a run what was asked.
    """
    own = [run for run in context.runs if run.asked.get("kind") in KINDS_OF_TAB[state.tab]]
    if not own:
        return sentences(["There are none yet."], "note")
    looked_at = chosen(state, context)
    shown = own[:MOST_SHOWN]
    return [
        _card(run, words(run), looked_at is not None and run.name == looked_at.name)
        for run in shown
    ]


def _card(run: Run, words: str, looked_at: bool) -> html.Div:
    status, steps = run.status, run.steps
    share = 1.0 if status == "finished" else (steps[-1].get("share", 0.0) if steps else 0.0)
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.asked.get("began", 0)))
    left = steps[-1].get("seconds_left") if steps and status == "running" else None
    said = f"{status}{f', about {duration(left)} left' if left is not None else ''}"
    buttons = [_button("run-look", "Look at it", run)] if not looked_at else []
    if status == "running":
        buttons.append(_button("run-stop", "Stop", run))
    elif status in ("stopped", "interrupted", "failed"):
        buttons.append(_button("run-resume", "Go on", run))
    why = run.failure if status in ("failed", "interrupted") else ""
    return html.Div(
        [
            html.P([html.B(words), f" Begun {began}; {said}."]),
            *sentences([why] if why else [], "caution"),
            html.Div(
                [
                    html.Progress(
                        value=str(share), max="1", **{"aria-label": f"Done of {run.name}"}
                    ),
                    *buttons,
                ],
                className="bar",
            ),
        ],
        className="run",
        **({"aria-current": "true"} if looked_at else {}),
    )


def _button(kind: str, label: str, run: Run) -> html.Button:
    named = {"aria-label": f"{label}: {run.name}"}
    return html.Button(label, id={"type": kind, "run": run.name}, type="button", **named)


def wire(app: Dash, context: Context) -> None:
    """Connect the buttons of runs with what they do."""
    app.callback(
        Output("runs-said", "data"),
        Output("search", "data", allow_duplicate=True),
        Output("notices", "children", allow_duplicate=True),
        Input({"type": "run-stop", "run": ALL}, "n_clicks"),
        Input({"type": "run-resume", "run": ALL}, "n_clicks"),
        Input({"type": "run-look", "run": ALL}, "n_clicks"),
        State("skeleton", "data"),
        prevent_initial_call=True,
    )(lambda *moves: _act(context, *moves))


def _act(
    context: Context,
    stops: Sequence[Any],
    resumes: Sequence[Any],
    looks: Sequence[Any],
    skeleton: str,
) -> tuple[Any, Any, Any]:
    what = ctx.triggered_id
    if what is None or not ctx.triggered[0]["value"]:
        raise PreventUpdate
    try:
        run = context.runs.find(what["run"])
        if what["type"] == "run-look":
            return no_update, replace(context.state(skeleton), run=run.name).query(), no_update
        if what["type"] == "run-stop":
            context.runs.stop(run)
        else:
            context.runs.resume(run)
    except QueuesmithError as error:
        return no_update, no_update, sentences([str(error)], "caution")
    return time.time(), no_update, no_update


def wire_start(
    app: Dash,
    context: Context,
    button: str,
    typed: Sequence[State],
    begin: Callable[..., Run],
) -> None:
    """Let a button begin a run, which is then looked at; what is wrong is said.

    Parameters
    ----------
    app, context
        The page.
    button
        Its id.
    typed
        What was typed or chosen for the run.
    begin
        Is given the state of the page and these values, and begins the run.
    """

    def pressed(clicks: Any, skeleton: str, *values: Any) -> tuple[Any, Any]:
        if not clicks:
            raise PreventUpdate
        state = context.state(skeleton)
        try:
            run = begin(state, *values)
        except QueuesmithError as error:
            return no_update, sentences([str(error)], "caution")
        return replace(state, run=run.name).query(), []

    app.callback(
        Output("search", "data", allow_duplicate=True),
        Output("notices", "children", allow_duplicate=True),
        Input(button, "n_clicks"),
        State("skeleton", "data"),
        *typed,
        prevent_initial_call=True,
    )(pressed)
