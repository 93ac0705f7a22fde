"""The whole problem for CP-SAT: modes, starts and ends, without slots.

Nodes of a group are alike, so that counts of nodes say all: where a cumulative constraint holds for
each group, nodes can be assigned. Redundant constraints tell the solver what it would take long to
find out: all nodes together, the work of each group, jobs too wide to overlap, the bound so far.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from queuesmith.federation.exact.modes import Modes
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.search import ModePlan, plan_in_order
from queuesmith.federation.model.clusters import Ints
from queuesmith.solving.libraries import solver_library

#: Loads of links are this many times coarser here, so that loads times seconds stay below 2**63;
#: rounded down, they leave every plan possible, and plans found are planned anew.
COARSER = 2**22
#: Longer horizons are not handed over.
LONGEST = 2**36


@dataclass(frozen=True)
class CpSatResult:
    """What CP-SAT found and proved."""

    plan: ModePlan | None
    bound: int
    status: str


def solve_cpsat(
    packed: Packed,
    start: ModePlan,
    *,
    bound: int,
    seconds: float,
    workers: int = 2,
    seed: int = 0,
    found: Callable[[ModePlan], None] | None = None,
    halt: Ints | None = None,
) -> CpSatResult:
    """Let CP-SAT improve on a plan and on a bound.

    Parameters
    ----------
    packed
        The modes.
    start
        A plan to begin with; the result is never longer.
    bound
        A bound to begin with.
    seconds
        How long it may take.
    workers
        How many threads it may use.
    seed
        What chance follows from.
    found
        Is told of every better plan at once.
    halt
        The solver stops soon after this flag is set.
    """
    modes = packed.modes
    if start.span > LONGEST:
        return CpSatResult(None, bound, "the horizon is too long")
    cp_model = solver_library("ortools.sat.python.cp_model")
    model = _Model(cp_model, modes, start, bound)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(seconds, 0.01)
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    solver.parameters.linearization_level = 0
    told = _tell(cp_model, packed, model, found)
    with _stopping(solver, halt):
        status = solver.status_name(solver.solve(model.model, told))
    plan = None
    if status in ("OPTIMAL", "FEASIBLE"):
        plan = _decode(packed, model, solver.value)
    proven = math.ceil(solver.best_objective_bound - 1e-6) if modes.complete else bound
    return CpSatResult(plan, max(bound, min(proven, start.span)), status.lower())


@contextmanager
def _stopping(solver: Any, halt: Ints | None) -> Iterator[None]:
    """Stop a solver once a flag is set."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            if halt is not None and halt[0]:
                solver.stop_search()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class _Model:
    """Variables, constraints and objective."""

    def __init__(self, cp_model: Any, modes: Modes, start: ModePlan, bound: int) -> None:
        self.modes = modes
        self.model = cp_model.CpModel()
        self.span = self.model.new_int_var(bound, start.span, "span")
        self.chosen = [self.model.new_bool_var(f"mode_{m}") for m in range(len(modes.duration))]
        self.starts: list[Any] = []
        self.durations: list[Any] = []
        self.intervals: list[Any] = []
        for job in range(len(modes.jobs)):
            self._add_job(cp_model, job, start.span)
        self._share_nodes(cp_model)
        self._share_links(cp_model)
        self._add_redundant()
        self.model.minimize(self.span)
        for variable, value in zip(self.starts, start.start.tolist(), strict=True):
            self.model.add_hint(variable, value)
        for number, literal in enumerate(self.chosen):
            self.model.add_hint(literal, number in start.mode)

    def _of(self, job: int) -> range:
        return range(int(self.modes.first[job]), int(self.modes.first[job + 1]))

    def _chosen_value(self, cp_model: Any, job: int, values: Ints) -> Any:
        """A variable that has the value of the mode chosen."""
        mine = [int(values[mode]) for mode in self._of(job)]
        domain = cp_model.Domain.from_values(sorted(set(mine)))
        variable = self.model.new_int_var_from_domain(domain, "")
        terms = zip(mine, self._of(job), strict=True)
        self.model.add(variable == sum(value * self.chosen[mode] for value, mode in terms))
        return variable

    def _add_job(self, cp_model: Any, job: int, horizon: int) -> None:
        model = self.model
        model.add_exactly_one(self.chosen[mode] for mode in self._of(job))
        duration = self._chosen_value(cp_model, job, self.modes.duration)
        start = model.new_int_var(0, horizon, f"start_{job}")
        end = model.new_int_var(0, horizon, f"end_{job}")
        self.starts.append(start)
        self.durations.append(duration)
        self.intervals.append(model.new_interval_var(start, duration, end, f"run_{job}"))
        model.add(end <= self.span)

    def _cumulative(self, cp_model: Any, values: Ints, capacity: int) -> None:
        jobs = range(len(self.modes.jobs))
        demands = [self._chosen_value(cp_model, job, values) for job in jobs]
        self.model.add_cumulative(self.intervals, demands, capacity)

    def _share_nodes(self, cp_model: Any) -> None:
        for group, nodes in enumerate(self.modes.federation.group_nodes.tolist()):
            self._cumulative(cp_model, self.modes.counts[:, group], nodes)

    def _share_links(self, cp_model: Any) -> None:
        use = self.modes.use // COARSER
        for link in range(use.shape[1]):
            if use[:, link].any():
                self._cumulative(cp_model, use[:, link], self.modes.limit // COARSER + 1)

    def _add_redundant(self) -> None:
        modes, model = self.modes, self.model
        tasks = modes.jobs.tasks.tolist()
        nodes = modes.federation.nodes
        model.add_cumulative(self.intervals, tasks, nodes)
        work = modes.counts * modes.duration[:, None]
        for group, own in enumerate(modes.federation.group_nodes.tolist()):
            terms = zip(work[:, group].tolist(), self.chosen, strict=True)
            model.add(sum(area * literal for area, literal in terms if area) <= own * self.span)
        apart = never_together(modes)
        if len(apart) > 1:
            model.add_no_overlap([self.intervals[job] for job in apart])
            model.add(sum(self.durations[job] for job in apart) <= self.span)


def never_together(modes: Modes) -> list[int]:
    """Return the most jobs of which no two are narrow enough to overlap."""
    tasks, nodes = modes.jobs.tasks, modes.federation.nodes
    apart: list[int] = []
    for job in np.argsort(-tasks, kind="stable").tolist():
        if all(tasks[job] + tasks[other] > nodes for other in apart):
            apart.append(job)
    return apart


def _decode(packed: Packed, model: _Model, value: Callable[[Any], Any]) -> ModePlan:
    """Plan the modes chosen in the order of their starts, exactly."""
    start = np.array([int(value(each)) for each in model.starts], np.int64)
    chosen = np.array([bool(value(literal)) for literal in model.chosen])
    order = np.argsort(start, kind="stable")
    return plan_in_order(packed, order, np.flatnonzero(chosen).astype(np.int64))


def _tell(
    cp_model: Any, packed: Packed, model: _Model, found: Callable[[ModePlan], None] | None
) -> Any:
    class Teller(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            if found is not None:
                found(_decode(packed, model, self.value))

    return Teller()
