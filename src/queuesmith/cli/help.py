"""Plain help in panels: commands by what one wants, options by what they are about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

#: What one wants, and the commands for it, in the order in which one meets them.
PANELS = {
    "Look": ("describe", "machine", "fidelity", "policies", "metrics"),
    "Replay": ("simulate", "compare", "report", "serve", "study", "knapsack", "run", "demo"),
    "Learn": ("tune", "roll", "explain", "sweep", "knobs", "retune"),
    "Prove": ("gap", "solve", "pareto"),
    "A running cluster": ("slurm",),
    "Several machines": ("place", "federation", "map"),
    "Logs and upkeep": ("import", "generate", "convert", "scale", "warm-up"),
}
#: The panels of options that belong to no bundle, by their names; all others are the method's.
OPTION_PANELS = {
    "The priority": ("alpha", "beta", "gamma", "share", "tune", "every"),
    "What counts": ("objective", "longest_wait", "no_worse", "metrics", "bound", "split"),
    "Output": (
        *("out", "report", "plot", "picture", "schedule", "figures", "format", "store"),
        *("quiet", "intervals", "title", "trust", "help", "by"),
    ),
}
METHOD = "The method"


class PanelGroup(TyperGroup):
    """A group whose help shows commands in panels, each with its whole sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands panel by panel."""
        sentences = self.sentences(ctx)
        panels = _panels(sentences) if ctx.parent is None else {"Commands": list(sentences)}
        for panel, names in panels.items():
            with formatter.section(panel):
                formatter.write_dl([(name, sentences[name]) for name in names])

    def sentences(self, ctx: Any) -> dict[str, str]:
        """Return what each command that is shown does."""
        return {
            name: sentence_of(command)
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None and not command.hidden
        }


class PanelCommand(TyperCommand):
    """A command whose help shows options in panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options panel by panel."""
        write_options(self, ctx, formatter)


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the options of a command panel by panel, in the order of their first."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            panels.setdefault(_panel(parameter), []).append(record)
    for panel in sorted(panels, key=lambda name: (name == "Output", name == METHOD)):
        with formatter.section(panel):
            formatter.write_dl(panels[panel])


def in_panels(group: typer.Typer) -> typer.Typer:
    """Let the help of all commands of a group show options in panels; return the group."""
    for command in group.registered_commands:
        command.cls = PanelCommand
    return group


def _panels(names: Iterable[str]) -> dict[str, list[str]]:
    there = list(names)
    panels = {panel: [name for name in wanted if name in there] for panel, wanted in PANELS.items()}
    known = {name for wanted in panels.values() for name in wanted}
    panels["Commands"] = [name for name in there if name not in known]
    return {panel: found for panel, found in panels.items() if found}


def sentence_of(command: Any) -> str:
    """Return the first paragraph of a command's help, in one line."""
    text = " ".join((command.help or "").split("\n\n")[0].split())
    return text or "-"


def _panel(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    by_name = (panel for panel, names in OPTION_PANELS.items() if parameter.name in names)
    return next(by_name, getattr(parameter, "rich_help_panel", None) or METHOD)
