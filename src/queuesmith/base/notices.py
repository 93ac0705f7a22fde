"""What takes long is told to whoever listens; by default nobody does, so a library stays silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Is told what is being compiled, and about how many seconds that takes.
Listener = Callable[[str, float], None]

_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let somebody be told while this lasts."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def tell(what: str, seconds: float) -> None:
    """Tell all who listen that something begins which takes about so long."""
    for listener in tuple(_listeners):
        listener(what, seconds)
