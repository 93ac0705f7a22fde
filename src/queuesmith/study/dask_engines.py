"""Dask clusters as engines: one that runs already, or workers that are jobs of Slurm."""

from __future__ import annotations

import logging
import math
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from queuesmith.base.checks import whole_number
from queuesmith.base.errors import QueuesmithError
from queuesmith.base.extras import extra_library
from queuesmith.study.engines import Engine

#: How long a scheduler may take to answer, in seconds.
PATIENCE = 10.0
#: How long to wait for the first worker, and how often workers are counted, in seconds. What a job
#: of Slurm waits in the queue does not count.
PATIENCE_FOR_WORKERS, COUNT_EVERY = 300.0, 0.5
#: What Slurm calls a job that waits in its queue.
PENDING = "PENDING"
#: How long a worker waits for a scheduler that went away, in seconds.
DEATH_TIMEOUT = 30


class EngineError(QueuesmithError):
    """The machines that should compute do not answer."""


class DaskEngine(Engine):
    """A Dask cluster that runs already.

    Parameters
    ----------
    scheduler
        Where its scheduler listens: ``tcp://host:8786``.
    """

    name = "dask"
    grows = True

    def __init__(self, scheduler: str) -> None:
        distributed = _library()
        self._where = scheduler
        self._threads, self._counted = 0, -math.inf
        try:
            # A client of what is no address lets one wait at its end for a loop that never began.
            distributed.comm.resolve_address(scheduler)
            self._client = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise EngineError(
                f"no Dask scheduler answers at '{scheduler}' ({_brief(error)}). Start one with "
                "'dask scheduler', or correct --scheduler tcp://HOST:PORT."
            ) from error
        self._lost = (
            distributed.scheduler.KilledWorker,
            distributed.client.FutureCancelledError,
            distributed.comm.CommClosedError,
        )

    @property
    def workers(self) -> int:
        """How many threads the workers have together."""
        if time.monotonic() - self._counted > COUNT_EVERY:
            info = self._client.scheduler_info(n_workers=-1)
            self._threads = sum(int(each["nthreads"]) for each in info["workers"].values())
            self._counted = time.monotonic()
        return self._threads

    def ready(self) -> None:
        """Wait until there is a worker."""
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE_FOR_WORKERS)
        except TimeoutError as error:
            raise EngineError(
                f"the Dask scheduler at '{self._where}' has no worker, even after "
                f"{PATIENCE_FOR_WORKERS:g} s. Start one with 'dask worker {self._where}'."
            ) from error

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Hand a piece of work to the scheduler."""
        if self._client.status != "running":
            raise EngineError(
                f"the Dask scheduler at '{self._where}' went away. What is done is kept; "
                "start it again and repeat this command."
            )
        theirs = self._client.submit(work, *arguments, pure=False)
        ours: Future[Any] = Future()
        theirs.add_done_callback(lambda done: _settle(ours, done))
        return ours

    def is_lost(self, error: BaseException) -> bool:
        """Tell whether work ended because its worker or the scheduler did."""
        return super().is_lost(error) or isinstance(error, self._lost)

    def tend(self) -> None:
        """Notice a scheduler that went away."""
        if self._client.status not in ("running", "connecting"):
            raise EngineError(
                f"the Dask scheduler at '{self._where}' went away. What is done is kept; "
                "start it again and repeat this command."
            )

    def close(self) -> None:
        """Leave the cluster as it is, and go."""
        self._client.close(timeout=5)


@dataclass(frozen=True)
class SlurmJobs:
    """What the jobs ask Slurm for in which workers run.

    Parameters
    ----------
    workers
        How many jobs, each with one worker of one core.
    partition, account
        Where they run and who pays; by default what Slurm's defaults are.
    minutes
        The time limit of a job. Workers end a little before, and others take their places.
    memory
        Of each job, as Dask writes it: ``2GB``.
    interface
        The network interface by which workers and scheduler meet, such as ``ib0``.
    logs
        The folder for what the jobs print; None for where the command runs.
    """

    workers: int = 4
    partition: str | None = None
    account: str | None = None
    minutes: int = 60
    memory: str = "2GB"
    interface: str | None = None
    logs: Path | None = None

    def __post_init__(self) -> None:
        whole_number("workers", self.workers, 1, "Give 1 or more.")
        whole_number("the minutes of a worker's job", self.minutes, 2, "Give for example 60.")


class SlurmEngine(DaskEngine):
    """Workers that are ordinary jobs of Slurm, by dask-jobqueue; those that end are replaced.

    Parameters
    ----------
    jobs
        How many workers, and what their jobs ask for.
    """

    name = "slurm"

    def __init__(self, jobs: SlurmJobs) -> None:
        for program in ("sbatch", "squeue", "scancel"):
            if shutil.which(program) is None:
                raise EngineError(
                    f"there is no '{program}' on this machine, so no job can be given to Slurm. "
                    "Log in where Slurm's commands are, or use --on local."
                )
        _library()
        self._jobs = jobs
        self._aside = ThreadPoolExecutor(1)
        self._listing: Future[dict[str, str] | None] | None = None
        self._pending = True
        self._cluster = _cluster(jobs)
        try:
            self._cluster.sync(self._replace, {})
            super().__init__(self._cluster.scheduler_address)
        except BaseException:
            self._cluster.close(timeout=10)
            raise

    def ready(self) -> None:
        """Wait until there is a worker, however long its job waits in Slurm's queue."""
        until = time.monotonic() + PATIENCE_FOR_WORKERS
        while not self.workers:
            time.sleep(COUNT_EVERY)
            self.tend()
            if self._pending:
                until = time.monotonic() + PATIENCE_FOR_WORKERS
            elif time.monotonic() > until:
                raise EngineError(
                    f"jobs of Slurm run, but no worker in them answers, even after "
                    f"{PATIENCE_FOR_WORKERS:g} s. Read what they print in "
                    f"'{self._jobs.logs or Path.cwd()}', and name the network of the nodes with "
                    "--interface."
                )

    def tend(self) -> None:
        """Replace the workers whose jobs are gone: ended by their limit, cancelled, or killed."""
        super().tend()
        if self._listing is None:  # aside, since a controller that is down lets one wait
            self._listing = self._aside.submit(_listed_jobs)
        if self._listing.done():
            listed, self._listing = self._listing.result(), None
            if listed is not None:  # else the controller does not answer; it may come back
                self._cluster.sync(self._replace, listed)

    async def _replace(self, listed: Mapping[str, str]) -> None:
        # Dask counts jobs that are gone, or that Slurm did not take, as workers that may still
        # come. So these are forgotten first.
        cluster = self._cluster
        _keep(cluster, lambda number: number in listed)
        # Not by ``scale``, which comes back before Slurm has the jobs, and tells no errors: a list
        # of jobs that is older would not have them, and they would be forgotten as gone.
        while len(cluster.worker_spec) < self._jobs.workers:
            cluster.worker_spec.update(cluster.new_worker_spec())
        try:
            await cluster._correct_state()
        except (OSError, RuntimeError, ValueError) as error:
            _keep(cluster, bool)
            if not cluster.workers:
                raise EngineError(
                    f"Slurm does not take the jobs of the workers ({_reason(error)}). Correct "
                    "what that names, such as --partition or --account; what is done is kept."
                ) from error
        states = [listed.get(_number(job), PENDING) for job in cluster.workers.values()]
        self._pending = all(state == PENDING for state in states)

    def close(self) -> None:
        """Cancel the jobs, and go."""
        super().close()
        self._cluster.close(timeout=10)
        self._aside.shutdown(wait=False, cancel_futures=True)


def _cluster(jobs: SlurmJobs) -> Any:
    from dask_jobqueue.slurm import SLURMCluster

    end = max(jobs.minutes * 60 - 60, 60)
    network: dict[str, Any] = {} if jobs.interface is None else {"interface": jobs.interface}
    return SLURMCluster(
        cores=1,
        processes=1,
        memory=jobs.memory,
        queue=jobs.partition,
        account=jobs.account,
        walltime=f"{jobs.minutes // 60:02d}:{jobs.minutes % 60:02d}:00",
        death_timeout=DEATH_TIMEOUT,
        worker_extra_args=["--lifetime", f"{end}s", "--lifetime-stagger", "30s", "--no-dashboard"],
        scheduler_options={"dashboard_address": ":0", **network},
        log_directory=None if jobs.logs is None else str(jobs.logs),
        **network,
    )


def _keep(cluster: Any, is_kept: Callable[[str], bool]) -> None:
    """Forget the workers whose jobs, by their numbers, are not kept."""
    for name, job in list(cluster.workers.items()):
        if not is_kept(_number(job)):
            del cluster.workers[name]
            cluster.worker_spec.pop(name, None)
            cluster._created.discard(job)  # at its end, Dask insists that all of these are closed


def _number(job: Any) -> str:
    """Return the number of a worker's job; an empty one where Slurm did not take it."""
    return str(getattr(job, "job_id", None) or "")


def _reason(error: BaseException) -> str:
    """Return the last line that sbatch said, without its own name."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return re.sub(r"^sbatch: (error|fatal): ", "", lines[-1]) if lines else type(error).__name__


def _listed_jobs() -> dict[str, str] | None:
    """Return the state of all jobs that Slurm has, by number; None for no answer."""
    try:
        found = subprocess.run(
            ["squeue", "--noheader", "--me", "--format=%i %T"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    words = (line.split() for line in found.stdout.splitlines())
    return {each[0]: each[1] for each in words if len(each) == 2}


def _library() -> Any:
    who = "computing on other machines"
    dask = extra_library("dask", "dask", who)
    distributed = extra_library("distributed", "dask", who)
    # What goes wrong is told in a sentence of ours; Dask's own lines are for its developers.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    dask.config.set({"distributed.comm.timeouts.connect": PATIENCE})
    return distributed


def _settle(ours: Future[Any], theirs: Any) -> None:
    """Pass on how work of Dask ended."""
    if ours.done():
        return
    try:
        ours.set_result(theirs.result())
    except BaseException as error:
        ours.set_exception(error)


def _brief(error: BaseException) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
