"""The best possible mapping, or one close to it, with what is proven about it.

For the makespan: the bound of the assignment LP, a search guided by its prices, then the solvers.
They only see the columns that a better mapping can use at all: one whose reduced cost exceeds the
gap cannot be part of it, so that dropping the others loses no proof.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.errors import UsageError
from queuesmith.grid.bounds import (
    Bound,
    assignment_model,
    can_assign,
    least_weighted,
    lower_bound,
    plain_flowtime_bound,
    safe_bound,
)
from queuesmith.grid.etc_matrix import EtcMatrix, Floats
from queuesmith.grid.mapping import LAMBDA, Mapping
from queuesmith.grid.search import Both, Habits, Search, polish_both
from queuesmith.solution import TOLERANCE
from queuesmith.solvers import solver_library

Machines = NDArray[np.int64]
#: Told the seconds spent, the best value and the bound, whenever one of them changes.
Progress = Callable[[float, float, float], None]

#: CP-SAT is asked for a proof where no more columns than this are left.
CPSAT_COLUMNS = 1_500
#: HiGHS is asked for a proof or a better bound where no more columns than this are left.
MIP_COLUMNS = 12_000
#: The MIP's own bound holds but for its tolerances: so much is taken off, relatively.
MIP_TOLERANCE = 2e-6
#: HiGHS tells no bound before it has a mapping, so it may begin with one that is worse by this.
LOOSE = 1.05
#: Times become whole numbers for CP-SAT, the makespan about this one.
CPSAT_UNITS = float(2**40)
#: How the workers walk, in turn.
WALKS = (
    Habits(0.06, 0.015, 30_000.0, 0.1, 14),
    Habits(0.06, 0.010, 40_000.0, 0.3, 12),
    Habits(0.06, 0.015, 20_000.0, 0.1, 20),
)
#: Changes tried to see how fast annealing is, and the most that are tried at all.
PROBE, MOST_STEPS = 20_000, 2_000_000_000
#: Caps are lower by this, relatively, so that no rounding lifts a mapping above them.
HAIR = 1e-12
#: With more machines than this, single moves are annealed before the walks.
MANY = 64
#: Seconds of a walk before its habits change.
ROUND = 2.5
#: Rounds after which a worker goes on from the best mapping of all.
PARTING = 4


@dataclass
class _Work:
    """The best mapping and bound so far, the time, and what took how long."""

    matrix: EtcMatrix
    seconds: float
    seed: int
    workers: int
    progress: Progress | None
    machine: Machines
    bound: Bound
    proven: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def value(self) -> float:
        return _makespan(self.matrix, self.machine)

    @property
    def left(self) -> float:
        return self.seconds - (time.perf_counter() - self.began)

    @property
    def closed(self) -> bool:
        return self.value <= self.proven * (1 + TOLERANCE)

    def offer(self, machine: Machines) -> None:
        """Take a mapping if it is better."""
        with self.lock:
            if _makespan(self.matrix, machine) < self.value:
                self.machine = machine
                self._tell()

    def prove(self, bound: float) -> None:
        """Take a bound if it is better; it never exceeds the best value."""
        with self.lock:
            better = min(bound, self.value)
            if better > self.proven:
                self.proven = better
                self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(time.perf_counter() - self.began, self.value, self.proven)


def solve_exact(
    matrix: EtcMatrix,
    objective: str = "makespan",
    *,
    seconds: float = 60.0,
    seed: int = 0,
    workers: int = 2,
    start: Mapping | None = None,
    progress: Progress | None = None,
) -> Mapping:
    """Return the best mapping that can be found in the time, with a proven bound.

    Parameters
    ----------
    matrix
        The jobs and machines.
    objective
        ``makespan``, ``flowtime``, ``simultaneous`` or ``hierarchic``.
    seconds
        How long it may take. A solver that is at work when time runs out is given up.
    seed
        What chance follows from.
    workers
        How many threads may work at once.
    start
        A mapping to begin with; the result is never worse.
    progress
        Called with the seconds spent, the best value and the bound whenever they change.
    """
    _check(objective, seconds, workers, start, matrix)
    for module in ("scipy.optimize", "ortools.sat.python.cp_model"):
        solver_library(module)
    return OBJECTIVES[objective](matrix, seconds, seed, workers, start, progress)


def _check(
    objective: str, seconds: float, workers: int, start: Mapping | None, matrix: EtcMatrix
) -> None:
    if objective not in OBJECTIVES:
        raise UsageError(
            f"there is no objective '{objective}'. Choose from: {', '.join(OBJECTIVES)}."
        )
    if not seconds > 0:
        raise UsageError(f"seconds is {seconds}, but a search needs time. Give more than 0.")
    if workers < 1:
        raise UsageError(f"workers is {workers}, but someone must work. Give at least 1.")
    if start is not None and start.matrix.times.shape != matrix.times.shape:
        raise UsageError(
            f"the start maps {start.matrix.jobs} jobs on {start.matrix.machines} machines, but "
            f"instance '{matrix.name}' has {matrix.jobs} and {matrix.machines}. Start from its own."
        )


# -- makespan --------------------------------------------------------------------------------------


def _solve_makespan(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> Mapping:
    work = _minimise_makespan(matrix, seconds, seed, workers, start, progress)
    return _result(work, "makespan", work.machine, work.proven)


def _minimise_makespan(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> _Work:
    work = _new_work(matrix, seconds, seed, workers, start, progress)
    _timed(work, "bound", _bound_and_round)
    if not work.closed:
        _timed(work, "search", lambda work: _search(work, _search_seconds(work)))
    if not work.closed and work.left > 0:
        _timed(work, "solvers", _prove_and_search)
    return work


def _timed(work: _Work, part: str, action: Callable[[_Work], None]) -> None:
    began = time.perf_counter()
    action(work)
    work.facts[f"{part}_seconds"] = round(time.perf_counter() - began, 3)


def _bound_and_round(work: _Work) -> None:
    """Solve the LP, round its solution to each job's largest share, keep the better mapping."""
    work.bound = lower_bound(work.matrix, seconds=work.left / 2)
    work.prove(work.bound.value)
    work.facts["lp_bound"] = work.bound.value
    if work.bound.share is not None:
        work.offer(work.bound.share.argmax(axis=1).astype(np.int64))


def greedy(matrix: EtcMatrix) -> Machines:
    """Map long jobs first, each to the machine that finishes it first."""
    load = np.array(matrix.ready)
    machine = np.zeros(matrix.jobs, np.int64)
    for job in np.argsort(-matrix.times.min(axis=1), kind="stable"):
        own = int(np.argmin(load + matrix.times[job]))
        load[own] += matrix.times[job, own]
        machine[job] = own
    return machine


def _search_seconds(work: _Work) -> float:
    """How long to search before the solvers begin: little where they may prove the optimum."""
    if work.matrix.times.size <= CPSAT_COLUMNS:
        return min(0.05 * work.left, 1.0)
    return work.left if work.matrix.machines > MANY else 0.5 * work.left


def _search(work: _Work, seconds: float, workers: int | None = None) -> None:
    """Walk on all workers at once, sharing the best mapping every round."""
    count = work.workers if workers is None else workers
    ends = time.perf_counter() + seconds
    walkers = [
        threading.Thread(target=_walk, args=(work, i, ends, work.seed * 97 + i))
        for i in range(count)
    ]
    for walker in walkers[1:]:
        walker.start()
    walkers[0].run()
    for walker in walkers[1:]:
        walker.join()


def _walk(work: _Work, which: int, ends: float, seed: int) -> None:
    """Walk until the time is over, from the best mapping of all where one's own is worse."""
    search = Search(work.bound, work.machine, seed=seed)
    if work.matrix.machines > MANY:
        _anneal(search, 0.7 * (ends - time.perf_counter()))
    for turn in itertools.count(which):
        left = ends - time.perf_counter()
        if work.closed or left <= 0:
            return
        search.behave(WALKS[turn % len(WALKS)])
        search.run_for(min(left, ROUND), stopped=lambda: work.closed)
        work.offer(search.machine)
        if turn % PARTING == 0 and work.value < search.makespan * (1 - TOLERANCE):
            search.restart(work.machine)


def _anneal(search: Search, seconds: float) -> None:
    """Anneal by single moves for about so many seconds."""
    search.anneal(PROBE, aim=0.01, hot=0.01, cold=0.01)  # to have it compiled, or loaded
    began = time.perf_counter()
    search.anneal(5 * PROBE, aim=0.01, hot=0.01, cold=0.01)
    rate = 5 * PROBE / max(time.perf_counter() - began, 1e-4)
    search.anneal(int(max(seconds, 0.0) * rate), aim=0.002, hot=0.1, cold=0.003)


def _prove_and_search(work: _Work) -> None:
    """Let a solver look for a proof, while the other workers go on searching."""
    columns = int(work.bound.columns(work.value).sum())
    work.facts["columns"] = columns
    solver = _solve_cpsat if columns <= CPSAT_COLUMNS else _solve_mip
    if columns > MIP_COLUMNS:
        _search(work, work.left)
    elif work.workers == 1:
        solver(work)
    else:
        thread = threading.Thread(target=solver, args=(work,))
        thread.start()
        _search(work, work.left, work.workers - 1)
        thread.join()


# -- HiGHS -----------------------------------------------------------------------------------------


def _solve_mip(work: _Work) -> None:
    """Solve the assignment model over the columns that are left, by HiGHS."""
    optimize = solver_library("scipy.optimize")
    # Variables: one for each column, then the makespan.
    job, machine = np.nonzero(work.bound.columns(work.value))
    model = assignment_model(work.matrix, job, machine)
    count = len(job)
    bounds = optimize.Bounds(
        np.append(np.zeros(count), work.bound.value / model.scale),
        np.append(np.ones(count), work.value / model.scale * LOOSE),
    )
    # Constraints: each job once, each machine done by the makespan.
    rows = [
        optimize.LinearConstraint(model.job_rows, 1, 1),
        optimize.LinearConstraint(model.machine_rows, -np.inf, -work.matrix.ready / model.scale),
    ]
    # Objective.
    found = optimize.milp(
        model.cost,
        integrality=np.append(np.ones(count), 0),
        bounds=bounds,
        constraints=rows,
        options={"time_limit": max(work.left, 0.1), "mip_rel_gap": 0.0},
    )
    # Decode.
    if found.x is not None:
        work.offer(_decode(work.matrix, job, machine, found.x[:-1]))
    if found.mip_dual_bound is not None and math.isfinite(found.mip_dual_bound):
        work.facts["mip_bound"] = found.mip_dual_bound * model.scale
        work.prove(found.mip_dual_bound * model.scale * (1 - MIP_TOLERANCE))


def _decode(matrix: EtcMatrix, job: Machines, machine: Machines, share: Floats) -> Machines:
    """Give each job the machine of its largest share."""
    shares = np.full(matrix.times.shape, -1.0)
    shares[job, machine] = share
    return np.asarray(shares.argmax(axis=1), dtype=np.int64)


# -- CP-SAT ----------------------------------------------------------------------------------------


def _solve_cpsat(work: _Work) -> None:
    """Solve the assignment model over the columns that are left, by CP-SAT, times rounded down."""
    cp_model = solver_library("ortools.sat.python.cp_model")
    unit = work.value / CPSAT_UNITS
    times = np.floor(np.where(work.matrix.compatible, work.matrix.times, 0.0) / unit)
    ready = np.floor(work.matrix.ready / unit)
    # Variables: one for each column, then the makespan.
    model = cp_model.CpModel()
    job, machine = np.nonzero(work.bound.columns(work.value))
    uses = [model.new_bool_var("") for _ in job]
    lowest = max(math.floor(work.proven / unit) - work.matrix.jobs - 1, 0)
    span = model.new_int_var(lowest, math.ceil(CPSAT_UNITS), "makespan")
    # Constraints: each job once, each machine done by the makespan.
    by_job: list[list[Any]] = [[] for _ in range(work.matrix.jobs)]
    by_machine: list[list[Any]] = [[] for _ in range(work.matrix.machines)]
    for use, j, m in zip(uses, job, machine, strict=True):
        by_job[j].append(use)
        by_machine[m].append(int(times[j, m]) * use)
        model.add_hint(use, bool(work.machine[j] == m))
    for choices in by_job:
        model.add_exactly_one(choices)
    for loads, free in zip(by_machine, ready, strict=True):
        model.add(sum(loads) + int(free) <= span)
    # Objective.
    model.minimize(span)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(work.left, 0.1)
    solver.parameters.num_workers = max(work.workers - 1, 1)
    solver.parameters.random_seed = work.seed % 2**31
    status = solver.solve(model)
    # Decode.
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        share = np.array([float(solver.value(use)) for use in uses])
        work.offer(_decode(work.matrix, job, machine, share))
        work.prove(solver.best_objective_bound * unit * (1 - 1e-15))
    elif status == cp_model.INFEASIBLE:
        work.prove(work.value)
    work.facts["cpsat"] = solver.status_name(status).lower()


# -- flowtime --------------------------------------------------------------------------------------


def _solve_flowtime(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> Mapping:
    """Assign jobs to positions; where that is too large, anneal and give a simple bound."""
    work = _new_work(matrix, seconds, seed, workers, start, progress)
    if can_assign(matrix):
        best = least_weighted(matrix)
        return _result(work, "flowtime", best.machine, best.value)
    aim = Both(1.0, 0.0, 0.0)
    machine = _polish(work, aim, work.machine, work.left)
    return _result(work, "flowtime", machine, plain_flowtime_bound(matrix))


# -- both ------------------------------------------------------------------------------------------


def _solve_simultaneous(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> Mapping:
    """Minimise the weighted sum: bound it by priced assignments, anneal from the best of them."""
    work = _minimise_makespan(matrix, 0.3 * seconds, seed, workers, start, progress)
    work.seconds = seconds
    aim = Both((1 - LAMBDA) / matrix.machines, LAMBDA, 0.0)
    starts = [work.machine] if start is None else [work.machine, start.machine]
    began = time.perf_counter()
    priced = bound_both(matrix, aim, work.bound, seconds=0.2 * seconds)
    work.facts["both_bound_seconds"] = round(time.perf_counter() - began, 3)
    best = min([*starts, *priced.mappings], key=lambda machine: value_both(matrix, aim, machine))
    machine = _polish(work, aim, best, work.left)
    return _result(work, "simultaneous", machine, priced.value)


def _solve_hierarchic(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> Mapping:
    """Minimise the makespan, then the flowtime of mappings that keep to it."""
    work = _minimise_makespan(matrix, 0.7 * seconds, seed, workers, start, progress)
    work.seconds = seconds
    machine = work.machine
    if start is not None and start.makespan <= work.value and start.flowtime < _flow(work):
        machine = start.machine
    aim = capped(matrix, work.value)
    return _result(work, "hierarchic", _polish(work, aim, machine, work.left), work.proven)


def capped(matrix: EtcMatrix, span: float) -> Both:
    """Return the aim of least flowtime among mappings of at most this makespan."""
    return Both(1.0, float(10 * matrix.jobs), span * (1 - HAIR))


@dataclass(frozen=True)
class PricedBound:
    """A bound on a weighted sum of makespan and flowtime, and mappings met on the way."""

    value: float
    mappings: tuple[Machines, ...]


def bound_both(
    matrix: EtcMatrix, aim: Both, bound: Bound, *, seconds: float, rounds: int = 40
) -> PricedBound:
    """Bound ``flow * flowtime + late * makespan`` from below.

    With prices of the machines, together ``late``, in place of the makespan, the least weighted
    sum is a linear assignment. Prices of machines that finish late are raised round by round.
    """
    plain = aim.late * bound.value + aim.flow * plain_flowtime_bound(matrix)
    if not can_assign(matrix):
        return PricedBound(plain, ())
    ends = time.perf_counter() + seconds
    price = np.maximum(bound.price, 1e-9)
    best, mappings = plain, []
    for turn in range(rounds):
        price = price / price.sum()
        found = least_weighted(matrix, flow=aim.flow, price=aim.late * price)
        best = max(best, found.value * (1 - 1e-12))
        mappings.append(found.machine)
        if time.perf_counter() > ends:
            break
        load = _completion(matrix, found.machine)
        price = price * np.exp((load / load.mean() - 1).clip(-2, 2) * 2 / (1 + turn))
    return PricedBound(best, tuple(mappings))


def value_both(matrix: EtcMatrix, aim: Both, machine: Machines) -> float:
    """Return the weighted sum that is minimised."""
    mapping = Mapping(matrix, machine, "exact")
    return aim.flow * mapping.flowtime + aim.late * max(0.0, mapping.makespan - aim.cap)


def _polish(work: _Work, aim: Both, machine: Machines, seconds: float) -> Machines:
    """Anneal on all workers for about so many seconds; return the best, never a worse mapping."""
    if seconds <= 0:
        return machine
    began = time.perf_counter()
    polish_both(work.bound, machine, aim, steps=PROBE, seed=work.seed)
    spent = max(time.perf_counter() - began, 1e-4)
    steps = int(min(max(PROBE * (seconds - spent) / spent, PROBE), MOST_STEPS))
    found: list[Machines] = [machine] * work.workers

    def anneal(which: int) -> None:
        seed = work.seed * 97 + which
        found[which] = polish_both(work.bound, machine, aim, steps=steps, seed=seed)

    threads = [threading.Thread(target=anneal, args=(i,)) for i in range(work.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return min([machine, *found], key=lambda one: value_both(work.matrix, aim, one))


# -- what all share --------------------------------------------------------------------------------


def _new_work(
    matrix: EtcMatrix,
    seconds: float,
    seed: int,
    workers: int,
    start: Mapping | None,
    progress: Progress | None,
) -> _Work:
    first = greedy(matrix) if start is None else start.machine
    rough = safe_bound(matrix, np.ones(matrix.machines))
    return _Work(matrix, seconds, seed, workers, progress, first, rough)


def _completion(matrix: EtcMatrix, machine: Machines) -> Floats:
    own = matrix.times[np.arange(matrix.jobs), machine]
    return np.asarray(matrix.ready + np.bincount(machine, own, minlength=matrix.machines))


def _makespan(matrix: EtcMatrix, machine: Machines) -> float:
    return float(_completion(matrix, machine).max())


def _flow(work: _Work) -> float:
    return Mapping(work.matrix, work.machine, "exact").flowtime


def _result(work: _Work, objective: str, machine: Machines, proven: float) -> Mapping:
    """Return the mapping; its bound never exceeds its value."""
    mapping = Mapping(work.matrix, machine, "exact", objective)
    return Mapping(
        work.matrix,
        machine,
        "exact",
        objective,
        lower_bound=min(proven, mapping.value),
        seconds=time.perf_counter() - work.began,
        facts=dict(work.facts),
    )


#: How each objective is solved.
OBJECTIVES = {
    "makespan": _solve_makespan,
    "flowtime": _solve_flowtime,
    "simultaneous": _solve_simultaneous,
    "hierarchic": _solve_hierarchic,
}
