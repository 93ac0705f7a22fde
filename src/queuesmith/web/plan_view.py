"""Plan: how far the best policy of each planning step is from the optimum, over time."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from queuesmith.base.errors import UsageError
from queuesmith.base.registry import known
from queuesmith.figures.palette import POLICY_COLOURS
from queuesmith.figures.style import plain_layout
from queuesmith.planning.objectives import find_objective
from queuesmith.policy import Policy
from queuesmith.report.plain_figures import Figure
from queuesmith.report.wording import plain, time_scale
from queuesmith.web import runs_view
from queuesmith.web.context import Context
from queuesmith.web.instances import is_grid
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
from queuesmith.web.runs import Run
from queuesmith.web.state import PageState
from queuesmith.web.typed import typed_number, typed_whole

#: The method that proves most, for clusters and for grids.
PROVING = {False: "oas", True: "exact"}
UPLOAD_LABEL = "Upload clusters (TOML), a queue (CSV), a grid (ETC)"
METHOD_HINT = "exact; or a heuristic: lpt-fit on clusters, min-min on grids"
OBJECTIVES = ("artww", "sldwa", "response", "makespan")
MOST_STEPS = 500


def view(state: PageState, context: Context) -> html.Div:
    """Return the part of the page that compares planning steps with their optimum."""
    return html.Div(
        [
            html.P(
                "At each step the waiting jobs are planned under several policies, and as well as "
                "can be; the proven gap says how far even that plan may be from the optimum."
            ),
            html.Div(
                [
                    text_field("plan-policy", "Policy of the replay", "fcfs+conservative"),
                    choice("plan-objective", "Objective", list(OBJECTIVES), "artww"),
                    text_field("plan-steps", "Steps", "40", "at random over the log"),
                    text_field("plan-seconds", "Seconds a step", "1"),
                    html.Button("Compare", id="plan-start", type="button"),
                ],
                className="bar",
            ),
            html.Div(
                [
                    choice(
                        "place-where",
                        "Clusters or grid",
                        context.instances.places,
                        state.place or context.instances.places[0],
                    ),
                    choice(
                        "place-queue",
                        "Queue, for clusters",
                        context.instances.queues,
                        state.queue or context.instances.queues[0],
                    ),
                    text_field("place-method", "Method", "exact", METHOD_HINT),
                    text_field("place-seconds", "Seconds", "5"),
                    html.Button("Place", id="place-start", type="button"),
                    upload_place("instance", UPLOAD_LABEL, context.instances.limit),
                ],
                className="bar",
            ),
            runs_view.runs_place("plan"),
            graph("plan-gaps", "Loss of the best policy and proven gap of the best plan, by step"),
            html.Div(id="plan-result"),
            html.Div(id="plan-gantt", className="gantt"),
            dcc.Store(id="plan-picture"),
        ]
    )


def words(run: Run) -> str:
    """Say what a run was asked for."""
    asked = run.asked
    if asked.get("kind") == "placement":
        what = f"{asked['queue']} on {asked['place']}" if asked.get("queue") else asked.get("place")
        return f"{what} by {asked.get('method')}."
    steps = f"{asked.get('steps')} steps of {asked.get('policy')} on {asked.get('log')}"
    return f"{steps}, {asked.get('objective')}."


def gaps(found: dict[str, Any]) -> Figure:
    """Return the figure of loss and gap over time."""
    steps = found["steps"]
    first = steps[0]["submission"]
    scale = time_scale(max(steps[-1]["submission"] - first, 1))
    when = [(step["submission"] - first) / scale.factor for step in steps]
    series = (
        ("loss_percent", "loss of the best policy", POLICY_COLOURS[0], "circle"),
        ("gap_percent", "proven gap of the best plan", POLICY_COLOURS[1], "x"),
    )
    marks = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": title,
            "x": when,
            "y": [step[name] for step in steps],
            "customdata": [step["jobs"] for step in steps],
            "marker": {"color": colour, "symbol": symbol, "size": 8},
            "hovertemplate": f"{title}: %{{y:.2f}} %, %{{customdata}} jobs<extra></extra>",
        }
        for name, title, colour, symbol in series
    ]
    layout = plain_layout(height=380, x=f"time ({scale.unit})", y="per cent")
    layout["yaxis"]["rangemode"] = "tozero"
    return {"data": marks, "layout": layout}


def averages(found: dict[str, Any]) -> Any:
    """Return the averages of a run as a table."""
    rows = [
        [name.replace("_", " "), "–" if value is None else plain(float(value))]
        for name, value in found["averages"].items()
    ]
    return table(["what", "value"], rows, "Over all steps; circles lose, crosses are not proven")


def wire(app: Dash, context: Context) -> None:
    """Connect the controls with what they do."""
    app.callback(
        Output("plan-runs", "children"),
        Output("plan-gaps", "figure"),
        Output("plan-result", "children"),
        Output("plan-picture", "data"),
        Input("plan-tick", "n_intervals"),
        State("plan-picture", "data"),
        State("skeleton", "data"),
        State("scheme", "data"),
    )(lambda _, shown, skeleton, scheme: _watch(context, shown, skeleton, scheme))
    app.clientside_callback(
        ClientsideFunction("queuesmith", "picture"),
        Output("plan-gantt", "title"),
        Input("plan-picture", "data"),
        prevent_initial_call=True,
    )
    runs_view.wire_start(
        app,
        context,
        "place-start",
        [
            State("place-where", "data"),
            State("place-queue", "data"),
            State("place-method", "value"),
            State("place-seconds", "value"),
        ],
        lambda state, *typed: context.runs.start(placement_asked(context, *typed), None),
    )
    runs_view.wire_start(
        app,
        context,
        "plan-start",
        [
            State("plan-policy", "value"),
            State("plan-objective", "data"),
            State("plan-steps", "value"),
            State("plan-seconds", "value"),
        ],
        lambda state, *typed: runs_view.start(gap_asked(context, *typed), state, context),
    )


def _watch(context: Context, shown: Any, skeleton: str, scheme: str) -> tuple[Any, Any, Any, Any]:
    state = context.state(skeleton)
    run = runs_view.chosen(state, context)
    listed = runs_view.cards(state, context, words)
    found = None if run is None else run.result
    if run is None or found is None:
        return listed, nothing(), [], None
    if run.asked["kind"] == "placement":
        same = isinstance(shown, dict) and shown.get("run") == run.name
        picture = no_update if same else {"run": run.name, "gantt": found["gantt"]}
        return listed, nothing(), sentences([found["said"]], "verdict"), picture
    return listed, inked(gaps(found), scheme), averages(found), None


def placement_asked(
    context: Context, place: str, queue: str, method: str | None, seconds: str | None
) -> dict[str, Any]:
    """Return what a run places: a queue on clusters, or the jobs of a grid."""
    shelf, grid = context.instances, is_grid(place)
    known("place called", place, shelf.places)
    limit = typed_number("seconds", seconds, 0.1, 600)
    chosen = (method or "").strip() or "exact"
    asked = {"kind": "placement", "place": place, "seconds": limit}
    asked |= {} if grid else {"queue": known("queue called", queue, shelf.queues)}
    return asked | {"method": PROVING[grid] if chosen == "exact" else chosen}


def gap_asked(
    context: Context, policy: str, objective: str, steps: str | None, seconds: str | None
) -> dict[str, Any]:
    """Return of which planning steps of the log in view the gap is looked for."""
    find_objective(objective)
    chosen = context.policies.policy(policy or "")
    if not isinstance(chosen, Policy):
        raise UsageError(f"'{policy}' is no order with a backfill. Write for example fcfs+easy.")
    return {
        "kind": "gap",
        "policy": str(chosen),
        "objective": objective,
        "steps": typed_whole("the number of steps", steps, 1, MOST_STEPS),
        "seconds": typed_number("the seconds of a step", seconds, 0.01, 60),
    }
