"""The page as a whole: its frame, which part of it is open, and what all parts share."""

from __future__ import annotations

import secrets
import sys
import traceback
from importlib.resources import files
from pathlib import Path
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, set_props
from dash.exceptions import PreventUpdate
from flask import Response, request

from queuesmith import __version__
from queuesmith.base.errors import QueuesmithError
from queuesmith.web import (
    gantt,
    keeping,
    knobs_view,
    learn_view,
    live_view,
    log_view,
    plan_view,
    runs_view,
    whatif,
)
from queuesmith.web.context import Context
from queuesmith.web.guarding import security_heads
from queuesmith.web.parts import sentences
from queuesmith.web.state import TABS, PageState
from queuesmith.web.uploads import too_large

VIEWS = {
    "what-if": whatif,
    "log": log_view,
    "knobs": knobs_view,
    "learn": learn_view,
    "plan": plan_view,
    "live": live_view,
}
#: Scripts of the report that the page uses, too, in the order in which they need each other.
SHARED = ("gantt_data.js", "gantt_paint.js", "gantt.js")
#: The style of all pages.
STYLE = "page.css"

INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<title>{%title%}</title>
<link rel="icon" href="data:,">
{%css%}
</head>
<body>
{%app_entry%}
<footer>
{%config%}
{%scripts%}
{%renderer%}
</footer>
</body>
</html>
"""


def make_app(context: Context, *, token: str, prefix: str = "/") -> Dash:
    """Return the application; paths that it sees begin with the token.

    Parameters
    ----------
    context
        What the page shows.
    token
        The first part of every path.
    prefix
        What the browser's paths have before the token, behind a proxy.
    """
    app = Dash(
        "queuesmith",
        title="Queuesmith",
        update_title=None,
        assets_folder=str(Path(__file__).parent / "assets"),
        routes_pathname_prefix=f"/{token}/",
        requests_pathname_prefix=f"{prefix}{token}/",
        index_string=INDEX,
        suppress_callback_exceptions=True,
        add_log_handler=False,
        external_scripts=[f"{prefix}{token}/report/{name}" for name in SHARED],
        external_stylesheets=[f"{prefix}{token}/report/{STYLE}"],
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
        compress=False,
        on_error=_unexpected,
    )
    app.layout = lambda: frame()
    _wire(app, context)
    for part in (keeping, gantt, runs_view, *VIEWS.values()):
        part.wire(app, context)
    _routes(app, context, token)
    return app


def _unexpected(error: Exception) -> None:
    """Say that something went wrong, where nobody foresaw it; the details are on the terminal."""
    traceback.print_exception(error, file=sys.stderr)
    words = f"Something went wrong inside ({type(error).__name__}); the terminal has the details."
    set_props("notices", {"children": sentences([words], "caution")})


def frame() -> html.Div:
    """Return what stands around all parts of the page; each tab has a name of its own."""
    stores = {
        "tab": secrets.token_hex(8),
        "search": None,
        "moved": None,
        "scheme": "light",
        "view": None,
        "written": None,
        "runs-said": None,
    }
    return html.Div(
        [
            *(dcc.Store(id=name, data=value) for name, value in stores.items()),
            dcc.Download(id="download"),
            html.A("To the content", href="#page", className="skip"),
            html.Header(
                [
                    html.H1("Queuesmith"),
                    html.Nav(id="parts", **{"aria-label": "Parts of the page"}),
                    html.Div(
                        [
                            html.Progress(id="bar", max="1", **{"aria-label": "Replays done"}),
                            html.Button("Stop", id="stop", type="button"),
                        ],
                        id="busy",
                        className="idle",
                    ),
                ],
                className="top",
            ),
            html.Main(
                [
                    html.Div(id="notices", role="alert"),
                    html.Div(id="page", tabIndex=-1),
                ]
            ),
            html.Footer(f"Queuesmith {__version__}. Nothing here leaves this machine."),
        ]
    )


def content(query: str | None, context: Context) -> tuple[Any, Any, Any]:
    """Return the navigation, the open part, and what is to be said about the address."""
    state = context.state(query)
    said = list(state.complaints)
    try:
        opened = VIEWS[state.tab].view(state, context)
    except QueuesmithError as error:
        said.append(str(error))
        opened = html.Div(
            [
                dcc.Store(id="skeleton", data=state.query()),
                html.P("This cannot be shown. Go back, or begin anew with the first log."),
                html.A("Begin anew", href="?", className="button"),
            ]
        )
    if state.tab != "what-if":
        opened = html.Div([dcc.Store(id="skeleton", data=state.query()), opened])
    return navigation(state), opened, sentences(said, "caution")


def navigation(state: PageState) -> list[html.Button]:
    """Return the buttons that open the parts of the page."""
    return [
        html.Button(
            title,
            id={"type": "part", "name": name},
            type="button",
            className="part",
            **({"aria-current": "page"} if name == state.tab else {}),
        )
        for name, title in TABS.items()
    ]


def _wire(app: Dash, context: Context) -> None:
    app.callback(
        Output("parts", "children"),
        Output("page", "children"),
        Output("notices", "children", allow_duplicate=True),
        Input("search", "data"),
        prevent_initial_call="initial_duplicate",
    )(lambda query: _open(context, query))
    app.callback(
        Output("search", "data", allow_duplicate=True),
        Input({"type": "part", "name": ALL}, "n_clicks"),
        State("moved", "data"),
        State("skeleton", "data"),
        prevent_initial_call=True,
    )(lambda clicks, moved, skeleton: _turn_to(context, clicks, moved, skeleton))
    for function, target in (("address", "search"), ("scheme", "scheme")):
        app.clientside_callback(
            ClientsideFunction("queuesmith", function),
            Output(target, "data", allow_duplicate=True),
            Input("tab", "data"),
            prevent_initial_call="initial_duplicate",
        )
    app.clientside_callback(
        ClientsideFunction("queuesmith", "upload"), Output("upload", "title"), Input("upload", "id")
    )
    for function, source in (("remember", "search"), ("moved", "moved")):
        app.clientside_callback(
            ClientsideFunction("queuesmith", function),
            Output("written", "data", allow_duplicate=True),
            Input(source, "data"),
            prevent_initial_call=True,
        )


def _open(context: Context, query: str | None) -> Any:
    if query is None:  # page.js has not yet said what the address is
        raise PreventUpdate
    return content(query, context)


def _turn_to(context: Context, clicks: Any, moved: str | None, skeleton: str) -> str:
    what = ctx.triggered_id
    if what is None or not any(clicks):
        raise PreventUpdate
    # What was moved counts where it belongs to what is open now.
    state, rest = context.state(skeleton), context.state(moved or skeleton)
    same = rest.tab == state.tab and len(rest.columns) == len(state.columns)
    return (rest if same else state).having("tab", what["name"]).query()


def _routes(app: Dash, context: Context, token: str) -> None:
    """Add what is no callback: uploads, scripts of the report, and what every answer says."""
    server = app.server
    limit = context.logs.limit
    heads = security_heads(app.csp_hashes())

    def upload() -> Any:
        size = request.content_length
        if size is None or size > limit:
            return {"error": too_large(size or 0, limit)}, 413
        name = request.args.get("name", "log")[:200]
        shelf = context.instances if request.args.get("what") == "instance" else context.logs
        try:
            return {"name": shelf.upload(name, request.get_data(cache=False))}
        except QueuesmithError as error:
            return {"error": str(error)}, 422

    def progress() -> Any:
        tab = request.args.get("tab", "")
        return {"share": context.desk.progress(tab) or context.live.progress(tab) or 0}

    def stop() -> Any:
        for desk in (context.desk, context.live):
            desk.cancel(request.args.get("tab", ""))
        return {}

    def report_file(name: str) -> Any:
        if name not in (*SHARED, STYLE):
            return {"error": "there is no such file"}, 404
        room = "queuesmith.figures" if name == STYLE else "queuesmith.report"
        text = files(room).joinpath(name).read_text(encoding="utf-8")
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        return Response(text, mimetype=kind)

    def secured(response: Response) -> Response:
        keep = "/_dash-component-suites/" in request.path or "/report/" in request.path
        for name, value in heads.items():
            if name != "Cache-Control" or not keep:
                response.headers[name] = value
        return response

    server.add_url_rule(f"/{token}/upload", "upload", upload, methods=["POST"])
    server.add_url_rule(f"/{token}/progress", "progress", progress)
    server.add_url_rule(f"/{token}/stop", "stop", stop, methods=["POST"])
    server.add_url_rule(f"/{token}/report/<name>", "report_file", report_file)
    server.after_request(secured)
    # Callbacks are small; what is large is an upload, which has its own limit.
    server.config["MAX_CONTENT_LENGTH"] = max(limit, 4 * 2**20)
