"""What no plan can be better than.

For sums of weighted responses: the bound of prices on the time-indexed model, raised by branching
(see ``kernels``). For the makespan: how long the work takes if it could be cut at will, from each
instant on at which some jobs can start at all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from queuesmith.planning.kernels import branching
from queuesmith.planning.kernels.pricing import PriceGrid, PriceState
from queuesmith.planning.kernels.problem import NEVER
from queuesmith.planning.problem import PlanningProblem, placed
from queuesmith.planning.snapshot import Floats
from queuesmith.workload.workload import Ints

#: Cells of equal length, besides those that the staircase and the best plan give.
CELLS = 64
#: Beyond so many instants, only every so many of them are part of the grid.
MOST_INSTANTS = 600
#: Steps of the prices at the root and at a branch, and those without gain before a shorter stride.
ROOT_STEPS, ROOT_PATIENCE = 600, 20
STEPS, PATIENCE = 30, 5
#: Memory of all branches, and the most of them.
MEMORY, MOST_BRANCHES = 256 * 2**20, 200_000
#: Bounds are lowered by this, relatively, so that no rounding lifts them above the optimum.
ROUNDING = 1e-11
#: About what it takes to look at one start of one job.
LOOK_SECONDS = 4e-9
#: Seconds between two looks at the clock, about.
CLOCK = 0.02


class BranchingProof:
    """A bound on the cost of all plans, and a plan, both better the longer it runs.

    Kernels write to ``order`` while other threads go on: only the thread that runs the proof may
    read it, between two calls, and hands copies on.

    Parameters
    ----------
    problem
        What is to be planned; its objective must have weights.
    order
        The best order known. Its plan's instants are part of the grid.
    """

    def __init__(self, problem: PlanningProblem, order: Ints, *, cells: int = CELLS) -> None:
        self.problem = problem
        self.order = np.array(order)
        cost, start = placed(problem, self.order)
        grid = _grid(problem, start, cells)
        jobs, instants = len(order), len(grid.area)
        self._tree = _tree(jobs, instants)
        self._goal = np.array([cost, _closing(problem, cost)])
        self._proof = branching.Branching(
            problem.jobs,
            problem.usable,
            grid,
            prices=_new_prices(jobs, instants),
            direction=np.zeros(instants),
            successor=_alike(problem),
            tree=self._tree,
            trial=np.empty_like(self.order),
            best=self.order,
            placing=problem.new_placing(),
            goal=self._goal,
        )
        self._least = float((problem.jobs.weight * problem.earliest).sum())
        self._planted = False

    @property
    def cost(self) -> float:
        """The cost of the best plan so far."""
        return float(self._goal[0])

    @property
    def closed(self) -> bool:
        """Whether the best plan is proven to be the best of all."""
        return self._planted and not self._tree.counters[branching.OPEN]

    @property
    def full(self) -> bool:
        """Whether there is no place for further branches."""
        counters = self._tree.counters
        free = len(self._tree.bound) - counters[branching.USED] + counters[branching.SPARE]
        return bool(free < 2)

    @property
    def branches(self) -> int:
        """How often a branch was split."""
        return int(self._tree.counters[branching.NODES])

    @property
    def bound(self) -> float:
        """What no plan costs less than."""
        if self.closed:
            return self.cost
        bound = self._least
        if self._planted:
            bound = max(bound, float(self._tree.bound[self._tree.heap[0]]))
        scale = abs(bound) + self.problem.constant
        return min(bound - ROUNDING * scale, self.cost)

    def offer(self, order: Ints, cost: float) -> None:
        """Take an order if it is better than the best so far."""
        if cost < self.cost:
            self.order[:] = order
            self._goal[:] = cost, _closing(self.problem, cost)

    def plant(self, seconds: float = math.inf) -> None:
        """Find good prices without branching, in about so many seconds."""
        grid, tree = self._proof.grid, self._tree
        looks = 2 * len(self.order) * len(grid.area)
        steps = int(min(max(seconds / (LOOK_SECONDS * looks), STEPS), ROOT_STEPS))
        tree.earliest[0] = self.problem.earliest
        tree.latest[0] = NEVER
        falling = np.maximum(1 - grid.time[:-1] / grid.time[-1], 0)
        self._proof.prices.price[:-1] = falling * _worth(self.problem)
        branching.branch(self._proof, 0, steps, ROOT_PATIENCE)
        self._planted = True

    def branch(self, nodes: int) -> None:
        """Split the branches of the least bound, so many."""
        branching.branch(self._proof, nodes, STEPS, PATIENCE)

    def run_until(self, ends: float, stopped: Callable[[], bool] = lambda: False) -> None:
        """Plant, then branch until an instant of the performance counter."""
        if not self._planted:
            self.plant(0.5 * (ends - time.perf_counter()))
        nodes = 1
        while not (self.closed or self.full or stopped()) and time.perf_counter() < ends:
            began = time.perf_counter()
            self.branch(nodes)
            took = time.perf_counter() - began
            nodes = max(1, min(2 * nodes, int(nodes * CLOCK / max(took, 1e-6))))


def _closing(problem: PlanningProblem, cost: float) -> float:
    """Return the bound from which on no better plan can be in a branch."""
    return cost - 0.5 * problem.step if problem.step else cost * (1 - 1e-9)


def _worth(problem: PlanningProblem) -> float:
    """Return the weight of a core, on average: about the price of a core-second now."""
    return float(problem.jobs.weight.sum() / problem.jobs.cores.sum())


def _grid(problem: PlanningProblem, start: Ints, cells: int) -> PriceGrid:
    """Return the instants of the staircase, of a plan, and others at equal distances."""
    end = start + problem.jobs.length
    horizon = int(end.max())
    even = np.rint(np.linspace(0, horizon, cells + 1)).astype(np.int64)
    events = np.unique(np.concatenate([problem.stairs.time, start, end]))
    events = events[:: max(1, math.ceil(len(events) / MOST_INSTANTS))]
    instants = np.unique(np.concatenate([even, events[events <= horizon]]))
    length = problem.jobs.length[:, None]
    end_cell = np.searchsorted(instants, instants + length, "right") - 1
    start_cell = np.maximum(np.searchsorted(instants, instants - length, "right") - 1, 0)
    return PriceGrid(
        instants,
        np.diff(free_area(problem, instants)),
        end_cell.astype(np.int32),
        (instants + length - instants[end_cell]).astype(np.float64),
        start_cell.astype(np.int32),
        (instants - length - instants[start_cell]).astype(np.float64),
    )


def free_area(problem: PlanningProblem, instants: Ints) -> Floats:
    """Return the core-seconds that are free from now to each instant."""
    time, free = problem.usable
    before = np.concatenate([[0], np.cumsum(np.diff(time) * free[:-1])]).astype(np.float64)
    step = np.searchsorted(time, instants, "right") - 1
    return np.asarray(before[step] + free[step] * (instants - time[step]).astype(np.float64))


def _tree(jobs: int, cells: int) -> branching.Tree:
    branches = int(min(MEMORY // (8 * (2 * jobs + cells + 8)), MOST_BRANCHES))
    return branching.Tree(
        np.empty((branches, jobs), np.int64),
        np.empty((branches, jobs), np.int64),
        np.empty((branches, cells + 1)),
        np.empty(branches),
        np.empty(branches, np.int64),
        np.empty(branches, np.int64),
        np.empty(branches, np.int64),
        np.empty(branches, np.int64),
        np.zeros(branching.COUNTERS, np.int64),
    )


def _new_prices(jobs: int, cells: int) -> PriceState:
    by_cell = [np.zeros(cells + 1) for _ in range(5)]
    by_job = [np.zeros(jobs) for _ in range(3)]
    return PriceState(*by_cell, *by_job, *(np.zeros(jobs, np.int64) for _ in range(4)))


def _alike(problem: PlanningProblem) -> Ints:
    """Return for each job the next one that is like it in everything; -1 where there is none."""
    jobs = problem.jobs
    successor = np.full(len(jobs.length), -1, np.int64)
    last: dict[tuple[float, ...], int] = {}
    for i, kind in enumerate(zip(*jobs[:4], strict=True)):
        if kind in last:
            successor[last[kind]] = i
        last[kind] = i
    return successor


# -- makespan --------------------------------------------------------------------------------------


def least_span(problem: PlanningProblem) -> float:
    """Return a makespan that no plan is below: by single jobs, by work, by jobs in conflict."""
    earliest, jobs = problem.earliest, problem.jobs
    longest = int((earliest + jobs.length).max())
    return float(max(longest, _least_by_work(problem), _least_by_conflict(problem)))


def _least_by_work(problem: PlanningProblem) -> int:
    """For each instant: jobs that cannot start before it need room after it for all their work."""
    earliest, jobs = problem.earliest, problem.jobs
    work = jobs.length * jobs.cores
    least = 0
    for instant in np.unique(earliest):
        before = free_area(problem, np.array([instant]))[0]
        least = max(least, _time_of_area(problem, before + float(work[earliest >= instant].sum())))
    return least


def _time_of_area(problem: PlanningProblem, area: float) -> int:
    """Return the first instant up to which so many core-seconds are free."""
    time, free = problem.usable
    before = free_area(problem, time)
    step = int(np.searchsorted(before, area, "right")) - 1
    if free[step] == 0:
        return int(time[step])
    return int(time[step] + math.ceil((area - before[step]) / free[step] - ROUNDING))


def _least_by_conflict(problem: PlanningProblem) -> int:
    """Jobs of more than half of all cores run one after the other."""
    jobs, earliest = problem.jobs, problem.earliest
    wide = 2 * jobs.cores > problem.stairs.free[-1]
    if not wide.any():
        return 0
    return int(
        max(
            instant + jobs.length[wide & (earliest >= instant)].sum()
            for instant in np.unique(earliest[wide])
        )
    )
