"""Search the front of off-line schedules over the paper's seven objectives, by NSGA-II or NSGA-III.

Franke, Lepping and Schwiegelshohn measure what they learn against such a front (section 5). Like
theirs it is an approximation: no schedule of it is proven to be the best of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import count, of_kind, progress_function, seeded
from queuesmith.base.errors import MetricError, UsageError
from queuesmith.base.files import AnyPath
from queuesmith.cluster import Cluster, as_cluster
from queuesmith.cluster.maintenance import check_no_maintenance
from queuesmith.compiled.pareto import undominated
from queuesmith.learning.course import LearningProgress
from queuesmith.learning.nsga_library import ALGORITHMS, NsgaSearch
from queuesmith.learning.offline import (
    GROUPS,
    INSERT,
    QUICK_WAYS,
    OfflineSchedules,
    check_ways,
)
from queuesmith.learning.offline_front import Front, Point, losses, measure
from queuesmith.learning.split import Parts, check_objective
from queuesmith.learning.tune import BASELINE
from queuesmith.policy import AnyPolicy, as_policies
from queuesmith.schedule import Schedule
from queuesmith.schedule.objective import Objective
from queuesmith.study.engines import Engine
from queuesmith.study.naming import run_facts
from queuesmith.study.rounds import Round, Rounds
from queuesmith.study.runner import simulate_many
from queuesmith.study.store import Store, fingerprint
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import check_no_dependencies

Floats = NDArray[np.float64]

#: Section 3.1: the response times of the five groups and of all, and the utilization.
SEVEN_OBJECTIVES = (*(f"awrt[{group}]" for group in range(1, GROUPS + 1)), "awrt", "utilization")
#: The paper's: user group 1 before user group 2 before all others (section 5).
GROUP_OBJECTIVE = "10*awrt[1] + 4*awrt[2]"


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
        count("the population", self.population, 4, "Give for example 84.")
        count("the number of generations", self.generations, 1, "Give for example 40.")
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
    chosen, generator = FrontSearch() if search is None else search, seeded(seed)
    of_kind("the search", chosen, FrontSearch, "Give for example FrontSearch(generations=40).")
    progress_function(progress)
    policies = as_policies(policies)
    wanted = Objective(objective) if isinstance(objective, str) else objective
    machine = check_no_maintenance(as_cluster(workload, cluster, cores), "the off-line front")
    if INSERT in chosen.ways:
        check_no_dependencies(workload, f"the way '{INSERT}'", "choose --ways easy,list")
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
    nsga = NsgaSearch(
        search.algorithm,
        _first_vectors(search, offline, generator),
        len(names),
        generations=search.generations,
        seed=int(generator.integers(2**31)),
    )
    while nsga.goes_on:
        vectors = nsga.ask()
        round = rounds.next(fingerprint(vectors.tolist()), partial(points_of, vectors))
        points = [Point(**answer) for answer in round.answers]
        nsga.tell(np.array([losses(point.values, names) for point in points]))
        found += points
        watch.note(points, round)
    return found


def _first_vectors(
    search: FrontSearch, offline: OfflineSchedules, generator: np.random.Generator
) -> Floats:
    """Return the first generation: known schedules, up to half of it, and others at random."""
    chance = generator.random((search.population, offline.length))
    known = offline.known_vectors()[: search.population // 2]
    return np.array([*known, *chance])[: search.population]


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
