"""A crash-safe record of a long run: one SQLite file, one transaction a round.

A run is a conversation: policies are asked about and values come back. What is kept are the
settings and, round by round, a fingerprint of the questions, the answers and the seconds they took.
To resume, the conversation is held again with the answers that are known. A kill in mid-write loses
at most the round in flight: SQLite undoes the unfinished transaction when the file is next opened.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from queuesmith.base.errors import OutputError, UsageError
from queuesmith.base.files import AnyPath, checked_target

#: Marks the file as ours ("QsRn"), in the place that SQLite keeps for it.
APPLICATION = 0x5173526E
VERSION = 1

_TABLES = """
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE round (
    number INTEGER PRIMARY KEY,
    question TEXT NOT NULL,
    answers TEXT NOT NULL,
    seconds REAL NOT NULL
) STRICT;
"""


@dataclass(frozen=True)
class Round:
    """One exchange of a run.

    Parameters
    ----------
    question
        A fingerprint of what was asked.
    answers
        The values that came back, in the order of the policies.
    seconds
        How long that took.
    """

    question: str
    answers: tuple[float, ...]
    seconds: float


def fingerprint(content: Any) -> str:
    """Return a short text that differs where two contents, ready for JSON, differ."""
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


class Store:
    """The record of one run in one file; a run under way has it for itself.

    Parameters
    ----------
    path
        The file. It is made where it does not exist.
    settings
        What the run is: a file that was begun with other settings is refused.
    """

    def __init__(self, path: AnyPath, settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        checked_target(path)
        with self._speaking():
            self._file = sqlite3.connect(path, timeout=0.0, isolation_level=None)
        try:
            with self._speaking():
                self._open(json.loads(json.dumps(settings)))
        except BaseException:
            self._file.close()
            raise

    def _open(self, settings: dict[str, Any]) -> None:
        # The whole run holds the lock, so that no other writes into the same record.
        self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._file.execute("PRAGMA synchronous = FULL")
        self._file.execute("BEGIN EXCLUSIVE")
        application = self._pragma("application_id")
        if application == 0 and not self._file.execute("SELECT 1 FROM sqlite_schema").fetchone():
            self._create(settings)
        elif application != APPLICATION or self._pragma("user_version") != VERSION:
            raise UsageError(
                f"'{self.path}' is no record of a run that this version can read. "
                "Name another file, which will be made."
            )
        else:
            self._compare(settings)
        self._file.execute("COMMIT")

    def _pragma(self, name: str) -> int:
        return int(self._file.execute(f"PRAGMA {name}").fetchone()[0])

    def _create(self, settings: dict[str, Any]) -> None:
        for statement in filter(str.strip, _TABLES.split(";")):
            self._file.execute(statement)
        rows = [(name, json.dumps(value)) for name, value in settings.items()]
        self._file.executemany("INSERT INTO setting VALUES (?, ?)", rows)
        self._file.execute(f"PRAGMA application_id = {APPLICATION}")
        self._file.execute(f"PRAGMA user_version = {VERSION}")

    def _compare(self, settings: dict[str, Any]) -> None:
        known = {
            name: json.loads(value)
            for name, value in self._file.execute("SELECT name, value FROM setting")
        }
        for name in sorted(set(known) | set(settings)):
            before, now = known.get(name), settings.get(name)
            if before != now:
                raise UsageError(
                    f"'{self.path}' is the record of another run: its {name} is {_brief(before)}, "
                    f"not {_brief(now)}. Name another file, or repeat the command that began it."
                )

    def rounds(self) -> list[Round]:
        """Return what was recorded so far."""
        query = "SELECT question, answers, seconds FROM round ORDER BY number"
        with self._speaking():
            rows = self._file.execute(query).fetchall()
        return [Round(question, tuple(json.loads(a)), seconds) for question, a, seconds in rows]

    def add(self, round: Round) -> None:
        """Record one more round, wholly or not at all."""
        row = (round.question, json.dumps(list(round.answers)), round.seconds)
        with self._speaking():
            self._file.execute(
                "INSERT INTO round (question, answers, seconds) VALUES (?, ?, ?)", row
            )

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Turn what SQLite complains about into a sentence."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise UsageError(
                    f"'{self.path}' is in use by another run. Wait for it, or name another file."
                ) from error
            if error.sqlite_errorcode in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                raise UsageError(
                    f"'{self.path}' is no record of a run ({error}). Name another file."
                ) from error
            raise OutputError(
                f"the record '{self.path}' cannot be written ({error}). Check the folder's "
                "permissions and free space, or name another file."
            ) from error


def _brief(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
