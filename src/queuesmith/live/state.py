"""The state of a running cluster at one moment: its jobs, its nodes, its settings."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from queuesmith.base.errors import ClusterError, WorkloadError
from queuesmith.base.files import AnyPath
from queuesmith.cluster.hostlist import expanded
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.sources import machine_from
from queuesmith.live.commands import PATIENCE, SlurmError
from queuesmith.live.jobs import LiveJob, jobs_of
from queuesmith.live.occupied import free_cores
from queuesmith.live.queries import MOMENT, record, settings_of


@dataclass(frozen=True)
class ClusterState:
    """What a running Slurm knows at one moment.

    Parameters
    ----------
    now
        The moment, in Unix seconds.
    jobs
        All jobs that wait or run.
    machine
        Nodes, partitions, limits, reservations for maintenance.
    settings
        What ``scontrol show config`` tells, by Slurm's names.
    notes
        What could not be read, and why.
    shares
        The lines of sshare, as they are; none where there is no accounting.
    hidden_from
        Who looked and was not shown the jobs of others; None where all are there.
    """

    now: int
    jobs: tuple[LiveJob, ...]
    machine: NodeCluster
    settings: Mapping[str, str]
    notes: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    hidden_from: str | None = None

    @property
    def cluster(self) -> str:
        """The name of the cluster."""
        return self.settings.get("ClusterName", self.machine.name)

    @property
    def version(self) -> str:
        """The version of Slurm."""
        return self.settings.get("SLURM_VERSION", "unknown")

    @cached_property
    def waiting(self) -> tuple[LiveJob, ...]:
        """The jobs that wait, the highest priority first."""
        jobs = (job for job in self.jobs if job.waiting)
        return tuple(sorted(jobs, key=lambda job: (-job.priority, job.submit, job.id)))

    @cached_property
    def running(self) -> tuple[LiveJob, ...]:
        """The jobs that hold nodes."""
        return tuple(job for job in self.jobs if job.running)

    @cached_property
    def nodes_held(self) -> tuple[tuple[LiveJob, frozenset[str]], ...]:
        """The jobs that hold nodes, and which."""
        return tuple((job, frozenset(expanded(job.node_list))) for job in self.running)

    @cached_property
    def free_cores(self) -> dict[str, int]:
        """The cores of each node that no job holds, of whatever partition."""
        sizes = zip(self.machine.node_names, self.machine.places.cores.tolist(), strict=True)
        return free_cores(self.running, dict(sizes))


def look(*, keep: AnyPath | None = None, seconds: float = PATIENCE) -> ClusterState:
    """Look at the Slurm of this machine with its ordinary commands; nothing is changed.

    Parameters
    ----------
    keep
        A folder for what the commands printed; `state_of` reads it again.
    seconds
        How long each command may take.
    """
    if keep is not None:
        folder = Path(keep)
        record(folder, seconds=seconds)
        return state_of(folder)
    with tempfile.TemporaryDirectory(prefix="queuesmith-") as folder_name:
        record(Path(folder_name), seconds=seconds)
        return state_of(folder_name)


def state_of(folder: AnyPath) -> ClusterState:
    """Read a state that `look` has kept in a folder."""
    place = Path(folder)
    now, notes, hidden = _moment(place)
    settings = settings_of(_text(place, "scontrol-config"))
    try:
        machine = machine_from(place)
    except ClusterError as error:
        raise SlurmError(f"what scontrol tells of the nodes cannot be read: {error}") from None
    return ClusterState(
        now=now,
        jobs=jobs_of(_text(place, "squeue"), _text(place, "sprio"), _text(place, "squeue-tres")),
        machine=machine,
        settings=settings,
        notes=notes,
        shares=tuple(_text(place, "sshare").splitlines()),
        hidden_from=hidden,
    )


def _text(folder: Path, name: str) -> str:
    path = folder / f"{name}.txt"
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _moment(folder: Path) -> tuple[int, tuple[str, ...], str | None]:
    """Return when a cluster was looked at, what could not be read, and from whom jobs were hidden.

    States of earlier versions do not tell the last.
    """
    try:
        content = json.loads((folder / MOMENT).read_bytes())
        notes = tuple(str(note) for note in content["notes"])
        return int(content["now"]), notes, content.get("hidden_from")
    except (OSError, ValueError, KeyError, TypeError):
        raise WorkloadError(
            f"'{folder}' holds no state of a cluster: there is no {MOMENT} that tells when it was "
            "looked at. Make one with queuesmith slurm look --out FOLDER."
        ) from None
