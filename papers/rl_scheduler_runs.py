"""The replays of the study of RLScheduler: its orders, its rules, its sequences of jobs."""

from __future__ import annotations

import functools
import gzip
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

import queuesmith as qs
from papers.rl_scheduler_paper import BOUND, LENGTH, LOGS, STARTS
from papers.study import data_folder
from queuesmith.engine.packing import Packed, frozen
from queuesmith.engine.simulate import Replay
from queuesmith.policy import AnyPolicy, Committed, Order, Policy
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.view import Job

Values = NDArray[np.float64]
Columns = NDArray[np.int64]

#: The rules under which a sequence is replayed: the paper's two, and the engine's EASY.
RULES = {"none": "no backfill", "early": "their backfill", "easy": "true EASY"}


# -- their orders ----------------------------------------------------------------------------------


def wfp3_as_published(job: Job) -> float:
    """WFP3 with -1 for the present moment, as in their code: long jobs of few cores first."""
    ratio = (1 + job.submit) / job.walltime
    return -(ratio * ratio * ratio * job.cores)


def unicep_as_published(job: Job) -> float:
    """UNICEP with -1 for the present moment, as in their code."""
    wait = -1 - job.submit + 1e-15
    log_cores: float = np.log2(job.cores + 1e-15)
    return wait / (log_cores * job.walltime)


def unicep_mended(job: Job, now: int) -> float:
    """UNICEP with the present moment; their tiny number instead of a serial job's logarithm."""
    wait = now - job.submit + 1e-15
    log_cores: float = np.log2(job.cores + 1e-15)
    return wait / (log_cores * job.walltime)


HEURISTICS = {
    "FCFS": ORDERS["fcfs"],
    "WFP3": Order(wfp3_as_published),
    "UNICEP": Order(unicep_as_published),
    "SJF": ORDERS["sjf"],
    "F1": ORDERS["f1"],
}
#: Those that were wrong, with the present moment where -1 stood.
MENDED = HEURISTICS | {"WFP3": ORDERS["wfp3"], "UNICEP": Order(unicep_mended)}
#: The fixed orders that ours must beat: theirs, mended, and smallest area first.
FIXED = MENDED | {"SAF": ORDERS["saf"]}


def policy_of(order: Order, rules: str) -> AnyPolicy:
    """Return the policy that an order makes under some rules."""
    return Policy(order, "easy") if rules == "easy" else Committed(order, rules)


# -- sequences -------------------------------------------------------------------------------------


@functools.cache
def columns(log: str) -> Columns:
    """Return the jobs of one of their logs: submit, runtime, request, cores and user, one row a
    job.
    """
    return read_columns(LOGS[log][0])


def read_columns(name: str) -> Columns:
    """Read a log as they do.

    An unknown runtime counts as 10 s, a job of none is left out, cores are the larger of allocated
    and requested, and an unknown request is the runtime.
    """
    path = data_folder("traces") / f"{name}.swf.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = np.array([line.split()[:18] for line in file if line.strip() and line[0] != ";"])
    wanted = rows[:, [1, 3, 4, 7, 8, 11]].astype(float).T
    submit, runtime, allocated, requested, walltime, user = wanted
    runtime = np.where(runtime == -1, 10, runtime)
    walltime = np.where(walltime == -1, runtime, walltime)
    jobs = np.stack([submit, runtime, walltime, np.maximum(allocated, requested), user], axis=1)
    kept: Columns = jobs[runtime != 0].astype(np.int64)
    return kept


class JobSequence:
    """One sequence of jobs on an empty machine, under their rules and under the engine's.

    Their jobs may run longer than was requested. The engine's may not, so there the request is
    raised to the runtime.

    Parameters
    ----------
    jobs
        Submit, runtime, request and cores, one row a job; further columns do not matter.
    cores
        Of the machine.
    foretold
        The logarithm of each job's runtime as it is foretold, for orders that look at it.
    """

    def __init__(self, jobs: Columns, cores: int, foretold: Values | None = None) -> None:
        submit, runtime, request, wanted = jobs[:, :4].T
        walltime = np.maximum(runtime, request)
        self.cluster = qs.Cluster(cores)
        extra = {} if foretold is None else {"foretold": foretold}
        self.workload = qs.Workload(submit, runtime, walltime, wanted, extra=extra)
        self._engine = Packed(self.workload, self.cluster)
        self._theirs = Packed(self.workload, self.cluster)
        self._theirs.jobs = self._theirs.jobs._replace(
            walltime=frozen(request.copy()), log_walltime=frozen(np.log(request))
        )

    def waits(self, order: Order, rules: str) -> NDArray[np.int64]:
        """Return how long each job waits."""
        packed = self._engine if rules == "easy" else self._theirs
        return Replay(packed, self.cluster, policy_of(order, rules)).run().wait

    def slowdown(self, order: Order, rules: str) -> float:
        """Return the mean bounded slowdown."""
        runtime = self.workload.runtime
        response = self.waits(order, rules) + runtime
        return float(np.maximum(1.0, response / np.maximum(runtime, BOUND)).mean())


def sequences(log: str, starts: Iterable[int]) -> list[JobSequence]:
    """Return the sequences of a log that begin at some jobs."""
    jobs, cores = columns(log), LOGS[log][1]
    return [JobSequence(jobs[start : start + LENGTH], cores) for start in starts]


@functools.cache
def published_sequences(log: str) -> list[JobSequence]:
    """Return the ten sequences of the paper."""
    return sequences(log, STARTS)


def judged(order: Order, rules: str, on: Sequence[JobSequence]) -> Values:
    """Return the mean bounded slowdown of each sequence."""
    return np.array([one.slowdown(order, rules) for one in on])
