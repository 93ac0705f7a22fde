"""Makespan and flowtime together: what no weighted sum of the two is below, and annealing."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np

from queuesmith.grid.etc.mapping import Machines
from queuesmith.grid.etc.mapping import flowtime as flowtime_of
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.exact.bounds import Bound
from queuesmith.grid.exact.flowtime import assignable_within, least_weighted, plain_flowtime_bound
from queuesmith.grid.exact.pair_search import Both, polish_both
from queuesmith.grid.exact.run import ExactRun

#: Changes tried to see how fast annealing is, and the most that are tried at all.
PROBE, MOST_STEPS = 20_000, 2_000_000_000
#: Caps are lower by this, relatively, so that no rounding lifts a mapping above them.
HAIR = 1e-12


def capped(matrix: EtcMatrix, span: float) -> Both:
    """Return the aim of least flowtime among mappings of at most this makespan."""
    return Both(1.0, float(10 * matrix.jobs), span * (1 - HAIR))


@dataclass(frozen=True)
class PricedBound:
    """A bound on a weighted sum of makespan and flowtime, and mappings met on the way."""

    value: float
    mappings: tuple[Machines, ...]


def bound_both(
    matrix: EtcMatrix,
    aim: Both,
    bound: Bound,
    *,
    seconds: float,
    rounds: int = 40,
    makespan: float = 0.0,
    most: float | None = None,
) -> PricedBound:
    """Bound ``flow * flowtime + late * makespan`` from below.

    With prices of the machines, together ``late``, in place of the makespan, the least weighted
    sum is a linear assignment. Prices of machines that finish late are raised round by round. It
    is never below the two least values apart; ``makespan`` is what else is proven of the makespan.
    No assignment is begun that would likely end after ``most`` seconds, by default ``seconds``;
    without any, the bound is a plain one.
    """
    span, began = max(bound.value, makespan), time.perf_counter()
    ends, latest = began + seconds, began + (seconds if most is None else most)
    if not assignable_within(matrix, latest - began):
        return PricedBound(aim.late * span + aim.flow * plain_flowtime_bound(matrix), ())
    begun = time.perf_counter()
    shortest = least_weighted(matrix)
    each = time.perf_counter() - begun
    price = np.maximum(bound.price, 1e-9)
    best = (aim.late * span + aim.flow * shortest.value) * (1 - 1e-12)
    mappings = [shortest.machine]
    for turn in range(rounds):
        now = time.perf_counter()
        if now > ends or now + each > latest:
            break
        price = price / price.sum()
        found = least_weighted(matrix, flow=aim.flow, price=aim.late * price)
        best = max(best, found.value * (1 - 1e-12))
        mappings.append(found.machine)
        load = matrix.completion(found.machine)
        price = price * np.exp((load / load.mean() - 1).clip(-2, 2) * 2 / (1 + turn))
    return PricedBound(best, tuple(mappings))


def value_both(matrix: EtcMatrix, aim: Both, machine: Machines) -> float:
    """Return the weighted sum that is minimised."""
    late = max(0.0, matrix.makespan(machine) - aim.cap)
    return aim.flow * flowtime_of(matrix, machine) + aim.late * late


def polish(run: ExactRun, aim: Both, machine: Machines, seconds: float) -> Machines:
    """Anneal on all workers for about so many seconds; return the best, never a worse mapping."""
    if seconds <= 0:
        return machine
    began = time.perf_counter()
    polish_both(run.bound, machine, aim, steps=PROBE, seed=run.seed)
    spent = max(time.perf_counter() - began, 1e-4)
    steps = int(min(max(PROBE * (seconds - spent) / spent, PROBE), MOST_STEPS))
    found: list[Machines] = [machine] * run.workers

    def anneal(which: int) -> None:
        seed = run.seed * 97 + which
        found[which] = polish_both(run.bound, machine, aim, steps=steps, seed=seed)

    threads = [threading.Thread(target=anneal, args=(i,)) for i in range(run.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return min([machine, *found], key=lambda one: value_both(run.matrix, aim, one))
