"""Who may prove more than the configuration LP: the tree for few jobs, CP-SAT for more."""

from __future__ import annotations

import time
from collections.abc import Callable

from queuesmith.federation.exact.cpsat import solve_cpsat
from queuesmith.federation.exact.mode_search import ModeSearch
from queuesmith.federation.exact.tree import Forest

#: Up to so many jobs the tree is asked for a proof at once; for more, for one bound after another.
AT_ONCE_JOBS = 10
BOUND_STEPS = 8
#: Up to so many jobs CP-SAT is worth its time.
CPSAT_JOBS = 60

#: Works with so many threads.
Prover = Callable[[ModeSearch, int], None]


def prover_of(search: ModeSearch) -> Prover | None:
    """Return who may prove more, if anyone may."""
    if search.bound is None or not search.proves:
        return None
    if Forest.grows_on(search.packed):
        return prove_by_tree
    return prove_by_cpsat if len(search.packed.modes.jobs) <= CPSAT_JOBS else None


def prove_by_tree(search: ModeSearch, workers: int, nodes: int | None = None) -> None:
    """Prove the best plan to be the best, or that nothing is shorter than targets below it.

    Each tree ends after so many nodes, where that is said.
    """
    began = time.perf_counter()
    assert search.bound is not None
    incumbent = search.incumbent
    forest = Forest(search.packed, search.bound)
    steps = 1 if len(search.packed.modes.jobs) <= AT_ONCE_JOBS else BOUND_STEPS
    for step in range(steps, 0, -1):
        bound = int(incumbent.bound)
        target = bound + -(-(int(incumbent.value) - bound) // step)
        plan, ended = forest.search(target, workers=workers, halt=incumbent.halt, nodes=nodes)
        search.take(plan)
        if not ended:
            break
        incumbent.prove(target if plan is None else plan.span)
    incumbent.facts["tree_seconds"] = round(time.perf_counter() - began, 3)


def prove_by_cpsat(search: ModeSearch, workers: int) -> None:
    """Let CP-SAT go on from the best plan and the bound."""
    incumbent = search.incumbent
    if search.plan is None or incumbent.left <= 0:
        return
    result = solve_cpsat(
        search.packed,
        search.plan,
        bound=int(incumbent.bound),
        seconds=incumbent.left,
        workers=workers,
        seed=search.seed,
        found=search.take,
        halt=incumbent.halt,
    )
    search.take(result.plan)
    incumbent.prove(result.bound)
    incumbent.facts["cpsat"] = result.status
