"""Threads that search for shorter plans: beams that grow wider, annealing in between."""

from __future__ import annotations

import threading
import time

import numpy as np

from queuesmith.federation.exact.mode_search import ModeSearch
from queuesmith.federation.exact.search import anneal_plan, anneal_steps, beam_plan
from queuesmith.federation.model.clusters import Floats

#: The first width of the beams; they become twice as wide after so many turns, up to the widest.
WIDTH, TURNS, WIDEST = 16, 8, 20_000
#: How much dearer late starts are than the bound says, in turn.
BIASES = (0.02, 0.0, 0.1, 0.05)
#: By which share prices are disturbed at most, once all biases had their turn: beams under other
#: prices find what those of the LP miss.
DISTURBANCE = 0.3
#: The share of a beam's time that annealing takes after it, and the least seconds.
ANNEALING_SHARE, LEAST_ANNEALING = 0.3, 0.02
#: Turns of a beam and annealing where counts stop the search.
COUNTED_TURNS = 24
#: Seconds of annealing at a time where there are no prices to follow.
ROUND = 2.0


def search_for(
    search: ModeSearch, seconds: float, workers: int, *, beams: bool = True
) -> list[threading.Thread]:
    """Start so many threads that search until time is up, and return them to be joined.

    Without beams they only anneal.
    """
    ends = time.perf_counter() + seconds
    threads = [
        threading.Thread(
            target=_take_turns, args=(search, ends, number, workers, beams), daemon=True
        )
        for number in range(workers)
    ]
    for thread in threads:
        thread.start()
    return threads


def _take_turns(search: ModeSearch, ends: float, number: int, workers: int, beams: bool) -> None:
    """Take turns: a beam, then annealing from the best plan."""
    rng = np.random.default_rng([search.seed, number])
    turn = number
    while (left := ends - time.perf_counter()) > 0 and not search.incumbent.halt[0]:
        spent = 0.0
        if beams and search.bound is not None:
            began = time.perf_counter()
            _beam(search, search.bound.price, turn, rng)
            spent = time.perf_counter() - began
        wanted = max(ANNEALING_SHARE * spent, LEAST_ANNEALING) if spent else ROUND
        _anneal(search, min(wanted, left), int(rng.integers(2**31)))
        turn += workers


def search_by_count(search: ModeSearch, steps: int) -> None:
    """Take a fixed number of turns, a beam and so many steps of annealing in each."""
    rng = np.random.default_rng([search.seed, 0])
    for turn in range(COUNTED_TURNS):
        if search.incumbent.closed:
            return
        if search.bound is not None:
            _beam(search, search.bound.price, turn, rng)
        if search.plan is not None:
            seed = int(rng.integers(2**31))
            each = -(-steps // COUNTED_TURNS)
            search.take(anneal_steps(search.packed, search.plan, steps=each, seed=seed))


def _beam(search: ModeSearch, price: Floats, turn: int, rng: np.random.Generator) -> None:
    width = min(WIDTH << min(turn // TURNS, 30), WIDEST)
    if turn >= len(BIASES):
        share = rng.uniform(0, DISTURBANCE)
        price = price * (1 + share * rng.uniform(-1, 1, len(price)))
    plan = beam_plan(
        search.packed,
        price,
        width=width,
        bias=BIASES[turn % len(BIASES)],
        best=int(search.incumbent.value),
        halt=search.incumbent.halt,
    )
    search.take(plan)


def _anneal(search: ModeSearch, seconds: float, seed: int) -> None:
    if search.plan is None or seconds <= 0:
        return
    halt = search.incumbent.halt
    search.take(anneal_plan(search.packed, search.plan, seconds=seconds, seed=seed, halt=halt))
