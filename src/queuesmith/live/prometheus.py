"""Figures for monitoring, as Prometheus reads them from a text file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from queuesmith.base.files import atomic_write

#: The name of each figure, its kind, and what it means.
FIGURES = {
    "cycles": ("counter", "Cycles since the start."),
    "changes": ("counter", "Jobs whose SiteFactor was set."),
    "refused": ("counter", "Changes that did not take."),
    "conflicts": ("counter", "Jobs that somebody else has changed, left alone since."),
    "no_answer": ("counter", "Cycles in which slurmctld did not answer."),
    "waiting": ("gauge", "Jobs and arrays that wait."),
    "steered": ("gauge", "Jobs and arrays that may be steered."),
    "wanted": ("gauge", "Changes that the order wanted in the last cycle."),
    "paused": ("gauge", "1 while nothing is done: others' changes, or a bad grade."),
    "cycle_seconds": ("gauge", "How long the last cycle took, commands included."),
}


def figures_text(values: Mapping[str, Any], policy: str) -> str:
    """Return the figures in Prometheus' text format."""
    label = policy.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    lines = []
    for name, (kind, help) in FIGURES.items():
        full = f"queuesmith_steer_{name}" + ("_total" if kind == "counter" else "")
        lines += [f"# HELP {full} {help}", f"# TYPE {full} {kind}"]
        lines.append(f'{full}{{policy="{label}"}} {float(values[name]):g}')
    full = "queuesmith_steer_last_cycle_timestamp_seconds"
    lines += [f"# HELP {full} When the last cycle ended.", f"# TYPE {full} gauge"]
    lines.append(f'{full}{{policy="{label}"}} {time.time():.0f}')
    return "\n".join(lines) + "\n"


def write_figures(path: Path, values: Mapping[str, Any], policy: str) -> None:
    """Write the figures whole or not at all, as node_exporter's textfile collector wants it."""
    with atomic_write(path) as file:
        file.write(figures_text(values, policy).encode())
    path.chmod(0o644)
