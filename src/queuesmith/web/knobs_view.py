"""Knobs: the sweep as a map to wander on; a click sets the sliders."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, ctx, html, no_update
from dash.exceptions import PreventUpdate

from queuesmith.base.errors import UsageError
from queuesmith.figures.style import plain_layout
from queuesmith.knobs.ranges import Range
from queuesmith.knobs.setting import NAMES
from queuesmith.report.plain_figures import Figure
from queuesmith.report.wording import metric_title
from queuesmith.web import runs_view
from queuesmith.web.context import Context
from queuesmith.web.learn_view import with_column
from queuesmith.web.parts import choice, graph, inked, nothing, text_field
from queuesmith.web.runs import Run
from queuesmith.web.state import Column, PageState

BACKFILLS = ("easy", "list", "none")
#: The map can be read by the colour-blind, and printed in grey.
COLOURS = "Viridis"
#: More settings than these take too long for a page.
MOST_SETTINGS = 1_000_000


def view(state: PageState, context: Context) -> html.Div:
    """Return the part of the page that sweeps the knobs of the order power."""
    run = runs_view.chosen(state, context)
    found = None if run is None else run.result
    axes = list(found["costs"]) if found else ["mean_wait", "makespan"]
    return html.Div(
        [
            html.P(
                "Size, wait and walltime of a job to the powers alpha, beta and gamma make its "
                "priority. The sweep replays the log under all settings of the three."
            ),
            html.Div(
                [
                    text_field("sweep-ranges", "Range of each knob", "-2:2:0.5", "LOW:HIGH:STEP"),
                    choice("sweep-backfill", "Backfill", list(BACKFILLS), "easy"),
                    html.Button("Sweep", id="sweep-start", type="button"),
                ],
                className="bar",
            ),
            runs_view.runs_place("knobs"),
            html.Div(
                [
                    choice("map-x", "Across", axes, axes[0]),
                    choice("map-y", "Up", axes, axes[-1]),
                    choice("map-colour", "Colour", list(NAMES), NAMES[0]),
                ],
                className="bar",
            ),
            graph("map", "Each point is a setting; a click takes it to What if", 520),
        ]
    )


def words(run: Run) -> str:
    """Say what a run was asked for."""
    asked = run.asked
    found = run.result
    said = f" {found['said']}." if found else ""
    return f"{asked.get('ranges')} with {asked.get('backfill')} on {asked.get('log')}.{said}"


def map_figure(found: dict[str, Any], x: str, y: str, colour: str) -> Figure:
    """Return the map: objective against objective, coloured by an exponent."""
    place = list(NAMES).index(colour) if colour in NAMES else 0
    costs = found["costs"]
    across, up = (name if name in costs else next(iter(costs)) for name in (x, y))
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": costs[across],
        "y": costs[up],
        "customdata": found["settings"],
        "marker": {
            "color": [setting[place] for setting in found["settings"]],
            "colorscale": COLOURS,
            "size": 8,
            "colorbar": {"title": {"text": NAMES[place]}},
        },
        "hovertemplate": "alpha %{customdata[0]}, beta %{customdata[1]}, gamma %{customdata[2]}"
        "<br>%{x:.4s}, %{y:.4s}<extra></extra>",
    }
    layout = plain_layout(height=520, x=metric_title(across), y=metric_title(up))
    return {"data": [points], "layout": layout}


def wire(app: Dash, context: Context) -> None:
    """Connect the controls with what they do."""
    app.callback(
        Output("knobs-runs", "children"),
        Output("map", "figure"),
        Input("knobs-tick", "n_intervals"),
        Input("map-x", "data"),
        Input("map-y", "data"),
        Input("map-colour", "data"),
        State("map", "figure"),
        State("skeleton", "data"),
        State("scheme", "data"),
    )(lambda *moves: _watch(context, *moves))
    runs_view.wire_start(
        app,
        context,
        "sweep-start",
        [State("sweep-ranges", "value"), State("sweep-backfill", "data")],
        lambda state, *typed: runs_view.start(sweep_asked(*typed), state, context),
    )
    app.callback(
        Output("search", "data", allow_duplicate=True),
        Input("map", "clickData"),
        State("skeleton", "data"),
        prevent_initial_call=True,
    )(lambda clicked, skeleton: _take(context, clicked, skeleton))


def _watch(
    context: Context, tick: Any, x: str, y: str, colour: str, shown: Any, skeleton: str, scheme: str
) -> tuple[Any, Any]:
    state = context.state(skeleton)
    run = runs_view.chosen(state, context)
    listed = runs_view.cards(state, context, words)
    found = None if run is None else run.result
    if found is None:
        return listed, nothing()
    if ctx.triggered_id == "knobs-tick" and shown and shown.get("data"):
        return listed, no_update  # the map is there, and somebody points at it
    return listed, inked(map_figure(found, x, y, colour), scheme)


def checked_ranges(text: str) -> str:
    """Return ranges that a page can sweep; an error where they are none."""
    parts = [Range.parse(part.strip()) for part in text.split(",")]
    if len(parts) not in (1, 3):
        raise UsageError(f"the ranges are '{text}', but give one for all knobs, or three.")
    settings = 1
    for each in parts * (3 if len(parts) == 1 else 1):
        settings *= len(each)
    if settings > MOST_SETTINGS:
        raise UsageError(
            f"the ranges have {settings:,} settings, but a page sweeps {MOST_SETTINGS:,} at most. "
            "Take larger steps, or use queuesmith sweep."
        )
    return text


def sweep_asked(ranges: str | None, backfill: str) -> dict[str, Any]:
    """Return which settings a run sweeps."""
    parts = checked_ranges(ranges or "").split(",")
    wanted = parts[0] if len(parts) == 1 else parts
    return {"kind": "sweep", "backfill": backfill, "ranges": wanted}


def _take(context: Context, clicked: Any, skeleton: str) -> Any:
    if not clicked:
        raise PreventUpdate
    state = context.state(skeleton)
    run = runs_view.chosen(state, context)
    backfill = "easy" if run is None else run.asked.get("backfill", "easy")
    return taken(state, clicked["points"][0]["customdata"], backfill).query()


def taken(state: PageState, setting: Any, backfill: str) -> PageState:
    """Return the state that tries a setting of the map in What if."""
    alpha, beta, gamma = (float(each) for each in setting)
    written = f"power(alpha={alpha:g},beta={beta:g},gamma={gamma:g})"
    policy = written if backfill == "none" else f"{written}+{backfill}"
    return with_column(state, Column(policy))
