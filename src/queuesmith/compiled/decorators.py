"""How functions are compiled: kernels, and the ways into them.

A *kernel* is called by compiled code and is compiled into it. An *entry* is called from Python: it
is kept on disk and lets other threads run. ``NUMBA_DISABLE_JIT=1`` leaves all of them plain Python.

A kernel that sets no error model of its own has that of whoever calls it first in a process. One
that many files use must therefore not depend on it: it divides by nothing that may be 0.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numba

from queuesmith.compiled.cache import enable_caching

njit: Any = numba.njit  # its stubs do not know all its options

# Kernels allocate nothing, so they need no reference counts. Counting them for bundles of arrays
# costs a factor of ten.
kernel = njit(_nrt=False)


def entry(signature: Any = None, *, kept: bool = True, **options: Any) -> Callable[[Any], Any]:
    """Let a function be compiled at once for a signature, or without one when it is called.

    Its machine code is kept on disk, unless that is switched off.
    """

    def compiled(function: Any) -> Any:
        dispatcher = njit(**{"nogil": True, "_nrt": False} | options)(function)
        if dispatcher is function:  # nothing is to be compiled
            return function
        if kept:
            enable_caching(dispatcher)
        if signature is not None:
            dispatcher.compile(signature)
            dispatcher.disable_compile()
        return dispatcher

    return compiled


def on_demand(signature: Any, **options: Any) -> Callable[[Any], OnDemand]:
    """Let a function be compiled for a signature when it is first asked for."""
    return functools.partial(OnDemand, compiled=entry(signature, **options))


class OnDemand:
    """An entry that is compiled, or loaded from the cache, when it is first asked for.

    Half a minute of compiling need not be paid by those who never use it.
    """

    def __init__(self, function: Any, compiled: Callable[[Any], Any]) -> None:
        functools.update_wrapper(self, function)
        self._load = functools.cache(lambda: compiled(function))
        self._lock = threading.Lock()

    def load(self) -> Any:
        """Return the compiled function."""
        with self._lock:
            return self._load()

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self.load()(*arguments)
