"""What the page places and maps: the papers' instances, files that were named, and uploads.

A place is where jobs go: clusters joined by links, or the machines of a grid with the times of all
jobs on them. Clusters need a queue as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from queuesmith.base.errors import UsageError
from queuesmith.federation import Federation, FederationJobs
from queuesmith.federation.model.generate import PAPER_QUEUES, paper_federation, paper_queue
from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc import read_etc
from queuesmith.grid.etc.generate import generate_etc
from queuesmith.web.uploads import check_size, digest, keep, safe_stem

#: The clusters of the paper, and the kinds of grids that are made for the page.
PAPER_CLUSTERS = "clusters of the paper"
MADE_GRIDS = {f"grid {kind}": kind for kind in ("u_c_hihi", "u_i_hihi", "u_s_hihi")}
#: The grids that the page makes: a picture of 512 jobs on 16 machines is a carpet.
GRID_JOBS, GRID_MACHINES = 64, 8
#: What the names of kept files begin with.
CLUSTERS, QUEUE, GRID = "clusters", "queue", "grid"
READERS: Mapping[str, Callable[[Path], object]] = {
    CLUSTERS: Federation.read,
    QUEUE: FederationJobs.read,
    GRID: read_etc,
}
_KEPT = re.compile(rf"({CLUSTERS}|{QUEUE}|{GRID})-[0-9a-f]{{12}}-[\w.-]+")
_ENDINGS = (".toml", ".csv.gz", ".csv", ".txt.gz", ".txt", ".gz")


class InstanceShelf:
    """Files of clusters, queues and grids, kept in a folder so that runs and links find them.

    Parameters
    ----------
    folder
        Where they are kept.
    limit
        The most bytes that an upload may have.
    given
        Files that were named when the page was started.
    """

    def __init__(self, folder: Path, *, limit: int, given: Sequence[Path] = ()) -> None:
        self.folder, self.limit = folder, limit
        self._given = [self._kept(path.name, _content(path)) for path in given]

    @property
    def places(self) -> list[str]:
        """Where jobs can be placed: given files first, then what is built in, then uploads."""
        made = (PAPER_CLUSTERS, *MADE_GRIDS)
        return self._listed(made, (CLUSTERS, GRID))

    @property
    def queues(self) -> list[str]:
        """What can be placed on clusters."""
        return self._listed(tuple(PAPER_QUEUES), (QUEUE,))

    def _listed(self, made: Sequence[str], kinds: Sequence[str]) -> list[str]:
        kept = [name for kind in kinds for name in self._names(kind)]
        given = [name for name in self._given if name in kept]
        return list(dict.fromkeys([*given, *made, *kept]))

    def _names(self, kind: str) -> list[str]:
        names = sorted(path.name for path in self.folder.glob(f"{kind}-*"))
        return [name for name in names if _KEPT.fullmatch(name)]

    def upload(self, filename: str, content: bytes) -> str:
        """Keep a file that somebody sent, and return its name; what cannot be read is refused."""
        check_size(content, self.limit)
        return self._kept(filename, content)

    def _kept(self, filename: str, content: bytes) -> str:
        ending = next((each for each in _ENDINGS if filename.lower().endswith(each)), "")
        stem = safe_stem(filename[: len(filename) - len(ending)], "file")
        kind = _kind(ending, content)
        path = self.folder / f"{kind}-{digest(content, 12)}-{stem}{ending}"
        return keep(path, filename, content, READERS[kind])


def is_grid(place: str) -> bool:
    """Tell whether a place is a grid, whose jobs come with it; clusters need a queue."""
    return place in MADE_GRIDS or place.startswith(f"{GRID}-")


def clusters_of(place: str, folder: Path) -> Federation:
    """Return the clusters that a name of the page means."""
    if place == PAPER_CLUSTERS:
        return paper_federation()
    return Federation.read(_path(place, folder, CLUSTERS))


def queue_of(name: str, folder: Path) -> FederationJobs:
    """Return the queue that a name of the page means."""
    if name in PAPER_QUEUES:
        return paper_queue(name)
    return FederationJobs.read(_path(name, folder, QUEUE))


def grid_of(place: str, folder: Path) -> EtcMatrix:
    """Return the times of jobs on machines that a name of the page means."""
    if place in MADE_GRIDS:
        return generate_etc(MADE_GRIDS[place], GRID_JOBS, GRID_MACHINES)
    return read_etc(_path(place, folder, GRID))


def _kind(ending: str, content: bytes) -> str:
    """Tell what a file is: TOML has clusters, a table with base times is a queue, else a grid."""
    if ending == ".toml":
        return CLUSTERS
    head = content[:1000].split(b"\n", 1)[0]
    return QUEUE if b"base_time" in head else GRID


def _path(name: str, folder: Path, kind: str) -> Path:
    path = folder / name
    if not _KEPT.fullmatch(name) or not name.startswith(f"{kind}-") or not path.is_file():
        raise UsageError(f"there is no '{name[:80]}' here. Choose another, or upload it again.")
    return path


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"'{path}' cannot be read ({error.strerror}). Name a file of clusters (TOML), a queue "
            "(CSV) or a grid (ETC)."
        ) from None
