"""What the library and the command line offer for knobs: each default stands here, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from queuesmith.base.checks import number, positive

WEEK = 7 * 86_400.0

#: The knobs unless others are given: large jobs and those that have waited long go first.
ALPHA, BETA, GAMMA = 1.0, 1.0, 0.0
#: The shares of the paper's figure 4.
SHARES: tuple[float | str, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, "random")
#: The sizes of the paper's figure 5.
SIZES = (36, 72, 144, 288, 576)
#: The share of a log that fixed knobs are searched on when they are compared.
SPLIT = 0.5


class BagOptions:
    """How jobs are divided into tasks, and who may overtake a task that does not fit."""

    share: float = 1.0
    cores_per_task: int = 1
    seed: int = 0
    backfill: str = "list"


class SweepOptions:
    """Which settings a sweep tries, and which part of them a quick search may replay."""

    ranges: str = "-2:2:0.1"
    budget: float = 0.03


@dataclass(frozen=True)
class RetuneOptions:
    """How knobs are searched anew on the way.

    Parameters
    ----------
    objective
        What is made small: an expression over the costs of a sweep, such as ``"mean_wait"``.
    backfill
        ``easy``, ``list`` or ``none``.
    every, window
        Seconds between two turns, and how far back a search looks.
    ranges
        The settings that a search tries; coarse, since only directions matter: 99 of them.
    margin
        By which part the recent past must become better for the knobs to be turned.
    neighbourhood
        How far around a setting others count for what it is worth (see ``neighbours.py``); 0 takes
        each by itself. It and the window were chosen by ``papers/retune_constants.py``.
    """

    objective: str = "mean_wait"
    backfill: str = "easy"
    every: float = WEEK
    window: float = 26 * WEEK
    ranges: str | Sequence[str] = "-1:1:0.5"
    margin: float = 0.01
    neighbourhood: float = 0.4

    def __post_init__(self) -> None:
        number("the time between turns", self.every, 1, 1e12, "Give for example 604800.")
        positive("the window", self.window, "Give for example 7257600.")
        number("the margin", self.margin, 0, 1, "Give for example 0.01.")
        number("the neighbourhood", self.neighbourhood, 0, 1e6, "Give for example 0.4.")
