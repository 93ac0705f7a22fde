"""Plans for the jobs that wait, made while others run: what `replay` with `oas` decides by.

A plan is made from the cores that running jobs will set free and the links that they load. It costs
the mean end of its jobs and a share of the last end, from now on. All orders of the heuristics
begin, then the rest of the last plan; annealing goes on from the best, and a tree of all plans
proves small ones to be the best. Counts end all of these, so that a plan is the same each time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from queuesmith.compiled import load
from queuesmith.federation.exact.kernels.annealing import Walk
from queuesmith.federation.exact.kernels.plans import Profile
from queuesmith.federation.exact.kernels.rolling import (
    Ahead,
    Cost,
    Path,
    anneal_from,
    plan_greedily,
    search_from,
)
from queuesmith.federation.exact.modes import LINK_UNITS, Modes, list_modes
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.heuristics.heuristics import ORDERS
from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs

#: What the last end counts beside the mean end of all jobs.
LAST_END = 4.0
#: What the share of all nodes, weighted by power, that a plan takes counts, times as long.
TAKEN = 4.0
#: Nodes of the tree for each step of annealing, and how many jobs it is tried on.
NODES_A_STEP, TREE_JOBS = 2, 9
#: Steps of annealing for each job of the window: so many jobs are planned together.
STEPS_A_JOB, LEAST_WINDOW, MOST_WINDOW = 250, 8, 64
#: Temperatures of annealing, as shares of the cost.
HOT, COLD = 0.02, 0.0005
#: Steps after which the clock is looked at.
PROBE = 200


class StillRunning(NamedTuple):
    """The jobs that run: their nodes of each group, their loads of links, and when they end."""

    counts: Ints
    use: Floats  # in shares of the bandwidth
    end: Ints  # from now on


@dataclass(frozen=True)
class RollingPlan:
    """Which of the waiting jobs start when, from now on, in which modes.

    Parameters
    ----------
    jobs
        The jobs that are planned.
    counts
        One row a job, one column for each group: the nodes it takes.
    start
        When each of them starts, from now on.
    cost
        What the plan costs.
    bound
        What every plan of these jobs costs at least; the cost itself where that is proven. None
        where jobs have too many modes to list: then nothing is.
    """

    jobs: Ints
    counts: Ints
    start: Ints
    cost: float
    bound: float | None

    @property
    def gap_percent(self) -> float | None:
        """By how much the plan may be dearer than the best one, where that is known."""
        return None if self.bound is None else 100 * (self.cost / self.bound - 1)

    @property
    def proven(self) -> bool:
        """Whether no plan of these jobs is better."""
        return self.bound is not None and self.cost <= self.bound


class RollingPlanner:
    """Plans again and again, each time from what runs then.

    Parameters
    ----------
    federation, jobs
        Where, and all jobs that will ever arrive; only those that wait are looked at.
    saturation
        How many times its bandwidth each link may be loaded.
    steps
        Steps of annealing for each plan, or None where the clock stops it.
    seconds
        How long each plan may take, if so.
    window
        How many waiting jobs are planned together; by default as many as the steps are enough for.
    seed
        What chance follows from.
    """

    def __init__(
        self,
        federation: Federation,
        jobs: FederationJobs,
        *,
        saturation: float = 1.0,
        steps: int | None = 10_000,
        seconds: float = 1.0,
        window: int | None = None,
        seed: int = 0,
    ) -> None:
        load(plan_greedily, anneal_from, search_from)
        self.federation, self.jobs, self.saturation = federation, jobs, saturation
        self.steps, self.seconds, self.window, self.seed = steps, seconds, window, seed
        self.pace = 0.0  # steps a second, once that is known
        self.plans = 0

    def plan(
        self, waiting: Sequence[int], running: StillRunning, last: RollingPlan | None = None
    ) -> RollingPlan:
        """Return the best plan that is found for the jobs that wait, or for the first of them.

        Parameters
        ----------
        waiting
            The jobs, in the order of their arrival.
        running
            What runs.
        last
            The plan before, whose starts are from now on, too: it is one to begin with.
        """
        began = time.perf_counter()
        self.plans += 1
        search = _Search(self, _chosen(self.jobs, waiting, self._window()), running)
        search.begin(last)
        self._improve(search, began)
        return search.result()

    def _window(self) -> int:
        """How many jobs are planned together: as many as there are steps enough for."""
        if self.window is not None:
            return self.window
        steps = self.steps if self.steps is not None else int(self.pace * self.seconds)
        return min(max(steps // STEPS_A_JOB, LEAST_WINDOW), MOST_WINDOW)

    def _improve(self, search: _Search, began: float) -> None:
        steps = self.steps
        if steps is None:
            search.anneal(PROBE)
            spent = time.perf_counter() - began
            self.pace = PROBE / max(spent, 1e-5)
            steps = int(self.pace * max(self.seconds - spent, 0.0) / (1 + NODES_A_STEP))
        search.anneal(steps // 4)
        if not search.prove(NODES_A_STEP * steps):
            search.anneal(steps - steps // 4)


def _chosen(jobs: FederationJobs, waiting: Sequence[int], window: int) -> Ints:
    """The jobs of a window: half of them the first to arrive, the others those of least work."""
    arrived = np.array(waiting, np.int64)
    if len(arrived) <= window:
        return arrived
    first, rest = arrived[: window - window // 2], arrived[window - window // 2 :]
    work = jobs.tasks[rest] * jobs.base_time[rest]
    small = rest[np.argsort(work, kind="stable")[: window // 2]]
    return np.sort(np.concatenate([first, small]))


class _Search:
    """The search for one plan."""

    def __init__(self, planner: RollingPlanner, chosen: Ints, running: StillRunning) -> None:
        self.planner, self.chosen = planner, chosen
        federation = planner.federation
        self.queue = planner.jobs.select(chosen).queued()
        self.modes = list_modes(
            federation, self.queue, saturation=planner.saturation, seed=planner.seed
        )
        self.arrays = Packed(self.modes).arrays
        self.base = _base(federation, self.modes, running)
        count, spans = len(chosen), len(self.base.time) + len(chosen) + 1
        self.profile = _new_profile(federation, spans)
        price = federation.group_power / (federation.group_power @ federation.group_nodes)
        self.weights = Cost(LAST_END, TAKEN * _areas(self.modes, price[None, :])[0])
        self.cost: float = np.inf
        self.bound: float | None = None
        self.mode = np.zeros(count, np.int64)
        self.start = np.zeros(count, np.int64)

    def begin(self, last: RollingPlan | None) -> None:
        """Plan by the orders of all heuristics, and by the last plan."""
        count = len(self.chosen)
        for key in [order(self.queue) for order in ORDERS.values()]:
            order = np.argsort(key, kind="stable").astype(np.int64)
            for patient in (True, False):
                mode, start = np.zeros((2, count), np.int64)
                cost = plan_greedily(
                    self.arrays, self.base, self.profile, order, mode, start, self.weights,
                    patient,
                )  # fmt: skip
                self._take(float(cost), mode, start)
        self._begin_with(last)

    def _begin_with(self, last: RollingPlan | None) -> None:
        """Begin with what is left of the last plan; newcomers are planned after all others."""
        if last is None:
            return
        known = {int(job): place for place, job in enumerate(last.jobs)}
        mode, key = self.mode.copy(), np.full(len(self.chosen), np.iinfo(np.int64).max)
        for place, job in enumerate(self.chosen.tolist()):
            if job in known:
                row = (self.modes.counts[self._modes_of(place)] == last.counts[known[job]]).all(1)
                if row.any():
                    mode[place] = self.modes.first[place] + int(np.argmax(row))
                    key[place] = last.start[known[job]]
        order = np.argsort(key, kind="stable").astype(np.int64)
        walk = self._walk(order, mode)
        cost = anneal_from(self.arrays, self.base, self.profile, walk, self.weights, 1.0, 1.0, 0)
        self._take(float(cost), mode, walk.start)

    def _modes_of(self, place: int) -> slice:
        return slice(int(self.modes.first[place]), int(self.modes.first[place + 1]))

    def _take(self, cost: float, mode: Ints, start: Ints) -> None:
        if cost < self.cost:
            self.cost, self.mode, self.start = cost, mode.copy(), start.copy()

    def _walk(self, order: Ints, mode: Ints) -> Walk:
        turn = [self.planner.seed, self.planner.plans, len(order)]
        return Walk(
            order.copy(),
            mode.copy(),
            np.zeros(len(order), np.int64),
            order.copy(),
            mode.copy(),
            order.copy(),
            mode.copy(),
            np.zeros(1, np.int64),
            np.random.default_rng(turn).integers(1, 2**63, 1, np.uint64),
            np.zeros(1, np.int64),
        )

    def anneal(self, steps: int) -> None:
        """Anneal from the best plan."""
        if len(self.chosen) == 1 and len(self.modes.duration) == 1:
            return
        order = np.argsort(self.start, kind="stable").astype(np.int64)
        walk = self._walk(order, self.mode)
        hot, cold = HOT * self.cost, COLD * self.cost
        cost = anneal_from(
            self.arrays, self.base, self.profile, walk, self.weights, hot, cold, steps
        )
        if cost < self.cost:
            again = self._walk(walk.best_order, walk.best_mode)
            anneal_from(self.arrays, self.base, self.profile, again, self.weights, 1.0, 1.0, 0)
            self._take(float(cost), walk.best_mode, again.start)

    def prove(self, nodes: int) -> bool:
        """Look through all plans, as far as so many nodes go; tell whether that was all of them."""
        count = len(self.chosen)
        few = count <= TREE_JOBS
        federation = self.planner.federation
        most = len(self.base.time) + count + 1
        mode, start = self.mode.copy(), self.start.copy()
        cost, root, ended = search_from(
            self.arrays,
            self.base,
            _ahead(self.modes, self.weights.taken),
            _new_profile(federation, (count + 1) * most),
            _new_path(count),
            mode,
            start,
            self.weights,
            float(self.cost),
            nodes if few else 0,
        )
        self._take(float(cost), mode, start)
        if self.modes.complete:
            self.bound = self.cost if ended else min(float(root), self.cost)
        return bool(ended)

    def result(self) -> RollingPlan:
        """Return the best plan that was found."""
        return RollingPlan(
            self.chosen,
            self.modes.counts[self.mode],
            self.start,
            self.cost,
            None if self.bound is None else min(self.bound, self.cost),
        )


def _base(federation: Federation, modes: Modes, running: StillRunning) -> Profile:
    """What is free from now on, as the running jobs end."""
    times = np.unique(np.concatenate([[0], running.end])).astype(np.int64)
    still = (running.end[None, :] > times[:, None]).astype(np.int64)
    nodes = np.array(federation.group_nodes, np.int64) - still @ running.counts
    load = np.floor(running.use * LINK_UNITS).astype(np.int64)
    return Profile(times, np.ascontiguousarray(nodes), modes.limit - still @ load)


def _new_profile(federation: Federation, spans: int) -> Profile:
    groups, links = len(federation.group_nodes), len(federation.clusters)
    return Profile(
        np.zeros(spans, np.int64),
        np.zeros((spans, groups), np.int64),
        np.zeros((spans, links), np.int64),
    )


def _new_path(count: int) -> Path:
    spans, clock, last, cursor, latest, chosen, start = np.zeros((7, count + 1), np.int64)
    waits = np.zeros((count + 1, count), np.int64)
    return Path(spans, clock, last, cursor, np.zeros(count + 1), latest, waits, chosen, start)


def _areas(modes: Modes, price: Floats) -> Floats:
    """What each mode costs under each of some prices."""
    return np.ascontiguousarray(price @ (modes.counts * modes.duration[:, None]).T, np.float64)


def _ahead(modes: Modes, taken: Floats) -> Ahead:
    """What the jobs need at least, with nodes priced by their power, and all alike."""
    nodes = modes.federation.group_nodes
    price = np.array([modes.federation.group_power, np.ones(len(nodes))], np.float64)
    price /= (price @ nodes)[:, None]
    area = np.minimum.reduceat(_areas(modes, price), modes.first[:-1], axis=1)
    return Ahead(
        np.ascontiguousarray(price),
        np.ascontiguousarray(area),
        np.argsort(area, axis=1, kind="stable").astype(np.int64),
        np.ascontiguousarray(modes.shortest, np.int64),
        np.argsort(modes.shortest, kind="stable").astype(np.int64),
        np.minimum.reduceat(taken, modes.first[:-1]),
        np.zeros(len(modes.jobs)),
    )
