"""What the compiler says of a function that it cannot compile, as plain text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any


def plain_text(error: Exception) -> str:
    """Return what an error says, without the colours of a terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", str(error))


def lines_of(function: Callable[..., Any], text: str) -> list[str]:
    """Return the lines of a function's file that the compiler names; the last is the nearest."""
    file = re.escape(function.__code__.co_filename.rsplit("/", 1)[-1])
    return re.findall(rf'File "[^"]*{file}", line (\d+)', text)


def first_reason(text: str) -> str:
    """Return the first line that says why, or the first of all where none does."""
    reasons = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [r for r in reasons if not r.startswith(("Failed", "During", "File", "<source", "-"))]
    return (telling or reasons)[0].rstrip(".")
