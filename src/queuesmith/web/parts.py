"""Small pieces of the page: labelled fields, sliders, tables, figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dash import dcc, html

from queuesmith.report.plain_figures import Figure
from queuesmith.web.knobs import Knob

#: The ink of figures, by the reader's colour scheme; as page.css has it.
INK = {"light": "#1c2430", "dark": "#e4e9f0"}
GROUND = {"light": "#ffffff", "dark": "#1a2029"}
CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}
MISSING = "–"


def field(label: str, control: Any, hint: str = "") -> html.Label:
    """Return a control with its label, and a word on what may stand there."""
    words = [html.Span(label, className="field-name")]
    words += [html.Span(hint, className="hint")] if hint else []
    return html.Label([*words, control], className="field")


def text_field(id: Any, label: str, value: str, hint: str = "", **options: Any) -> html.Label:
    """Return a text that counts once it is left or confirmed."""
    control = dcc.Input(id=id, type="text", value=value, debounce=True, **options)
    return field(label, control, hint)


def choice(id: Any, label: str, options: Sequence[str], value: str) -> html.Label:
    """Return a choice of one of some words, which is the ``data`` of the id.

    page.js makes a select of the browser's own of it: Dash's cannot be named for screen readers.
    """
    listed = list(dict.fromkeys([*options, value]))
    facts = {"data-id": json.dumps(id), "data-options": json.dumps(listed), "data-value": value}
    control = html.Div(className="select", **facts)
    return field(label, html.Span([control, dcc.Store(id=id, data=value)]))


def slider(id: Mapping[str, Any], knob: Knob) -> html.Label:
    """Return a knob as a slider with its number beside it."""
    name = knob.name.removeprefix("nodes.")
    return html.Label(
        [
            html.Span([name, html.Small(f" {knob.unit}") if knob.unit else ""], className="knob"),
            html.Span(f"{knob.value:g}", className="readout"),
            dcc.Input(
                id=dict(id),
                type="range",
                min=knob.low,
                max=knob.high,
                step=knob.step,
                value=knob.value,
                debounce=False,
                className="slider",
            ),
        ],
        className="turn",
    )


def upload_place(what: str, label: str, limit: int) -> html.Div:
    """Return where files are uploaded; page.js fills it: what a browser does best itself."""
    facts = {"data-what": what, "data-label": label, "data-limit": str(limit)}
    return html.Div(id="upload", className="field", **facts)


def table(heads: Sequence[Any], rows: Sequence[Sequence[Any]], caption: str) -> html.Div:
    """Return a table whose first column names the rows."""
    head = html.Thead(html.Tr([html.Th(each, scope="col") for each in heads]))
    body = html.Tbody(
        [
            html.Tr([html.Th(row[0], scope="row"), *(html.Td(cell) for cell in row[1:])])
            for row in rows
        ]
    )
    words = html.Caption(caption)
    return html.Div(
        html.Table([words, head, body]),
        className="scroll",
        tabIndex=0,
        role="region",
        **{"aria-label": caption},
    )


def graph(id: Any, caption: str, height: int = 380) -> html.Figure:
    """Return the place of a figure, with its caption."""
    style = {"height": f"{height}px"}
    named = id if isinstance(id, str) else "-".join(map(str, id.values()))
    return html.Figure(
        [
            html.Figcaption(caption, id=f"{named}-caption"),
            html.Div(
                dcc.Graph(id=id, config=CONFIG, figure=nothing(), style=style),
                role="group",
                **{"aria-labelledby": f"{named}-caption"},
            ),
        ],
        className="plot",
    )


def nothing() -> Figure:
    """Return a figure of nothing."""
    hidden = {"visible": False}
    layout = {"xaxis": hidden, "yaxis": hidden, "paper_bgcolor": "rgba(0,0,0,0)"}
    return {"data": [], "layout": {**layout, "plot_bgcolor": "rgba(0,0,0,0)", "height": 120}}


def inked(figure: Figure, scheme: str, *, roomy: bool = False) -> Figure:
    """Return a figure in ink that suits the reader's ground; its legend are the columns.

    ``roomy``: where words below or beside an axis may need more room than is usual.
    """
    layout = figure["layout"]
    ink, ground = INK.get(scheme, INK["light"]), GROUND.get(scheme, GROUND["light"])
    label = {"bgcolor": ground, "font": {"color": ink}, "bordercolor": ink}
    layout = {
        **layout,
        "font": {**layout.get("font", {}), "color": ink},
        "hoverlabel": {**layout.get("hoverlabel", {}), **label},
        "height": None,  # the page has its own
        "showlegend": False,
        "margin": {**layout.get("margin", {}), "t": 12},
    }
    # Plotly draws a figure twice where it must find its own margins, and measures all words of an
    # axis where it may have to hide some.
    for name, axis in layout.items():
        if name.startswith(("xaxis", "yaxis")):
            margin = bool(axis.get("automargin")) and roomy
            layout[name] = {**axis, "automargin": margin, "ticklabeloverflow": "allow"}
    return {**figure, "layout": layout}


def sentences(words: Sequence[str], kind: str) -> list[html.P]:
    """Return sentences as paragraphs of a kind."""
    return [html.P(each, className=kind) for each in words]
