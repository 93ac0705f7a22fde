"""Jobs as the knapsack sees them: bags of independent tasks, some of them rigid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import number, seeded, whole_number
from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.words import so_many
from queuesmith.knobs.kernels.replay import Bags
from queuesmith.knobs.options import BagOptions
from queuesmith.schedule.times import frozen
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import check_no_dependencies
from queuesmith.workload.workload import MOST_CORES, TASK_CORES, Change, Ints

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Share = float | str | Sequence[float] | Floats

#: A random share is drawn evenly from here to 1 (Simon et al., section 4.2).
LEAST_RANDOM_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class TaskJobs:
    """A workload whose malleable jobs are bags of independent tasks.

    A job of m cores is m / ``cores_per_task`` tasks, each as long as the job. A rigid job is one
    task as wide as the job.

    Parameters
    ----------
    workload
        The jobs.
    share
        Which part of its tasks a job may run at once: a number from 0 (one task at a time) to 1 for
        all jobs, one number for each job, or ``"random"``.
    cores_per_task
        How many cores each task needs. A job that is no whole number of tasks gets one more.
    malleable
        Which jobs may be split: all (True), none (False), or a mask.
    seed
        What random shares follow from.

    Examples
    --------
    >>> log = Workload(submit=[0], runtime=[10], walltime=[10], cores=[8])
    >>> TaskJobs(log, share=0.5, cores_per_task=2).limit.tolist()
    [2]
    """

    workload: Workload
    share: Share = BagOptions.share
    cores_per_task: int = BagOptions.cores_per_task
    malleable: bool | ArrayLike = True
    seed: int = BagOptions.seed
    # What follows from them, one value a job; ``width`` is the cores of one task.
    is_malleable: Mask = field(init=False, repr=False)
    shares: Floats = field(init=False, repr=False)
    tasks: Ints = field(init=False, repr=False)
    width: Ints = field(init=False, repr=False)
    limit: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not len(self.workload):
            raise WorkloadError(
                f"workload '{self.workload.name}' has no jobs to schedule. Give one that has."
            )
        check_no_dependencies(self.workload, "a replay with knobs")
        per_task = whole_number(
            "the number of cores per task", self.cores_per_task, 1, "Give for example 1."
        )
        count = len(self.workload)
        mask = np.array(np.broadcast_to(_mask(self.malleable, count), count))
        shares = _shares(self.share, count, self.seed)
        tasks = np.where(mask, -(-self.workload.cores // per_task), 1)
        # A share of 0.3 of 10 tasks is 3 of them, though 0.3 * 10 is a little above 3.
        limit = np.clip(np.ceil(shares * tasks - 1e-9), 1, tasks).astype(np.int64)
        for name, values in {
            "is_malleable": mask,
            "shares": shares,
            "tasks": tasks,
            "width": np.where(mask, per_task, self.workload.cores),
            "limit": limit,
        }.items():
            object.__setattr__(self, name, frozen(values))

    def __reduce__(self) -> tuple[type[TaskJobs], tuple[Any, ...]]:
        # Made anew where it arrives, since arrays travel without being read-only.
        given = (self.workload, self.shares, self.cores_per_task, self.is_malleable, self.seed)
        return TaskJobs, given

    def __len__(self) -> int:
        return len(self.workload)

    @property
    def cores(self) -> Ints:
        """Cores of each job if all its tasks run at once."""
        return self.tasks * self.width

    def in_tasks(self) -> Workload:
        """Return the jobs with the cores that their tasks have, as schedules of bags know them.

        ``extra`` says how many cores one task has, and how many a job may hold at once.
        """
        sizes = {TASK_CORES: self.width, MOST_CORES: self.limit * self.width}
        return self.workload.replaced(cores=self.cores, extra={**self.workload.extra, **sizes})

    def fitting(self, cores: int, *, strict: bool = False) -> TaskJobs:
        """Leave out, and count, the jobs that no machine of ``cores`` processors can run.

        A rigid job must fit as a whole, a malleable one needs room for one task.
        """
        wide = self.width > cores
        if not wide.any():
            return self
        first = int(np.argmax(wide))
        sentence = (
            f"job {self.workload.id[first]} needs {self.width[first]} cores at once, "
            f"but there are {cores}"
        )
        if strict or wide.all():
            raise WorkloadError(f"{sentence}. Give a larger machine.")
        kept = ~wide
        change = Change(
            f"needs more at once than the machine's {so_many(cores, 'core')}",
            int(np.count_nonzero(wide)),
            dropped=True,
        )
        return TaskJobs(
            self.workload.select(kept).noting(change),
            self.shares[kept],
            self.cores_per_task,
            self.is_malleable[kept],
        )

    def packed(self) -> Bags:
        """Lay the columns out as the kernels take them."""
        jobs = self.workload
        walltime = np.maximum(jobs.walltime, 1)
        return Bags(
            submit=jobs.submit,
            runtime=jobs.runtime,
            walltime=frozen(walltime),
            width=self.width,
            tasks=self.tasks,
            limit=self.limit,
            log_size=frozen(np.log(self.cores)),
            log_walltime=frozen(np.log(walltime)),
            kind=class_numbers(self.in_tasks()),
        )


def rigid(workload: Workload) -> TaskJobs:
    """Return a workload whose jobs cannot be split."""
    return TaskJobs(workload, malleable=False)


def class_numbers(workload: Workload) -> Ints:
    """Return 0 to 3 for jobs of the classes A to D (Simon et al., section 3.3).

    Large is above the average number of cores, long above the average runtime.
    """
    small = workload.cores <= workload.cores.mean()
    short = workload.runtime <= workload.runtime.mean()
    return frozen(2 * small.astype(np.int64) + short)


def _shares(share: Share, count: int, seed: int) -> Floats:
    way_out = "Give 1 for all tasks at once, or 'random'."
    if isinstance(share, str):
        if share != "random":
            raise UsageError(f"the share is '{share}', but it must be between 0 and 1. {way_out}")
        return seeded(seed).uniform(LEAST_RANDOM_SHARE, 1.0, count)
    if np.ndim(share) == 0:
        return np.full(count, number("the share", share, 0, 1, way_out))  # type: ignore[arg-type]
    shares = np.asarray(share, dtype=np.float64)
    if shares.shape != (count,):
        raise UsageError(
            f"{so_many(shares.size, 'share is', 'shares are')} given for {so_many(count, 'job')}. "
            "Give one share a job, or one for all."
        )
    wrong = ~((shares >= 0) & (shares <= 1))
    if wrong.any():
        first = int(np.argmax(wrong))
        number(f"the share of job number {first + 1}", float(shares[first]), 0, 1, way_out)
    return shares


def _mask(malleable: Any, count: int) -> Mask:
    mask = np.asarray(malleable)
    if mask.dtype != np.bool_ or mask.shape not in ((), (count,)):
        raise UsageError(
            f"malleable has the shape {mask.shape} and type {mask.dtype}, but it must be True, "
            f"False, or one of them for each of {so_many(count, 'job')}. Give a mask."
        )
    return mask
