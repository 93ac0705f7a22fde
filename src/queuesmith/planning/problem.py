"""Plans: jobs placed in some order, each as early as it fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.errors import ScheduleError
from queuesmith.planning.kernels.placing import place_order
from queuesmith.planning.kernels.problem import Jobs, Room, Staircase
from queuesmith.planning.objectives import Objective, find_objective
from queuesmith.planning.snapshot import Snapshot
from queuesmith.workload.workload import Ints

#: Beyond so many cores, sums of widths are not looked at.
MOST_CORES = 2**17


@dataclass(frozen=True, eq=False)
class Problem:
    """A snapshot and an objective, laid out as the kernels take them: seconds from now.

    The cost of a plan is the part of its value that depends on the plan, as a whole number where
    weights are whole.
    """

    snapshot: Snapshot
    objective: Objective

    @classmethod
    def of(cls, snapshot: Snapshot, objective: str) -> Problem:
        """Return the problem of a snapshot under an objective, by name."""
        return cls(snapshot, find_objective(objective)(snapshot))

    @cached_property
    def jobs(self) -> Jobs:
        """The jobs."""
        jobs = self.snapshot.jobs
        return Jobs(
            self.snapshot.release - self.snapshot.now,
            np.array(jobs.walltime),
            np.array(jobs.cores),
            np.array(self.objective.weight, dtype=np.float64),
            np.array([self.objective.span_weight]),
        )

    @cached_property
    def stairs(self) -> Staircase:
        """The staircase."""
        return Staircase(self.snapshot.time - self.snapshot.now, np.array(self.snapshot.free))

    @cached_property
    def usable(self) -> Staircase:
        """The staircase of the cores that jobs can use at once: it bounds more, and loses no plan.

        Where 90 cores are free and all jobs have 64, 26 of them are of no use to anybody.
        """
        if self.snapshot.cores > MOST_CORES:
            return self.stairs
        time, free = self.stairs
        until = np.append(time[1:], np.iinfo(np.int64).max)
        come = np.argsort(self.earliest, kind="stable")
        sums, joined = 1, 0  # bit s is set where some of the jobs so far have s cores together
        usable = np.empty_like(free)
        for step in range(len(time)):
            while joined < len(come) and self.earliest[come[joined]] < until[step]:
                sums |= sums << int(self.jobs.cores[come[joined]])
                joined += 1
            usable[step] = (sums & ((2 << int(free[step])) - 1)).bit_length() - 1
        return Staircase(time, usable)

    @cached_property
    def constant(self) -> float:
        """What all plans cost: the waits up to now, and the lengths."""
        jobs = self.snapshot.jobs
        passed = jobs.walltime + (self.snapshot.now - jobs.submit)
        return float((self.objective.weight * passed).sum())

    @cached_property
    def earliest(self) -> Ints:
        """The first start of each job if it were alone."""
        step = np.searchsorted(self.stairs.free, self.jobs.cores)
        return np.asarray(np.maximum(self.stairs.time[step], self.jobs.release))

    @cached_property
    def step(self) -> float:
        """By how much costs differ at least, if they differ; 0 where that is unknown."""
        weight = self.objective.weight
        if self.objective.span_weight or (weight != np.rint(weight)).any():
            return self.objective.span_weight
        return float(np.gcd.reduce(weight.astype(np.int64)))

    def value(self, cost: float) -> float:
        """Return the value of the objective at a cost."""
        return (cost + self.constant) / self.objective.scale

    def cost(self, start: Ints) -> float:
        """Return the cost of starts, in seconds from now."""
        last = int((start + self.jobs.length).max())
        return float((self.jobs.weight * start).sum() + self.objective.span_weight * last)

    def room(self) -> Room:
        """Return scratch for placing."""
        instants = len(self.stairs.time) + 2 * len(self.snapshot) + 4
        return Room(
            np.empty(instants, np.int64),
            np.empty(instants, np.int64),
            np.empty(len(self.snapshot), np.int64),
        )


@dataclass(frozen=True, eq=False)
class Plan:
    """A start for every waiting job of a snapshot.

    Parameters
    ----------
    snapshot
        What was known.
    start
        The instant at which each job is to start, in the order of the snapshot's jobs.
    method
        What decided it.
    """

    snapshot: Snapshot
    start: Ints
    method: str

    @property
    def end(self) -> Ints:
        """When each job ends at the latest."""
        return self.start + self.snapshot.jobs.walltime

    @property
    def span(self) -> int:
        """Seconds from now to the last end."""
        return int(self.end.max()) - self.snapshot.now

    def value(self, objective: str) -> float:
        """Return the value of an objective."""
        problem = Problem.of(self.snapshot, objective)
        return problem.value(problem.cost(self.start - self.snapshot.now))


def fcfs(snapshot: Snapshot) -> NDArray[np.int64]:
    """First come, first served."""
    return np.arange(len(snapshot))


def sjf(snapshot: Snapshot) -> NDArray[np.int64]:
    """Shortest walltime first."""
    return np.argsort(snapshot.jobs.walltime, kind="stable")


def ljf(snapshot: Snapshot) -> NDArray[np.int64]:
    """Longest walltime first."""
    return np.argsort(-snapshot.jobs.walltime, kind="stable")


#: The policies of the paper (section 2): each an order in which jobs are placed.
POLICIES: Mapping[str, Callable[[Snapshot], NDArray[np.int64]]] = {
    each.__name__: each for each in (fcfs, sjf, ljf)
}


def plan(snapshot: Snapshot, order: str | ArrayLike) -> Plan:
    """Place the jobs of a snapshot in an order, each as early as it fits beside those before.

    Parameters
    ----------
    order
        ``fcfs``, ``sjf``, ``ljf``, or the positions of all jobs in the order of their placing.
    """
    name = order if isinstance(order, str) else "order"
    problem = Problem.of(snapshot, "artww")
    start = placed(problem, _positions(snapshot, order))[1]
    return Plan(snapshot, start + snapshot.now, name)


def placed(problem: Problem, order: Ints) -> tuple[float, Ints]:
    """Return the cost and the starts of jobs placed in an order, in seconds from now."""
    room = problem.room()
    cost = place_order(problem.jobs, problem.stairs, order, room)
    return float(cost), room.start


def _positions(snapshot: Snapshot, order: str | ArrayLike) -> Ints:
    if isinstance(order, str):
        if order not in POLICIES:
            raise ScheduleError(
                f"there is no policy '{order}' of plans. Choose from: {', '.join(POLICIES)}; or "
                "give the positions of the jobs."
            )
        return POLICIES[order](snapshot)
    positions = np.asarray(order)
    if not np.array_equal(np.sort(positions), np.arange(len(snapshot))):
        raise ScheduleError(
            f"an order of {len(snapshot)} jobs must name each position from 0 to "
            f"{len(snapshot) - 1} once. Correct it."
        )
    return positions.astype(np.int64)


def best_policy(snapshot: Snapshot, objective: str) -> Plan:
    """Return the best plan of FCFS, SJF and LJF; the first of equals."""
    plans = [plan(snapshot, name) for name in POLICIES]
    return min(plans, key=lambda each: each.value(objective))


def violations(plan: Plan) -> list[str]:
    """Return a sentence for each rule that a plan breaks; it shares no code with the placing."""
    snapshot, start = plan.snapshot, plan.start
    broken = []
    early = start < snapshot.release
    if early.any():
        job = int(np.argmax(early))
        broken.append(
            f"job {snapshot.jobs.id[job]} starts at {start[job]}, before {snapshot.release[job]}."
        )
    for instant in np.unique(np.concatenate([start, snapshot.time])):
        running = (start <= instant) & (instant < plan.end)
        held = int(snapshot.jobs.cores[running].sum())
        free = int(snapshot.free[np.searchsorted(snapshot.time, instant, "right") - 1])
        if held > free:
            broken.append(f"{held} cores are in use at {instant}, but {free} are free.")
            break
    return broken
