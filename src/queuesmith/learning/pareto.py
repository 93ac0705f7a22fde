"""Search the front of off-line schedules over the paper's seven objectives, by NSGA-II or NSGA-III.

Franke, Lepping and Schwiegelshohn measure what they learn against such a front (section 5). Like
theirs it is an approximation: no schedule of it is proven to be the best of its kind.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import seeded, whole_number
from queuesmith.base.errors import MetricError, UsageError
from queuesmith.base.extras import extra_library
from queuesmith.base.files import AnyPath
from queuesmith.cluster import Cluster, as_cluster
from queuesmith.cluster.maintenance import check_no_maintenance
from queuesmith.compiled.pareto import undominated
from queuesmith.learning.course import LearningProgress
from queuesmith.learning.offline import GROUPS, QUICK_WAYS, OfflineSchedules, check_ways
from queuesmith.learning.offline_front import Front, Point, losses, measure
from queuesmith.learning.split import Parts, check_objective
from queuesmith.learning.tune import BASELINE
from queuesmith.policy import AnyPolicy
from queuesmith.schedule import Schedule
from queuesmith.schedule.objective import Objective
from queuesmith.study.engines import Engine
from queuesmith.study.naming import run_facts
from queuesmith.study.rounds import Round, Rounds
from queuesmith.study.runner import simulate_many
from queuesmith.study.store import Store, fingerprint
from queuesmith.workload import Workload

Floats = NDArray[np.float64]

#: Section 3.1: the response times of the five groups and of all, and the utilization.
SEVEN_OBJECTIVES = (*(f"awrt[{group}]" for group in range(1, GROUPS + 1)), "awrt", "utilization")
#: The paper's: user group 1 before user group 2 before all others (section 5).
GROUP_OBJECTIVE = "10*awrt[1] + 4*awrt[2]"
ALGORITHMS = ("nsga3", "nsga2")


@dataclass(frozen=True)
class FrontSearch:
    """How the front is searched.

    Parameters
    ----------
    algorithm
        ``nsga3`` or ``nsga2``.
    population, generations
        How many schedules a generation has, and how many generations there are, the first counted.
    ways
        How schedules may be made: ``insert``, or replays under one of the backfills.
    """

    algorithm: str = "nsga3"
    population: int = 84
    generations: int = 40
    ways: tuple[str, ...] = QUICK_WAYS

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise UsageError(
                f"there is no algorithm '{self.algorithm}'. Choose from: {', '.join(ALGORITHMS)}."
            )
        whole_number("the population", self.population, 4, "Give for example 84.")
        whole_number("the number of generations", self.generations, 1, "Give for example 40.")
        check_ways(self.ways)


def pareto_front(
    workload: Workload,
    cluster: Cluster | None = None,
    objective: str | Objective = GROUP_OBJECTIVE,
    policies: Sequence[AnyPolicy | str] = (),
    search: FrontSearch | None = None,
    *,
    cores: int | None = None,
    strict: bool = False,
    seed: int = 0,
    workers: int | None = None,
    engine: Engine | None = None,
    store: AnyPath | None = None,
    progress: Callable[[LearningProgress], None] | None = None,
) -> Front:
    """Find off-line schedules none of which is better than another in all seven objectives.

    Parameters
    ----------
    workload, cluster, cores, strict
        As for ``simulate``.
    objective
        In whose direction distances to the front are measured.
    policies
        Policies to measure against the front, replayed on-line; FCFS with EASY always is.
    search
        How to search.
    seed
        Same seed, same front, on any number of workers.
    workers
        How many schedules are made at the same time; by default one for each core.
    engine
        Other machines, or other processes, that make them instead of threads of this one.
    store
        A file that records the search; called again with the same file, it goes on where it
        stopped. One that was begun with other jobs, machine or options is refused.
    progress
        Is called after each generation.
    """
    chosen, generator = search or FrontSearch(), seeded(seed)
    wanted = Objective(objective) if isinstance(objective, str) else objective
    machine = check_no_maintenance(as_cluster(workload, cluster, cores), "the off-line front")
    jobs = workload.fitting(machine.cores, strict=strict)
    check_objective(Parts(jobs, None), machine, wanted)
    names, left_out = _objectives(jobs, machine)
    online = simulate_many(jobs, machine, [BASELINE, *policies], workers=workers, engine=engine)
    watch = _Watch(chosen, wanted, progress)
    with ExitStack() as stack:
        record = None
        if store is not None:
            options = {**asdict(chosen), "objective": str(wanted), "seed": seed}
            options["bound of the slowdown"] = wanted.bound
            facts = run_facts("pareto", jobs, machine, options)
            record = stack.enter_context(Store(store, facts))
        offline = stack.enter_context(
            OfflineSchedules(jobs, machine, chosen.ways, workers=workers, engine=engine)
        )
        found = _search(chosen, offline, names, wanted, generator, watch, Rounds(record))
    best = undominated(np.array([losses(point.values, names) for point in found]))
    sign = -1.0 if wanted.better == "higher" else 1.0
    return Front(
        log=jobs.name,
        jobs=len(jobs),
        cores=machine.cores,
        objective=wanted,
        objectives=names,
        left_out=left_out,
        points=tuple(sorted((found[place] for place in best), key=lambda p: sign * p.value)),
        policies=_distinct(measure(schedule, names, wanted) for schedule in online),
        settings={**asdict(chosen), "ways": list(chosen.ways), "seed": seed},
        evaluations=len(found),
        seconds=watch.seconds,
    )


def _objectives(jobs: Workload, cluster: Cluster) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the objectives that have a value for these jobs, and those that have none."""
    at_once = Schedule(jobs, cluster, jobs.submit, "at once")
    known: list[str] = []
    for name in SEVEN_OBJECTIVES:
        try:
            at_once.value(name)
        except MetricError:
            continue
        known.append(name)
    groups = [name for name in known if "[" in name]
    if len(groups) < 2:
        raise MetricError(
            f"workload '{jobs.name}' has jobs of {len(groups)} of the groups 1 to {GROUPS}, but a "
            "front needs two groups whose response times can be traded. Group its users in "
            "another way, for example with --thresholds."
        )
    return tuple(known), tuple(name for name in SEVEN_OBJECTIVES if name not in known)


def _search(
    search: FrontSearch,
    offline: OfflineSchedules,
    names: Sequence[str],
    objective: Objective,
    generator: np.random.Generator,
    watch: _Watch,
    rounds: Rounds,
) -> list[Point]:
    """Let the algorithm ask for schedules; return all that were made."""
    worth = partial(measure, objectives=names, objective=objective)

    def points_of(vectors: Floats) -> list[dict[str, Any]]:
        recipes = [offline.recipe(vector) for vector in vectors]
        return [point.to_dict() for point in offline.measured(recipes, worth)]

    found: list[Point] = []
    conversation = _Conversation(search, offline, len(names), generator)
    while conversation.goes_on:
        vectors = conversation.ask()
        round = rounds.next(fingerprint(vectors.tolist()), partial(points_of, vectors))
        points = [Point(**answer) for answer in round.answers]
        conversation.tell(np.array([losses(point.values, names) for point in points]))
        found += points
        watch.note(points, round)
    return found


class _Conversation:
    """An algorithm of pymoo that is asked for vectors and told their losses."""

    def __init__(
        self,
        search: FrontSearch,
        offline: OfflineSchedules,
        objectives: int,
        generator: np.random.Generator,
    ) -> None:
        extra_library("pymoo", "tune", "the front")
        from pymoo.core.problem import Problem

        chance = generator.random((search.population, offline.length))
        known = offline.known_vectors()[: search.population // 2]
        first = np.array([*known, *chance])[: search.population]
        self._problem = Problem(n_var=offline.length, n_obj=objectives, xl=0.0, xu=1.0)
        self._algorithm = _algorithm(search, objectives, first)
        self._algorithm.setup(
            self._problem,
            termination=("n_gen", search.generations),
            seed=int(generator.integers(2**31)),
        )
        self._asked: Any = None

    @property
    def goes_on(self) -> bool:
        return bool(self._algorithm.has_next())

    def ask(self) -> Floats:
        self._asked = self._algorithm.ask()
        return np.asarray(self._asked.get("X"), dtype=np.float64)

    def tell(self, values: Floats) -> None:
        from pymoo.core.evaluator import Evaluator
        from pymoo.problems.static import StaticProblem

        Evaluator().eval(StaticProblem(self._problem, F=values), self._asked)
        self._algorithm.tell(infills=self._asked)


def _algorithm(search: FrontSearch, objectives: int, first: Floats) -> Any:
    """Return the algorithm, and let pymoo import no more than it needs: SciPy takes 0.4 s."""
    shared = {
        "pop_size": search.population,
        "sampling": first,
        "eliminate_duplicates": _no_equals(),
    }
    if search.algorithm == "nsga2":
        from pymoo.algorithms.moo.nsga2 import NSGA2

        return NSGA2(**shared)
    from pymoo.algorithms.moo.nsga3 import NSGA3

    _find_distances_alone()
    return NSGA3(_directions(objectives, search.population), **shared)


def _no_equals() -> Any:
    """Return what lets no vector into a population twice; pymoo's own imports scipy.spatial."""
    from pymoo.core.duplicate import DuplicateElimination

    class NoEquals(DuplicateElimination):  # type: ignore[misc]
        def _do(self, population: Any, others: Any, is_equal: Any) -> Any:
            met = set() if others is None else set(map(bytes, others.get("X")))
            for place, vector in enumerate(map(bytes, population.get("X"))):
                is_equal[place] |= vector in met
                if others is None:
                    met.add(vector)
            return is_equal

    return NoEquals()


def _find_distances_alone() -> None:
    """Let pymoo find the one function that NSGA-III asks for without importing all of them.

    A version of pymoo that keeps its functions elsewhere finds it by itself.
    """
    name = "calc_perpendicular_distance"
    try:
        loader = import_module("pymoo.functions").FunctionLoader.get_instance()
        kind = "compiled" if loader.is_compiled else "standard"
        distances = getattr(import_module(f"pymoo.functions.{kind}.{name}"), name)
        find = type(loader).load
    except (ImportError, AttributeError):
        return

    def load(asked: str | None = None, mode: str | None = None) -> Any:
        return distances if (asked, mode) == (name, "auto") else find(loader, asked, mode)

    loader.load = load


def _directions(objectives: int, most: int) -> Floats:
    """Return evenly spread reference directions, as many as the population has room for.

    They are Das and Dennis's: all ways to divide a whole of equal parts among the objectives.
    """
    parts = 1
    while math.comb(objectives + parts, parts + 1) <= most:
        parts += 1
    places = parts + objectives - 1
    walls = itertools.combinations(range(places), objectives - 1)
    ends = np.array([(-1, *between, places) for between in walls], np.float64)
    return (np.diff(ends, axis=1) - 1) / parts


class _Watch:
    """Counts the seconds of the search, and reports after each generation."""

    def __init__(
        self,
        search: FrontSearch,
        objective: Objective,
        report: Callable[[LearningProgress], None] | None,
    ) -> None:
        self._search, self._report = search, report
        self._better = max if objective.better == "higher" else min
        self._best: list[float] = []
        self._evaluations = self._fresh = 0
        self._fresh_seconds = 0.0
        self._round = 0
        self.seconds = 0.0

    def note(self, points: Sequence[Point], round: Round) -> None:
        self.seconds += round.seconds
        if round.fresh:
            self._fresh_seconds += round.seconds
            self._fresh += len(points)
        self._round += 1
        self._evaluations += len(points)
        self._best = [self._better([*self._best, *(point.value for point in points)])]
        if self._report is None:
            return
        rate = self._fresh / self._fresh_seconds if self._fresh_seconds > 0 else None
        left = self.seconds / self._round * (self._search.generations - self._round)
        self._report(
            LearningProgress(
                self._round,
                self._search.generations,
                self._evaluations,
                self._best[0],
                rate,
                left,
            )
        )


def _distinct(points: Any) -> tuple[Point, ...]:
    """Return policies by name, each once; the first of a name stays."""
    named: dict[str, Point] = {}
    for point in points:
        named.setdefault(point.name, point)
    return tuple(named.values())
