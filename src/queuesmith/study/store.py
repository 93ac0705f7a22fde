"""A crash-safe record of long work: one SQLite file, one transaction a record.

What is kept are the facts that name the run and, piece by piece, what was found, each with its
checksum. A kill in mid-write loses at most the piece in flight: SQLite undoes the unfinished
transaction when the file is next opened. What was damaged since is noticed on opening.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import platform
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from queuesmith.base.errors import OutputError, UsageError
from queuesmith.base.files import AnyPath, as_path, checked_target, sync_folder

#: Marks the file as ours ("QsRn"), in the place that SQLite keeps for it.
APPLICATION = 0x5173526E
#: Of the format. Records of version 1 did not name all that decides an answer: they are refused.
VERSION = 2

_TABLES = (
    "CREATE TABLE run (facts BLOB NOT NULL, checksum BLOB NOT NULL) STRICT",
    "CREATE TABLE record (key BLOB PRIMARY KEY, content BLOB NOT NULL, checksum BLOB NOT NULL) "
    "STRICT, WITHOUT ROWID",
)
#: Facts that begin so are checksums of something, which nobody wants to read.
DIGEST = "sha256:"
_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
#: What is no fault of the file: no room, no permission, a file that was taken away.
_OUTSIDE = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOLFS,
)


def fingerprint(content: Any) -> str:
    """Return a short text that differs where two contents, ready for JSON, differ."""
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


class Store:
    """The record of one run in one file; a run under way has it for itself.

    Parameters
    ----------
    path
        The file. It is made where it does not exist.
    facts
        All that decides what the run finds, ready for JSON, by what messages call it. A file that
        was begun with other facts is refused.
    """

    def __init__(self, path: AnyPath, facts: Mapping[str, Any]) -> None:
        self.path = as_path(path)
        checked_target(path)
        written = json.dumps(dict(facts)).encode()
        self._name = sha256(written).digest()
        self._one_at_a_time = threading.Lock()
        with self._speaking():
            self._file = sqlite3.connect(
                path, timeout=0.0, isolation_level=None, check_same_thread=False
            )
        try:
            with self._speaking():
                self._open(written)
        except BaseException:
            self._file.close()
            raise

    def _open(self, facts: bytes) -> None:
        # The whole run holds the lock, so that no other writes into the same record.
        self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._file.execute("PRAGMA synchronous = FULL")
        self._file.execute("BEGIN EXCLUSIVE")
        if self._is_new():
            self._create(facts)
        else:
            self._check_version()
            self._check_whole()
            self._compare(json.loads(facts))
            self._check_records()
        self._file.execute("COMMIT")
        self._sign()

    def _is_new(self) -> bool:
        tables = self._file.execute("SELECT 1 FROM sqlite_schema").fetchone()
        return tables is None and self._pragma("application_id") == 0

    def _pragma(self, name: str) -> int:
        return int(self._file.execute(f"PRAGMA {name}").fetchone()[0])

    def _create(self, facts: bytes) -> None:
        for table in _TABLES:
            self._file.execute(table)
        self._file.execute("INSERT INTO run VALUES (?, ?)", (facts, sha256(facts).digest()))
        self._file.execute(f"PRAGMA application_id = {APPLICATION}")
        self._file.execute(f"PRAGMA user_version = {VERSION}")

    def _check_version(self) -> None:
        tables = {name for (name,) in self._file.execute("SELECT name FROM sqlite_schema")}
        older_sweep = {"sweep", "part"} <= tables
        if self._pragma("application_id") != APPLICATION and not older_sweep:
            raise UsageError(
                f"'{self.path}' is no record of a run, but a database of something else. "
                "Name another file, which will be made."
            )
        version = 1 if older_sweep else self._pragma("user_version")
        if version != VERSION:
            when = "an older" if version < VERSION else "a newer"
            raise UsageError(
                f"'{self.path}' is a record of {when} Queuesmith (format {version}, here it is "
                f"{VERSION}), whose answers cannot be relied on here. {self._begin_anew}"
            )

    def _check_whole(self) -> None:
        """Raise where the database is damaged, as far as SQLite can tell."""
        found = self._file.execute("PRAGMA integrity_check(1)").fetchone()
        if found != ("ok",):
            raise self._damaged(str(found[0]) if found else "no answer to the check")
        tables = self._file.execute("SELECT sql FROM sqlite_schema ORDER BY rowid").fetchall()
        if [sql for (sql,) in tables if sql] != list(_TABLES):
            raise self._damaged("its tables are not those of a record")

    def _compare(self, facts: dict[str, Any]) -> None:
        rows = self._file.execute("SELECT facts, checksum FROM run").fetchall()
        if len(rows) != 1 or sha256(_bytes(rows[0][0])).digest() != rows[0][1]:
            raise self._damaged("what names the run does not match its checksum")
        before = json.loads(rows[0][0])
        for name in dict.fromkeys([*facts, *before]):
            if before.get(name) != facts.get(name):
                raise UsageError(
                    f"'{self.path}' is the record of another run: the {name} changed since it was "
                    f"begun{_from_to(before.get(name), facts.get(name))}. {self._begin_anew}"
                )

    @property
    def _begin_anew(self) -> str:
        return "Begin anew with another file, or delete this one."

    def _check_records(self) -> None:
        for key, content, checksum in self._file.execute("SELECT * FROM record"):
            self._check(_bytes(key), _bytes(content), checksum)

    def _check(self, key: bytes, content: bytes, checksum: Any) -> None:
        if checksum != self._checksum(key, content):
            name = key.decode("utf-8", "replace")
            raise self._damaged(f"its piece {name[:40]!r} does not match its checksum")

    def _checksum(self, key: bytes, content: bytes) -> bytes:
        # With the name of the run, so that no piece can stray from one record to another.
        return sha256(self._name + len(key).to_bytes(8, "big") + key + content).digest()

    def _damaged(self, how: str) -> UsageError:
        brief = " ".join(how.split())[:120]
        return UsageError(f"the record '{self.path}' is damaged ({brief}). {self._begin_anew}")

    def get(self, key: str) -> bytes | None:
        """Return what was recorded under a key; None where nothing was."""
        query = "SELECT content, checksum FROM record WHERE key = ?"
        with self._one_at_a_time, self._speaking():
            row = self._file.execute(query, (key.encode(),)).fetchone()
        if row is None:
            return None
        self._check(key.encode(), _bytes(row[0]), row[1])
        return bytes(row[0])

    def put(self, key: str, content: bytes) -> None:
        """Record something under a key, wholly or not at all; threads may do so."""
        row = (key.encode(), content, self._checksum(key.encode(), content))
        with self._one_at_a_time, self._speaking():
            self._file.execute("INSERT OR REPLACE INTO record VALUES (?, ?, ?)", row)

    def __len__(self) -> int:
        with self._one_at_a_time, self._speaking():
            return int(self._file.execute("SELECT count(*) FROM record").fetchone()[0])

    def close(self) -> None:
        """Let go of the file."""
        _signature(self.path).unlink(missing_ok=True)
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _sign(self) -> None:
        """Tell whoever wants the same record meanwhile who has it."""
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        who = f"process {os.getpid()} of {_user()} on {platform.node()}, since {since}"
        with contextlib.suppress(OSError):
            _signature(self.path).write_text(who, encoding="utf-8")

    def _holder(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            text = " ".join(_signature(self.path).read_text(encoding="utf-8")[:200].split())
            return f" ({text})" if text.isprintable() and text else ""
        return ""

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Turn what SQLite complains about into a sentence."""
        try:
            yield
        except (sqlite3.Error, UnicodeError, ValueError, OverflowError) as error:
            # Errors that Python raises by itself, such as text that is no UTF-8, have no code.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
            if code in _IN_USE:
                raise UsageError(
                    f"'{self.path}' is in use by another run{self._holder()}. "
                    "Wait for its end or stop it, then repeat this command; or name another file."
                ) from error
            if code in _OUTSIDE:
                raise OutputError(
                    f"the record '{self.path}' cannot be written ({error}). Check the folder's "
                    "permissions and free space, then repeat this command: what was recorded stays."
                ) from error
            if code == sqlite3.SQLITE_NOTADB:
                raise UsageError(
                    f"'{self.path}' is no record of a run ({error}). Name another file."
                ) from error
            raise self._damaged(str(error)) from error


def remove_record(path: AnyPath) -> None:
    """Remove the record of a run: its result is safely on disk."""
    target = Path(path)
    for file in (target, target.with_name(f"{target.name}-journal"), _signature(target)):
        file.unlink(missing_ok=True)
    sync_folder(target.absolute().parent)


def _signature(path: Path) -> Path:
    return path.with_name(f".{path.name}.writer")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"


def _bytes(value: Any) -> bytes:
    """Return bytes as they are; what has become of another kind matches no checksum."""
    return value if isinstance(value, bytes) else b""


def _from_to(before: Any, now: Any) -> str:
    if any(str(value).startswith(DIGEST) for value in (before, now)):
        return ""
    return f", from {_brief(before)} to {_brief(now)}"


def _brief(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
