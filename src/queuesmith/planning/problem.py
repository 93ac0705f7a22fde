"""A planning step laid out as the kernels take it: seconds from now."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from queuesmith.planning.kernels.placing import place_order
from queuesmith.planning.kernels.problem import Jobs, PlacingState, Staircase
from queuesmith.planning.objectives import PlanObjective, find_objective
from queuesmith.planning.snapshot import Snapshot
from queuesmith.workload.workload import Ints

#: Beyond so many cores, sums of widths are not looked at.
MOST_CORES = 2**17


@dataclass(frozen=True, eq=False)
class PlanningProblem:
    """A snapshot and an objective, laid out as the kernels take them: seconds from now.

    The cost of a plan is the part of its value that depends on the plan, as a whole number where
    weights are whole.
    """

    snapshot: Snapshot
    objective: PlanObjective

    @classmethod
    def of(cls, snapshot: Snapshot, objective: str) -> PlanningProblem:
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

    def new_placing(self) -> PlacingState:
        """Return the working space of a placing."""
        instants = len(self.stairs.time) + 2 * len(self.snapshot) + 4
        return PlacingState(
            np.empty(instants, np.int64),
            np.empty(instants, np.int64),
            np.empty(len(self.snapshot), np.int64),
        )


def placed(problem: PlanningProblem, order: Ints) -> tuple[float, Ints]:
    """Return the cost and the starts of jobs placed in an order, in seconds from now."""
    state = problem.new_placing()
    cost = place_order(problem.jobs, problem.stairs, order, state)
    return float(cost), state.start
