"""What has been set, written and synced before each change, so that nothing is ever left behind."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from queuesmith.base.errors import OutputError
from queuesmith.base.files import atomic_write, sync_folder
from queuesmith.live.changes import Change
from queuesmith.live.commands import SlurmError

#: Where journals lie unless told otherwise.
STATE_VARIABLE = "QUEUESMITH_STATE"
#: Seconds for which one waits until the last command of a killed steerer has ended.
ORPHANS = 60.0
_VERSION = 1


@dataclass
class Entry:
    """What we have set for a job, or a whole array, so far."""

    job: int
    user: str
    submit: int
    sites: set[int] = field(default_factory=set)
    last: int = 0


def default_folder() -> Path:
    """Return where journals lie: ``QUEUESMITH_STATE``, or a folder of the user."""
    stated = os.environ.get(STATE_VARIABLE)
    if stated:
        return Path(stated)
    state = os.environ.get("XDG_STATE_HOME")
    return Path(state or Path.home() / ".local" / "state") / "queuesmith"


class Journal:
    """The journal of one cluster, held by one process at a time.

    The lock is handed on to the commands that make changes: who opens the journal after a kill
    waits until the last of them has ended, so that no late command undoes a restoration.

    Parameters
    ----------
    folder
        Where it lies; made if need be.
    cluster
        The name of the cluster.
    patience
        How many seconds to wait for a lock whose owner is gone.
    """

    def __init__(self, folder: Path, cluster: str, *, patience: float = ORPHANS) -> None:
        self.cluster = cluster
        self.path = folder / f"{safe_name(cluster)}.journal"
        self.entries: dict[int, Entry] = {}
        self._file: BinaryIO | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(
                folder / f"{safe_name(cluster)}.lock", os.O_RDWR | os.O_CREAT, 0o600
            )
        except OSError as error:
            raise OutputError(
                f"the journal cannot be kept in '{folder}' ({error.strerror}). Give a folder that "
                f"may be written to with --journal or {STATE_VARIABLE}."
            ) from None
        try:
            self._take(patience)
            self._read()
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def lock(self) -> int:
        """The open file that commands inherit."""
        return self._lock

    def _take(self, patience: float) -> None:
        until = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = _owner(self._lock)
                if owner is not None or time.monotonic() > until:
                    who = f"process {owner}" if owner else "another process"
                    raise SlurmError(
                        f"cluster '{self.cluster}' is being steered by {who} on this machine, and "
                        "one steerer is enough. Stop that one first."
                    ) from None
                time.sleep(0.1)
            else:
                os.ftruncate(self._lock, 0)
                os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)
                return

    def _read(self) -> None:
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        # A line without its end was being written when somebody was killed: nothing of it was set.
        for number, line in enumerate(lines[:-1]):
            try:
                record = json.loads(line)
                if number == 0:
                    self._check(record)
                else:
                    self._note(record)
            except (ValueError, KeyError, TypeError):
                raise SlurmError(
                    f"line {number + 1} of journal '{self.path}' cannot be read. Mend it, or "
                    "restore by hand: scontrol update JobId=... SiteFactor=0."
                ) from None

    def _check(self, header: dict[str, Any]) -> None:
        if header["journal"] != _VERSION or header["cluster"] != self.cluster:
            raise SlurmError(
                f"journal '{self.path}' belongs to cluster '{header['cluster']}', but this is "
                f"'{self.cluster}'. Give another folder with --journal; nothing was changed."
            )

    def _note(self, record: dict[str, Any]) -> None:
        job, site = int(record["job"]), int(record["site"])
        entry = self.entries.setdefault(job, Entry(job, str(record["user"]), int(record["submit"])))
        entry.sites.add(site)
        entry.last = site

    def remember(self, changes: Iterable[Change]) -> None:
        """Write what is about to be set, and wait until it is safely on disk."""
        records = [
            {"job": c.job, "user": c.user, "submit": c.submit, "site": c.site} for c in changes
        ]
        text = "".join(json.dumps(record) + "\n" for record in records).encode()
        try:
            file = self._opened()
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(
                f"journal '{self.path}' cannot be written ({error.strerror}), so nothing more is "
                "changed. Make room, then run queuesmith slurm restore."
            ) from None
        for record in records:
            self._note(record)

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._cut_torn_line()
            fresh = not self.path.exists() or not self.path.stat().st_size
            self._file = self.path.open("ab")
            if fresh:
                header = {"journal": _VERSION, "cluster": self.cluster}
                self._file.write((json.dumps(header) + "\n").encode())
                self._file.flush()
                os.fsync(self._file.fileno())
                sync_folder(self.path.parent)
        return self._file

    def _cut_torn_line(self) -> None:
        """Remove a last line that has no end, for what follows would be glued to it."""
        if self.path.exists():
            data = self.path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                os.truncate(self.path, whole)

    def keep_only(self, jobs: Collection[int]) -> None:
        """Leave out jobs that have ended, so that the journal of a long run stays short.

        The shorter journal takes the place of the longer one only once it is safely on disk.
        """
        kept = {number: entry for number, entry in self.entries.items() if number in jobs}
        lines: list[dict[str, Any]] = [{"journal": _VERSION, "cluster": self.cluster}]
        for entry in kept.values():
            for site in [*sorted(entry.sites - {entry.last}), entry.last]:
                facts = {"job": entry.job, "user": entry.user, "submit": entry.submit}
                lines.append({**facts, "site": site})
        self._close_file()
        with atomic_write(self.path) as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        self.entries = kept

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def forget(self) -> None:
        """Take note that nothing is set any more, nor steered by what was said to steer."""
        self._close_file()
        for path in (self.path, *said_files(self.path.parent, self.cluster)):
            path.unlink(missing_ok=True)
        sync_folder(self.path.parent)
        self.entries = {}

    def close(self) -> None:
        """Let others have it."""
        self._close_file()
        os.close(self._lock)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def safe_name(name: str) -> str:
    """Return the name of a cluster as one of a file."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name) or "cluster"


def said_files(folder: Path, cluster: str) -> tuple[Path, Path]:
    """Return where a steerer says by which policy it steers, and how."""
    name = safe_name(cluster)
    return folder / f"{name}.policy.json", folder / f"{name}.steering.json"


def is_steered(folder: Path, cluster: str) -> bool:
    """Tell whether a steerer of this machine holds the journal of a cluster now."""
    try:
        lock = os.open(folder / f"{safe_name(cluster)}.lock", os.O_RDONLY)
    except OSError:  # there never was one, or it is somebody else's
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _owner(lock: int) -> int | None:
    """Return the process that took a lock, where it still runs."""
    text = os.pread(lock, 20, 0).strip()
    if not text.isdigit():
        return None
    try:
        os.kill(int(text), 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return int(text)
