"""What was computed of a thing is remembered as long as the thing is there."""

from __future__ import annotations

import functools
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
