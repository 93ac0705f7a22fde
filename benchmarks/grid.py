"""Jobs a CPU second of the mapping heuristics, beside their plain-Python twins."""

import time
from collections.abc import Callable
from functools import partial

from tests.grid.heuristics.heuristic_twins import TWINS

from queuesmith.grid.etc import generate_etc
from queuesmith.grid.heuristics import HEURISTICS, map_by_heuristic

KINDS = ("u_i_hihi", "u_c_lolo")
TARGET = 1.0


def seconds(work: Callable[[], object], repeats: int) -> float:
    """CPU seconds of the quickest of a few runs; other work on the machine hardly counts."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def heuristics() -> None:
    """Time each heuristic on 4,096 x 128, and its twin on 256 x 16."""
    small = generate_etc("u_i_hihi", 256, 16)
    rows, ready = small.times.tolist(), small.ready.tolist()
    for name in HEURISTICS:
        slow = seconds(partial(TWINS[name], rows, ready, range(small.jobs)), 1)
        quick = seconds(partial(map_by_heuristic, small, name), 5)
        for kind in KINDS:
            matrix = generate_etc(kind, 4096, 128)
            took = seconds(partial(map_by_heuristic, matrix, name), 3)
            verdict = "met" if took <= TARGET else "MISSED"
            print(
                f"{name:<12} {kind} 4,096 x 128: {took:.3f} CPU s, "
                f"{matrix.jobs / took:,.0f} jobs/s; target {TARGET:g} CPU s: {verdict}; "
                f"{slow / quick:,.0f} x its twin on 256 x 16"
            )


if __name__ == "__main__":
    heuristics()
