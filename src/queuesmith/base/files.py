"""Bytes in and out: plain or gzipped files, read whole and written whole or not at all."""

from __future__ import annotations

import gzip
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from queuesmith.base.errors import OutputError, WorkloadError

AnyPath = str | os.PathLike[str]

GZIP_MAGIC = b"\x1f\x8b"
#: The first bytes of compressed files that are not read, and how to unpack each.
OTHER_COMPRESSION = {b"BZh": "bunzip2", b"\xfd7zXZ": "unxz", b"\x28\xb5\x2f\xfd": "unzstd"}
LOG_SUFFIXES = (
    *(".gz", ".swf", ".sacct", ".events", ".csv", ".tsv"),
    *(".parquet", ".pq", ".txt", ".log"),
)


def log_name(path: AnyPath) -> str:
    """Return what a log is called: its file name without ``.swf``, ``.gz`` and the like."""
    name = Path(path).name
    while (suffix := Path(name).suffix.lower()) in LOG_SUFFIXES and suffix:
        name = name[: -len(suffix)]
    return name or Path(path).name or "workload"


def format_suffix(path: AnyPath) -> str:
    """Return the ending that tells the format: ``.swf`` for ``atlas.SWF.gz``."""
    name = Path(path).name.lower()
    return Path(name.removesuffix(".gz")).suffix


def read_bytes(path: AnyPath) -> bytes:
    """Return the contents of a file, unpacked where its first bytes say that it is gzip."""
    try:
        data = Path(path).read_bytes()
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

    The bytes go to a temporary file in the same folder, which takes the name at the end; where
    anything fails, it is removed and what stood there before stays. Devices and pipes, such as
    ``/dev/stdout``, are written directly.

    >>> with atomic_write("result.csv") as file:  # doctest: +SKIP
    ...     file.write(b"id,start")
    """
    target = checked_target(path)
    special = target.exists() and not target.is_file()
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with target.open("wb") if special else temporary.open("xb") as file:
            yield file
        if not special:
            temporary.replace(target)
    except OSError as error:
        raise OutputError(
            f"'{path}' cannot be written ({error.strerror or error}). "
            "Check the folder's permissions and free space, or write elsewhere."
        ) from error
    finally:
        if not special:
            temporary.unlink(missing_ok=True)


def write_bytes(path: AnyPath, data: bytes) -> None:
    """Write a whole file at once, gzipped where its name ends in ``.gz``.

    The same bytes give the same file: no time and no name is stored in the gzip header.
    """
    if Path(path).name.lower().endswith(".gz"):
        data = gzip.compress(data, compresslevel=6, mtime=0)
    with atomic_write(path) as file:
        file.write(data)


def unpacked(data: bytes, path: AnyPath) -> bytes:
    """Return the contents of a file, unpacked where its first bytes say that it is gzip."""
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except EOFError:
        raise WorkloadError(
            f"'{path}' is a gzip file that breaks off after {len(data)} bytes. Copy it again."
        ) from None
    except (OSError, zlib.error) as error:
        raise WorkloadError(
            f"'{path}' is a damaged gzip file ({error}). Copy it again, or unpack it by hand."
        ) from None


def checked_target(path: AnyPath) -> Path:
    """Return where a file is to be written; an error where that cannot be."""
    try:
        target = Path(path)
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
