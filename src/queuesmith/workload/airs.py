"""Workloads in the manner of the AIRS satellite gridding runs (Simon, Nguyen and Halem, section 4).

A day of AIRS data is 240 granules, each a short independent task; a job is a bag of such tasks.
Most jobs have a few dozen short tasks, a few have a whole day of granules. The paper states only
how many jobs (98) and how many tasks (220 in the workflow) there are; the shapes here are plain
lognormals that follow its description. Their scale is chosen so that the response times have the
order of those of figure 5: 5,800 s on 36 cores and 660 s on 576.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from queuesmith.base.checks import MOST_DRAWN, number, positive, seeded, whole_number
from queuesmith.workload.columns import LARGEST_TIME
from queuesmith.workload.estimates import estimate_walltimes
from queuesmith.workload.users import DEFAULT_USERS, assign_users
from queuesmith.workload.workload import Ints, Workload

#: Granules of a day: six minutes of measurements each.
GRANULES = 240


@dataclass(frozen=True)
class AirsParameters:
    """What gridding jobs look like.

    Parameters
    ----------
    median_tasks, task_spread
        The median number of tasks of a job, and the standard deviation of its natural log.
    large_share
        The share of jobs that are a whole day: 240 tasks.
    task_seconds, time_spread
        The median duration of a task, and the standard deviation of its natural log.
    long_share, long_factor
        The share of jobs whose tasks run long, and how many times as long.
    cores_per_task
        How many cores each task needs.
    """

    median_tasks: float = 24.0
    task_spread: float = 0.9
    large_share: float = 0.08
    task_seconds: float = 35.0
    time_spread: float = 0.4
    long_share: float = 0.05
    long_factor: float = 2.0
    cores_per_task: int = 1

    def __post_init__(self) -> None:
        number("median_tasks", self.median_tasks, 1, GRANULES, "Give for example 24.")
        number("task_spread", self.task_spread, 0, 5, "Give for example 0.9, or 0 for none.")
        number("large_share", self.large_share, 0, 1, "Give for example 0.08.")
        positive("task_seconds", self.task_seconds, "Give for example 35.")
        number("time_spread", self.time_spread, 0, 5, "Give for example 0.4, or 0 for none.")
        number("long_share", self.long_share, 0, 1, "Give for example 0.05.")
        number("long_factor", self.long_factor, 1, 1e6, "Give for example 2.")
        whole_number("cores_per_task", self.cores_per_task, 1, "Give for example 1.")


def airs(
    jobs: int = 98,
    cores: int = 500,
    *,
    load: float | None = None,
    tasks: int | None = None,
    seed: int = 0,
    estimates: bool = False,
    users: int = DEFAULT_USERS,
    parameters: AirsParameters | None = None,
    name: str = "airs",
) -> Workload:
    """Make a workload of gridding jobs; a job's cores are its tasks times the cores of a task.

    Parameters
    ----------
    jobs, cores
        How many jobs, and the machine they are made for. A job may be wider than the machine: its
        tasks then run one after another.
    load
        The offered load wanted on that machine; by default all jobs are there at second 0.
    tasks
        How many tasks all jobs have together, such as the 220 of the paper's workflow; by default
        what the distributions give.
    seed
        Same seed, same workload.
    estimates
        Give jobs the round walltime that a user asks for; else the walltime is the runtime.
    users
        How many users submit the jobs.
    parameters
        What gridding jobs look like.
    name
        What the workload is called.

    Examples
    --------
    >>> int(airs(40, 500, tasks=220).cores.sum())
    220
    """
    count = whole_number("the number of jobs", jobs, 1, "Give for example 98.", most=MOST_DRAWN)
    width = whole_number("the number of cores", cores, 1, "Give for example 500.")
    like = parameters or AirsParameters()
    rng = seeded(seed)
    sizes = _sizes(count, tasks, like, rng)
    seconds = rng.lognormal(np.log(like.task_seconds), like.time_spread, count)
    seconds[rng.random(count) < like.long_share] *= like.long_factor
    runtime = np.clip(np.rint(seconds), 1, LARGEST_TIME // 2).astype(np.int64)
    needed = sizes * like.cores_per_task
    submit = np.zeros(count, np.int64)
    if load is not None:
        positive("the load", load, "Give for example 0.85.")
        gaps = np.cumsum(rng.exponential(1.0, count))
        span = float((needed * runtime).sum()) / (width * load)
        submit = np.rint((gaps - gaps[0]) * span / gaps[-1]).astype(np.int64)
    return Workload(
        submit,
        runtime,
        estimate_walltimes(runtime, rng) if estimates else runtime,
        needed,
        user=assign_users(submit, rng, users=users, session_jobs=1.5),
        name=name,
        machine_cores=width,
    )


def _sizes(jobs: int, tasks: int | None, like: AirsParameters, rng: np.random.Generator) -> Ints:
    drawn = rng.lognormal(np.log(like.median_tasks), like.task_spread, jobs)
    drawn[rng.random(jobs) < like.large_share] = GRANULES
    sizes = np.clip(np.rint(drawn), 1, GRANULES).astype(np.int64)
    if tasks is None:
        return sizes
    total = whole_number("the number of tasks", tasks, jobs, "Give at least one a job.")
    # One task each; the rest in proportion to the drawn sizes, whole tasks by largest remainder.
    wanted = (total - jobs) * sizes / sizes.sum()
    sizes = wanted.astype(np.int64)
    order = np.argsort(sizes - wanted, kind="stable")
    sizes[order[: total - jobs - int(sizes.sum())]] += 1
    return np.asarray(sizes + 1, dtype=np.int64)
