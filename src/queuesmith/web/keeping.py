"""Everything seen can be kept: a policy as a file, the page as a report, the call in Python."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from queuesmith.base.errors import QueuesmithError
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.report import DEFAULT_METRICS, write_report
from queuesmith.schedule import Schedule
from queuesmith.web.context import Context
from queuesmith.web.logs import BUILT_IN, UPLOADED, condition_of
from queuesmith.web.parts import sentences
from queuesmith.web.replays import Question
from queuesmith.web.runs import LEARNED, POLICY
from queuesmith.web.side_by_side import SideBySide
from queuesmith.web.state import Column, PageState

#: Stands for the file of a log that came from Python.
UNKNOWN = "LOG"
#: How the built-in logs are made, on the command line and in Python.
_MADE = {
    "demo": ("lublin --jobs 5000 --cores 256 --load 0.85 --seed 0", "qs.demo_workload()"),
    "demo-large": (
        "lublin --jobs 100000 --cores 1024 --load 0.85 --seed 1",
        "qs.lublin(100_000, 1024, load=0.85, seed=1)",
    ),
    "demo-bursty": (
        "airs --jobs 5000 --cores 256 --load 0.9 --seed 1",
        "airs(5_000, 256, load=0.9, seed=1)",
    ),
}


def keep_view(state: PageState, context: Context) -> list[Any]:
    """Return how to keep what is seen: files to download, and the calls that make it again."""
    buttons = [
        html.Button(
            f"Policy of column {place + 1} as a file",
            id={"type": "keep-policy", "column": place},
            type="button",
        )
        for place in range(len(state.columns))
    ]
    return [
        html.P("The address of this page restores all that is seen: copy it, or keep it."),
        html.Div(
            [*buttons, html.Button("The page as a report", id="keep-report", type="button")],
            className="bar",
        ),
        html.H3("On the command line"),
        html.Pre(html.Code(command_lines(state, context), id="command-line"), tabIndex=0),
        html.H3("In Python"),
        html.Pre(html.Code(python_call(state, context), id="python-call"), tabIndex=0),
    ]


def command_lines(state: PageState, context: Context) -> str:
    """Return the commands that make the same result, or say why there is none."""
    if unavailable := _no_command(state, context):
        return f"# {unavailable} The call in Python below does."
    lines, log = [], _log_path(state, context)
    if log is None:
        log = f"{state.log}.swf.gz"
        lines.append(f"queuesmith generate {_MADE[state.log][0]} --out {log}")
    shared = [shlex.quote(log), *_read_options(state, context), *_nodes(context)]
    if len({(column.load, column.cores) for column in state.columns}) == 1:
        metrics = dict.fromkeys([state.objective, *DEFAULT_METRICS])
        policies = ",".join(_policy(column, context) for column in state.columns)
        words = [*shared, *_beside(state.columns[0], context), "--policies", shlex.quote(policies)]
        lines.append(
            f"queuesmith compare {' '.join(words)} --metrics {shlex.quote(','.join(metrics))}"
        )
        return "\n".join(lines)
    for column in state.columns:
        words = [
            *shared,
            *_beside(column, context),
            "--policy",
            shlex.quote(_policy(column, context)),
        ]
        lines.append(
            f"queuesmith simulate {' '.join(words)} --objective {shlex.quote(state.objective)}"
        )
    return "\n".join(lines)


def _read_options(state: PageState, context: Context) -> list[str]:
    """Return the options by which the log was read, where it is the one of the command line, and
    those that take the same part of it.
    """
    options = dict(_own_options(state, context))
    if state.filters:
        ours = _condition(state, context)
        options["where"] = f"({options['where']}) and {ours}" if "where" in options else ours
    words: list[str] = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        words += [option] if value is True else [option, shlex.quote(str(value))]
    return words


def _condition(state: PageState, context: Context) -> str:
    return condition_of(context.logs.whole(state.log), state.filters)


def _nodes(context: Context) -> list[str]:
    """Return the options of a machine of nodes; the page infers no constraints."""
    if context.machine_source is None:
        return []
    return ["--machine", shlex.quote(context.machine_source), "--constraints", "as-logged"]


def _policy(column: Column, context: Context) -> str:
    """Return a policy as commands and calls take it: a learned one is a file."""
    if column.policy.startswith(LEARNED):
        return str(context.runs.find(column.policy.removeprefix(LEARNED)).folder / POLICY)
    return column.policy


def _own_options(state: PageState, context: Context) -> Mapping[str, Any]:
    given = state.log not in BUILT_IN and not state.log.startswith(UPLOADED)
    return context.log_options if given else {}


def _beside(column: Column, context: Context) -> list[str]:
    load = [] if column.load == 1.0 else ["--load-factor", f"{column.load:g}"]
    stated = context.machine.cores if isinstance(context.machine, Cluster) else None
    cores = column.cores or stated
    return load + ([] if cores is None else ["--cores", str(cores)])


def _no_command(state: PageState, context: Context) -> str | None:
    if isinstance(context.machine, NodeCluster) and context.machine_source is None:
        return "No command knows this machine of nodes."
    if any(column.nodes for column in state.columns):
        return "No command replays on another number of nodes."
    if state.filters and context.machine_source == "infer":
        return "No command infers the machine from more jobs than it replays."
    options = _own_options(state, context)
    if state.filters and {"head", "load_factor"} & options.keys():
        return "No command takes a part of a part of the log."
    if "load_factor" in options and any(column.load != 1.0 for column in state.columns):
        return "No command changes the load twice."
    if _priorities(context):
        return "The command needs your --slurm-conf or --qos-priority as well."
    return None


def _priorities(context: Context) -> dict[str, Any]:
    """Return what the machine of the command line says beside its size."""
    if not isinstance(context.machine, Cluster):
        return {}
    names = ("partition_priority", "qos_priority")
    stated = {name: dict(getattr(context.machine, name)) for name in names}
    return {name: value for name, value in stated.items() if value}


def python_call(state: PageState, context: Context) -> str:
    """Return the Python that makes the same result."""
    lines = ["import queuesmith as qs"]
    path = _log_path(state, context)
    if state.log == "demo-bursty":
        lines.append("from queuesmith.workload.synthetic import airs")
    nodes = isinstance(context.machine, NodeCluster)
    if nodes and any(column.nodes for column in state.columns):
        lines.append("from queuesmith.web.machines import resized")
    options = _own_options(state, context)
    if options:
        lines += ["from pathlib import Path", "from queuesmith.cli.options import LogOptions"]
    made = _MADE[state.log][1] if path is None else f"qs.read({path!r})"
    if options:
        further = "".join(f", {name}={value!r}" for name, value in options.items())
        made = f"LogOptions(Path({path!r}){further}).read()"
    lines += ["", f"log = {made}"]
    if nodes:
        lines.append(f"machine = qs.machine_from({context.machine_source or 'infer'!r}, log=log)")
    if state.filters:
        lines.append(f"log = log.where({_condition(state, context)!r})")
    for place, column in enumerate(state.columns, start=1):
        lines.append(f"column_{place} = {_simulation(column, context)}")
        lines.append(f"print(column_{place}.value({state.objective!r}))")
    return "\n".join(lines)


def _simulation(column: Column, context: Context) -> str:
    jobs = "log" if column.load == 1.0 else f"log.with_load_factor({column.load:g})"
    words = [jobs, f"policy={_policy(column, context)!r}"]
    if isinstance(context.machine, NodeCluster):
        sized = f"resized(machine, {dict(column.nodes)!r})" if column.nodes else "machine"
        words.insert(1, sized)
    elif context.machine is not None and _priorities(context):
        stated = "".join(f", {name}={value!r}" for name, value in _priorities(context).items())
        words.insert(1, f"qs.Cluster({column.cores or context.machine.cores}{stated})")
    elif column.cores is not None or context.machine is not None:
        words.append(f"cores={column.cores or (context.machine and context.machine.cores)}")
    return f"qs.simulate({', '.join(words)})"


def _log_path(state: PageState, context: Context) -> str | None:
    """Return the file of the log; None where it is a built-in one."""
    name = state.log or context.logs.first
    if name.startswith(UPLOADED):
        return str(context.logs.folder / name)
    if name in BUILT_IN:
        return None
    return UNKNOWN if context.log_source is None else str(context.log_source)


# -- wiring ------------------------------------------------------------------------------------


def wire(app: Dash, context: Context) -> None:
    """Connect the buttons with their downloads; page.js asks for them once they can be seen."""
    app.callback(
        Output("keep", "children"), Input("keep-asked", "data"), prevent_initial_call=True
    )(lambda query: _kept(query, context))
    app.callback(
        Output("download", "data"),
        Output("notices", "children", allow_duplicate=True),
        Input({"type": "keep-policy", "column": ALL}, "n_clicks"),
        Input("keep-report", "n_clicks"),
        State("moved", "data"),
        State("tab", "data"),
        prevent_initial_call=True,
        running=[(Output("busy", "className"), "busy", "idle")],
    )(lambda *moves: _download(context, *moves))


def _kept(query: str, context: Context) -> list[Any]:
    try:
        return keep_view(context.state(query), context)
    except QueuesmithError as error:
        return [html.P(str(error), className="caution")]


def _download(
    context: Context, policies: Any, report: Any, query: str, tab: str
) -> tuple[Any, Any]:
    what = ctx.triggered_id
    if what is None or not ctx.triggered[0]["value"]:
        raise PreventUpdate
    state = context.state(query)
    try:
        if what == "keep-report":
            return dcc.send_bytes(report_of(state, context, tab), "report.html"), no_update
        column = state.columns[int(what["column"])]
        return {
            "content": policy_file(column, context),
            "filename": "policy.json",
            "type": "application/json",
        }, no_update
    except QueuesmithError as error:
        return no_update, sentences([str(error)], "caution")


def policy_file(column: Column, context: Context) -> str:
    """Return what the file of a column's policy holds."""
    return json.dumps(context.desk.policy(column).content(), indent=2) + "\n"


def report_of(state: PageState, context: Context, tab: str) -> bytes:
    """Return what is seen as a report, one HTML file."""
    questions = [Question(state.log, state.filters, each) for each in dict.fromkeys(state.columns)]
    found = context.desk.schedules(tab, questions)
    for each in found:
        if not isinstance(each, Schedule):
            raise each
    real = context.desk.real(state.log, state.filters)
    shown = tuple(each for each in (real, *found) if isinstance(each, Schedule))
    metrics = tuple(dict.fromkeys([state.objective, *DEFAULT_METRICS]))
    with tempfile.TemporaryDirectory(prefix="queuesmith-") as folder:
        path = Path(folder) / "report.html"
        write_report(SideBySide(shown, metrics), path, command=command_lines(state, context))
        return path.read_bytes()
