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
#: What each verb does, as its own help begins; a test compares them. So help reads no verb.
SENTENCES = {
    "describe": (
        "Say what is in a job log: arrivals, sizes, runtimes, load by week, who waited how long."
    ),
    "generate": "Make a synthetic job log.",
    "convert": "Write a job log, or a part of it, in another format.",
    "scale": "Scale a job log to another machine size: widen or duplicate each job.",
    "machine": (
        "Show a machine: kinds of nodes, partitions, limits, what was inferred or not understood."
    ),
    "simulate": "Replay a job log under one policy.",
    "compare": (
        "Replay a job log under several policies and mark the best; history comes first if known."
    ),
    "report": "Compare policies and write one self-contained HTML page about it.",
    "fidelity": "Replay today's policy, and grade how well that agrees with what really happened.",
    "policies": (
        "List what a policy can be made of: orders, backfills, deciders, plan metrics, features."
    ),
    "metrics": "List the metrics, each with its definition.",
    "tune": "Learn a policy for an objective, and judge it on jobs it did not see.",
    "roll": (
        "Learn on months 1 to k, judge on month k + 1: what learning again each month would bring."
    ),
    "explain": (
        "Say in sentences what a policy does; with a log, what each rule chose in which states."
    ),
    "sweep": "Replay a job log under all settings of the knobs alpha, beta and gamma.",
    "knobs": "Choose knobs from the table of a sweep, and say in words what they favour.",
    "retune": "Replay a job log under knobs that are searched anew every so often.",
    "pareto": "Search the off-line Pareto front, and measure how far policies are from it.",
    "gap": "Say how far the best policy of each planning step is from the optimum.",
    "solve": "Find the best schedule of all jobs at once, with a proven bound.",
    "serve": "Open the what-if page: turn the knobs of policies, see who waits.",
    "demo": "Replay, compare, learn and report on the embedded workload.",
    "warm-up": "Compile all that commands need, so that none of them has to wait for it.",
    "import": "Fetch a job log: from Slurm's accounting, or from the archive of logs.",
    "map": "Map independent jobs to heterogeneous machines: queuesmith map ETC --method ...",
    "place": (
        "Place a queue on a federation: queuesmith place FEDERATION.toml JOBS.csv --method ..."
    ),
    "federation": "Federations of clusters: make one, replay arriving jobs on it.",
    "knapsack": "Replay bags of tasks with a greedy knapsack: queuesmith knapsack LOG --knobs ...",
    "study": "Many logs, policies, loads and seeds, described in one file; safe against crashes.",
    "run": "Run bags of shell commands under dynamic priority: queuesmith run BAGS --cores N",
    "slurm": (
        "A running Slurm: look at it, say when jobs start, advise, steer its queue, restore it."
    ),
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

    def sentences(self, ctx: Any) -> dict[str, str]:
        """Return what each verb does, without reading it."""
        return SENTENCES


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
