"""Where compiled code is kept, so that it is never stale.

Numba notices a change of the file that holds a cached function, but not of the files whose kernels
it calls: their machine code is part of the function's. So the cache lies in a folder whose name
has a stamp of all kernel sources, and a change of any of them begins a new folder.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.misc import appdirs

PACKAGE = Path(__file__).resolve().parents[1]
#: The files whose kernels and constants compiled code of other files may use.
KERNEL_SOURCES = ("compiled/*.py", "**/kernels/*.py")
#: Seconds after which nobody is thought to be still writing to an old folder.
AT_REST = 3600.0

# Numba's stubs know of neither.
config: Any = numba.config
users_folder: Any = appdirs.user_cache_dir

_one_at_a_time = threading.Lock()


def enable_caching(dispatcher: Any) -> None:
    """Let a function's machine code be kept on disk, unless no folder can be written to.

    Numba reads its settings here and never again for this function, so nobody else sees them.
    """
    with _one_at_a_time:
        folder = cache_folder(PACKAGE, config.CACHE_DIR)
        if folder is None:
            return
        before = config.CACHE_DIR, getattr(config, "CACHE_LOCATOR_CLASSES", "")
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = str(folder), ""
        try:
            dispatcher.enable_caching()
        finally:
            config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before
        _save_if_possible(dispatcher._cache)


def _save_if_possible(cache: Any) -> None:
    """Let a full disk cost the next process its time, not this one its work."""
    save = cache.save_overload

    def save_overload(*machine_code: Any) -> None:
        with contextlib.suppress(OSError):
            save(*machine_code)

    cache.save_overload = save_overload


@functools.cache
def cache_folder(package: Path, users_choice: str) -> Path | None:
    """Return the folder for what is compiled from a package's present sources, made if need be.

    Like Numba it takes the first that can be written to: the user's choice (``NUMBA_CACHE_DIR``),
    one beside the package, one in the user's home. Folders of older sources are removed there.
    """
    # Several copies of a package may share the user's folder, and must not remove each other's.
    place = hashlib.sha256(str(package).encode()).hexdigest()[:8]
    name = f"{package.name}-{place}"
    stamp = stamp_of(package)
    for root in _roots(package, users_choice):
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


def kernel_sources(package: Path) -> list[Path]:
    """Return the files that the stamp is made of."""
    return sorted({source for files in KERNEL_SOURCES for source in package.glob(files)})


def stamp_of(package: Path) -> str:
    """Return a word that changes with any kernel source."""
    digest = hashlib.sha256()
    for source in kernel_sources(package):
        content = source.read_bytes()
        digest.update(f"{source.relative_to(package)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _roots(package: Path, users_choice: str) -> Iterator[Path]:
    if users_choice:
        yield Path(users_choice).absolute()
    yield package / "__pycache__"
    yield Path(users_folder("numba", appauthor=False))


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
