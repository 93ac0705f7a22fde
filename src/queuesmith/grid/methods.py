"""One way in to every method of mapping jobs to machines, each result with its proven bound."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from queuesmith.base.checks import of_kind, progress_function
from queuesmith.base.errors import UsageError
from queuesmith.base.registry import known
from queuesmith.grid.choosing import choose_method
from queuesmith.grid.etc.mapping import matrix_of, with_lower_bound
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.etc.measures import weighted
from queuesmith.grid.genetic.preset_files import checked_preset, is_preset
from queuesmith.grid.heuristics.heuristics import HEURISTICS, map_by_heuristic
from queuesmith.grid.options import MapOptions
from queuesmith.schedule import Schedule
from queuesmith.solving.status import TOLERANCE

# The methods are imported where they are used: what is wrong with a call is said before anything
# is compiled.

METHODS = (*HEURISTICS, "ga", "exact", "auto")
#: What may be asked of ga alone.
GENETIC_OPTIONS = ("generations", "runs", "preset")


def map_jobs(
    matrix: EtcMatrix,
    method: str = "auto",
    options: MapOptions | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> Schedule:
    """Map jobs to machines by any method, and say how far from the optimum that can be.

    Parameters
    ----------
    matrix
        The jobs and machines.
    method
        A heuristic such as ``min-min``, ``ga``, ``exact``, or ``auto``: what suits the instance;
        the facts of the result say why.
    options
        What is minimised, for how long, by which preset and seed.
    progress
        Is called with the share of the work that is done, 0 to 1.

    >>> map_jobs(EtcMatrix([[3, 4], [2, 5], [4, 4]]), "min-min").lower_bound > 0
    True
    """
    of_kind("the matrix", matrix, EtcMatrix, "Make one of an array of times: EtcMatrix(times).")
    chosen = MapOptions() if options is None else options
    of_kind("options", chosen, MapOptions, "Give for example MapOptions(seed=1).")
    check_method(method, chosen)
    report = progress_function(progress) or (lambda share: None)
    if method == "auto":
        return _map_by_choice(matrix, chosen, progress)
    if method == "exact":
        return _map_exactly(matrix, chosen, report)
    if method == "ga":
        return with_bound(_evolve(matrix, chosen, report))
    return with_bound(map_by_heuristic(matrix, method, objective=chosen.objective))


def _map_by_choice(
    matrix: EtcMatrix, options: MapOptions, progress: Callable[[float], None] | None
) -> Schedule:
    """Map by the method that suits the instance, and note why."""
    choice = choose_method(matrix, options)
    own = replace(options, preset=choice.preset)
    found = map_jobs(matrix, choice.method, own, progress=progress)
    return replace(found, facts={**found.facts, "chosen": choice.method, "why": choice.why})


def check_method(method: str, options: MapOptions) -> None:
    """Say what is wrong with a call before anything is compiled."""
    known("method", method, METHODS)
    for what in GENETIC_OPTIONS if method not in ("ga", "auto") else ():
        asked = getattr(options, what)
        if asked != getattr(MapOptions, what):
            raise UsageError(
                f"{what} is {asked}, but method '{method}' has none. "
                "Leave it out, or choose the method ga."
            )
    if is_preset(options.preset):
        checked_preset(str(options.preset))


def _map_exactly(
    matrix: EtcMatrix, options: MapOptions, report: Callable[[float], None]
) -> Schedule:
    from queuesmith.grid.exact.solve import solve_exact

    return solve_exact(
        matrix,
        options.objective,
        seconds=options.seconds,
        seed=options.seed,
        workers=options.workers or os.cpu_count() or 1,
        report=lambda spent, value, bound: report(min(spent / options.seconds, 1.0)),
    )


def _evolve(matrix: EtcMatrix, options: MapOptions, report: Callable[[float], None]) -> Schedule:
    if options.runs > 1:
        return _evolve_many(matrix, options)
    from queuesmith.grid.genetic.evolution import evolve
    from queuesmith.grid.genetic.result import GeneticProgress

    def share(now: GeneticProgress) -> float:
        if options.generations is not None:
            return now.generation / options.generations
        return min(now.seconds / options.seconds, 1.0)

    return evolve(
        matrix,
        options.preset,
        objective=options.objective,
        seed=options.seed,
        seconds=None if options.generations is not None else options.seconds,
        generations=options.generations,
        progress=lambda now: report(share(now)),
    ).best


def _evolve_many(matrix: EtcMatrix, options: MapOptions) -> Schedule:
    from queuesmith.grid.genetic.runs import evolve_many

    runs = evolve_many(
        matrix,
        options.preset,
        runs=options.runs,
        objective=options.objective,
        seed=options.seed,
        seconds=None if options.generations is not None else options.seconds,
        generations=options.generations,
        workers=options.workers or 1,
    )
    told = {
        f"{what}_{part}": getattr(getattr(runs, what), part)
        for what in ("makespan", "flowtime")
        for part in ("mean", "std")
    }
    return replace(runs.best, facts={**runs.best.facts, "runs": options.runs, **told})


def with_bound(schedule: Schedule) -> Schedule:
    """Return the mapping with a proven bound on its objective, where SciPy is there to prove it."""
    if importlib.util.find_spec("scipy") is None:
        missing = {"bound": "not computed: pip install queuesmith[exact]"}
        return replace(schedule, facts={**schedule.facts, **missing})
    assert schedule.proof is not None
    bound = objective_bound(matrix_of(schedule), schedule.proof.objective)
    return with_lower_bound(schedule, bound)


def objective_bound(matrix: EtcMatrix, objective: str) -> float:
    """Return what no mapping's value can be below, in a few seconds.

    For both criteria together it is the weighted sum of the two single bounds.
    """
    from queuesmith.grid.exact.bounds import lower_bound

    if objective == "flowtime":
        return _flowtime_bound(matrix)
    span = lower_bound(matrix).value
    if objective == "simultaneous":
        return weighted(span, _flowtime_bound(matrix) / matrix.machines)
    return span


def _flowtime_bound(matrix: EtcMatrix) -> float:
    """The least flowtime itself where it can be computed, rounded down; else a plain bound."""
    from queuesmith.grid.exact.flowtime import can_assign, least_weighted, plain_flowtime_bound

    if can_assign(matrix):
        return least_weighted(matrix).value * (1 - TOLERANCE)
    return plain_flowtime_bound(matrix)


def check_genetic_options(
    methods: Sequence[str], options: MapOptions, takers: Sequence[str]
) -> None:
    """Refuse what only ga knows where no method takes it: it would have no effect."""
    for what in GENETIC_OPTIONS if not set(takers) & set(methods) else ():
        asked = getattr(options, what)
        if asked != getattr(MapOptions, what):
            raise UsageError(
                f"{what} is {asked}, but it is for ga, which is not among the methods "
                f"{', '.join(methods)}. Leave it out, or add ga."
            )


def compare_methods(
    matrices: Sequence[EtcMatrix],
    methods: Sequence[str],
    options: MapOptions | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> list[Schedule]:
    """Map several instances by several methods; instance by instance, method by method.

    A bound that one method proves for an instance holds for all its mappings.
    """
    chosen = options or MapOptions()
    progress_function(progress)
    check_genetic_options(methods, chosen, takers=("ga",))
    others = replace(chosen, **{what: getattr(MapOptions, what) for what in GENETIC_OPTIONS})
    for method in methods:
        check_method(method, chosen if method == "ga" else others)
    found: list[Schedule] = []
    for matrix in matrices:
        mine: list[Schedule] = []
        for method in methods:
            mine.append(map_jobs(matrix, method, chosen if method == "ga" else others))
            if progress is not None:
                progress((len(found) + len(mine)) / (len(matrices) * len(methods)))
        proven = [each.lower_bound for each in mine if each.lower_bound is not None]
        found += [with_lower_bound(each, max(proven)) for each in mine] if proven else mine
    return found
