"""Genetic schedulers: populations of mappings that recombine, mutate and survive."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import positive, progress_function, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.compiled import load
from queuesmith.grid.etc.mapping import machine_of, mapped
from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.grid.exact.bounds import safe_bound
from queuesmith.grid.exact.kernels.prices import find_prices
from queuesmith.grid.genetic.arrays import (
    new_population,
    new_problem,
    new_workspace,
    objective_weights,
)
from queuesmith.grid.genetic.config import GeneticConfig, load_config
from queuesmith.grid.genetic.kernels.generations import (
    CHANCES,
    CROSS,
    CROSS_WITH,
    IMPROVE,
    IMPROVE_WITH,
    MUTATE,
    MUTATE_WITH,
    SELECT_WITH,
    run_generations,
    value_all,
)
from queuesmith.grid.genetic.kernels.problem import (
    BAD_JOB,
    BAD_MACHINE,
    EVALUATIONS,
    GENERATION,
    IMPROVED_AT,
    MAKESPAN,
    NOBODY,
    VALUES,
)
from queuesmith.grid.genetic.kernels.starting import blend, gather
from queuesmith.grid.genetic.operators import (
    CROSSOVERS,
    IMPROVEMENTS,
    INITIALS,
    MUTATIONS,
    RANDOM_INITIALS,
    SELECTIONS,
    Operator,
)
from queuesmith.grid.genetic.result import Course, GeneticProgress, GeneticResult
from queuesmith.schedule import Schedule
from queuesmith.solving.status import TOLERANCE

Ints = NDArray[np.int64]

#: So many children are bred before the clock is looked at as take about this long.
BLOCK_SECONDS = 0.05
MOST_IN_A_BLOCK = 4096


def evolve(
    matrix: EtcMatrix,
    config: GeneticConfig | str | Path = "queuesmith",
    *,
    objective: str = "simultaneous",
    seed: int = 0,
    seconds: float | None = None,
    generations: int | None = None,
    start: Sequence[Schedule] = (),
    progress: Callable[[GeneticProgress], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> GeneticResult:
    """Evolve a mapping of jobs to machines.

    Where the makespan alone is minimised, a run also ends when it is as short as the prices of the
    machines prove that none is shorter.

    Parameters
    ----------
    matrix
        The jobs and machines.
    config
        A configuration, the name of a preset, or the path of a TOML file.
    objective
        What is minimised: ``makespan``, ``flowtime``, ``simultaneous`` (both, weighted) or
        ``hierarchic`` (makespan, then flowtime).
    seed
        Same seed, same run; a run that stops by time is a prefix of the same run with more time.
    seconds
        Replaces the time limit of the configuration.
    generations
        Replaces the stops of the configuration: after so many generations, and by no clock unless
        ``seconds`` is given, too. The same seed then gives the same result on any computer whose
        arithmetic is the same.
    start
        Mappings that the first population begins with.
    progress
        Called after each block of generations.
    clock
        What the seconds are counted by. With ``time.thread_time`` only the time counts in which the
        run had a core: a fair limit on a computer that others use, too.
    """
    chosen = load_config(config)
    if generations is not None:
        chosen = replace(chosen, generations=generations, seconds=None, stagnation=None)
    limit = chosen.seconds if seconds is None else positive("seconds", seconds, "Give 90.")
    whole_number("the seed", seed, 0, "Give 0.")
    run = _Evolution(matrix, chosen, objective, seed, start, clock)
    stopped = run.until_stopped(limit, progress_function(progress))
    return run.result(stopped)


class _Evolution:
    """One run in progress: the population, the clock, and what has been recorded."""

    def __init__(
        self,
        matrix: EtcMatrix,
        config: GeneticConfig,
        objective: str,
        seed: int,
        start: Sequence[Schedule],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        _load(config)
        self.clock, self.began = clock, clock()
        self.matrix, self.config, self.objective, self.seed = matrix, config, objective, seed
        weights = objective_weights(
            objective, matrix.machines, config.makespan_weight, config.makespan_step
        )
        slots = config.population + config.children + 1
        self.problem = new_problem(matrix, weights)
        self.pool = new_population(slots, matrix.jobs, matrix.machines)
        self.work = new_workspace(matrix.jobs, matrix.machines, seed)
        self.parents = np.arange(config.population, dtype=np.int64)
        self.children = np.arange(config.population, slots - 1, dtype=np.int64)
        self.spare = np.zeros(slots, np.int64)
        self.plan = _plan(config)
        self.history = np.zeros((MOST_IN_A_BLOCK, VALUES))
        alone = objective == "makespan"
        self.least = _least_makespan(matrix, self.problem.prices) if alone else 0.0
        self.points: list[tuple[float, float, float, float]] = []
        self._populate([machine_of(each) for each in start])
        value_all(self.problem, self.pool, self.parents, self.work)
        self._keep_best()
        self._note(0, self.seconds, self.pool.value[-1])

    @property
    def seconds(self) -> float:
        return self.clock() - self.began

    @property
    def generation(self) -> int:
        return int(self.work.flags[GENERATION])

    def until_stopped(
        self, limit: float | None, progress: Callable[[GeneticProgress], None] | None
    ) -> str:
        """Run blocks of generations until something says stop; return what."""
        config, flags = self.config, self.work.flags
        block = 2  # children; some take long to improve
        restarted_at = 0
        while True:
            if self.pool.value[-1, MAKESPAN] <= self.least:
                return "bound"
            left = math.inf if limit is None else limit - self.seconds
            if left <= 0:
                return "seconds"
            if config.generations is not None and self.generation >= config.generations:
                return "generations"
            since = self.generation - int(flags[IMPROVED_AT])
            if config.stagnation is not None and since >= config.stagnation:
                return "stagnation"
            restart = config.restart or _NEVER
            if self.generation - max(restarted_at, self.generation - since) >= restart:
                self._begin_anew()
                restarted_at = self.generation
                since = 0 if config.stagnation is None else since
            began, bred = self.seconds, int(flags[EVALUATIONS])
            self._block(self._allowed(restart, restarted_at), block)
            spent = max(self.seconds - began, 1e-6)
            bred = int(flags[EVALUATIONS]) - bred
            block = max(int(min(BLOCK_SECONDS, max(left - spent, 0.001)) * bred / spent), 2)
            if progress is not None:
                best = self.pool.value[-1]
                progress(
                    GeneticProgress(self.seconds, self.generation, float(best[0]), float(best[1]))
                )

    def _allowed(self, restart: int, restarted_at: int) -> int:
        """Return how many generations may run before one of the stops is due."""
        due = max(int(self.work.flags[IMPROVED_AT]), restarted_at) + restart
        left = min(MOST_IN_A_BLOCK, due - self.generation)
        if self.config.generations is not None:
            left = min(left, self.config.generations - self.generation)
        return max(left, 1)

    def _block(self, generations: int, children: int) -> None:
        """Run no more than so many generations and children; note when the best changed."""
        config, before = self.config, self.seconds
        first = self.generation
        done: int = run_generations(
            self.problem,
            self.pool,
            self.parents,
            self.children,
            self.spare,
            self.plan,
            CROSSOVERS[config.crossover].function,
            MUTATIONS[config.mutation].function,
            SELECTIONS[config.selection].function,
            IMPROVEMENTS[config.improvement].function,
            config.merges,
            config.distinct,
            generations,
            children,
            config.stagnation or _NEVER,
            self.history,
            self.work,
        )
        self._check_users_operators()
        values = self.history[:done]
        pace = (self.seconds - before) / max(done, 1)
        previous = np.vstack([self.points[-1][2:], values[:-1, :2]])
        for i in np.flatnonzero((values[:, :2] != previous).any(axis=1)):
            self._note(first + int(i) + 1, before + pace * (int(i) + 1), values[i])

    def _note(self, generation: int, seconds: float, value: Floats) -> None:
        self.points.append((generation, seconds, float(value[0]), float(value[1])))

    def _check_users_operators(self) -> None:
        job, machine = (int(self.work.flags[i]) for i in (BAD_JOB, BAD_MACHINE))
        if job != NOBODY:
            names = f"crossover '{self.config.crossover}' or mutation '{self.config.mutation}'"
            raise UsageError(
                f"{names} puts job {job} on machine {machine}, which cannot run it or does not "
                f"exist. Choose among problem.options[job, :problem.option_count[job]]."
            )

    def _populate(self, given: list[Ints]) -> None:
        """Write a first population: what was given, then the methods by their shares."""
        config, genes = self.config, self.pool.genes
        for slot, machine in enumerate(given[: config.population]):
            genes[slot] = machine
        left = config.population - min(len(given), config.population)
        slot = config.population - left
        for name, count in _split(left, config.initial).items():
            for i in range(count):
                if name in RANDOM_INITIALS or i == 0:
                    INITIALS[name].function(self.problem, genes[slot], self.work)
                else:
                    self._scatter(genes[slot - i], genes[slot])
                slot += 1

    def _scatter(self, source: Ints, target: Ints) -> None:
        """Copy an individual, with a share of its jobs on random machines."""
        INITIALS["random"].function(self.problem, target, self.work)
        blend(source, target, self.config.scatter, self.work.random)

    def _begin_anew(self) -> None:
        """Replace all by a new population, around the best ever where its share is small.

        The best itself is set aside: among newcomers its descendants would soon be alone.
        """
        config = self.config
        self.parents[:] = np.arange(config.population)
        self.children[:] = np.arange(config.population, len(self.pool.genes) - 1)
        self._populate([])
        gather(self.pool, config.population, config.restart_share, self.work)
        value_all(self.problem, self.pool, self.parents, self.work)

    def _keep_best(self) -> None:
        for array in self.pool:
            array[-1] = array[self.parents[0]]

    def result(self, stopped: str) -> GeneticResult:
        """Return the best ever, with all that is known about the run."""
        seconds, flags = self.seconds, self.work.flags
        self._note(self.generation, seconds, self.pool.value[-1])
        generation, when, makespan, flowtime = (np.array(c) for c in zip(*self.points, strict=True))
        course = Course(generation.astype(np.int64), when, makespan, flowtime)
        evaluations = int(flags[EVALUATIONS])
        facts = {
            "preset": self.config.name,
            "seed": self.seed,
            "generations": self.generation,
            "evaluations": evaluations,
            "stopped": stopped,
            "history": course.to_list(),
        }
        best = mapped(
            self.matrix,
            self.pool.genes[-1],
            f"ga:{self.config.name}",
            objective=self.objective,
            seconds=seconds,
            facts=facts,
        )
        return GeneticResult(
            best, course, self.config, self.seed, self.generation, evaluations, stopped
        )


_NEVER = np.iinfo(np.int64).max // 2


def _least_makespan(matrix: EtcMatrix, price: Floats) -> float:
    """Return what the prices prove that no makespan is below, but for rounding."""
    return safe_bound(matrix, price).value * (1 + TOLERANCE)


def _load(config: GeneticConfig) -> None:
    """Compile what a run calls, so that none of its time goes there."""
    load(
        find_prices,
        run_generations,
        value_all,
        blend,
        gather,
        CROSSOVERS[config.crossover].function,
        MUTATIONS[config.mutation].function,
        SELECTIONS[config.selection].function,
        IMPROVEMENTS[config.improvement].function,
        *(INITIALS[name].function for name in ("random", *config.initial)),
    )


def _plan(config: GeneticConfig) -> Floats:
    """Return the probabilities and parameters of the operators as the compiled code takes them."""
    plan = np.zeros(CHANCES)
    plan[CROSS] = config.crossover_probability
    plan[MUTATE] = config.mutation_probability
    plan[IMPROVE] = config.improvement_probability
    parameters: dict[int, tuple[Operator, float | None]] = {
        CROSS_WITH: (CROSSOVERS[config.crossover], config.crossover_parameter),
        MUTATE_WITH: (MUTATIONS[config.mutation], config.mutation_parameter),
        SELECT_WITH: (SELECTIONS[config.selection], config.selection_parameter),
        IMPROVE_WITH: (IMPROVEMENTS[config.improvement], config.improvement_parameter),
    }
    for place, (operator, given) in parameters.items():
        plan[place] = given if given is not None else operator.parameter or 0.0
    plan.setflags(write=False)
    return plan


def _split(count: int, shares: Any) -> dict[str, int]:
    """Split a count by shares; what rounding leaves over goes to the largest remainders."""
    total = sum(shares.values())
    exact = {name: count * share / total for name, share in shares.items()}
    whole = {name: int(value) for name, value in exact.items()}
    rest = sorted(exact, key=lambda name: whole[name] - exact[name])
    for name in rest[: count - sum(whole.values())]:
        whole[name] += 1
    return whole
