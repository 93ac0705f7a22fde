"""What was computed of a thing is remembered as long as the thing is there."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Result = TypeVar("Result")


def remembered(function: Callable[..., Result]) -> Callable[..., Result]:
    """Let a function of a thing, and of words and numbers beside it, be computed once for each.

    The thing must be one that never changes, such as a schedule or a workload; it is not kept
    alive.

    >>> @remembered
    ... def total(jobs, column): ...
    """
    known: WeakKeyDictionary[Any, dict[tuple[Hashable, ...], Result]] = WeakKeyDictionary()

    @functools.wraps(function)
    def once(thing: Any, *beside: Hashable) -> Result:
        own = known.setdefault(thing, {})
        if beside not in own:
            own[beside] = function(thing, *beside)
        return own[beside]

    return once


def done_once(function: Callable[..., Result]) -> Callable[..., Result]:
    """Let a function be done once for what it is given, also where several threads ask at once.

    For what takes long, such as compiling; the latest 64 results are kept.
    """
    known, one_at_a_time = functools.lru_cache(maxsize=64)(function), threading.RLock()

    @functools.wraps(function)
    def done(*given: Hashable) -> Result:
        with one_at_a_time:
            return known(*given)

    return done
