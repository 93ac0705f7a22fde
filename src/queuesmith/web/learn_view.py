"""Learn: a policy for an objective, learned in a process that outlives the tab and the server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import Dash, Input, Output, State, html, no_update
from dash.exceptions import PreventUpdate

from queuesmith.base.errors import QueuesmithError
from queuesmith.base.words import so_many
from queuesmith.figures.palette import POLICY_COLOURS
from queuesmith.figures.style import plain_layout
from queuesmith.learning.methods import DEFAULT_METHOD, METHODS, make_method
from queuesmith.policy.sentences import sentences as policy_sentences
from queuesmith.report.plain_figures import Figure
from queuesmith.report.wording import metric_title, plain
from queuesmith.schedule.guard import as_guards
from queuesmith.schedule.metrics import METRICS
from queuesmith.schedule.objective import Objective
from queuesmith.web import runs_view
from queuesmith.web.context import Context
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
from queuesmith.web.runs import LEARNED, Run
from queuesmith.web.state import MOST_COLUMNS, Column, PageState
from queuesmith.web.typed import typed_number, typed_whole

#: The most rules of a policy that are spelled out.
MOST_RULES = 12


def view(state: PageState, context: Context) -> html.Div:
    """Return the part of the page that learns."""
    return html.Div(
        [
            html.Div(
                [
                    text_field(
                        "learn-objective", "Objective", state.objective, "typed, or composed here:"
                    ),
                    choice("learn-metric", "Metric", list(METRICS), "mean_wait"),
                    text_field("learn-weight", "Its weight", "1", size="6"),
                    html.Button("Add to the objective", id="learn-compose", type="button"),
                ],
                className="bar",
            ),
            html.Div(
                [
                    choice("learn-method", "Method", list(METHODS), DEFAULT_METHOD),
                    text_field("learn-generations", "Generations", "20", "more find better ones"),
                    text_field("learn-no-worse", "No worse", "", "such as utilization:0.1%"),
                    text_field("learn-seed", "Seed", "0"),
                    html.Button("Learn", id="learn-start", type="button"),
                ],
                className="bar",
            ),
            runs_view.runs_place("learn"),
            graph("learn-course", "The best value so far over the policies judged"),
            html.Div(id="learn-result"),
            html.Div(
                html.Button("Try it in What if", id="learn-try", type="button"), className="bar"
            ),
        ]
    )


def words(run: Run) -> str:
    """Say what a run was asked for."""
    asked = run.asked
    return f"{asked.get('method')} for {asked.get('objective')} on {asked.get('log')}."


def course(run: Run) -> Figure:
    """Return the figure of how a run got better."""
    steps = [step for step in run.steps if step.get("best") is not None]
    if not steps:
        return nothing()
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": [step["evaluations"] for step in steps],
        "y": [step["best"] for step in steps],
        "line": {"color": POLICY_COLOURS[2], "shape": "hv", "width": 2},
        "hovertemplate": "%{y:.5s} after %{x:,}<extra></extra>",
    }
    title = metric_title(str(run.asked["objective"]))
    return {"data": [line], "layout": plain_layout(height=380, x="policies judged", y=title)}


def explained(run: Run) -> list[Any]:
    """Return what was learned in words, beside what it did."""
    policy, result = run.policy, run.result
    if policy is None:
        return sentences(["The first round is under way."], "note")
    said = [str(each).strip() for each in policy_sentences(policy)]
    silent = len(said) - MOST_RULES
    items = [html.Li(each) for each in said[:MOST_RULES]]
    items += [html.Li(f"and {so_many(silent, 'rule')} more")] if silent > 0 else []
    parts: list[Any] = [html.H3("What it does"), html.Ul(items)]
    if result is None:
        note = "This is the best policy so far. How it does on jobs not seen is judged at the end."
        return [*sentences([note], "note"), *parts]
    rows = [
        [row["policy"], row["jobs"], *(_number(row[name]) for name in _COLUMNS)]
        for row in result["rows"]
    ]
    heads = ["policy", "jobs", *_COLUMNS]
    worth = table(heads, rows, "What it is worth, on jobs seen and on jobs not seen")
    return [*sentences([result["said"], *result["no_worse"]], "verdict"), worth, *parts]


_COLUMNS = ("value", "low", "high", "learned is better by %", "from %", "to %")


def _number(value: Any) -> str:
    return MISSING if value is None else plain(float(value))


def composed(objective: str, metric: str, weight: str) -> str:
    """Return an objective with one more term."""
    text = f"{typed_number('the weight', weight, -1e12, 1e12):g}*{metric}"
    return str(Objective(f"{objective} + {text}" if objective.strip() else text))


def wire(app: Dash, context: Context) -> None:
    """Connect the controls with what they do."""
    app.callback(
        Output("learn-runs", "children"),
        Output("learn-course", "figure"),
        Output("learn-result", "children"),
        Input("learn-tick", "n_intervals"),
        State("skeleton", "data"),
        State("scheme", "data"),
    )(lambda _, skeleton, scheme: _watch(context, skeleton, scheme))
    runs_view.wire_start(
        app,
        context,
        "learn-start",
        [
            State("learn-objective", "value"),
            State("learn-method", "data"),
            State("learn-generations", "value"),
            State("learn-no-worse", "value"),
            State("learn-seed", "value"),
        ],
        lambda state, *typed: runs_view.start(learn_asked(*typed), state, context),
    )
    app.callback(
        Output("learn-objective", "value"),
        Output("notices", "children", allow_duplicate=True),
        Input("learn-compose", "n_clicks"),
        State("learn-objective", "value"),
        State("learn-metric", "data"),
        State("learn-weight", "value"),
        prevent_initial_call=True,
    )(lambda *moves: _compose(*moves))
    app.callback(
        Output("search", "data", allow_duplicate=True),
        Output("notices", "children", allow_duplicate=True),
        Input("learn-try", "n_clicks"),
        State("skeleton", "data"),
        prevent_initial_call=True,
    )(lambda clicks, skeleton: _try(context, clicks, skeleton))


def _watch(context: Context, skeleton: str, scheme: str) -> tuple[Any, Any, Any]:
    state = context.state(skeleton)
    run = runs_view.chosen(state, context)
    listed = runs_view.cards(state, context, words)
    if run is None:
        return listed, nothing(), []
    return listed, inked(course(run), scheme), explained(run)


def learn_asked(
    objective: str | None,
    method: str,
    generations: str | None,
    no_worse: str | None,
    seed: str | None,
) -> dict[str, Any]:
    """Return what a run learns, and how."""
    wanted = str(Objective(objective or ""))
    guards = [each.strip() for each in (no_worse or "").split(",") if each.strip()]
    as_guards(guards)
    rounds = typed_whole("the number of generations", generations, 1, 10**9)
    make_method(method, generations=rounds)
    return {
        "kind": "learn",
        "objective": wanted,
        "method": method,
        "no_worse": guards,
        "seed": typed_whole("the seed", seed or "0", 0, 2**32 - 1),
        "generations": rounds,
    }


def _compose(clicks: Any, objective: str, metric: str, weight: str) -> tuple[Any, Any]:
    if not clicks:
        raise PreventUpdate
    try:
        return composed(objective or "", metric, weight), []
    except QueuesmithError as error:
        return no_update, sentences([str(error)], "caution")


def _try(context: Context, clicks: Any, skeleton: str) -> tuple[Any, Any]:
    if not clicks:
        raise PreventUpdate
    state = context.state(skeleton)
    run = runs_view.chosen(state, context)
    if run is None or run.policy is None:
        return no_update, sentences(["There is no learned policy yet. Learn one first."], "caution")
    return with_column(state, Column(f"{LEARNED}{run.name}")).query(), []


def with_column(state: PageState, column: Column) -> PageState:
    """Return the state that compares one column more; the last makes room where there are many."""
    others = [each for each in state.columns if each != column][: MOST_COLUMNS - 1]
    return replace(state, tab="what-if", columns=(*others, column))
