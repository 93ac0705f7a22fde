"""Results on a file system that many machines share: whole files, written once, never changed.

Each worker writes what it found as a shard: a temporary file that is synced and then renamed. A
shard is named by a checksum of its content, so that a damaged one is noticed, and nobody ever waits
for a lock. There is no database here: SQLite cannot be relied on where machines share files.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from queuesmith.base.errors import OutputError, UsageError
from queuesmith.base.files import AnyPath, write_bytes

#: A note of what a worker is busy with counts no longer after so many seconds.
STALE = 600.0
_SHARD, _BUSY = "shard-", "busy-"


class Shards:
    """A folder of results by name; any number of processes on any machines may write into it.

    Parameters
    ----------
    folder
        The folder. It is made where it does not exist.
    """

    def __init__(self, folder: AnyPath) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"the folder '{folder}' cannot be made ({error.strerror or error}). "
                "Check its permissions, or name another one."
            ) from error
        self._known: dict[str, dict[str, Any]] = {}
        self._read: set[str] = set()
        #: Files that do not match their names.
        self.damaged: set[str] = set()

    def write(self, results: Mapping[str, Any]) -> Path | None:
        """Write results by their names, wholly or not at all; return where, None for no results."""
        if not results:
            return None
        content = json.dumps(dict(results), sort_keys=True).encode()
        path = self.folder / f"{_SHARD}{sha256(content).hexdigest()[:32]}.json"
        write_bytes(path, content)
        return path

    def refresh(self) -> dict[str, dict[str, Any]]:
        """Read the shards that have come since the last time; return all results by name."""
        for path in sorted(self.folder.glob(f"{_SHARD}*.json")):
            if path.name not in self._read:
                self._read.add(path.name)
                self._take(path)
        return self._known

    def _take(self, path: Path) -> None:
        content = path.read_bytes()
        if path.stem.removeprefix(_SHARD) != sha256(content).hexdigest()[:32]:
            self.damaged.add(path.name)
            return
        for name, result in json.loads(content).items():
            before = self._known.setdefault(name, result)
            if before["values"] != result["values"]:
                raise UsageError(
                    f"two shards in '{self.folder}' have different results of one unit "
                    f"({name[:12]}), which cannot be: machines that do not compute alike, or a "
                    "file that was changed. Begin anew in another folder."
                )

    @contextlib.contextmanager
    def busy(self, names: Sequence[str]) -> Iterator[None]:
        """Let others know, while this lasts, what is being worked on; a mere note, no lock."""
        note = self.folder / f"{_BUSY}{secrets.token_hex(8)}.json"
        with contextlib.suppress(OSError):
            note.write_text(json.dumps(list(names)), encoding="utf-8")
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                note.unlink(missing_ok=True)

    def under_way(self) -> set[str]:
        """Return the names that some worker is busy with, as far as one knows."""
        names: set[str] = set()
        for note in self.folder.glob(f"{_BUSY}*.json"):
            with contextlib.suppress(OSError, ValueError):
                if time.time() - note.stat().st_mtime < STALE:
                    names.update(json.loads(note.read_text(encoding="utf-8")))
                else:
                    note.unlink(missing_ok=True)
        return names
