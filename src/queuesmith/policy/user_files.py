"""Where users' orders lie: files of Python that a policy file names, and what these import."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.machinery import PathFinder, all_suffixes
from pathlib import Path
from typing import Any

from queuesmith.base.errors import PolicyError
from queuesmith.base.syntax import parse

#: What stands under these keys of a policy file may be, or begin with, ``file.py:function``.
_KEYS = ("order", "backfill", "preferred", "orders", "strategies", "policy")
_NAMED = re.compile(r"(?P<file>.+\.py)(?P<rest>:(?P<function>\w+).*)", re.DOTALL)
#: Where installed modules lie, whose source is nobody's own.
_INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")


def found(content: Mapping[str, Any], path: str | Path) -> tuple[dict[str, Any], list[Path]]:
    """Return what a policy file holds, each file of Python by where it was found, and these files.

    They are looked for beside the policy file, then in the current folder.
    """
    folder = Path(path).parent
    files: list[Path] = []

    def place(file: str) -> str:
        for candidate in (folder / file, Path(file)):
            if is_file(candidate):
                files.append(candidate)
                return str(candidate)
        raise PolicyError(
            f"policy file '{path}' names '{file}', which {_missing(Path(file), folder)}. "
            "Put it beside the policy file, or write its whole path."
        )

    return _with_files(content, place), list(dict.fromkeys(files))


def own_orders(texts: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Yield each order that is a function in a file, as it is written, with its file."""
    matches = (_NAMED.fullmatch(text.strip()) for text in texts)
    named = {f"{match['file']}:{match['function']}": match["file"] for match in matches if match}
    for reference, file in named.items():
        if is_file(Path(file)):
            yield reference, Path(file)


def sources(file: Path) -> list[Path]:
    """Return a file of Python and the files of own modules that it imports, and these, and so on.

    Own is what lies beside it, or is found on Python's path but not among what is installed.
    """
    found = [file]
    for each in found:  # which grows meanwhile
        for name in _imported(each):
            found += [path for path in _own_module(name, each.parent) if path not in found]
    return found


def content_of(file: Path) -> str:
    """Return a word that changes with what a file of Python and its own modules do.

    Comments and blank lines do not count.
    """
    return _digest(file, lambda path: _code(path) or path.read_bytes())


def bytes_of(file: Path) -> str:
    """Return a word that changes with any byte of a file of Python and of its own modules."""
    return _digest(file, Path.read_bytes)


def _digest(file: Path, content: Callable[[Path], bytes]) -> str:
    digest = hashlib.sha256()
    for path in sources(file):
        part = content(path)
        digest.update(f"{path.name} {len(part)}\n".encode() + part)
    return f"sha256:{digest.hexdigest()[:32]}"


def _tree(path: Path) -> ast.Module | None:
    try:
        return parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # such a file cannot be run either


def _code(path: Path) -> bytes:
    tree = _tree(path) if path.suffix == ".py" else None
    return b"" if tree is None else ast.dump(tree).encode("utf-8", "surrogatepass")


def _imported(path: Path) -> list[str]:
    """Return the first part of the name of each module that a file imports, wherever it does."""
    tree = _tree(path) if path.suffix == ".py" else None
    names: list[str] = []
    for node in [] if tree is None else ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
        elif isinstance(node, ast.ImportFrom):
            names += [alias.name for alias in node.names]
    return list(dict.fromkeys(name.partition(".")[0] for name in names))


def _own_module(name: str, folder: Path) -> list[Path]:
    beside = [folder / f"{name}{suffix}" for suffix in all_suffixes()]
    files = [path for path in beside if path.is_file()]
    if not files and not (folder / name).is_dir():
        spec = PathFinder.find_spec(name, sys.path)
        origin = Path(spec.origin) if spec and spec.origin and spec.has_location else None
        if origin is None or _is_installed(origin):
            return []
        files = [origin]
        folder = origin.parent.parent if origin.stem == "__init__" else origin.parent
    package = folder / name
    return files + (sorted(package.rglob("*.py")) if package.is_dir() else [])


def _is_installed(path: Path) -> bool:
    places = [Path(sysconfig.get_path(name)).resolve() for name in _INSTALLED]
    places.append(Path(__file__).resolve().parents[1])  # this package itself
    return any(path.resolve().is_relative_to(place) for place in places)


def is_file(path: Path) -> bool:
    """Tell whether there is a file of this name, whatever the name is."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long a name, or one with a zero in it
        return False


def relative(content: Mapping[str, Any], path: str | Path) -> dict[str, Any]:
    """Return what a policy file is to hold, such that ``found`` finds each file of Python.

    Files below the folder of the policy file are named from there, others by their whole path.
    """
    folder = _whole(path).parent

    def name(file: str) -> str:
        whole = _whole(file)
        if not is_file(whole):
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
