"""How fast the search for placements is, and what oas proves in which time."""

import time

import numpy as np

from queuesmith.federation.exact.configuration_bound import configuration_bound
from queuesmith.federation.exact.modes import list_modes
from queuesmith.federation.exact.oas import solve_oas
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.search import anneal_steps, beam_plan, plan_of
from queuesmith.federation.heuristics.heuristics import place_by_heuristic
from queuesmith.federation.model.generate import generate_queue, paper_federation

STEPS, WIDTH = 20_000, 50


def exact(counts: tuple[int, ...] = (8, 20, 100), seconds: float = 10.0) -> None:
    """Print plans a second of annealing, seconds of a beam and of the LP, and the proven gap."""
    federation, running = paper_federation(), np.zeros(1, np.int64)
    print(f"{'jobs':>5} {'plans/s':>10} {'beam s':>8} {'LP s':>8} {'oas s':>8} {'gap %':>8}")
    for count in counts:
        jobs = generate_queue("general", count, seed=0)
        packed = Packed(list_modes(federation, jobs))
        start = plan_of(packed, place_by_heuristic(federation, jobs, "fcfs"))
        assert start is not None
        began = time.perf_counter()
        anneal_steps(packed, start, steps=STEPS, seed=0)
        rate = STEPS / (time.perf_counter() - began)
        bound = configuration_bound(packed)
        began = time.perf_counter()
        beam_plan(packed, bound.price, width=WIDTH, bias=0.02, best=2**60, halt=running)
        beam = time.perf_counter() - began
        found = solve_oas(federation, jobs, seconds=seconds)
        print(
            f"{count:5} {rate:10,.0f} {beam:8.2f} {bound.seconds:8.2f} {found.seconds:8.1f} "
            f"{found.gap_percent:8.2f}"
        )
