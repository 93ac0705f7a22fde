"""Who may prove more than the configuration LP: the tree for few jobs, CP-SAT for more."""

from __future__ import annotations

import time
from collections.abc import Callable

from queuesmith.federation.exact.cpsat import solve_cpsat
from queuesmith.federation.exact.incumbent import Model, Work
from queuesmith.federation.exact.tree import Forest

#: Up to so many jobs the tree is asked for a proof at once; for more, for one bound after another.
AT_ONCE_JOBS = 10
BOUND_STEPS = 8
#: Up to so many jobs CP-SAT is worth its time.
CPSAT_JOBS = 60

#: Works with so many threads.
Prover = Callable[[Work, Model, int], None]


def prover_of(model: Model) -> Prover | None:
    """Return who may prove more, if anyone may."""
    if model.bound is None or not model.proves:
        return None
    if Forest.grows_on(model.packed):
        return prove_by_tree
    return prove_by_cpsat if len(model.packed.modes.jobs) <= CPSAT_JOBS else None


def prove_by_tree(work: Work, model: Model, workers: int) -> None:
    """Prove the best plan to be the best, or that nothing is shorter than targets below it."""
    began = time.perf_counter()
    assert model.bound is not None
    forest = Forest(model.packed, model.bound)
    steps = 1 if len(model.packed.modes.jobs) <= AT_ONCE_JOBS else BOUND_STEPS
    for step in range(steps, 0, -1):
        target = work.bound + -(-(work.best.makespan - work.bound) // step)
        plan, ended = forest.search(target, workers=workers, halt=work.halt)
        model.take(work, plan)
        if not ended:
            break
        work.prove(target if plan is None else plan.span)
    work.facts["tree_seconds"] = round(time.perf_counter() - began, 3)


def prove_by_cpsat(work: Work, model: Model, workers: int) -> None:
    """Let CP-SAT go on from the best plan and the bound."""
    if model.plan is None or work.left <= 0:
        return
    proof = solve_cpsat(
        model.packed,
        model.plan,
        bound=work.bound,
        seconds=work.left,
        workers=workers,
        seed=work.seed,
        found=lambda plan: model.take(work, plan),
        halt=work.halt,
    )
    model.take(work, proof.plan)
    work.prove(proof.bound)
    work.facts["cpsat"] = proof.status
