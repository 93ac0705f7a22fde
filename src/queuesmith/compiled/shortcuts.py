"""What Numba need not do, or not so often, while an entry is compiled or loaded.

Each is undone at its end, so functions of others are compiled as ever.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

from numba.core import errors, event
from numba.core.base import BaseContext
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction


class Signatures:
    """What built-in functions make of types, remembered while an entry is compiled.

    For each ``a + b`` Numba tries dozens of templates in turn, and ``+`` of two whole numbers is
    everywhere: 3,499 times it did so for one entry, of which 188 differed. What it finds depends on
    the function, the types and the options of whoever calls, and on nothing else. Numba compiles
    under a lock of its own, so one thread at a time is here.
    """

    def __init__(self) -> None:
        self.found: dict[Any, Any] = {}
        self.options: list[Any] = []
        self.latest: tuple[Any, int] = (None, -1)

    @contextlib.contextmanager
    def remembered(self) -> Iterator[None]:
        """Let Numba look up here first."""
        builtin: Any = BaseFunction
        look_up = builtin.get_call_type

        def remembering(function: Any, context: Any, args: Any, kws: Any) -> Any:
            key = function, context, self._options(), tuple(args), tuple(dict(kws).items())
            if key not in self.found:
                self.found[key] = look_up(function, context, args, kws)
            return self.found[key]

        builtin.get_call_type = remembering
        try:
            yield
        finally:
            builtin.get_call_type = look_up

    def _options(self) -> int:
        """Return a number for the options in force: to compare them takes long, so rarely do it."""
        options = ConfigStack.top_or_none()
        if options is not self.latest[0] or self.latest[1] < 0:
            if options not in self.options:
                self.options.append(options)
            self.latest = options, self.options.index(options)
        return self.latest[1]


signatures = Signatures()


@contextlib.contextmanager
def refreshing_once() -> Iterator[None]:
    """Let Numba look for new functions of its own, but not again in the midst of it.

    The first look in a process would look 250 times more, for each method that it finds.
    """
    context: Any = BaseContext
    refresh, looking = context.refresh, False

    def refresh_once(self: Any) -> None:
        nonlocal looking
        if not looking:
            looking = True
            try:
                refresh(self)
            finally:
                looking = False

    context.refresh = refresh_once
    try:
        yield
    finally:
        context.refresh = refresh


@contextlib.contextmanager
def fewer_collections() -> Iterator[None]:
    """Look for garbage less often: a tenth of the time went there, and most of it stays."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 50, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Let Numba neither time each kernel nor colour what nobody will read.

    All timers of the functions around a kernel run at each of its steps. And where a built-in
    function does not fit some types a message is made, coloured, and thrown away.
    """
    events: Any = event
    timing, colours = events.install_timer, errors.termcolor()
    events.install_timer = lambda *_: contextlib.nullcontext()
    colours._markup = lambda message, *_: message
    try:
        yield
    finally:
        events.install_timer = timing
        vars(colours).pop("_markup", None)
