"""Words that sentences are made of."""

from __future__ import annotations


def so_many(count: int, thing: str) -> str:
    """Return how many things there are as people say it: ``1 core``, ``2,000 cores``."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
