"""Plan: how far the best policy of each planning step is from the optimum, over time."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from dash.exceptions import PreventUpdate

from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.base.registry import entry
from queuesmith.federation.model.generate import PAPER_QUEUES
from queuesmith.figures.palette import POLICY_COLOURS
from queuesmith.figures.style import plain_layout
from queuesmith.planning.objectives import find_objective
from queuesmith.policy import Policy
from queuesmith.report.plain_figures import Figure
from queuesmith.report.wording import plain, time_scale
from queuesmith.web import runs_view
from queuesmith.web.context import Context
from queuesmith.web.parts import choice, graph, inked, nothing, sentences, table, text_field
from queuesmith.web.runs import Run
from queuesmith.web.state import PageState

#: What is placed, by what the page calls it: where, and the name of the instance there.
PROBLEMS = {
    **{f"federation {name}": ("federation", name) for name in PAPER_QUEUES},
    **{f"grid {name}": ("grid", name) for name in ("u_c_hihi", "u_i_hihi", "u_s_hihi")},
}
#: The method that proves most, by where.
PROVING = {"federation": "oas", "grid": "exact"}
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
                    text_field("plan-steps", "Steps", "40", "by chance over the log"),
                    text_field("plan-seconds", "Seconds a step", "1"),
                    html.Button("Compare", id="plan-start", type="button"),
                ],
                className="bar",
            ),
            html.Div(
                [
                    choice(
                        "place-problem", "Clusters or grid", list(PROBLEMS), next(iter(PROBLEMS))
                    ),
                    text_field("place-method", "Method", "exact", METHOD_HINT),
                    text_field("place-seconds", "Seconds", "5"),
                    html.Button("Place", id="place-start", type="button"),
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
        return f"{asked.get('problem')} of a {asked.get('where')} by {asked.get('method')}."
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
    app.callback(
        Output("search", "data", allow_duplicate=True),
        Output("notices", "children", allow_duplicate=True),
        Input("place-start", "n_clicks"),
        State("place-problem", "data"),
        State("place-method", "value"),
        State("place-seconds", "value"),
        State("skeleton", "data"),
        prevent_initial_call=True,
    )(lambda *moves: _place(context, *moves))
    app.callback(
        Output("search", "data", allow_duplicate=True),
        Output("notices", "children", allow_duplicate=True),
        Input("plan-start", "n_clicks"),
        State("plan-policy", "value"),
        State("plan-objective", "data"),
        State("plan-steps", "value"),
        State("plan-seconds", "value"),
        State("skeleton", "data"),
        prevent_initial_call=True,
    )(lambda *moves: _start(context, *moves))


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


def _start(
    context: Context,
    clicks: Any,
    policy: str,
    objective: str,
    steps: str,
    seconds: str,
    skeleton: str,
) -> tuple[Any, Any]:
    if not clicks:
        raise PreventUpdate
    state = context.state(skeleton)
    try:
        run = runs_view.start(_asked(context, policy, objective, steps, seconds), state, context)
    except ValueError:
        said = "Steps must be a whole number and seconds a number. Correct them."
        return no_update, sentences([said], "caution")
    except QueuesmithError as error:
        return no_update, sentences([str(error)], "caution")
    return runs_view.begun(run, state), []


def _place(
    context: Context, clicks: Any, problem: str, method: str, seconds: str, skeleton: str
) -> tuple[Any, Any]:
    if not clicks:
        raise PreventUpdate
    state = context.state(skeleton)
    try:
        where, name = entry("problem", problem, PROBLEMS)
        limit = float(seconds)
        if not 0.1 <= limit <= 600:
            raise UsageError(f"seconds is {seconds}, but it must be 0.1 to 600. Correct it.")
        chosen = PROVING[where] if method.strip() == "exact" else method.strip()
        asked = {"kind": "placement", "where": where, "problem": name, "method": chosen}
        run = context.runs.start({**asked, "seconds": limit}, None)
    except ValueError:
        return no_update, sentences(["Seconds must be a number. Correct it."], "caution")
    except QueuesmithError as error:
        return no_update, sentences([str(error)], "caution")
    return runs_view.begun(run, state), []


def _asked(
    context: Context, policy: str, objective: str, steps: str, seconds: str
) -> dict[str, Any]:
    find_objective(objective)
    chosen = context.policies.policy(policy or "")
    if not isinstance(chosen, Policy):
        raise UsageError(f"'{policy}' is no order with a backfill. Write for example fcfs+easy.")
    count, limit = int(steps), float(seconds)
    if not 1 <= count <= MOST_STEPS or not 0.01 <= limit <= 60:
        raise UsageError(f"give 1 to {MOST_STEPS} steps, and 0.01 to 60 seconds for each.")
    return {
        "kind": "gap",
        "policy": str(chosen),
        "objective": objective,
        "steps": count,
        "seconds": limit,
    }
