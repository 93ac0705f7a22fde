"""The operators of the genetic schedulers: dictionaries one can read, and add to."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from queuesmith.base.compiler_text import first_reason, lines_of, plain_text
from queuesmith.base.errors import UsageError
from queuesmith.compiled import entry, kernel, load
from queuesmith.compiled.arrays import copy
from queuesmith.compiled.chance import below, uniform
from queuesmith.grid.genetic.kernels import (
    crossover,
    improving,
    mutation,
    permutation,
    rebalancing,
    selection,
    starting,
)
from queuesmith.grid.genetic.kernels.operators import CROSSOVER_TYPE, MUTATION_TYPE, check_genes
from queuesmith.grid.genetic.kernels.problem import Problem
from queuesmith.grid.genetic.kernels.value import move_job, settle

__all__ = [
    "CROSSOVERS",
    "IMPROVEMENTS",
    "INITIALS",
    "MUTATIONS",
    "REPLACEMENTS",
    "SELECTIONS",
    "Operator",
    "Replacement",
    "add_crossover",
    "add_mutation",
    "below",
    "uniform",
]


@dataclass(frozen=True)
class Operator:
    """A compiled operator and the one number that shapes it.

    Parameters
    ----------
    function
        The compiled function.
    parameter
        The number, where a configuration gives none; None for an operator without one.
    low, high
        Between what it must lie.
    meaning
        What the number is.
    encoding
        For crossovers, what they recombine: ``direct`` or ``permutation``.
    """

    function: Callable[..., Any]
    parameter: float | None = None
    low: float = 0.0
    high: float = 1.0
    meaning: str = ""
    encoding: str = "direct"

    @property
    def summary(self) -> str:
        """What the operator does, in its own words."""
        return (self.function.__doc__ or "").strip().split("\n")[0]


@dataclass(frozen=True)
class Replacement:
    """Who survives a generation, as the two flags of the paper (section 3.4.5, table 4) say.

    Parameters
    ----------
    generational
        Children replace parents, whatever their fitness.
    only_if_better
        The best of parents and children together survive.
    offspring
        How many children a population of a given size has, where a configuration does not say.
    """

    generational: bool
    only_if_better: bool
    offspring: Callable[[int], int]


def add_crossover(function: Callable[..., Any], *, low: float = 0.0, high: float = 1.0) -> Operator:
    """Compile a crossover of one's own and enter it in ``CROSSOVERS`` under its name.

    Parameters
    ----------
    function
        ``function(problem, mother, father, child, random)`` writes the machine of each job into
        ``child``, which begins as a copy of ``mother``. A further argument with a default is the
        number that configurations can set. Random numbers come from ``uniform(random)`` and
        ``below(random, count)``. ``problem`` has ``times``, ``ready``, ``options``,
        ``option_count`` and ``prices``.
    low, high
        Between what the number must lie.
    """
    default = _parameter(function, 5, "problem, mother, father, child, random")
    operator = Operator(
        _compile(function, _compile_crossover, default), default, low, high, _named(function, 5)
    )
    CROSSOVERS[_name(function)] = operator
    return operator


def add_mutation(function: Callable[..., Any], *, low: float = 0.0, high: float = 1.0) -> Operator:
    """Compile a mutation of one's own and enter it in ``MUTATIONS`` under its name.

    Parameters
    ----------
    function
        ``function(problem, genes, completion, random)`` changes the machines of some jobs in
        ``genes``; ``completion`` tells when each machine finishes. A further argument with a
        default is the number that configurations can set.
    low, high
        Between what the number must lie.
    """
    default = _parameter(function, 4, "problem, genes, completion, random")
    operator = Operator(
        _compile(function, _compile_mutation, default), default, low, high, _named(function, 4)
    )
    MUTATIONS[_name(function)] = operator
    return operator


def _name(function: Callable[..., Any]) -> str:
    return function.__name__.replace("_", "-")


def _named(function: Callable[..., Any], positional: int) -> str:
    return "".join(list(inspect.signature(function).parameters)[positional:])


def _parameter(function: Callable[..., Any], positional: int, expected: str) -> float | None:
    """Return the default of the number of a user's operator; None where it has none."""
    parameters = list(inspect.signature(function).parameters.values())
    required = [p for p in parameters if p.default is p.empty]
    optional = [p for p in parameters if p.default is not p.empty]
    if len(required) != positional or len(optional) > 1:
        raise UsageError(
            f"operator '{function.__name__}' takes ({', '.join(str(p) for p in parameters)}), but "
            f"it must take ({expected}) and at most one number with a default. Change it."
        )
    return float(optional[0].default) if optional else None


def _compile(
    function: Callable[..., Any],
    build: Callable[[Callable[..., Any]], Callable[..., Any]],
    parameter: float | None,
) -> Callable[..., Any]:
    """Compile a user's operator, and say in one sentence where that fails."""
    compiled = kernel(function, error_model="numpy")
    try:
        built = build(compiled if parameter is not None else _without_number(compiled))
    except Exception as error:  # the compiler raises errors of many kinds, not all of them its own
        raise _explain(function, error) from error
    built.__doc__ = function.__doc__
    return built


def _without_number(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that ignores its last argument."""

    def call(*arguments):  # type: ignore[no-untyped-def]
        return compiled(*arguments[:-1])

    return kernel(call, error_model="numpy")  # type: ignore[no-any-return]


def _compile_crossover(call: Callable[..., Any]) -> Callable[..., Any]:
    @entry(CROSSOVER_TYPE, kept=False)
    def cross(problem, mother, father, child, parameter, work):  # type: ignore[no-untyped-def]
        # Copies, so that an operator that writes to its parents does no harm.
        ours, theirs = work.ints[6, : len(child)], work.ints[7, : len(child)]
        copy(ours, mother.genes)
        copy(theirs, father.genes)
        copy(child, mother.genes)
        call(problem, ours, theirs, child, work.random, parameter)
        check_genes(problem, child, mother.genes, work)

    load(cross)
    return cross  # type: ignore[no-any-return]


def _compile_mutation(call: Callable[..., Any]) -> Callable[..., Any]:
    @entry(MUTATION_TYPE, kept=False)
    def mutate(problem, individual, parameter, work):  # type: ignore[no-untyped-def]
        genes = work.ints[6, : len(individual.genes)]
        completion = work.reals[: len(individual.completion)]
        copy(genes, individual.genes)
        copy(completion, individual.completion)
        call(problem, genes, completion, work.random, parameter)
        check_genes(problem, genes, individual.genes, work)
        for job in range(len(genes)):
            if genes[job] != individual.genes[job]:
                move_job(problem, individual, job, genes[job])
        settle(problem, individual)

    load(mutate)
    return mutate  # type: ignore[no-any-return]


def _explain(function: Callable[..., Any], error: Exception) -> UsageError:
    text = plain_text(error)
    lines = lines_of(function, text)
    where = f"operator '{function.__name__}'" + (f", line {lines[-1]}," if lines else "")
    field = re.search(r"Unknown attribute '(\w+)' of type Problem", text)
    if field:
        return UsageError(
            f"{where} asks for '{field[1]}', which a problem does not have. "
            f"Its fields are: {', '.join(Problem._fields)}."
        )
    if "NRT required" in text:
        return UsageError(
            f"{where} makes a list or an array, which compiled operators cannot. "
            "Write into the arrays it is given, one number at a time."
        )
    return UsageError(
        f"{where} cannot be compiled: {first_reason(text)}. Use plain arithmetic, if, loops, and "
        "functions of math."
    )


_PERMUTATION = "permutation"

INITIALS: dict[str, Operator] = {
    "random": Operator(starting.start_random),
    "ljfr-sjfr": Operator(starting.start_ljfr_sjfr),
    "mct": Operator(starting.start_mct),
    "min-min": Operator(starting.start_min_min),
}
#: Those that draw: each call gives another individual.
RANDOM_INITIALS = {"random", "mct"}

CROSSOVERS: dict[str, Operator] = {
    "one-point": Operator(crossover.cross_one_point),
    "two-point": Operator(crossover.cross_two_point),
    "k-point": Operator(crossover.cross_k_point, 4, 1, 1e6, "the number of cuts"),
    "uniform": Operator(crossover.cross_uniform, 0.5, 0, 1, "the share of the first parent"),
    "fitness-based": Operator(crossover.cross_fitness_based),
    "pmx": Operator(permutation.cross_pmx, encoding=_PERMUTATION),
    "cx": Operator(permutation.cross_cx, encoding=_PERMUTATION),
    "cx-literal": Operator(permutation.cross_cx_literal, encoding=_PERMUTATION),
    "ox": Operator(permutation.cross_ox, encoding=_PERMUTATION),
}

MUTATIONS: dict[str, Operator] = {
    "move": Operator(mutation.mutate_move),
    "swap": Operator(mutation.mutate_swap),
    "move-and-swap": Operator(
        mutation.mutate_move_and_swap, 0.5, 0, 1, "the probability of a move, against a swap"
    ),
    "rebalance": Operator(
        rebalancing.mutate_rebalance, 0.75, 0, 1, "the probability of rebalancing before mutating"
    ),
    "rebalance-literal": Operator(
        rebalancing.mutate_rebalance_literal, 0.75, 0, 1, "the probability of rebalancing first"
    ),
    "rebalance-or-mutate": Operator(
        rebalancing.mutate_rebalance_or_mutate, 0.75, 0, 1, "the probability of rebalancing"
    ),
}

SELECTIONS: dict[str, Operator] = {
    "random": Operator(selection.select_random),
    "best": Operator(selection.select_best),
    "linear-ranking": Operator(
        selection.select_linear_ranking, 1.5, 1, 2, "how often the best is drawn, against the mean"
    ),
    "binary-tournament": Operator(
        selection.select_binary_tournament, 1.0, 0.5, 1, "the probability that the better one wins"
    ),
    "n-tournament": Operator(
        selection.select_n_tournament, 3, 1, 1e6, "how many take part in a tournament"
    ),
}

#: Local search on every child, for memetic schedulers. The paper has none.
IMPROVEMENTS: dict[str, Operator] = {
    "none": Operator(improving.improve_not),
    "climb": Operator(improving.improve_climb, 100, 1, 1e9, "the number of tries"),
    "anneal": Operator(improving.improve_anneal, 50, 0.1, 1e9, "the number of steps for each job"),
}

REPLACEMENTS: dict[str, Replacement] = {
    "generational": Replacement(True, False, lambda population: population),
    "elitist": Replacement(False, False, lambda population: max(population - 2, 1)),
    "if-better": Replacement(False, True, lambda population: population),
    "steady-state": Replacement(False, False, lambda population: max(population // 3, 1)),
}
