"""Options that several commands for a running Slurm share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.registry import known

if TYPE_CHECKING:
    from queuesmith.live.changes import AllowList
    from queuesmith.live.state import ClusterState

Timeout = Annotated[float, typer.Option(help="Seconds that each of Slurm's commands may take.")]
PolicyName = Annotated[str, typer.Option(help="The policy whose order is wanted.")]
Names = Annotated[str, typer.Option(help="Only jobs of these, with commas between.")]
JournalFolder = Annotated[
    Path | None,
    typer.Option("--journal", help="The folder of the journal; by default QUEUESMITH_STATE."),
]
ClusterName = Annotated[
    str | None, typer.Option(help="Refuse to do anything on a cluster of another name.")
]


@dataclass(frozen=True)
class LookOptions:
    """Which state of a cluster is meant: the present one, or one that was kept."""

    state: Annotated[
        Path | None,
        typer.Option(
            "--state", help="A folder that 'slurm look --out' wrote; by default look now."
        ),
    ] = None
    timeout: Timeout = 30.0

    def look(self) -> ClusterState:
        """Look now, or read what was kept."""
        from queuesmith.live.state import look, state_of

        return look(seconds=self.timeout) if self.state is None else state_of(self.state)


@dataclass(frozen=True)
class WhoseOptions:
    """Whose jobs may be steered."""

    partitions: Names = ""
    accounts: Names = ""
    users: Names = ""

    @property
    def allowed(self) -> AllowList:
        """The allow-list; empty where nothing is named."""
        from queuesmith.live.changes import AllowList

        parts = (
            frozenset(name.strip() for name in text.split(",") if name.strip())
            for text in (self.partitions, self.accounts, self.users)
        )
        return AllowList(*parts)

    @property
    def nobody(self) -> bool:
        """Whether nothing is named."""
        return not any(vars(self.allowed).values())

    def check_partitions(self, there: Iterable[str]) -> None:
        """Raise where a partition is named that the cluster does not have."""
        for name in sorted(self.allowed.partitions):
            known("partition", name, tuple(there))


def check_cluster(found: str, wanted: str | None) -> None:
    """Raise where the cluster is not the one that was named."""
    if wanted is not None and wanted != found:
        raise UsageError(
            f"this is cluster '{found}', but --cluster says '{wanted}'. Set SLURM_CONF to the one "
            "you mean; nothing was changed."
        )
