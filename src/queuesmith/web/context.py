"""What all parts of the page share while the server runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from queuesmith.web.instances import InstanceShelf
from queuesmith.web.live_desk import LiveDesk
from queuesmith.web.logs import LogShelf
from queuesmith.web.machines import AnyCluster
from queuesmith.web.policies import PolicyShelf
from queuesmith.web.replays import ReplayDesk
from queuesmith.web.runs import RunShelf
from queuesmith.web.state import Column, PageState


@dataclass(frozen=True)
class Context:
    """The shelves of a page, and what it shows where the address says nothing.

    Parameters
    ----------
    logs, policies, desk, runs, instances, live
        What logs, policies, replays, long runs, files to be placed or mapped, and looks at a
        running Slurm there are.
    machine
        The machine that was named, None for the log's own.
    columns
        What is compared at first.
    log_source, log_options, machine_source
        How the log and the machine were named on the command line, and with which options the log
        was read, for how to reproduce.
    """

    logs: LogShelf
    policies: PolicyShelf
    desk: ReplayDesk
    runs: RunShelf
    instances: InstanceShelf
    live: LiveDesk
    machine: AnyCluster | None
    columns: tuple[Column, ...]
    log_source: Path | None = None
    log_options: Mapping[str, Any] = field(default_factory=dict)
    machine_source: str | None = None

    def state(self, query: str | None) -> PageState:
        """Return what an address means on this page."""
        default = PageState(log=self.logs.first, columns=self.columns)
        return PageState.parse(query or "", default)
