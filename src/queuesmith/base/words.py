"""Words that sentences are made of."""

from __future__ import annotations

from operator import index
from typing import SupportsIndex


def so_many(count: SupportsIndex | float, thing: str, things: str | None = None) -> str:
    """Return how many things there are as people say it: ``1 core``, ``2,000 cores``.

    Parameters
    ----------
    count
        How many there are.
    thing
        The word for one, or the words: ``policy``, ``job is``.
    things
        The words for any other count: ``policies``, ``jobs are``; by default with an s.
    """
    if count == 1:
        return f"1 {thing}"
    number = f"{count:g}" if isinstance(count, float) else f"{index(count):,}"
    return f"{number} {f'{thing}s' if things is None else things}"
