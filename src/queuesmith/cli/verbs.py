"""All verbs and where each is written; one is read only when it is asked for.

To read all of them takes a tenth of a second, and a command line needs one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer

from queuesmith.cli.help import PanelCommand, PanelGroup, in_panels

#: The module of each verb's function, which has the verb's name.
FUNCTIONS = {
    "describe": "logs",
    "generate": "logs",
    "convert": "logs",
    "scale": "logs",
    "machine": "machines",
    "simulate": "replays",
    "compare": "replays",
    "report": "replays",
    "fidelity": "fidelity",
    "policies": "replays",
    "metrics": "replays",
    "tune": "learning",
    "roll": "rolling",
    "explain": "explaining",
    "sweep": "sweeps",
    "knobs": "sweeps",
    "retune": "sweeps",
    "pareto": "offline_fronts",
    "gap": "planning",
    "solve": "planning",
    "serve": "serve",
    "demo": "demo",
    "warm-up": "compiling",
}
#: The module and the name of each group of verbs.
GROUPS = {
    "import": ("imports", "app"),
    "map": ("grids", "app"),
    "place": ("placing", "app"),
    "federation": ("federations", "app"),
    "knapsack": ("bags", "app"),
    "study": ("studies", "app"),
    "run": ("running", "app"),
    "slurm": ("live", "app"),
}


class Verbs(Mapping[str, Any]):
    """The commands by name, each made when it is first looked up."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in FUNCTIONS or name in GROUPS

    def __iter__(self) -> Iterator[str]:
        return iter((*FUNCTIONS, *GROUPS))

    def __len__(self) -> int:
        return len(FUNCTIONS) + len(GROUPS)


class VerbGroup(PanelGroup):
    """A group of all verbs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = Verbs()  # type: ignore[assignment]


def _make(name: str) -> Any:
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    if name in FUNCTIONS:
        alone.command(name, cls=PanelCommand)(_written(FUNCTIONS[name], name.replace("-", "_")))
        return typer.main.get_command(alone)
    alone.add_typer(in_panels(_written(*GROUPS[name])), name=name)
    group: Any = typer.main.get_command(alone)
    return group.commands[name]


def _written(module: str, name: str) -> Any:
    return getattr(import_module(f"queuesmith.cli.{module}"), name)
