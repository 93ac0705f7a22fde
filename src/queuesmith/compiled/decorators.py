"""How functions are compiled: kernels, and the ways into them.

A *kernel* is called by compiled code and is compiled into it. An *entry* is called from Python: it
is kept on disk and lets other threads run. ``NUMBA_DISABLE_JIT=1`` leaves all of them plain Python.

A kernel that sets no error model of its own has that of whoever calls it first in a process. One
that many files use must therefore not depend on it: it divides by nothing that may be 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from queuesmith.base.notices import tell
from queuesmith.compiled import durations
from queuesmith.compiled.cache import cache_folder, is_kernel_source
from queuesmith.compiled.inside_numba import Entry, Kernel, NotLoaded, config, counting

#: All entries of kernel files that are imported, by module and name.
ENTRIES: dict[str, Entry] = {}


def kernel(function: Any = None, *, allocates: bool = False, **options: Any) -> Any:
    """Let a function be compiled into those that call it.

    It is a decorator as it is, and one where options are given: whether it makes arrays, or
    Numba's.
    """
    if function is None:
        return lambda function: kernel(function, allocates=allocates, **options)
    if config.DISABLE_JIT:
        return function
    return Kernel(function, options | counting(allocates))


def entry(
    signature: Any = None, *, kept: bool = True, allocates: bool = False, **options: Any
) -> Callable[[Any], Any]:
    """Let a function be compiled when it is first called, for a signature or for what it is given.

    Its machine code is kept on disk, unless that is switched off. It may make arrays only where
    that is said.
    """

    def compiled(function: Any) -> Any:
        if config.DISABLE_JIT:
            return function
        name = f"{function.__module__}.{function.__qualname__}"
        file = function.__code__.co_filename
        made = (Entry if signature is None else NotLoaded)(
            function,
            signature,
            folder=lambda: cache_folder(file) if kept else None,
            begun=lambda: _tell(name),
            compiled=lambda seconds: durations.remember(name, seconds),
            options=options | counting(allocates),
        )
        if is_kernel_source(file):
            ENTRIES[name] = made
        return made

    return compiled


def load(*functions: Any) -> None:
    """Compile entries or load them from disk, if that has not been done yet.

    So is what takes long done before a clock starts.
    """
    for function in functions:
        if isinstance(function, Entry):
            function.load()


def _tell(name: str) -> None:
    seconds = durations.expected(name)
    if seconds >= durations.LONG:
        tell(durations.label(name), seconds)
