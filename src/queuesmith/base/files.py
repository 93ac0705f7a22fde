"""Bytes in and out: plain or gzipped files, read whole and written whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import secrets
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from queuesmith.base.errors import OutputError, UsageError, WorkloadError
from queuesmith.base.words import so_many

AnyPath = str | os.PathLike[str]

GZIP_MAGIC = b"\x1f\x8b"
#: The first bytes of compressed files that are not read, and how to unpack each.
OTHER_COMPRESSION = {b"BZh": "bunzip2", b"\xfd7zXZ": "unxz", b"\x28\xb5\x2f\xfd": "unzstd"}
#: Unpacked, a file may have so many bytes, or so many times those that it has packed where that is
#: more: logs are packed to a tenth, hardly ever to less than a fiftieth.
MOST_UNPACKED, MOST_TIMES_PACKED = 512 * 2**20, 50
#: Another limit in bytes, such as ``8G``, where a file is larger for good reasons.
LIMIT_VARIABLE = "QUEUESMITH_UNPACK_LIMIT"
_CHUNK = 2**20
#: A temporary file that is as old, in seconds, belongs to no process that still writes.
ABANDONED = 3600.0
LOG_SUFFIXES = (
    *(".gz", ".swf", ".sacct", ".events", ".csv", ".tsv"),
    *(".parquet", ".pq", ".txt", ".log"),
)


def as_path(path: AnyPath) -> Path:
    """Return a path, or say that what was given is none."""
    if isinstance(path, (str, os.PathLike)):
        return Path(path)
    raise UsageError(
        f"a file or folder is of the kind {type(path).__name__}, but it must be a text or a Path. "
        "Give for example 'log.swf'."
    )


def log_name(path: AnyPath) -> str:
    """Return what a log is called: its file name without ``.swf``, ``.gz`` and the like."""
    name = as_path(path).name
    while (suffix := Path(name).suffix.lower()) in LOG_SUFFIXES and suffix:
        name = name[: -len(suffix)]
    return name or as_path(path).name or "workload"


def format_suffix(path: AnyPath) -> str:
    """Return the ending that tells the format: ``.swf`` for ``atlas.SWF.gz``."""
    name = as_path(path).name.lower()
    return Path(name.removesuffix(".gz")).suffix


def read_bytes(path: AnyPath) -> bytes:
    """Return the contents of a file, unpacked where its first bytes say that it is gzip."""
    try:
        data = as_path(path).read_bytes()
    except FileNotFoundError:
        raise WorkloadError(
            f"there is no file '{path}' that could be read. Check the path."
        ) from None
    except IsADirectoryError:
        raise WorkloadError(
            f"'{path}' is a folder, where one file is to be read. Name a file inside it."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WorkloadError(
            f"'{path}' cannot be read ({reason}). Check the path and its permissions."
        ) from error
    data = unpacked(data, path)
    if not data.strip():
        raise WorkloadError(f"'{path}' is empty, so there is nothing to read. Give another file.")
    return data


def check_text(data: bytes, path: AnyPath, format: str) -> bytes:
    """Return the bytes of a text file without a byte-order mark; refuse a binary file."""
    for magic, tool in OTHER_COMPRESSION.items():
        if data.startswith(magic):
            raise WorkloadError(
                f"'{path}' is compressed, but only gzip is unpacked here. Run {tool} on it first."
            )
    if b"\0" in data:
        raise WorkloadError(
            f"'{path}' is a binary file (byte 0 at position {data.index(0)}), but {format} is "
            "text. Check the path, or name the format of the file."
        )
    return data.removeprefix(b"\xef\xbb\xbf")


def decoded(text: bytes) -> str:
    """Return text as UTF-8, or as Latin-1 where it is not."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


@contextmanager
def atomic_write(path: AnyPath) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only once it is complete.

    The bytes go to a temporary file in the same folder, which takes the name once they are safely
    on disk; where anything fails, it is removed and what stood there before stays. What killed
    processes left of the same file is swept. Devices and pipes, such as ``/dev/stdout``, are
    written directly.

    >>> with atomic_write("result.csv") as file:  # doctest: +SKIP
    ...     file.write(b"id,start")
    """
    target = checked_target(path)
    special = target.exists() and not target.is_file()
    temporary = target.with_name(f"{_begin_of_temporary(target)}{secrets.token_hex(6)}.tmp")
    try:
        if not special:
            _sweep_abandoned(target)
        with target.open("wb") if special else temporary.open("xb") as file:
            yield file
            if not special:
                file.flush()
                os.fsync(file.fileno())
        if not special:
            temporary.replace(target)
            sync_folder(target.parent)
    except OSError as error:
        raise OutputError(
            f"'{path}' cannot be written ({error.strerror or error}). "
            "Check the folder's permissions and free space, or write elsewhere."
        ) from error
    finally:
        if not special:
            temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Let what was renamed in a folder outlast a loss of power, where the file system can."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _begin_of_temporary(target: Path) -> str:
    return f".{target.name[:100]}."


def _sweep_abandoned(target: Path) -> None:
    """Remove what processes that were killed while they wrote this file have left."""
    left = re.compile(re.escape(_begin_of_temporary(target)) + r"[0-9a-f]{12}\.tmp")
    for found in target.parent.iterdir():
        if left.fullmatch(found.name):
            with contextlib.suppress(OSError):  # another process may sweep, too
                if time.time() - found.stat().st_mtime > ABANDONED:
                    found.unlink()


def write_bytes(path: AnyPath, data: bytes) -> None:
    """Write a whole file at once, gzipped where its name ends in ``.gz``.

    The same bytes give the same file: no time and no name is stored in the gzip header.
    """
    if as_path(path).name.lower().endswith(".gz"):
        data = gzip.compress(data, compresslevel=6, mtime=0)
    with atomic_write(path) as file:
        file.write(data)


def unpacked(data: bytes, path: AnyPath) -> bytes:
    """Return the contents of a file, unpacked where its first bytes say that it is gzip."""
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return _inflated(data, path)
    except EOFError:
        raise WorkloadError(
            f"'{path}' is a gzip file that breaks off after {so_many(len(data), 'byte')}. Copy it "
            "again."
        ) from None
    except (OSError, zlib.error) as error:
        raise WorkloadError(
            f"'{path}' is a damaged gzip file ({error}). Copy it again, or unpack it by hand."
        ) from None


def _inflated(data: bytes, path: AnyPath) -> bytes:
    """Unpack chunk by chunk, so that a file that would fill the memory is refused before."""
    most = unpack_limit(len(data))
    chunks, length = [], 0
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        while chunk := file.read(_CHUNK):
            chunks.append(chunk)
            length += len(chunk)
            check_unpacked(length, most, len(data), path)
    return b"".join(chunks)


def unpack_limit(packed: int) -> int:
    """Return how many bytes a file of so many packed bytes may have unpacked."""
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not text:
        return max(MOST_UNPACKED, MOST_TIMES_PACKED * packed)
    number = re.fullmatch(r"([0-9]{1,18})([KMGT]?)B?", text.upper())
    if number is None:
        raise UsageError(
            f"{LIMIT_VARIABLE} is '{text[:40]}', but it must be a number of bytes. "
            "Give for example 8G."
        )
    return int(number[1]) << 10 * " KMGT".index(number[2] or " ")


def check_unpacked(length: int, most: int, packed: int, path: AnyPath) -> None:
    """Raise where a file has more bytes, unpacked, than it may have."""
    if length > most:
        raise WorkloadError(
            f"'{path}' has {packed:,} bytes and would have more than {most:,} unpacked, which is "
            f"the limit. If that is right, set {LIMIT_VARIABLE} to more, for example 64G."
        )


def checked_target(path: AnyPath) -> Path:
    """Return where a file is to be written; an error where that cannot be."""
    try:
        target = as_path(path)
        if not target.exists() or target.is_file() or target.is_dir():
            target = target.resolve()  # devices and pipes stay as they are written
        is_folder, folder_exists = target.is_dir(), target.parent.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise OutputError(f"'{path}' cannot be written ({error}). Give another name.") from None
    if is_folder:
        raise OutputError(
            f"'{path}' is a folder, but a file is to be written. Name a file inside it."
        )
    if not folder_exists:
        raise OutputError(
            f"'{path}' cannot be written: there is no folder '{target.parent}'. Make it first."
        )
    return target
