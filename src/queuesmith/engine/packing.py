"""A workload laid out as the kernels take it: packed once, shared by all replays of it."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.distinct import distinct
from queuesmith.base.errors import PolicyError, WorkloadError
from queuesmith.base.remembering import Recent
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.cluster.fitting import fitting
from queuesmith.cluster.limit_table import LimitTable
from queuesmith.cluster.maintenance import as_one_node
from queuesmith.cluster.requests import JobRequests, job_requests
from queuesmith.engine.asked import asked_by, own_columns
from queuesmith.engine.kernels.constants import BAD_JOB, BAD_TIME, NEVER
from queuesmith.engine.kernels.line import jobs_by_rank, nothing_kept
from queuesmith.engine.kernels.replay import Jobs
from queuesmith.engine.kernels.usage import Usage, new_usage
from queuesmith.engine.scoring import fixed_scores, not_a_number
from queuesmith.engine.whole_numbers import check_whole_numbers
from queuesmith.policy import AnyPolicy
from queuesmith.policy.keep import HOUR, Keep
from queuesmith.policy.order import USAGE_FIELDS, Order
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import AFTER, THINK_TIME
from queuesmith.workload.group_names import GroupNames
from queuesmith.workload.workload import CANCELLED_AFTER

#: For how many fixed orders, and sets of them, jobs' places are kept. A rule base has a dozen; who
#: tunes an order tries hundreds, of which none comes again.
KEPT_ORDERS, KEPT_LINES = 64, 8


class Packed:
    """The jobs of a workload that fit a cluster, and their places in fixed orders.

    Many replays in many threads may share one; nothing in it changes.
    """

    def __init__(
        self, workload: Workload, cluster: Cluster | NodeCluster, *, strict: bool = False
    ) -> None:
        if not len(workload):
            raise WorkloadError(
                f"workload '{workload.name}' has no jobs to replay. Give one that has."
            )
        self.cluster = cluster
        if isinstance(cluster, NodeCluster):
            self.workload = fitting(workload, cluster, strict=strict)
        else:
            self.workload = workload.fitting(cluster.cores, strict=strict)
        self.log = self.workload  # whose columns orders see
        self.jobs = _columns(self.workload, cluster)
        self._ranks: Recent[NDArray[np.int64]] = Recent(KEPT_ORDERS)
        self._lines: Recent[tuple[NDArray[Any], NDArray[Any]]] = Recent(KEPT_LINES)
        self._requests: tuple[JobRequests, LimitTable] | None = None
        self._lock = threading.Lock()

    def for_groups(self, groups: GroupNames, policy: AnyPolicy) -> Packed:
        """Return the same jobs with their groups numbered as a policy knows them."""
        numbered = groups.numbered(self.workload, policy)
        return self if numbered is self.workload else Packed(numbered, self.cluster)

    def on_one_node(self) -> Packed:
        """Return the same jobs on a machine of one node that has all the cores.

        So replay policies there that know nothing but cores, where jobs wait for other jobs, or
        for the end of a maintenance.
        """
        asked = {AFTER, THINK_TIME, "eligible_after", CANCELLED_AFTER}
        extra = {name: self.workload.extra[name] for name in asked & self.workload.extra.keys()}
        other = copy.copy(self)
        other._requests = None
        other.workload = self.workload.replaced(extra=extra)
        assert isinstance(self.cluster, Cluster)
        other.cluster = as_one_node(self.cluster, self.workload)
        return other

    def requests(self) -> tuple[JobRequests, LimitTable]:
        """Return what jobs ask a machine of nodes for, and the limits that they must keep to."""
        assert isinstance(self.cluster, NodeCluster)
        with self._lock:
            if self._requests is None:
                asked = job_requests(self.workload, self.cluster)
                self._requests = asked, LimitTable(self.workload, self.cluster, asked)
            return self._requests

    def rank(self, order: Order, keep: Keep | None = None) -> NDArray[np.int64]:
        """Return each job's place in a fixed order: highest score first, equals as they came.

        Those who are favoured come before all others. Where others' patience ends, there are twice
        as many places as jobs: see ``kernels/line.py``.
        """

        def make() -> NDArray[np.int64]:
            own = own_columns(self.log, [order])
            scores = fixed_scores(order, self.jobs, asked_by(self.log, [order]), own)
            return frozen(self._places(-scores, keep))

        return self._ranks.get(_rank_key(order, keep), make)

    def check_scores(
        self, order: Order, counters: NDArray[np.int64], start: NDArray[np.int64]
    ) -> None:
        """Raise where an order that changes with time gave a job no number, or a wrong one."""
        bad = int(counters[BAD_JOB])
        if bad >= 0:
            raise not_a_number(order, self.jobs, bad, int(counters[BAD_TIME]))
        own, asked = own_columns(self.log, [order]), asked_by(self.log, [order])
        scored_at = np.maximum(start, self.jobs.submit)  # who never started was scored on arrival
        check_whole_numbers(order, self.jobs, asked, own, scored_at, self.cluster.cores)

    def rank_at(self, order: Order, keep: Keep | None, now: int) -> NDArray[np.int64]:
        """Return each job's place at a moment, if it waits then: whose patience is over may have
        passed others.
        """
        rank = self.rank(order, keep)
        if keep is None or keep.patience is None:
            return rank
        over = now - self.jobs.submit > keep.patience * HOUR
        return np.where(over, rank % len(rank), rank)

    def _places(self, key: NDArray[np.float64], keep: Keep | None) -> NDArray[np.int64]:
        """Return each job's place, the lowest key first.

        Where patience ends, others stand as many places behind all jobs as they would among them.
        """
        places = np.empty(len(key), np.int64)
        if keep is None or keep.patience is not None:
            places[np.argsort(key, kind="stable")] = np.arange(len(key))
        else:
            places[np.lexsort((key, ~self._favoured(keep)))] = np.arange(len(key))
        if keep is not None and keep.patience is not None:
            places[~self._favoured(keep)] += len(key)
        return places

    def lines(self, wanted: Sequence[tuple[Order, Keep | None]]) -> tuple[NDArray[Any], ...]:
        """Return a row a line: each job's place, what is kept free, and who stands at each place.

        They are made once for all replays that have the same lines.
        """

        def make() -> tuple[NDArray[Any], NDArray[Any]]:
            ranks = frozen(np.stack([self.rank(order, keep) for order, keep in wanted]))
            return ranks, jobs_by_rank(ranks)

        key = tuple(_rank_key(order, keep) for order, keep in wanted)
        ranks, jobs = self._lines.get(key, make)
        return ranks, frozen(np.stack([self.keep(keep) for _, keep in wanted])), jobs

    def keep(self, keep: Keep | None) -> NDArray[np.int64]:
        """Return what a line keeps free, as the kernel takes it."""
        if keep is None:
            return nothing_kept(1)[0]  # type: ignore[no-any-return]
        cores = self.cluster.cores
        # On nodes it depends on where a job may run: see kernels/node_keeping.py.
        kept = 0 if isinstance(self.cluster, NodeCluster) else keep.cores(cores)
        if keep.patience is None:
            favoured, patience = int(np.count_nonzero(self._favoured(keep))), NEVER
        else:
            favoured, patience = len(self.jobs.submit), int(keep.patience * HOUR)
        return frozen(np.array([favoured, kept, cores, patience], np.int64))

    def _favoured(self, keep: Keep) -> NDArray[np.bool_]:
        group: NDArray[np.int64] = self.jobs.group
        return (group >= 1) & (group <= keep.groups)

    def usage(self, orders: Sequence[Order]) -> Usage:
        """Return the bookkeeping of what users consume; empty where no order looks at it."""
        looking = [order for order in orders if order.reads & {*USAGE_FIELDS, "user_share"}]
        if not looking:
            return new_usage()
        half_lives = {
            order.parameters.get("PriorityDecayHalfLife", 0.0)
            for order in looking
            if order.reads & USAGE_FIELDS
        } or {0.0}
        if len(half_lives) > 1:
            raise PolicyError(
                f"the strategies have different half-lives of usage ({sorted(half_lives)} s), but "
                "one bookkeeping serves them all. Give them the same PriorityDecayHalfLife."
            )
        slots = int(self.jobs.user.max()) + 2
        return new_usage(slots, half_lives.pop(), self.jobs.submit[0])


def _rank_key(order: Order, keep: Keep | None) -> tuple[Any, ...]:
    """Return what a fixed order's places follow from."""
    kept = (keep.groups, keep.patience is None) if keep else (0, True)
    return (order.function, *order.parameters.items(), *kept)


def _columns(workload: Workload, cluster: Cluster | NodeCluster) -> Jobs:
    """Lay the columns out as the kernel takes them; what need not change is not copied."""
    _, user = distinct(workload.user)
    return Jobs(
        id=workload.id,
        submit=workload.submit,
        runtime=workload.runtime,
        # A job holds its cores for a second at least in the eyes of the planner.
        walltime=frozen(np.maximum(workload.walltime, 1)),
        cores=workload.cores,
        user=frozen(user),
        group=workload.group,
        log_walltime=frozen(np.log(np.maximum(workload.walltime, 1))),
        log_cores=frozen(np.log(workload.cores)),
        partition_factor=_factors(workload, "partition", cluster.partition_priority),
        qos_factor=_factors(workload, "qos", cluster.qos_priority),
    )


def _factors(workload: Workload, column: str, priority: Mapping[str, float]) -> NDArray[np.float64]:
    """Return each job's factor, 0 to 1: its partition's priority over the highest, as in Slurm."""
    codes = workload.extra.get(column)
    highest = max(priority.values(), default=0)
    if codes is None or highest <= 0:
        return frozen(np.zeros(len(workload)))
    values, position = np.unique(codes, return_inverse=True)
    factors = [priority.get(workload.label(column, int(code)), 0) / highest for code in values]
    return frozen(np.array(factors)[position])


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that cannot be written to any more."""
    array.setflags(write=False)
    return array
