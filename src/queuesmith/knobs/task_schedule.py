"""When each task ran, in chunks: so many tasks of one job, started together."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from queuesmith.base.errors import ScheduleError
from queuesmith.base.files import atomic_write
from queuesmith.cluster import Cluster
from queuesmith.knobs.bags import Floats, TaskJobs, class_numbers
from queuesmith.schedule.measures import CLASSES
from queuesmith.schedule.timeline import Steps
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("job", "start", "end", "tasks", "cores")


@dataclass(frozen=True, eq=False, repr=False)
class TaskSchedule:
    """The chunks in which the tasks of all jobs ran on a cluster.

    Parameters
    ----------
    jobs, cluster
        What ran, and on what.
    chunk_job, chunk_start, chunk_tasks
        Of each chunk, the position of its job, the second it began, and how many tasks it has.
    policy
        What decided it.
    seconds
        How long the decision took to compute.
    """

    jobs: TaskJobs
    cluster: Cluster
    chunk_job: Ints
    chunk_start: Ints
    chunk_tasks: Ints
    policy: str
    seconds: float | None = None

    def __len__(self) -> int:
        return len(self.jobs)

    def __repr__(self) -> str:
        tasks, chunks = int(self.jobs.tasks.sum()), len(self.chunk_job)
        return (
            f"<TaskSchedule '{self.policy}' of '{self.jobs.workload.name}': {tasks:,} tasks of "
            f"{len(self):,} jobs in {chunks:,} chunks on {self.cluster.cores:,} cores>"
        )

    # -- chunks ----------------------------------------------------------------------------

    @property
    def chunk_end(self) -> Ints:
        """When each chunk ended."""
        return self.chunk_start + self.jobs.workload.runtime[self.chunk_job]

    @property
    def chunk_cores(self) -> Ints:
        """How many cores each chunk held."""
        return self.chunk_tasks * self.jobs.width[self.chunk_job]

    @property
    def table(self) -> pd.DataFrame:
        """One row a chunk."""
        import pandas as pd

        ids = self.jobs.workload.id[self.chunk_job]
        columns = (ids, self.chunk_start, self.chunk_end, self.chunk_tasks, self.chunk_cores)
        return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write job, start, end, tasks and cores of every chunk as CSV."""
        with atomic_write(path) as file:
            file.write(self.table.to_csv(index=False, lineterminator="\n").encode())

    # -- jobs ------------------------------------------------------------------------------

    @cached_property
    def start(self) -> Ints:
        """When the first task of each job began."""
        first = np.full(len(self), np.iinfo(np.int64).max)
        np.minimum.at(first, self.chunk_job, self.chunk_start)
        return first

    @cached_property
    def end(self) -> Ints:
        """When the last task of each job ended."""
        last = np.full(len(self), np.iinfo(np.int64).min)
        np.maximum.at(last, self.chunk_job, self.chunk_end)
        return last

    @property
    def wait(self) -> Ints:
        """Seconds from submission to the first start."""
        return self.start - self.jobs.workload.submit

    @property
    def response(self) -> Ints:
        """Seconds from submission to the last end."""
        return self.end - self.jobs.workload.submit

    @property
    def expansion_factor(self) -> Floats:
        """Response over the duration of a task: 1 where all tasks start at once on arrival."""
        runtime = np.maximum(self.jobs.workload.runtime, 1)
        return np.maximum(1.0, self.response / runtime)

    @property
    def makespan(self) -> int:
        """The workload response time: seconds from the first submission to the last end."""
        return int(self.end.max() - self.jobs.workload.submit[0])

    @property
    def utilization(self) -> float:
        """Work over what the cores can do from the first start to the last end."""
        seconds = int(self.end.max() - self.start.min())
        return float(self.jobs.work.sum() / (self.cluster.cores * seconds)) if seconds else 0.0

    def by_class(self) -> dict[str, float | None]:
        """Return the mean expansion factor of each class A to D; None where it has no jobs."""
        kind = class_numbers(self.jobs.workload)
        factor = self.expansion_factor
        return {
            name: float(factor[kind == number].mean()) if (kind == number).any() else None
            for number, name in enumerate(CLASSES)
        }

    def summary(self) -> dict[str, float | int | str | None]:
        """Return what one looks at first, ready for JSON."""
        factors = {f"expansion_factor[{name}]": value for name, value in self.by_class().items()}
        return {
            "policy": self.policy,
            "jobs": len(self),
            "tasks": int(self.jobs.tasks.sum()),
            "chunks": len(self.chunk_job),
            "dropped": self.jobs.workload.dropped,
            "cores": self.cluster.cores,
            "makespan": float(self.makespan),
            "mean_wait": float(self.wait.mean()),
            "mean_response": float(self.response.mean()),
            "expansion_factor": float(self.expansion_factor.mean()),
            **factors,
            "utilization": self.utilization,
            "seconds": self.seconds,
        }

    # -- over time -------------------------------------------------------------------------

    def busy_cores(self) -> Steps:
        """Return the cores in use, from the first submission to the last end."""
        return self._steps(self.chunk_start, self.chunk_end, self.chunk_cores)

    def running_jobs(self) -> Steps:
        """Return how many jobs have at least one task running."""
        begin, finish = _spells(self.chunk_job, self.chunk_start, self.chunk_end)
        return self._steps(begin, finish, np.ones(len(begin), np.int64))

    def running_tasks(self) -> Steps:
        """Return how many tasks run."""
        return self._steps(self.chunk_start, self.chunk_end, self.chunk_tasks)

    def _steps(self, begin: Ints, finish: Ints, amount: Ints) -> Steps:
        time = np.concatenate(
            [[int(self.jobs.workload.submit[0])], begin, finish, [int(self.end.max())]]
        )
        change = np.concatenate([[0], amount, -amount, [0]])
        instants, place = np.unique(time, return_inverse=True)
        total = np.bincount(place, weights=change, minlength=len(instants))
        return Steps(instants, np.cumsum(total))

    # -- trust -----------------------------------------------------------------------------

    def violations(self) -> list[str]:
        """Return a sentence for each rule that is broken; none where the schedule is feasible."""
        rules = (self._early, self._incomplete, self._over_share, self._overfull)
        return [sentence for rule in rules if (sentence := rule()) is not None]

    def verify(self) -> TaskSchedule:
        """Return the schedule unchanged if it is feasible; raise with every violation if not."""
        found = self.violations()
        if found:
            raise ScheduleError(f"schedule '{self.policy}' is not feasible: {' '.join(found)}")
        return self

    def _early(self) -> str | None:
        early = self.chunk_start < self.jobs.workload.submit[self.chunk_job]
        if not early.any():
            return None
        job = self.jobs.workload.id[self.chunk_job[int(np.argmax(early))]]
        return f"{np.count_nonzero(early)} chunks start before their job is there, first job {job}."

    def _incomplete(self) -> str | None:
        ran = np.bincount(self.chunk_job, weights=self.chunk_tasks, minlength=len(self))
        wrong = (ran != self.jobs.tasks) | (self.chunk_tasks < 1).any()
        if not wrong.any():
            return None
        first = int(np.argmax(wrong))
        return (
            f"{np.count_nonzero(wrong)} jobs do not run each task once; the first is job "
            f"{self.jobs.workload.id[first]}, which has {self.jobs.tasks[first]} tasks and ran "
            f"{ran[first]:.0f}."
        )

    def _over_share(self) -> str | None:
        """Look at each job at the instants at which it starts tasks: there its peaks are."""
        lasting = self.jobs.workload.runtime[self.chunk_job] > 0
        job, start = self.chunk_job[lasting], self.chunk_start[lasting]
        end, tasks = self.chunk_end[lasting], self.chunk_tasks[lasting]
        # Ends come before starts of the same instant.
        order = np.lexsort(
            (np.repeat([1, 0], len(job)), np.concatenate([start, end]), np.tile(job, 2))
        )
        level = np.cumsum(np.concatenate([tasks, -tasks])[order])
        over = level > self.jobs.limit[np.tile(job, 2)[order]]
        if not over.any():
            return None
        first = np.tile(job, 2)[order][int(np.argmax(over))]
        return (
            f"job {self.jobs.workload.id[first]} runs more than the {self.jobs.limit[first]} "
            "tasks of its share at once."
        )

    def _overfull(self) -> str | None:
        busy, cores = self.busy_cores(), self.cluster.cores
        over = busy.value > cores
        if not over.any():
            return None
        first = int(np.argmax(over))
        return f"{busy.value[first]:.0f} cores are busy at second {busy.time[first]}, of {cores}."


def _spells(job: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return from when to when jobs run without a pause, overlapping chunks joined."""
    lasting = end > start
    job, start, end = job[lasting], start[lasting], end[lasting]
    if not len(job):
        return start, end
    order = np.lexsort((start, job))
    job, start, end = job[order], start[order], end[order]
    # Within a job all chunks are equally long, so ends stand in the order of starts.
    new = np.ones(len(job), np.bool_)
    new[1:] = (job[1:] != job[:-1]) | (start[1:] > end[:-1])
    last = np.append(np.flatnonzero(new)[1:] - 1, len(job) - 1)
    return start[new], end[last]
