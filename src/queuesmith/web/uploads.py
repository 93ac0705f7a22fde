"""Files that somebody sent to the page, kept in a folder so that links to them work later."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from queuesmith.base.errors import QueuesmithError, UsageError, WorkloadError
from queuesmith.base.files import atomic_write

LONGEST_STEM = 40


def check_size(content: bytes, limit: int) -> None:
    """Refuse an upload of more bytes than the limit."""
    if len(content) > limit:
        raise UsageError(too_large(len(content), limit))


def too_large(size: int, limit: int) -> str:
    """Say that an upload is too large."""
    return (
        f"the file has {size / 2**20:,.1f} MB, but an upload may have {limit / 2**20:,.0f} MB. "
        "Start the page with the file on the command line, or with a larger --upload-limit."
    )


def safe_stem(name: str, otherwise: str) -> str:
    """Return what a name of a file keeps in a folder: letters, digits and lines."""
    return re.sub(r"[^\w-]+", "-", name, flags=re.ASCII).strip("-")[:LONGEST_STEM] or otherwise


def digest(content: bytes, length: int) -> str:
    """Return so many letters that name a content."""
    return hashlib.sha256(content).hexdigest()[:length]


def keep(path: Path, filename: str, content: bytes, read: Callable[[Path], object]) -> str:
    """Write a file that somebody sent, and return its name in the folder.

    What cannot be read is refused and not kept; messages call it by the name that it was sent with.
    """
    fresh = not path.exists()
    if fresh:
        with atomic_write(path) as file:
            file.write(content)
    try:
        read(path)
    except (QueuesmithError, MemoryError) as error:
        if fresh:
            path.unlink(missing_ok=True)
        raise WorkloadError(str(error).replace(str(path), filename)) from error
    return path.name
