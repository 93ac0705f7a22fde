"""A slow, obvious twin of the knapsack in plain Python: what algorithm 1 means, spelled out.

The compiled replay must give the same chunks, task for task.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from queuesmith.cluster import Cluster
from queuesmith.knobs.bag_schedule import bag_schedule
from queuesmith.knobs.bags import TaskJobs
from queuesmith.knobs.kernels.passes import SCORE_DIGITS
from queuesmith.knobs.setting import Knobs
from queuesmith.schedule import Schedule


@dataclass(eq=False)
class Bag:
    """One job on its way through the machine."""

    place: int
    submit: int
    runtime: int
    walltime: int
    width: int
    tasks: int
    limit: int
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.tasks


@dataclass(frozen=True)
class Chunk:
    """Tasks of one job that run together."""

    bag: Bag
    start: int
    tasks: int

    @property
    def end(self) -> int:
        """When they really end."""
        return self.start + self.bag.runtime

    @property
    def due(self) -> int:
        """When they must be over, as far as a scheduler can know."""
        return self.start + self.bag.walltime

    @property
    def cores(self) -> int:
        """How many cores they hold."""
        return self.tasks * self.bag.width


@dataclass
class KnapsackTwin:
    """The machine, its queue, and the clock."""

    cores: int
    knobs: Knobs
    backfill: str
    bags: list[Bag]
    now: int = 0
    running: list[Chunk] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)

    @property
    def free(self) -> int:
        """Cores that no task holds."""
        return self.cores - sum(chunk.cores for chunk in self.running)

    def run(self) -> list[Chunk]:
        """Replay everything; return the chunks in the order of their start."""
        coming = list(self.bags)
        waiting: list[Bag] = []
        while coming or self.running:
            instants = [chunk.end for chunk in self.running] + [bag.submit for bag in coming[:1]]
            self.now = min(instants)
            self.running = [chunk for chunk in self.running if chunk.end > self.now]
            waiting += [bag for bag in coming if bag.submit == self.now]
            coming = [bag for bag in coming if bag.submit > self.now]
            self._fill(sorted(waiting, key=lambda bag: (-self._priority(bag), bag.place)))
            waiting = [bag for bag in waiting if bag.left]
        return self.chunks

    def _priority(self, bag: Bag) -> float:
        """Equation 1 in logarithms; the averages are the same for all."""
        wait = max(self.now - bag.submit, 1)
        size, walltime = bag.tasks * bag.width, bag.walltime
        alpha, beta, gamma = self.knobs.values
        score = alpha * np.log(size) + beta * np.log(wait) + gamma * np.log(walltime)
        return float(np.rint(score * SCORE_DIGITS))

    def _fill(self, queue: list[Bag]) -> None:
        shadow, extra = None, 0
        for bag in queue:
            within_share = min(bag.limit - self._active(bag), bag.left)
            in_time = shadow is None or self.now + bag.walltime <= shadow
            room = self.free if in_time else min(self.free, extra)
            tasks = min(within_share, room // bag.width)
            if tasks > 0:
                self._start(bag, tasks)
                extra -= 0 if in_time else tasks * bag.width
            if tasks < within_share:  # the first that does not fit
                if self.backfill == "none":
                    return
                if self.backfill == "easy" and shadow is None:
                    shadow, extra = self._reservation(bag)

    def _active(self, bag: Bag) -> int:
        return sum(chunk.tasks for chunk in self.running if chunk.bag is bag)

    def _reservation(self, bag: Bag) -> tuple[int, int]:
        """Return when a task of the bag will fit, and the cores to spare then."""
        for instant in sorted({chunk.due for chunk in self.running}):
            ended = sum(chunk.cores for chunk in self.running if chunk.due <= instant)
            if self.free + ended >= bag.width:
                return instant, self.free + ended - bag.width
        raise AssertionError("a task wider than the machine")

    def _start(self, bag: Bag, tasks: int) -> None:
        chunk = Chunk(bag, self.now, tasks)
        bag.left -= tasks
        self.running.append(chunk)
        self.chunks.append(chunk)


def knapsack_slowly(
    jobs: TaskJobs, cluster: Cluster, knobs: Knobs, *, backfill: str = "list"
) -> Schedule:
    """Schedule bags of tasks with the twin; for tens of jobs, not for thousands."""
    bags = [
        Bag(place, job["submit"], job["runtime"], max(job["walltime"], 1), width, tasks, limit)
        for place, (job, width, tasks, limit) in enumerate(
            zip(
                jobs.workload,
                jobs.width.tolist(),
                jobs.tasks.tolist(),
                jobs.limit.tolist(),
                strict=True,
            )
        )
    ]
    made = KnapsackTwin(cluster.cores, knobs, backfill, bags).run()
    made.sort(key=lambda chunk: (chunk.start, chunk.bag.place))
    columns = [(chunk.bag.place, chunk.start, chunk.tasks) for chunk in made]
    job, start, tasks = np.array(columns, dtype=np.int64).T
    return bag_schedule(jobs, cluster, job, start, tasks, f"knapsack({knobs})+{backfill}, slowly")
