"""Slurm's accounting, fetched from sacct piece by piece into one log.

A year of a large cluster is more than sacct answers at once. Each piece is kept on disk as it
comes, so that an export that was stopped goes on where it was.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.files import AnyPath, atomic_write
from queuesmith.workload.files import write
from queuesmith.workload.sacct import parse_sacct
from queuesmith.workload.workload import Workload

#: What is asked for; the constraints are last because they may contain the separator.
FIELDS = (
    "JobID,JobIDRaw,User,Account,Group,Partition,QOS,Submit,Start,End,Elapsed,Timelimit,State,"
    "NNodes,AllocCPUS,ReqCPUS,Eligible,ReqMem,ReqTRES,AllocTRES,Flags,NodeList,Constraints"
)
#: A job stands in every piece in which it waited or ran; these tell its attempts apart.
KEY = ("JobIDRaw", "Submit", "Start")
DEFAULT_DAYS = 7
PIECES = ".pieces"
REQUEST = "request.json"


@dataclass(frozen=True)
class SacctRequest:
    """Which jobs are fetched, and how.

    Parameters
    ----------
    start, end
        From when to when, as the cluster's clock shows it; jobs that waited or ran meanwhile.
    days
        How many days one call of sacct asks for.
    sacct
        The program.
    cluster
        One of several clusters that sacct knows; None for its own.
    """

    start: datetime
    end: datetime
    days: int = DEFAULT_DAYS
    sacct: str = "sacct"
    cluster: str | None = None

    def __post_init__(self) -> None:
        if self.end <= self.start:
            raise UsageError(
                f"the export begins at {self.start} and ends at {self.end}, but it must end later. "
                "Give another --end."
            )
        if self.days < 1:
            raise UsageError(f"--days is {self.days}, but it must be at least 1. Give 1 or more.")

    def pieces(self) -> Iterator[tuple[datetime, datetime]]:
        """Yield the beginning and the end of each piece."""
        begin = self.start
        while begin < self.end:
            end = min(begin + timedelta(days=self.days), self.end)
            yield begin, end
            begin = end

    def words(self, begin: datetime, end: datetime) -> list[str]:
        """Return the command for a piece."""
        chosen = ["--clusters", self.cluster] if self.cluster else []
        return [
            *(self.sacct, "--allusers", "--allocations", "--duplicates", "--parsable2"),
            *("--starttime", begin.isoformat(timespec="seconds")),
            *("--endtime", end.isoformat(timespec="seconds")),
            *("--format", FIELDS),
            *chosen,
        ]

    def to_dict(self) -> dict[str, object]:
        """Return all that decides what the pieces are, ready for JSON."""
        return {**asdict(self), "start": str(self.start), "end": str(self.end), "fields": FIELDS}


def import_sacct(
    request: SacctRequest,
    out: AnyPath,
    *,
    progress: Callable[[float], None] | None = None,
) -> Workload:
    """Fetch jobs from sacct into one file, and return them.

    Parameters
    ----------
    request
        Which jobs.
    out
        The log to write; until it is there, the pieces lie in a folder beside it, from which the
        same call goes on.
    progress
        Is called with the share of the pieces that are there.
    """
    target = Path(out)
    folder = target.with_name(f"{target.name}{PIECES}")
    _begin(folder, request)
    pieces = list(request.pieces())
    for done, (begin, end) in enumerate(pieces):
        path = folder / f"{begin:%Y-%m-%dT%H%M%S}.sacct.gz"
        if not path.exists():
            _keep(path, _fetched(request, begin, end))
        if progress is not None:
            progress((done + 1) / len(pieces))
    texts = [_text(path) for path in sorted(folder.glob("*.sacct.gz"))]
    workload = parse_sacct(_joined(texts).encode(), f"{target.stem}.sacct")
    write(workload, target)
    for path in folder.glob("*.sacct.gz"):
        path.unlink()
    (folder / REQUEST).unlink()
    folder.rmdir()
    return workload


def _begin(folder: Path, request: SacctRequest) -> None:
    """Make the folder of the pieces, or see whether it belongs to the same request."""
    if not (folder / REQUEST).exists():
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / REQUEST) as file:
            file.write(json.dumps(request.to_dict(), indent=2).encode())
        return
    known = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
    changed = [key for key, value in request.to_dict().items() if known.get(key) != value]
    if changed:
        raise UsageError(
            f"'{folder}' has pieces of another export: its {changed[0]} is "
            f"{known.get(changed[0])}, not {request.to_dict()[changed[0]]}. Ask for the same, or "
            "delete the folder."
        )


def _fetched(request: SacctRequest, begin: datetime, end: datetime) -> str:
    if shutil.which(request.sacct) is None:
        raise UsageError(
            f"there is no program '{request.sacct}' here. Run this where Slurm's commands are, or "
            "name the program with --sacct."
        )
    # Seconds since 1970 need no time zone.
    environment = {**os.environ, "SLURM_TIME_FORMAT": "%s"}
    done = subprocess.run(
        request.words(begin, end),
        capture_output=True,
        text=True,
        errors="replace",
        env=environment,
        check=False,
    )
    if done.returncode:
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise WorkloadError(
            f"sacct failed for {begin:%Y-%m-%d} to {end:%Y-%m-%d}: {said[:300]}. The pieces before "
            "are kept; the same command goes on from there."
        )
    if not done.stdout.startswith("JobID|"):
        raise WorkloadError(
            f"'{request.sacct}' printed {done.stdout[:40]!r} for {begin:%Y-%m-%d}, but sacct's "
            "table begins with a line of names. Name the right program with --sacct."
        )
    return done.stdout


def _keep(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(gzip.compress(text.encode("utf-8", "replace")))


def _text(path: Path) -> str:
    try:
        return gzip.decompress(path.read_bytes()).decode("utf-8")
    except (OSError, EOFError, ValueError) as error:
        raise WorkloadError(
            f"the piece '{path}' is damaged ({error}). Delete it, and give the same command again."
        ) from None


def _joined(texts: list[str]) -> str:
    """Return one table of all pieces, each attempt of a job once: as it was last seen."""
    header = texts[0].splitlines()[0]
    names = header.split("|")
    places = [names.index(name) for name in KEY]
    last: dict[tuple[str, ...], str] = {}
    for text in texts:
        for line in text.splitlines()[1:]:
            cells = line.split("|", max(places) + 1)
            if len(cells) > max(places):
                last[tuple(cells[place] for place in places)] = line
    return "\n".join([header, *last.values(), ""])
