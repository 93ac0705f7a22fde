"""Where compiled code is kept, so that it is never stale.

Numba notices a change of the file that holds a cached function, but not of the files whose kernels
it calls: their machine code is part of the function's. So code is kept in a folder whose name has a
stamp of the function's file and of all kernel files that it imports, directly or not. A change of
any of them begins a new folder; a change of another kernel does not.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from queuesmith.base.syntax import parse
from queuesmith.compiled.inside_numba import config

PACKAGE = Path(__file__).resolve().parents[1]
#: The files whose kernels and constants compiled code of other files may use.
KERNEL_SOURCES = ("compiled/*.py", "**/kernels/*.py")
#: A statement that imports, with the lines of its brackets.
IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*("
    r"from[ \t]+[\w.]+[ \t]+import[ \t]*(?:\([^)]*\)|[^\n(;]+)"
    r"|import[ \t]+[^\n;]+"
    r")",
    re.MULTILINE,
)
#: When this process began to read sources. What was written later may not be what it has read.
BEGAN = time.time()
#: Seconds after which nobody is thought to be still writing to an old folder.
AT_REST = 3600.0


def cache_folder(file: str) -> Path | None:
    """Return the folder for what is compiled from a file, or None if none can be written to."""
    return folder_for(PACKAGE, Path(file).resolve(), config.CACHE_DIR)


@functools.cache
def folder_for(package: Path, file: Path, users_choice: str) -> Path | None:
    """Return the folder for what is compiled from a file and its present imports, made if need be.

    Like Numba it takes the first that can be written to: the user's choice (``NUMBA_CACHE_DIR``),
    one beside the package, one in the user's home. Folders of older sources are removed there.
    None where none can be, or where a source was edited while this process runs.
    """
    sources = dependencies(package, file)
    if any(source.stat().st_mtime > BEGAN for source in sources):
        return None
    stamp = stamp_of(package, sources)
    name = module_name(package, file)
    for root in places(package, users_choice):
        folder = root / f"{name}-{stamp}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            pass
        except OSError:
            continue
        else:
            _remove_old(root.glob(f"{name}-*"), folder)
        if os.access(folder, os.W_OK):
            return folder
    return None


def places(package: Path, users_choice: str) -> Iterator[Path]:
    """Yield the folders that may hold what is kept of a package, best first."""
    # Several copies of a package may share the user's folder, and must not remove each other's.
    own = f"{package.name}-{hashlib.sha256(str(package).encode()).hexdigest()[:8]}"
    if users_choice:
        yield Path(users_choice).absolute() / own
    yield package / "__pycache__" / own
    yield _users_folder() / own


def kernel_sources(package: Path) -> list[Path]:
    """Return the files whose kernels compiled code of other files may use."""
    return sorted({source for files in KERNEL_SOURCES for source in package.glob(files)})


def is_kernel_source(file: str) -> bool:
    """Tell whether a file is one of them."""
    path = Path(file).resolve()
    return path.is_relative_to(PACKAGE) and _is_kernel_source(PACKAGE, path)


def stamp_of(package: Path, sources: list[Path]) -> str:
    """Return a word that changes with any of these sources."""
    digest = hashlib.sha256()
    for source in sources:
        content = source.read_bytes()
        digest.update(f"{module_name(package, source)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def dependencies(package: Path, file: Path) -> list[Path]:
    """Return a file and the kernel sources that it imports, directly or not."""
    found = {file}
    waiting = [file]
    while waiting:
        new = set(_imported(package, waiting.pop())) - found
        found |= new
        waiting += new
    return sorted(found)


def _imported(package: Path, file: Path) -> list[Path]:
    named = _named_sources(package, file.read_text(encoding="utf-8"), module_name(package, file))
    return [source for source in named if source.is_file()]


@functools.cache
def _named_sources(package: Path, text: str, module: str) -> tuple[Path, ...]:
    """Return the kernel sources that a text would import, be they there or not.

    Entries share most of their files, so what a text imports is found once.
    """
    paths = {
        package.parent.joinpath(*name.split("."))
        for node in imports(text)
        for name in _named(node, module)
    }
    return tuple(
        source
        for path in sorted(paths)
        for source in (path.with_suffix(".py"), path / "__init__.py")
        if source.is_relative_to(package) and _is_kernel_source(package, source)
    )


def imports(text: str) -> list[ast.stmt]:
    """Return the import statements of a text of Python.

    They are found by their first word, at the beginning of a line or after ``;`` or ``:``, since to
    parse all files of an entry would take longer than to load it. A sentence that begins with
    "from" or "import" is no Python; an example in a docstring names a file too many, which does no
    harm.
    """
    found: list[ast.stmt] = []
    for words in IMPORT.findall(text.replace("\\\n", " ")):
        with contextlib.suppress(SyntaxError):
            found += parse(words).body
    return found


def _named(node: ast.AST, module: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = module.split(".")[: -node.level] if node.level else []
        home = ".".join([*above, *([node.module] if node.module else [])])
        yield home
        yield from (f"{home}.{alias.name}" for alias in node.names)


def _is_kernel_source(package: Path, path: Path) -> bool:
    inside = path.relative_to(package)
    return any(inside.match(files) for files in KERNEL_SOURCES)


def module_name(package: Path, file: Path) -> str:
    """Return what a file of a package is imported as; of another file, its name."""
    if not file.is_relative_to(package):
        return file.stem
    return ".".join(file.relative_to(package.parent).with_suffix("").parts)


def _users_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _remove_old(folders: Iterator[Path], kept: Path) -> None:
    """Remove folders of older sources, but not one that a process may be writing to.

    Another process may remove them at the same time, and one that still uses them compiles anew.
    """
    for folder in folders:
        if folder != kept and time.time() - _last_written(folder) > AT_REST:
            shutil.rmtree(folder, ignore_errors=True)


def remove_oldest(files: Iterable[Path], kept: int) -> None:
    """Remove files but for the newest, so that a cache does not grow for ever.

    Another process may remove them at the same time, and one that misses them compiles anew.
    """
    for file in sorted(files, key=_age)[kept:]:
        file.unlink(missing_ok=True)


def _age(file: Path) -> float:
    try:
        return -file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _last_written(folder: Path) -> float:
    try:
        return max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
    except FileNotFoundError:  # somebody else has removed it
        return time.time()
