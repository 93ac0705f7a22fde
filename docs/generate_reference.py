"""Write docs/cli.md, the reference of the command line, from the application itself."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any

import typer

from queuesmith.cli.app import app
from queuesmith.cli.options import CountingOptions, LogOptions, MachineOptions, TruthOptions

PAGE = Path(__file__).with_name("cli.md")
#: Bundles of options that many commands take; each is shown once.
SHARED = {
    "Which log": LogOptions,
    "Which machine": MachineOptions,
    "How true": TruthOptions,
    "Which jobs count": CountingOptions,
}
#: The command in which each is found.
SHOWN_BY = "simulate"

INTRODUCTION = """\
<!-- Made by docs/generate_reference.py; change the help texts of the commands instead. -->

# Command line

    queuesmith COMMAND ...

Results go to standard output. Notes (what was dropped or mended, what was written) and progress go
to standard error; `--quiet` silences them. Every listing takes `--format table`, `json` or `csv`.
An error is one sentence on standard error.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | it failed: the log cannot be read, the result cannot be written |
| 2 | the call is wrong: an unknown name, a value out of its range |
| 130 | stopped by Ctrl-C |

How a policy is written is told in [Policies](policies.md), how a metric or an objective is in
[Metrics and objectives](metrics.md), what a log may look like in [File formats](formats.md).
"""


def reference() -> str:
    """Return the page."""
    group: Any = typer.main.get_command(app)
    parts = [INTRODUCTION, "## Options without a command\n", _table(group.params)]
    parts.append("## Options of many commands\n")
    known = {param.name: param for param in group.commands[SHOWN_BY].params}
    for title, names in _bundles().items():
        parts += [f"### {title}\n", _table([known[name] for name in names])]
    for name, command in group.commands.items():
        parts += _sections(name, command)
    return "\n".join(parts)


def _sections(name: str, command: Any) -> list[str]:
    """Return the section of a command, and those of the commands below it."""
    parts = [f"## {name}\n\n{command.help}\n"]
    if hasattr(command, "commands"):
        for below, each in command.commands.items():
            # The command that need not be named.
            parts += _sections(name if below == "run" else f"{name} {below}", each)
        return parts[1:]
    if command.params:
        parts.append(f"    queuesmith {name} {_usage(command.params)}\n")
        shared = _shared(command.params)
        hidden = {option for names in shared.values() for option in names}
        own = [param for param in command.params if param.name not in hidden]
        parts += [_table(own)] if own else []
        parts += [_links(shared)] if shared else []
    return parts


def _bundles() -> dict[str, list[str]]:
    """Return the options of each bundle, without the log itself."""
    return {
        title: [field.name for field in fields(bundle) if field.name != "log"]
        for title, bundle in SHARED.items()
    }


def _shared(params: list[Any]) -> dict[str, list[str]]:
    """Return the bundles that a command takes as a whole."""
    there = {param.name for param in params}
    return {title: names for title, names in _bundles().items() if set(names) <= there}


def _links(shared: dict[str, list[str]]) -> str:
    links = [f"[{title.lower()}](#{title.lower().replace(' ', '-')})" for title in shared]
    return f"Also the options of many commands about {', '.join(links)}.\n"


def _usage(params: list[Any]) -> str:
    words = [p.name.upper() for p in params if p.param_type_name == "argument"]
    words += [f"{p.opts[-1]} ..." for p in params if p.param_type_name == "option" and p.required]
    return " ".join([*words, "[OPTIONS]"])


def _table(params: list[Any]) -> str:
    rows = [f"| {_name(p)} | {_meaning(p)} | {_default(p)} |" for p in params]
    return "\n".join(["| option | meaning | default |", "|---|---|---|", *rows, ""])


def _name(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{param.name.upper()}`"
    return ", ".join(f"`{option}`" for option in (*param.opts, *param.secondary_opts))


def _meaning(param: Any) -> str:
    text = (param.help or "").replace("|", "\\|")
    if isinstance(param.default, Enum):
        text += " One of: " + ", ".join(f"`{choice.value}`" for choice in type(param.default)) + "."
    if getattr(param, "multiple", False):
        text += " May be given several times."
    return text


def _default(param: Any) -> str:
    if param.required:
        return "required"
    if param.default in (None, "") or param.default is False:
        return ""
    if param.default is True:
        return f"`{param.opts[0]}`"
    value = param.default.value if isinstance(param.default, Enum) else param.default
    return f"`{value}`"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
