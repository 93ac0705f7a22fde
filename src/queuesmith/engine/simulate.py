"""Replay a workload on a cluster under a policy: check, pack, run the kernel, unpack."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster import Cluster
from queuesmith.engine import kernels
from queuesmith.engine.scoring import (
    compile_scorer,
    fixed_scores,
    no_usage,
    not_a_number,
    parameter_values,
)
from queuesmith.errors import CancelledError, ClusterError, WorkloadError
from queuesmith.policy.policy import Policy
from queuesmith.schedule import Schedule, history
from queuesmith.workload import Workload
from queuesmith.workload.sacct import peak_cores

_BACKFILL = {
    "none": kernels.NONE,
    "list": kernels.LIST,
    "easy": kernels.EASY,
    "conservative": kernels.CONSERVATIVE,
    "plan": kernels.PLAN,
}


def simulate(
    workload: Workload,
    cluster: Cluster | None = None,
    policy: Policy | str = "fcfs+easy",
    *,
    cores: int | None = None,
    strict: bool = False,
) -> Schedule:
    """Replay a workload on a cluster under a policy.

    Parameters
    ----------
    workload
        The jobs. Those wider than the machine are left out and counted.
    cluster, cores
        The machine, or just its number of processors; by default the size that the log states.
    policy
        A policy, or one as it is written: ``"fcfs+easy"``.
    strict
        Raise where a job is wider than the machine, instead of leaving it out.

    Examples
    --------
    >>> from queuesmith import Workload, simulate
    >>> jobs = Workload(submit=[0, 0], runtime=[10, 10], walltime=[10, 10], cores=[1, 1])
    >>> simulate(jobs, cores=1).wait.tolist()
    [0, 10]
    """
    return Replay(workload, as_cluster(workload, cluster, cores), policy, strict=strict).run()


def as_cluster(workload: Workload, cluster: Cluster | None, cores: int | None) -> Cluster:
    """Return the cluster that is meant: given, made of a number of cores, or the log's own."""
    if cluster is not None and cores is not None and cluster.cores != cores:
        raise ClusterError(
            f"cluster '{cluster.name}' has {cluster.cores} cores, but cores={cores} was given too. "
            "Give one of them."
        )
    if cluster is not None:
        return cluster
    if cores is None:
        cores = workload.machine_cores
    if cores is None:
        raise ClusterError(
            f"the log '{workload.name}' does not say how many cores its machine has. "
            f"Give --cores N (cores=N in Python){_at_least(workload)}."
        )
    return Cluster(cores, workload.name)


def _at_least(workload: Workload) -> str:
    """Say how many cores were really busy at once, where the log tells."""
    if history(workload) is None:
        return ""
    return f"; {peak_cores(workload):,} were really busy at once"


class Replay:
    """One replay, ready to run: in this thread or another, once.

    While it runs, ``progress`` tells how far it is and ``cancel`` stops it.
    """

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        policy: Policy | str,
        *,
        strict: bool = False,
    ) -> None:
        self.policy = Policy.parse(policy) if isinstance(policy, str) else policy
        self.cluster = cluster
        if not len(workload):
            raise WorkloadError(
                f"workload '{workload.name}' has no jobs to replay. Give one that has."
            )
        self.workload = workload.fitting(cluster.cores, strict=strict)
        self._jobs = _pack(self.workload, cluster)
        order = self.policy.order
        self._rank = _rank(fixed_scores(order, self._jobs)) if order.fixed else None
        self._scorer = None if order.fixed else compile_scorer(order)
        self._state = kernels.new_replay(
            self._jobs,
            cluster.cores,
            no_usage() if order.fixed else _usage(self._jobs, order.parameters),
            _BACKFILL[self.policy.backfill],
            self._rank,
        )

    @property
    def progress(self) -> float:
        """The share of jobs that have arrived so far, 0 to 1."""
        return float(self._state.counters[kernels.ARRIVED]) / len(self.workload)

    def cancel(self) -> None:
        """Stop the replay at its next event; ``run`` then raises CancelledError."""
        self._state.counters[kernels.CANCEL] = 1

    def run(self) -> Schedule:
        """Replay all jobs and return the schedule."""
        began = time.perf_counter()
        backfill = _BACKFILL[self.policy.backfill]
        if self._rank is not None:
            kernels.run_fixed(self._state, self._rank, backfill)
        else:
            order = self.policy.order
            kernels.run_changing(
                self._state, self._scorer, parameter_values(order), self.cluster.cores, backfill
            )
            bad = int(self._state.counters[kernels.BAD_JOB])
            if bad >= 0:
                now = int(self._state.counters[kernels.BAD_TIME])
                raise not_a_number(order, self._jobs, bad, now)
        seconds = time.perf_counter() - began
        if self._state.counters[kernels.CANCEL]:
            raise CancelledError(f"the replay of '{self.workload.name}' was cancelled.")
        return Schedule(self.workload, self.cluster, self._state.start, str(self.policy), seconds)


def _pack(workload: Workload, cluster: Cluster) -> kernels.Jobs:
    """Lay the columns out as the kernel takes them; what need not change is not copied."""
    _, user = np.unique(workload.user, return_inverse=True)
    return kernels.Jobs(
        id=workload.id,
        submit=workload.submit,
        runtime=workload.runtime,
        # A job holds its cores for a second at least in the eyes of the planner.
        walltime=_frozen(np.maximum(workload.walltime, 1)),
        cores=workload.cores,
        user=_frozen(user.astype(np.int64)),
        group=workload.group,
        log_walltime=_frozen(np.log(np.maximum(workload.walltime, 1))),
        log_cores=_frozen(np.log(workload.cores)),
        partition_factor=_factors(workload, "partition", cluster.partition_priority),
        qos_factor=_factors(workload, "qos", cluster.qos_priority),
    )


def _factors(workload: Workload, column: str, priority: Mapping[str, float]) -> NDArray[np.float64]:
    """Return each job's factor, 0 to 1: its partition's priority over the highest, as in Slurm."""
    codes = workload.extra.get(column)
    highest = max(priority.values(), default=0)
    if codes is None or highest <= 0:
        return _frozen(np.zeros(len(workload)))
    values, position = np.unique(codes, return_inverse=True)
    factors = [priority.get(workload.label(column, int(code)), 0) / highest for code in values]
    return _frozen(np.array(factors)[position])


def _rank(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return each job's place when the highest score comes first; jobs alike keep their order."""
    rank = np.empty(len(scores), np.int64)
    rank[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return _frozen(rank)


def _usage(jobs: kernels.Jobs, parameters: Mapping[str, float]) -> kernels.Usage:
    slots = int(jobs.user.max()) + 2
    half_life = parameters.get("PriorityDecayHalfLife", 0.0)
    clock = np.array([half_life, jobs.submit[0]], np.float64)
    return kernels.Usage(np.zeros(slots), np.zeros(slots), clock)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array
