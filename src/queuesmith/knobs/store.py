"""The record of a sweep in progress: a kill loses at most the parts in flight."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from types import TracebackType

import numpy as np

from queuesmith.base.errors import OutputError, UsageError
from queuesmith.base.files import checked_target
from queuesmith.knobs.bags import Floats


class SweepStore:
    """Finished parts of a sweep in one SQLite file, which goes away once the sweep is done.

    Parameters
    ----------
    path
        The file. One that is there already is taken up if it is of the same sweep.
    fingerprint
        What tells this sweep from any other.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = checked_target(path)
        self._lock = threading.Lock()
        try:
            self._base = sqlite3.connect(self.path, check_same_thread=False)
            self._base.execute("CREATE TABLE IF NOT EXISTS sweep (fingerprint TEXT)")
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS part "
                "(number INTEGER PRIMARY KEY, costs BLOB, origin BLOB, clear BLOB)"
            )
            found = self._base.execute("SELECT fingerprint FROM sweep").fetchone()
            if found is None:
                self._base.execute("INSERT INTO sweep VALUES (?)", (fingerprint,))
                self._base.commit()
        except sqlite3.DatabaseError as error:
            raise OutputError(
                f"the record of the sweep '{self.path}' cannot be used ({error}). "
                "Delete it, or write elsewhere."
            ) from error
        if found is not None and found[0] != fingerprint:
            self._base.close()
            raise UsageError(
                f"'{self.path}' is an unfinished sweep of other jobs, knobs or machine. "
                "Delete it, or write elsewhere."
            )

    def __enter__(self) -> SweepStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._base.close()

    def save(
        self,
        number: int,
        costs: Floats,
        origin: np.ndarray[tuple[int], np.dtype[np.int8]],
        clear: np.ndarray[tuple[int], np.dtype[np.int8]],
    ) -> None:
        """Keep a finished part."""
        blobs = (np.ascontiguousarray(costs).tobytes(), origin.tobytes(), clear.tobytes())
        with self._lock:
            self._base.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?)", (number, *blobs))
            self._base.commit()

    def finished(self, number: int) -> tuple[Floats, Floats, Floats] | None:
        """Return costs, origin and clear of a part, or None where it is not finished."""
        with self._lock:
            row = self._base.execute(
                "SELECT costs, origin, clear FROM part WHERE number = ?", (number,)
            ).fetchone()
        if row is None:
            return None
        costs, origin, clear = row
        return (
            np.frombuffer(costs).reshape(len(origin), -1),
            np.frombuffer(origin, np.int8),
            np.frombuffer(clear, np.int8),
        )

    def remove(self) -> None:
        """Forget the sweep: its result is written."""
        self._base.close()
        self.path.unlink(missing_ok=True)
