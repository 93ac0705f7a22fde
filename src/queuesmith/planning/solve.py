"""The best plan of a planning step that can be found in some time, with a proven bound.

The best policy is the start and is never lost. A compiled search over orders improves it; prices
and branching prove a bound (``bounds``) and improve it further. For the makespan a simple bound and
CP-SAT take their place.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from queuesmith.base.checks import positive, whole_number
from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.cluster import Cluster
from queuesmith.compiled import load
from queuesmith.planning.answer import Answer
from queuesmith.planning.bounds import Proof, least_span
from queuesmith.planning.cpsat import solve_cpsat
from queuesmith.planning.kernels.annealing import anneal
from queuesmith.planning.kernels.branching import branch, plant
from queuesmith.planning.kernels.placing import place_order
from queuesmith.planning.problem import POLICIES, Plan, Problem, placed
from queuesmith.planning.search import Search
from queuesmith.planning.snapshot import Snapshot
from queuesmith.planning.solution import Solution
from queuesmith.planning.time_indexed import solve_time_indexed
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

#: The share of the time that goes to the search before anything is proven.
SEARCH = 0.2
#: The most placings of that search, for each job squared.
ENOUGH = 400
#: Up to so many jobs CP-SAT is asked about the makespan.
CPSAT_JOBS = 300
METHODS = ("auto", "search", "branch", "cpsat", "mip")


@dataclass
class _Work:
    """The best order and bound so far, the time, and what took how long."""

    problem: Problem
    search: Search
    ends: float
    workers: int
    seed: int
    bound: float
    parts: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def left(self) -> float:
        return self.ends - time.perf_counter()

    @property
    def closed(self) -> bool:
        return self.bound >= self.search.cost

    def take(self, answer: Answer, name: str) -> None:
        """Keep what a solver found and proved, if it is better."""
        self.facts[name] = answer.status
        if answer.order is not None:
            self.offer(answer.order)
        self.bound = min(max(self.bound, answer.bound), self.search.cost)

    def offer(self, order: Ints) -> None:
        """Take an order if it is better."""
        cost = placed(self.problem, order)[0]
        if cost < self.search.cost:
            self.search.cost, self.search.order = cost, np.array(order)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Note how long a part takes; a solver that fails ends its part, not the whole."""
        began = time.perf_counter()
        try:
            yield
        except QueuesmithError:
            raise
        except Exception as error:
            self.facts[f"{part}_failed"] = f"{type(error).__name__}: {error}"
        self.parts[part] = time.perf_counter() - began


def solve(
    snapshot: Snapshot,
    objective: str = "artww",
    seconds: float = 1.0,
    *,
    workers: int = 1,
    seed: int = 0,
    method: str = "auto",
) -> Solution:
    """Return the best plan that can be found in the time, with a proven bound.

    Parameters
    ----------
    snapshot
        The instant, the waiting jobs, the staircase of free cores.
    objective
        ``artww``, ``sldwa``, ``response`` or ``makespan``.
    seconds
        How long it may take; it ends earlier where the optimum is proven.
    workers
        How many threads may work at once; a second one goes on searching during the proof.
    seed
        What chance follows from.
    method
        How the bound is proven: ``auto``, ``branch`` (prices and branching), ``cpsat``, ``mip``
        (the time-indexed model), or ``search`` for none.

    Examples
    --------
    >>> step = Snapshot.make(now=0, cores=2, staircase=[(0, 1), (60, 2)],
    ...                      submit=[0, 0], walltime=[60, 30], width=[2, 1])
    >>> found = solve(step)
    >>> found.start.tolist(), str(found.status)
    ([60, 0], 'optimal')
    """
    positive("seconds", seconds, "Give the time that a plan may take.")
    whole_number("workers", workers, 1, "Give 1 or 2.")
    if method not in METHODS:
        raise UsageError(f"there is no method '{method}'. Choose from: {', '.join(METHODS)}.")
    problem = Problem.of(snapshot, objective)
    load_kernels()
    began = time.perf_counter()
    orders = {name: order(snapshot) for name, order in POLICIES.items()}
    costs = {name: placed(problem, order)[0] for name, order in orders.items()}
    policy = min(costs, key=lambda name: costs[name])
    search = Search(problem, [orders[policy]], seed=seed)
    work = _Work(problem, search, began + seconds, workers, seed, trivial_bound(problem))
    work.parts["policies"] = time.perf_counter() - began
    _improve(work, method, seconds)
    start = placed(problem, search.order)[1]
    return Solution(
        Plan(snapshot, start + snapshot.now, "optimal"),
        objective,
        problem.value(search.cost),
        problem.value(work.bound),
        policy,
        problem.value(costs[policy]),
        time.perf_counter() - began,
        work.parts,
        {"method": method, "placings": search.placings, **work.facts},
    )


def load_kernels() -> None:
    """Load what is compiled, or compile it the first time, so that no plan's time goes there."""
    load(place_order, anneal, plant, branch)


def trivial_bound(problem: Problem) -> float:
    """Return what every plan costs at least, seen at once."""
    alone = float((problem.jobs.weight * problem.earliest).sum())
    return alone + (least_span(problem) if problem.objective.span_weight else 0.0)


def _improve(work: _Work, method: str, seconds: float) -> None:
    if work.closed:
        return
    alone = method == "search"
    with work.timed("search"):
        limit = ENOUGH * len(work.problem.snapshot) ** 2
        work.search.run_for(work.left if alone else SEARCH * seconds, most=limit)
    if not work.closed and not alone and work.left > 0:
        part = _PROOFS[_chosen(work.problem, method)]
        part(work)


def _chosen(problem: Problem, method: str) -> str:
    if method == "branch" and problem.objective.span_weight:
        raise UsageError(
            "branching proves sums of responses, not the makespan. Choose cpsat, mip or auto."
        )
    if method != "auto":
        return method
    if not problem.objective.span_weight:
        return "branch"
    return "cpsat" if len(problem.snapshot) <= CPSAT_JOBS else "search"


def _go_on_searching(work: _Work) -> None:
    with work.timed("search"):
        work.search.run_for(work.left, stopped=lambda: work.closed)


def _branch(work: _Work) -> None:
    with work.timed("bound"):
        proof = Proof(work.problem, work.search.order)
        stop = threading.Event()
        other = threading.Thread(target=_search_beside, args=(work, proof.order, stop))
        if work.workers > 1:
            other.start()
        try:
            proof.run_until(work.ends, lambda: _exchange(work, proof))
        finally:
            stop.set()
            if work.workers > 1:
                other.join()
            work.offer(proof.order)
            work.bound = min(max(work.bound, proof.bound), work.search.cost)
        work.facts["branches"] = proof.branches


def _search_beside(work: _Work, order: Ints, stop: threading.Event) -> None:
    """Search on another thread, from the order that the proof began with."""
    own = Search(work.problem, [order], seed=work.seed + 1)
    while not stop.is_set() and work.left > 0:
        own.run_for(min(work.left, 0.5), stop.is_set)
        if own.cost < work.search.cost:
            work.search.cost, work.search.order = own.cost, np.array(own.order)


def _exchange(work: _Work, proof: Proof) -> bool:
    """Let the proof know of a better order that another thread found."""
    proof.offer(work.search.order, work.search.cost)
    return False


def _cpsat(work: _Work) -> None:
    with work.timed("cpsat"):
        order, seconds = work.search.order, work.left
        answer = solve_cpsat(work.problem, order, seconds, workers=work.workers, seed=work.seed)
        work.take(answer, "cpsat")


def _mip(work: _Work) -> None:
    with work.timed("mip"):
        work.take(solve_time_indexed(work.problem, work.search.order, work.left), "mip")


_PROOFS: dict[str, Callable[[_Work], None]] = {
    "search": _go_on_searching,
    "branch": _branch,
    "cpsat": _cpsat,
    "mip": _mip,
}


def solve_workload(
    workload: Workload,
    cluster: Cluster,
    objective: str = "artww",
    seconds: float = 10.0,
    *,
    workers: int = 1,
    seed: int = 0,
    method: str = "auto",
) -> Solution:
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
    fitting = workload.fitting(cluster.cores)
    walltime = np.maximum(fitting.walltime, 1)
    jobs = fitting.replaced(runtime=walltime, walltime=walltime)
    now = int(jobs.submit[0]) if len(jobs) else 0
    return Snapshot(now, jobs, np.array([now]), np.array([cluster.cores]), cluster.cores)
