"""What is known of a run, in files that outlast any process: who started what, and how it ended.

The folder of a run has

    journal.jsonl       bags and knobs, written by the runner alone
    records/*.jsonl     one file a worker: each task that it started, each that ended
    output/BAG/         what each attempt of a task printed
    inbox/              requests of other commands: bags to add, knobs to turn

Lines are appended by one write each, so that a killed process leaves at most half a line, which is
passed over. Whoever writes a file holds its lock: that is how one sees who is alive.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import platform
import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from queuesmith.base.errors import OutputError, UsageError

#: How often a full disk is looked at again, in seconds.
FULL_DISK_EVERY = 1.0
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class Lines:
    """A file of JSON lines that one process at a time appends to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._one_at_a_time = threading.Lock()
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise UsageError(
                f"another process runs the bags of '{path.parent}'. Wait for its end, add bags "
                "to it with 'queuesmith run add', or name another --folder."
            ) from None
        except OSError as error:
            os.close(self._file)
            raise OutputError(
                f"files in '{path.parent}' cannot be locked ({error.strerror}), but that is how a "
                "run knows who is alive. Use a file system that has locks."
            ) from error
        if not _ends_whole(self._file):
            os.write(self._file, b"\n")  # after half a line of a process that was killed

    def append(self, line: dict[str, Any], *, sync: bool = True) -> None:
        """Append a line; with ``sync``, it is on disk afterwards. A full disk is waited for."""
        content = json.dumps(line).encode() + b"\n"
        with self._one_at_a_time:
            while not self._written(content):
                time.sleep(FULL_DISK_EVERY)
            if sync:
                os.fdatasync(self._file)

    def _written(self, content: bytes) -> bool:
        try:
            if os.write(self._file, content) == len(content):
                return True
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
        with contextlib.suppress(OSError):
            os.write(self._file, b"\n")  # half a line is passed over
        return False

    def close(self) -> None:
        """Let go of the file and its lock."""
        os.close(self._file)


def _ends_whole(file: int) -> bool:
    size = os.fstat(file).st_size
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"


class Tail:
    """Reads lines of a file as they come."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place = 0

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the whole lines that have come since the last time."""
        with self.path.open("rb") as file:
            file.seek(self._place)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._place += len(whole)
        for line in whole.splitlines():
            with contextlib.suppress(ValueError):
                found = json.loads(line)
                if isinstance(found, dict):
                    yield found

    def writer_is_alive(self) -> bool:
        """Tell whether the process that writes the file still runs."""
        file = os.open(self.path, os.O_RDWR)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)  # which lets the lock go
        return False


_records: dict[str, Lines] = {}
_opening = threading.Lock()


def own_records(folder: str) -> Lines:
    """Return the file in which this process records what it does for a run."""
    with _opening:
        if folder not in _records:
            name = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
            place = Path(folder) / "records"
            place.mkdir(parents=True, exist_ok=True)
            _records[folder] = Lines(place / name)
        return _records[folder]
