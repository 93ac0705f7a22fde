"""The best plan of a planning step that can be found in some time, with a proven bound.

The best policy is the start and is never lost. A compiled search over orders improves it; prices
and branching prove a bound (``bounds``) and improve it further. For the makespan a simple bound and
CP-SAT take their place.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from queuesmith.base.checks import of_kind
from queuesmith.base.errors import UsageError
from queuesmith.cluster import Cluster
from queuesmith.cluster.maintenance import check_no_maintenance
from queuesmith.compiled import load
from queuesmith.planning.bounds import BranchingProof, least_span
from queuesmith.planning.cpsat import solve_cpsat
from queuesmith.planning.kernels.annealing import anneal
from queuesmith.planning.kernels.branching import branch
from queuesmith.planning.kernels.placing import place_order
from queuesmith.planning.options import WORKLOAD_SECONDS, SolveOptions
from queuesmith.planning.order_search import OrderSearch
from queuesmith.planning.plans import orders_of
from queuesmith.planning.problem import PlanningProblem, placed
from queuesmith.planning.snapshot import Snapshot
from queuesmith.planning.solution import solution
from queuesmith.planning.solver_result import SolverResult
from queuesmith.planning.time_indexed import solve_time_indexed
from queuesmith.policy.order import Order
from queuesmith.schedule import Schedule
from queuesmith.solving.incumbent import Incumbent
from queuesmith.solving.status import Proof
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import check_no_dependencies
from queuesmith.workload.workload import Ints

#: The share of the time that goes to the search before anything is proven.
SEARCH = 0.2
#: The most placings of that search, for each job squared.
ENOUGH = 400
#: Up to so many jobs CP-SAT is asked about the makespan.
CPSAT_JOBS = 300


@dataclass(frozen=True)
class _SolveState:
    """What the parts of a solution share: the problem, the search, and the best order so far.

    Orders in ``best`` are never written to: kernels get copies, and hand copies over.
    """

    problem: PlanningProblem
    options: SolveOptions
    search: OrderSearch
    best: Incumbent[Ints]

    def take(self, found: SolverResult, part: str) -> None:
        """Keep what a solver found and proved, if it is better."""
        self.best.facts[part] = found.status
        if found.order is not None:
            self.offer(found.order)
        self.best.prove(found.bound)

    def offer(self, order: Ints) -> None:
        """Take a copy of an order if it is better."""
        own = np.array(order)
        self.best.offer(own, placed(self.problem, own)[0])


def solve(
    snapshot: Snapshot,
    objective: str = SolveOptions.objective,
    seconds: float = SolveOptions.seconds,
    *,
    workers: int = SolveOptions.workers,
    seed: int = SolveOptions.seed,
    method: str = SolveOptions.method,
    policies: Sequence[Order] | None = None,
) -> Schedule:
    """Return the best plan that can be found in the time, with a proven bound.

    Its ``proof`` has the value, the bound and the gap; its ``facts`` the best policy, what is lost
    by following that instead, and how long each part took.

    Parameters
    ----------
    snapshot
        The instant, the waiting jobs, the staircase of free cores.
    objective, seconds, workers, seed, method
        As in `SolveOptions`.
    policies
        The orders of which the best is the start, and is compared with; by default FCFS, SJF and
        LJF.

    Examples
    --------
    >>> step = Snapshot.make(now=0, cores=2, staircase=[(0, 1), (60, 2)],
    ...                      submit=[0, 0], walltime=[60, 30], width=[2, 1])
    >>> found = solve(step)
    >>> found.start.tolist(), str(found.status)
    ([60, 0], 'optimal')
    """
    options = SolveOptions(objective, seconds, workers, seed, method)
    of_kind("the snapshot", snapshot, Snapshot, "Make one with Snapshot.make(...).")
    problem = PlanningProblem.of(snapshot, objective)
    proof = _chosen(problem, method)  # what cannot be is told whatever a search finds
    load_kernels()
    began = time.perf_counter()
    orders = orders_of(snapshot, policies)
    costs = {name: placed(problem, order)[0] for name, order in orders.items()}
    policy = min(costs, key=lambda name: costs[name])
    search = OrderSearch(problem, [orders[policy]], seed=seed)
    # Costs are compared as they are: what is equal to within rounding is told by the proof.
    best = Incumbent(
        search.order, search.cost, seconds, trivial_bound(problem), tolerance=0.0, began=began
    )
    best.took["policies"] = best.spent
    _improve(_SolveState(problem, options, search, best), proof)
    order, cost = best.snapshot()
    return solution(
        snapshot,
        placed(problem, order)[1],
        Proof(objective, problem.value(cost), problem.value(min(best.bound, cost))),
        policy=policy,
        policy_value=problem.value(costs[policy]),
        seconds=best.spent,
        facts={
            **{f"{part}_seconds": round(took, 4) for part, took in best.took.items()},
            "method": method,
            "placings": search.placings,
            **best.facts,
        },
    )


def load_kernels() -> None:
    """Load what is compiled, or compile it the first time, so that no plan's time goes there."""
    load(place_order, anneal, branch)


def trivial_bound(problem: PlanningProblem) -> float:
    """Return what every plan costs at least, seen at once."""
    alone = float((problem.jobs.weight * problem.earliest).sum())
    return alone + (least_span(problem) if problem.objective.span_weight else 0.0)


def _improve(state: _SolveState, proof: str) -> None:
    best, options = state.best, state.options
    if best.closed:
        return
    alone = options.method == "search"
    limit = ENOUGH * len(state.problem.snapshot) ** 2
    _search_for(state, best.left if alone else SEARCH * options.seconds, most=limit)
    if not best.closed and not alone and best.left > 0:
        _PROOFS[proof](state)


def _chosen(problem: PlanningProblem, method: str) -> str:
    if method == "branch" and problem.objective.span_weight:
        raise UsageError(
            "branching proves sums of responses, not the makespan. Choose cpsat, mip or auto."
        )
    if method != "auto":
        return method
    if not problem.objective.span_weight:
        return "branch"
    return "cpsat" if len(problem.snapshot) <= CPSAT_JOBS else "search"


def _search_for(state: _SolveState, seconds: float, *, most: float = math.inf) -> None:
    """Search over orders; it ends where the bound is reached."""
    search, best = state.search, state.best
    with best.timed("search"):
        search.run_for(seconds, stopped=lambda: search.cost <= best.bound, most=most)
        best.offer(search.order, search.cost)


def _go_on_searching(state: _SolveState) -> None:
    _search_for(state, state.best.left)


def _branch(state: _SolveState) -> None:
    best = state.best
    with best.timed("bound"):
        order = best.best
        proof = BranchingProof(state.problem, order)
        stop = threading.Event()
        other = threading.Thread(target=_search_beside, args=(state, order, stop))
        if state.options.workers > 1:
            other.start()
        try:
            proof.run_until(best.began + best.seconds, lambda: _exchange(state, proof))
        finally:
            stop.set()
            if state.options.workers > 1:
                other.join()
            state.offer(proof.order)
            best.prove(proof.bound)
        best.facts["branches"] = proof.branches


def _search_beside(state: _SolveState, order: Ints, stop: threading.Event) -> None:
    """Search on another thread, from the order that the proof began with."""
    own = OrderSearch(state.problem, [order], seed=state.options.seed + 1)
    while not stop.is_set() and state.best.left > 0:
        own.run_for(min(state.best.left, 0.5), stop.is_set)
        state.best.offer(own.order, own.cost)


def _exchange(state: _SolveState, proof: BranchingProof) -> bool:
    """Let the proof know of a better order of another thread; tell whether that is proven best."""
    proof.offer(*state.best.snapshot())
    return state.best.closed


def _cpsat(state: _SolveState) -> None:
    best, options = state.best, state.options
    with best.timed("cpsat"):
        found = solve_cpsat(
            state.problem, best.best, best.left, workers=options.workers, seed=options.seed
        )
        state.take(found, "cpsat")


def _mip(state: _SolveState) -> None:
    best = state.best
    with best.timed("mip"):
        state.take(solve_time_indexed(state.problem, best.best, best.left), "mip")


_PROOFS: dict[str, Callable[[_SolveState], None]] = {
    "search": _go_on_searching,
    "branch": _branch,
    "cpsat": _cpsat,
    "mip": _mip,
}


def solve_workload(
    workload: Workload,
    cluster: Cluster,
    objective: str = SolveOptions.objective,
    seconds: float = WORKLOAD_SECONDS,
    *,
    workers: int = SolveOptions.workers,
    seed: int = SolveOptions.seed,
    method: str = SolveOptions.method,
) -> Schedule:
    """Plan a whole log off-line: all jobs are known at once, and none starts before its submission.

    Lengths are the walltimes, which is what a planner knows. See ``solve`` for the parameters.
    """
    return solve(
        whole_snapshot(workload, cluster),
        objective,
        seconds,
        workers=workers,
        seed=seed,
        method=method,
    )


def whole_snapshot(workload: Workload, cluster: Cluster) -> Snapshot:
    """Return a log as one snapshot of an empty machine at its first submission."""
    check_no_dependencies(workload, "the planner")
    fitting = workload.fitting(check_no_maintenance(cluster, "the planner").cores)
    walltime = np.maximum(fitting.walltime, 1)
    jobs = fitting.replaced(runtime=walltime, walltime=walltime)
    now = int(jobs.submit[0]) if len(jobs) else 0
    return Snapshot(now, jobs, np.array([now]), np.array([cluster.cores]), cluster.cores)
