"""Bags of tasks: many independent, mostly short tasks of one user, submitted together.

Parameter sweeps, Monte Carlo runs and map-reduce jobs look like this. The distributions are
plain (lognormal sizes and runtimes, exponential gaps) so that each parameter means one thing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from queuesmith.base.checks import MOST_DRAWN, number, of_kind, positive, seeded, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.workload.columns import LARGEST_TIME
from queuesmith.workload.daily_cycle import Floats
from queuesmith.workload.estimates import estimate_walltimes
from queuesmith.workload.users import DEFAULT_USERS, assign_users
from queuesmith.workload.workload import Ints, Workload


@dataclass(frozen=True)
class BagParameters:
    """What bags look like.

    Parameters
    ----------
    bag_tasks, bag_spread
        The median number of tasks of a bag, and the standard deviation of its natural log.
    task_seconds, task_spread
        The median runtime of a task, and the standard deviation of the log of the bags' medians.
    within_spread
        The standard deviation of the log of the runtimes within a bag.
    large_share, large_factor
        The share of tasks that are large, and how many times as long as the others they run.
    cores_per_task
        How many cores each task needs.
    gap_seconds
        The mean time between the submissions of two bags.
    """

    bag_tasks: float = 20.0
    bag_spread: float = 1.0
    task_seconds: float = 300.0
    task_spread: float = 1.0
    within_spread: float = 0.3
    large_share: float = 0.02
    large_factor: float = 20.0
    cores_per_task: int = 1
    gap_seconds: float = 900.0

    def __post_init__(self) -> None:
        number("bag_tasks", self.bag_tasks, 1, 1e9, "Give for example 20.")
        for spread in ("bag_spread", "task_spread", "within_spread"):
            number(spread, getattr(self, spread), 0, 5, "Give for example 1, or 0 for none.")
        positive("task_seconds", self.task_seconds, "Give for example 300.")
        number("large_share", self.large_share, 0, 1, "Give for example 0.02.")
        number("large_factor", self.large_factor, 1, 1e6, "Give for example 20.")
        whole_number("cores_per_task", self.cores_per_task, 1, "Give for example 1.")
        positive("gap_seconds", self.gap_seconds, "Give for example 900.")


def bag_of_tasks(
    jobs: int,
    cores: int,
    *,
    load: float | None = None,
    seed: int = 0,
    estimates: bool = True,
    users: int = DEFAULT_USERS,
    parameters: BagParameters | None = None,
    name: str = "bag-of-tasks",
) -> Workload:
    """Make a workload of bags; each task is a job, and the extra column ``bag`` numbers its bag.

    Parameters
    ----------
    jobs, cores
        How many tasks to make in all, for a machine of how many cores. The last bag is cut
        short where the number asks for it.
    load
        The offered load wanted on that machine; the gaps between bags are stretched for it.
    seed
        Same seed, same workload.
    estimates
        Give all tasks of a bag the round walltime that its user asks for; else the walltime is
        the runtime.
    users
        How many users submit the bags.
    parameters
        What bags look like.
    name
        What the workload is called.
    """
    count = whole_number("the number of jobs", jobs, 1, "Give for example 10000.", most=MOST_DRAWN)
    width = whole_number("the number of cores", cores, 1, "Give for example 256.")
    bags = BagParameters() if parameters is None else parameters
    of_kind("parameters", bags, BagParameters, "Give for example BagParameters().")
    if bags.cores_per_task > width:
        raise UsageError(
            f"cores_per_task is {bags.cores_per_task:,}, but the machine has "
            f"{so_many(width, 'core')}. Give a larger machine or narrower tasks."
        )
    rng = seeded(seed)
    tasks = _bag_sizes(count, bags, rng)
    bag = np.repeat(np.arange(len(tasks)), tasks)
    runtime = _task_runtimes(bag, len(tasks), bags, rng)
    work = float(runtime.sum(dtype=np.float64)) * bags.cores_per_task
    submit = _bag_arrivals(len(tasks), bags, rng, None if load is None else (load, work, width))
    longest = np.maximum.reduceat(runtime, np.cumsum(tasks) - tasks)
    return Workload(
        submit[bag],
        runtime,
        estimate_walltimes(longest, rng)[bag] if estimates else runtime,
        np.full(count, bags.cores_per_task),
        user=assign_users(submit, rng, users=users, session_jobs=1.5)[bag],
        extra={"bag": bag + 1},
        name=name,
        machine_cores=width,
    )


def _bag_sizes(jobs: int, bags: BagParameters, rng: np.random.Generator) -> Ints:
    """Draw sizes of bags until they hold all jobs; the last bag takes what is left."""
    sizes = np.empty(0, dtype=np.int64)
    log_median = np.log(bags.bag_tasks)
    while sizes.sum() < jobs:
        drawn = rng.lognormal(log_median, bags.bag_spread, 1 + int(jobs / bags.bag_tasks))
        whole = np.clip(np.rint(drawn), 1, jobs).astype(np.int64)
        sizes = np.concatenate([sizes, whole])
    last = int(np.searchsorted(np.cumsum(sizes), jobs))
    sizes = sizes[: last + 1]
    sizes[-1] -= sizes.sum() - jobs
    return sizes


def _task_runtimes(bag: Ints, bags: int, like: BagParameters, rng: np.random.Generator) -> Ints:
    median = rng.lognormal(np.log(like.task_seconds), like.task_spread, bags)
    seconds = median[bag] * rng.lognormal(0.0, like.within_spread, len(bag))
    seconds[rng.random(len(bag)) < like.large_share] *= like.large_factor
    return np.clip(np.rint(seconds), 1, LARGEST_TIME // 2).astype(np.int64)


def _bag_arrivals(
    bags: int,
    like: BagParameters,
    rng: np.random.Generator,
    wanted: tuple[float, float, int] | None,
) -> Ints:
    """Draw when bags arrive, from second 0; ``wanted`` is a load, the work and the cores."""
    arrival: Floats = np.cumsum(rng.exponential(like.gap_seconds, bags))
    arrival -= arrival[0]
    if wanted is not None:
        load, work, cores = wanted
        load = positive("the load", load, "Give for example 0.85.")
        if bags < 2:
            raise UsageError(
                f"the load is {load:g} for one bag, but a load needs the time between two bags. "
                "Make more jobs, or give no load."
            )
        arrival *= work / (cores * load) / arrival[-1]
    return np.rint(arrival).astype(np.int64)
