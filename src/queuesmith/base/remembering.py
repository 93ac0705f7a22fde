"""What was computed is remembered: as long as a thing is there, or for the latest that asked."""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar
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


class Recent(Generic[Result]):
    """Things by name, made when first asked for; of too many, who was not asked for longest goes.

    Threads may share one: each thing is made by one of them.

    Parameters
    ----------
    most
        How many are kept.

    Examples
    --------
    >>> squares = Recent(2)
    >>> [squares.get(number, lambda: number**2) for number in (1, 2, 1, 3)]
    [1, 4, 1, 9]
    >>> 1 in squares, 2 in squares
    (True, False)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Result] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Hashable, make: Callable[[], Result]) -> Result:
        """Return the thing of this name; make it where it is not kept."""
        with self._lock:
            if name not in self._kept:
                self._kept[name] = make()
                if len(self._kept) > self._most:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(name)
            return self._kept[name]

    def __contains__(self, name: Hashable) -> bool:
        """Tell whether the thing of this name is kept."""
        return name in self._kept
