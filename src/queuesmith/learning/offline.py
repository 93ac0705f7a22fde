"""Off-line schedules with a few parameters: what the search for the front chooses among.

They know what no scheduler knows: how long each job really runs and, where they insert jobs, which
jobs are still to come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import UsageError
from queuesmith.cluster import Cluster
from queuesmith.engine.packing import Packed
from queuesmith.engine.simulate import Replay
from queuesmith.learning.insertion import insert_jobs
from queuesmith.policy.backfill import BACKFILLS
from queuesmith.policy.orders import DAY, ORDERS
from queuesmith.policy.policy import Policy
from queuesmith.schedule import Schedule
from queuesmith.study.engines import Engine
from queuesmith.study.pool import ReplayPool
from queuesmith.study.spreading import spread
from queuesmith.workload import Workload

Vector = NDArray[np.float64]
Measure = TypeVar("Measure")

GROUPS = 5
INSERT = "insert"
#: Ways to make a schedule: insert jobs into the whole log, or replay it with exact walltimes.
WAYS = (INSERT, *BACKFILLS)
#: The default ways. Replays under ``plan`` and without backfill take ten times as long as these.
QUICK_WAYS = (INSERT, "easy", "list")
#: How much earlier a job as wide as the machine, and how many runtimes earlier any job, may count.
MOST_DAYS_EARLIER, MOST_RUNTIMES_EARLIER = 7.0, 5.0
#: Powers of size and walltime go from -2 to 2, that of the wait from 0 to 2.
MOST_POWER = 2.0


@dataclass(frozen=True)
class Recipe:
    """How an off-line schedule is made.

    Its text says all: ``insert(group_1=17.2,...)``, or the policy that is replayed with exact
    walltimes.

    Parameters
    ----------
    way
        One of ``WAYS``.
    parameters
        For ``insert``: ``group_1`` to ``group_5``, each job counting as submitted e to that power
        seconds earlier; ``wide``, days earlier times the share of the machine that it needs;
        ``long``, runtimes earlier. For a replay: those of the order ``group_power``.
    """

    way: str
    parameters: Mapping[str, float]

    def __str__(self) -> str:
        if self.way != INSERT:
            return str(self.policy)
        return f"{INSERT}({','.join(f'{name}={x:g}' for name, x in self.parameters.items())})"

    @property
    def policy(self) -> Policy:
        """The policy that is replayed."""
        return Policy(ORDERS["group_power"].having(**self.parameters), self.way)

    def order(self, workload: Workload, cluster: Cluster) -> NDArray[np.int64]:
        """Return the order in which jobs are inserted: by when they count as submitted."""
        given = self.parameters
        head_start = np.exp([given[f"group_{group}"] for group in range(1, GROUPS + 1)])
        earlier = (
            head_start[np.clip(workload.group, 1, GROUPS) - 1]
            + DAY * given["wide"] * workload.cores / cluster.cores
            + given["long"] * workload.runtime
        )
        return np.argsort(workload.submit - earlier, kind="stable")


class OfflineSchedules(ReplayPool):
    """Makes off-line schedules of one log, several at once; the log is packed once.

    Use it as a context manager, so that no thread outlives it.

    Parameters
    ----------
    workload, cluster
        The jobs, each of which fits the machine, and the machine.
    ways
        The ways that vectors choose among.
    workers
        How many schedules are made at the same time; by default one for each core.
    engine
        Other machines, or other processes, that make them instead of threads of this one.
    """

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        ways: Sequence[str] = QUICK_WAYS,
        *,
        workers: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        super().__init__(1 if engine is not None else workers)
        self._engine = engine
        self.workload, self.cluster, self.ways = workload, cluster, check_ways(ways)
        exact = workload.replaced(walltime=np.maximum(workload.runtime, 1))
        self._packed = Packed(exact, cluster)

    @property
    def length(self) -> int:
        """How many numbers a vector has: the way, a weight for each group, three powers."""
        return 1 + GROUPS + 3

    @property
    def strictest(self) -> float:
        """The weight by which a group precedes four others in the whole log."""
        return math.log(GROUPS * max(self.workload.span, 1))

    def recipe(self, vector: Vector) -> Recipe:
        """Return the recipe that a vector of numbers from 0 to 1 stands for."""
        way = self.ways[min(int(vector[0] * len(self.ways)), len(self.ways) - 1)]
        weights = self.strictest * vector[1 : 1 + GROUPS]
        width, length, wait = 2 * vector[1 + GROUPS :] - 1
        values = {f"group_{group}": weight for group, weight in enumerate(weights, start=1)}
        if way == INSERT:
            values |= {"wide": MOST_DAYS_EARLIER * width, "long": MOST_RUNTIMES_EARLIER * length}
        else:
            powers = {"alpha": width, "beta": (wait + 1) / 2, "gamma": length}
            values |= {name: MOST_POWER * power for name, power in powers.items()}
        # So many digits as the text shows, so that it gives the same schedule again.
        return Recipe(way, {name: float(f"{x:.6g}") for name, x in values.items()})

    def known_vectors(self) -> list[Vector]:
        """Return vectors worth a look: first come, groups one after another, 1 and 2 before all."""
        span = max(self.workload.span, 1)
        one_by_one = [math.log(k * span) / self.strictest for k in range(GROUPS, 0, -1)]
        weights = ([0.0] * GROUPS, one_by_one, [1.0, 1.0, 0.0, 0.0, 0.0])
        neutral = [0.5, 0.5, 0.5]
        return [
            np.array([(place + 0.5) / len(self.ways), *groups, *neutral])
            for place in range(len(self.ways))
            for groups in weights
        ]

    def schedule(self, recipe: Recipe) -> Schedule:
        """Return the schedule of a recipe."""
        if recipe.way == INSERT:
            order = recipe.order(self.workload, self.cluster)
            return insert_jobs(self.workload, self.cluster, order, str(recipe))
        start = self.run(Replay(self._packed, self.cluster, recipe.policy)).start
        return Schedule(self.workload, self.cluster, start, str(recipe))

    def measured(
        self, recipes: Sequence[Recipe], measure: Callable[[Schedule], Measure]
    ) -> list[Measure]:
        """Make schedules at the same time and return what is measured of each, in their order."""
        if self._engine is not None:
            return self._measured_elsewhere(self._engine, recipes, measure)
        return self.each(lambda recipe: measure(self.schedule(recipe)), recipes)

    def _measured_elsewhere(
        self,
        engine: Engine,
        recipes: Sequence[Recipe],
        measure: Callable[[Schedule], Measure],
    ) -> list[Measure]:
        """Let each worker make some of the schedules; the log travels once with each part."""
        engine.ready()
        size = max(1, -(-len(recipes) // max(engine.workers, 1)))
        parts = [list(recipes[i : i + size]) for i in range(0, len(recipes), size)]
        log = (self.workload, self.cluster, measure)
        found = spread(engine, _measured_part, [(*log, part) for part in parts])
        return [each for part in found for each in part]


def _measured_part(
    asked: tuple[Workload, Cluster, Callable[[Schedule], Measure], list[Recipe]],
) -> list[Measure]:
    workload, cluster, measure, recipes = asked
    with OfflineSchedules(workload, cluster, workers=1) as offline:
        return offline.measured(recipes, measure)


def check_ways(ways: Sequence[str]) -> tuple[str, ...]:
    """Return the ways, or say which are wrong."""
    if not ways or not set(ways) <= set(WAYS):
        raise UsageError(
            f"the ways to make schedules are {', '.join(ways) or '(none)'}, but they must be some "
            f"of: {', '.join(WAYS)}. Correct them."
        )
    return tuple(dict.fromkeys(ways))
