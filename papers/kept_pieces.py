"""The pieces of a study, by their names, in one file that grows with each of them."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from queuesmith.base.files import atomic_write


class KeptPieces:
    """Makes what is missing and keeps it at once, so that a study can be stopped and go on.

    Parameters
    ----------
    path
        A JSON file with a line for each piece. Several processes may add to it.
    apart
        What of a piece goes into a file of its own, named after it, since it is long: ``policy``.
    """

    def __init__(self, path: Path, *, apart: str = "") -> None:
        self.path, self._apart = path, apart
        self._others = KeptPieces(path.with_stem(f"{path.stem}_{apart}")) if apart else None
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._pieces = self._read()

    def __contains__(self, name: str) -> bool:
        return name in self._pieces

    def __getitem__(self, name: str) -> dict[str, Any]:
        piece = self._pieces[name]
        if self._others is not None and name in self._others:
            return piece | {self._apart: self._others[name]}
        return piece

    def names(self, start: str = "") -> list[str]:
        """Return the names of the pieces, or of those that begin in some way."""
        return [name for name in self._pieces if name.startswith(start)]

    def piece(
        self, name: str, make: Callable[[], dict[str, Any]] | None = None
    ) -> dict[str, Any] | None:
        """Return a piece; make and keep it where it is missing, or return None if nobody can."""
        if name not in self._pieces and make is not None:
            began = time.perf_counter()
            self.add(name, make())
            print(f"{name}: made in {time.perf_counter() - began:.0f} s", flush=True)
        return self[name] if name in self._pieces else None

    def add(self, name: str, content: dict[str, Any]) -> None:
        """Keep a piece under a name."""
        if self._others is not None and self._apart in content:
            self._others.add(name, content[self._apart])
            content = {part: each for part, each in content.items() if part != self._apart}
        with self._lock, self._alone():
            self._pieces = self._read() | {name: content}
            lines = [
                f"{json.dumps(each)}: {json.dumps(self._pieces[each], separators=(',', ':'))}"
                for each in sorted(self._pieces)
            ]
            with atomic_write(self.path) as file:
                file.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())

    def _read(self) -> dict[str, dict[str, Any]]:
        if not self.path.exists():
            return {}
        return dict(json.loads(self.path.read_text(encoding="utf-8")))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from writing in between."""
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)
