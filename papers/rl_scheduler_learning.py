"""How the study of RLScheduler learns: the weights of the order ``blend``, by CMA-ES."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal

import numpy as np

from papers.kept_pieces import KeptPieces
from papers.rl_scheduler_paper import LENGTH
from papers.rl_scheduler_runs import (
    FIXED,
    RULES,
    JobSequence,
    Values,
    columns,
    judged,
    published_sequences,
    sequences,
)
from queuesmith.learning.cma_library import CmaSearch
from queuesmith.policy import Order
from queuesmith.policy.orders import ORDERS

BLEND = ORDERS["blend"]
#: How many orders are tried at once.
POPULATION = 16
#: Held out: the share of the log to learn from; the rest is judged, in so many sequences each.
LEARNED = 0.5
SEQUENCES = {"learned": 32, "judged": 50}
#: Learned again as time goes on: the judged sequences are divided into so many periods.
PERIODS = 5
#: Each order is learned once from each of these.
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Way:
    """A way to learn.

    Parameters
    ----------
    start
        Where the search begins: at weights drawn by chance, or at smallest area first.
    step
        How far it looks at first.
    goal
        What is made small: the mean slowdown, on which the worst sequences decide, or the ratio to
        the best fixed order of each sequence (the mean of its logarithm), where all count alike.
    taken
        What is returned: the best order tried, or the centre of the search at its end.
    generations
        How long it goes on.
    """

    start: Literal["chance", "smallest area"]
    step: float
    goal: Literal["mean", "ratio"]
    taken: Literal["best", "centre"]
    generations: int


#: What fits the very sequences that are judged.
FOR_THESE = Way("chance", 1.0, "mean", "best", 90)
#: What serves later jobs, as papers/rl_scheduler_choice.py shows on other logs.
FOR_LATER = Way("smallest area", 0.3, "ratio", "centre", 30)


@dataclass(frozen=True)
class Learned:
    """An order that was learned: its parameters, its mean slowdown there, what it cost."""

    parameters: dict[str, float]
    value: float
    evaluations: int
    seconds: float

    @property
    def order(self) -> Order:
        """The order."""
        return BLEND.having(**self.parameters)


def learn(rules: str, on: Sequence[JobSequence], seed: int, way: Way) -> Learned:
    """Learn the weights of ``blend`` on some sequences."""
    began = time.perf_counter()
    generator = np.random.default_rng(seed)
    search = CmaSearch(start_of(way, generator), way.step, POPULATION, generator)
    goal = goal_of(way, rules, on)
    best: tuple[float, dict[str, float]] = (np.inf, {})
    for _ in range(way.generations):
        vectors = search.ask()
        settings = [parameters_of(vector) for vector in vectors]
        losses = [goal(judged(BLEND.having(**one), rules, on)) for one in settings]
        search.tell(vectors, losses)
        best = min(best, *zip(losses, settings, strict=True), key=lambda pair: pair[0])
    taken = best[1] if way.taken == "best" else parameters_of(search.centre)
    value = float(judged(BLEND.having(**taken), rules, on).mean())
    return Learned(taken, value, POPULATION * way.generations, time.perf_counter() - began)


def start_of(way: Way, generator: np.random.Generator) -> Values:
    """Return the weights at which a search begins."""
    if way.start == "chance":
        return generator.standard_normal(len(BLEND.parameters))
    return np.array(list(BLEND.parameters.values()), dtype=float)


def goal_of(way: Way, rules: str, on: Sequence[JobSequence]) -> Callable[[Values], float]:
    """Return what is made small, from the slowdowns of the sequences."""
    if way.goal == "mean":
        return lambda slowdowns: float(slowdowns.mean())
    fixed = np.min([judged(order, rules, on) for order in FIXED.values()], axis=0)
    return lambda slowdowns: float(np.log(slowdowns / fixed).mean())


def parameters_of(vector: Values) -> dict[str, float]:
    """Return the weights by name, with as many digits as are kept."""
    return {name: round(float(x), 4) for name, x in zip(BLEND.parameters, vector, strict=True)}


def split_starts(jobs: int) -> dict[str, list[int]]:
    """Return where sequences begin that are learned from and judged on, in time."""
    borders = (0, int(LEARNED * jobs), jobs)
    return {
        part: np.linspace(first, last - LENGTH, SEQUENCES[part]).astype(int).tolist()
        for part, first, last in zip(SEQUENCES, borders, borders[1:], strict=False)
    }


def period_starts(jobs: int) -> list[dict[str, list[int]]]:
    """Return where sequences begin, period by period: the judged ones, in time, and earlier ones.

    Each period is judged by what was learned on as many jobs as ever, the last ones before it.
    """
    judged_starts = split_starts(jobs)["judged"]
    size = len(judged_starts) // PERIODS
    found = []
    for number in range(PERIODS):
        ahead = judged_starts[number * size : (number + 1) * size]
        first, last = ahead[0] - int(LEARNED * jobs), ahead[0] - LENGTH
        learned = np.linspace(max(first, 0), last, SEQUENCES["learned"]).astype(int).tolist()
        found.append({"learned": learned, "judged": ahead})
    return found


# -- what was learned ------------------------------------------------------------------------------


def for_these(log: str, rules: str, kept: KeptPieces, *, only_kept: bool) -> Learned | None:
    """Return what was learned on the paper's own sequences, from the first seed."""
    return _learned(
        f"{log}, published, {RULES[rules]}, seed {SEEDS[0]}",
        lambda: learn(rules, published_sequences(log), SEEDS[0], FOR_THESE),
        kept,
        only_kept,
    )


def for_later(log: str, rules: str, kept: KeptPieces, *, only_kept: bool) -> list[Learned]:
    """Return what was learned on the earlier jobs of a log, from each seed."""

    def make(seed: int) -> Learned:
        starts = split_starts(len(columns(log)))["learned"]
        return learn(rules, sequences(log, starts), seed, FOR_LATER)

    found = [
        _learned(
            f"{log}, held out, {RULES[rules]}, seed {seed}",
            partial(make, seed),
            kept,
            only_kept,
        )
        for seed in SEEDS
    ]
    return [one for one in found if one]


def for_periods(log: str, rules: str, kept: KeptPieces, *, only_kept: bool) -> list[Learned] | None:
    """Return what was learned before each period, from the first seed; None if one is missing."""

    def make(starts: Sequence[int]) -> Learned:
        return learn(rules, sequences(log, starts), SEEDS[0], FOR_LATER)

    found = []
    for number, starts in enumerate(period_starts(len(columns(log))), 1):
        learned = _learned(
            f"{log}, before period {number} of {PERIODS}, {RULES[rules]}, seed {SEEDS[0]}",
            partial(make, starts["learned"]),
            kept,
            only_kept,
        )
        if learned is None:
            return None
        found.append(learned)
    return found


def _learned(
    name: str, make: Callable[[], Learned], kept: KeptPieces, only_kept: bool
) -> Learned | None:
    piece = kept.piece(name, None if only_kept else lambda: asdict(make()))
    return Learned(**piece) if piece else None
