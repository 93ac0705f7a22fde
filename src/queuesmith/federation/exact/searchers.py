"""Threads that search for shorter plans: beams that grow wider, annealing in between."""

from __future__ import annotations

import threading
import time

import numpy as np

from queuesmith.federation.exact.incumbent import Model, Work
from queuesmith.federation.exact.search import anneal_plan, beam_plan
from queuesmith.federation.model.federation import Floats

#: The first width of the beams; they become twice as wide after so many turns, up to the widest.
WIDTH, TURNS, WIDEST = 16, 8, 20_000
#: How much dearer late starts are than the bound says, in turn.
BIASES = (0.02, 0.0, 0.1, 0.05)
#: By which share prices are disturbed at most, once all biases had their turn: beams under other
#: prices find what those of the LP miss.
DISTURBANCE = 0.3
#: The share of a beam's time that annealing takes after it, and the least seconds.
ANNEALING_SHARE, LEAST_ANNEALING = 0.3, 0.02
#: Seconds of annealing at a time where there are no prices to follow.
ROUND = 2.0


def search_for(work: Work, model: Model, seconds: float, workers: int) -> list[threading.Thread]:
    """Start so many threads that search until time is up, and return them to be joined."""
    ends = time.perf_counter() + seconds
    threads = [
        threading.Thread(target=_search, args=(work, model, ends, number, workers), daemon=True)
        for number in range(workers)
    ]
    for thread in threads:
        thread.start()
    return threads


def _search(work: Work, model: Model, ends: float, number: int, workers: int) -> None:
    """Take turns: a beam, then annealing from the best plan."""
    rng = np.random.default_rng([work.seed, number])
    turn = number
    while (left := ends - time.perf_counter()) > 0 and not work.halt[0]:
        spent = 0.0
        if model.bound is not None:
            began = time.perf_counter()
            _beam(work, model, model.bound.price, turn, rng)
            spent = time.perf_counter() - began
        wanted = max(ANNEALING_SHARE * spent, LEAST_ANNEALING) if spent else ROUND
        _anneal(work, model, min(wanted, left), int(rng.integers(2**31)))
        turn += workers


def _beam(work: Work, model: Model, price: Floats, turn: int, rng: np.random.Generator) -> None:
    width = min(WIDTH << min(turn // TURNS, 30), WIDEST)
    if turn >= len(BIASES):
        share = rng.uniform(0, DISTURBANCE)
        price = price * (1 + share * rng.uniform(-1, 1, len(price)))
    plan = beam_plan(
        model.packed,
        price,
        width=width,
        bias=BIASES[turn % len(BIASES)],
        best=work.best.makespan,
        halt=work.halt,
    )
    model.take(work, plan)


def _anneal(work: Work, model: Model, seconds: float, seed: int) -> None:
    if model.plan is not None and seconds > 0:
        plan = anneal_plan(model.packed, model.plan, seconds=seconds, seed=seed, halt=work.halt)
        model.take(work, plan)
