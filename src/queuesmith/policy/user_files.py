"""Where users' orders lie: files of Python that a policy file names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from queuesmith.base.errors import PolicyError

#: What stands under these keys of a policy file may be, or begin with, ``file.py:function``.
_KEYS = ("order", "preferred", "orders", "strategies")
_NAMED = re.compile(r"(?P<file>.+\.py)(?P<rest>:\w.*)", re.DOTALL)


def found(content: Mapping[str, Any], path: str | Path) -> dict[str, Any]:
    """Return what a policy file holds, each file of Python by where it was found.

    It is looked for beside the policy file, then in the current folder.
    """
    folder = Path(path).parent

    def place(file: str) -> str:
        for candidate in (folder / file, Path(file)):
            if candidate.is_file():
                return str(candidate)
        raise PolicyError(
            f"policy file '{path}' names '{file}', which {_missing(Path(file), folder)}. "
            "Put it beside the policy file, or write its whole path."
        )

    return _with_files(content, place)


def relative(content: Mapping[str, Any], path: str | Path) -> dict[str, Any]:
    """Return what a policy file is to hold, such that ``found`` finds each file of Python.

    Files below the folder of the policy file are named from there, others by their whole path.
    """
    folder = _whole(path).parent

    def name(file: str) -> str:
        whole = _whole(file)
        if not whole.is_file():
            return file
        below = whole.is_relative_to(folder)
        return whole.relative_to(folder).as_posix() if below else str(whole)

    return _with_files(content, name)


def _with_files(content: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return the content of a policy file with the names of files changed."""
    changed = _changed(content, change)
    candidates = content.get("candidates")
    if isinstance(candidates, list):
        changed["candidates"] = [
            _changed(each, change) if isinstance(each, dict) else each for each in candidates
        ]
    return changed


def _changed(content: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    def written(value: Any) -> Any:
        if isinstance(value, list):
            return [each if isinstance(each, list) else written(each) for each in value]
        named = _NAMED.fullmatch(value) if isinstance(value, str) else None
        return value if named is None else change(named["file"]) + named["rest"]

    return {key: written(value) if key in _KEYS else value for key, value in content.items()}


def _whole(path: str | Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - a link is left as it is


def _missing(file: Path, folder: Path) -> str:
    here = Path.cwd()
    if file.is_absolute():
        return "does not exist"
    if folder.absolute() == here:
        return f"is not in the folder '{here}'"
    return f"is neither beside it in '{folder.absolute()}' nor in the current folder '{here}'"
