"""Replay a workload with the twin that its policy needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from queuesmith.base.errors import PolicyError
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.cluster.fitting import fitting as fitting_nodes
from queuesmith.cluster.fitting import jobs_that_fit
from queuesmith.cluster.maintenance import as_one_node
from queuesmith.engine.cancelled import ran, with_cancelled
from queuesmith.policy import (
    AnyPolicy,
    Committed,
    OwnBackfill,
    Policy,
    SelfTuning,
    Slurm,
    as_policy,
)
from queuesmith.policy.rulebase import RuleBased
from queuesmith.policy.self_tuning import check_plans_all
from queuesmith.schedule import Schedule
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.reservations import Request
from queuesmith.testing.twin import OrderedTwin, Twin, tasks_of
from queuesmith.testing.twin_choosing import RuleBasedTwin, SelfTuningTwin
from queuesmith.testing.twin_committed import CommittedTwin
from queuesmith.testing.twin_on_nodes import twin_on_nodes
from queuesmith.testing.twin_own_backfill import OwnBackfillTwin
from queuesmith.testing.twin_slurm import SlurmTwin
from queuesmith.workload import Workload
from queuesmith.workload.workload import CANCELLED_AFTER


def simulate_slowly(
    workload: Workload,
    cluster: Cluster | NodeCluster,
    policy: AnyPolicy | str,
    *,
    reservations: Sequence[Request] = (),
) -> Schedule:
    """Replay a workload with the twin; for hundreds of jobs, not for thousands."""
    policy = as_policy(policy)
    if workload.cancelled is not None:
        return _with_cancelled(workload, cluster, policy)
    if isinstance(policy, Slurm) and isinstance(cluster, NodeCluster):
        jobs = fitting_nodes(workload, cluster)
        return _under_slurm(jobs, cluster, policy)
    if isinstance(cluster, NodeCluster):
        jobs = fitting_nodes(workload, cluster)
        start = np.array(twin_on_nodes(jobs, cluster, policy).run(), np.int64)
        return Schedule(jobs, cluster, start, str(policy))
    fitting = workload.fitting(cluster.cores)
    if cluster.maintenance:
        node = as_one_node(cluster, fitting)
        found = simulate_slowly(fitting.replaced(extra={}), node, policy)
        return Schedule(fitting, cluster, found.start, str(policy))
    twin = twin_of(fitting, cluster, policy, reservations)
    start = np.array(twin.run(), np.int64)
    return Schedule(fitting, cluster, start, str(policy), reservations=tuple(twin.answers))


def _under_slurm(jobs: Workload, cluster: NodeCluster, policy: Slurm) -> Schedule:
    slow = SlurmTwin(jobs, cluster, policy)
    start = np.array(slow.run(), np.int64)
    plain, lost = Schedule(jobs, cluster, start, str(policy)), slow.preemption.lost
    end = np.array(plain.end)
    for place, instant in slow.preemption.cancelled.items():
        end[place] = instant
    job, begin, cut = np.array(lost, np.int64).reshape(-1, 3).T
    everybody = np.concatenate([np.arange(len(jobs)), job])
    pieces = Pieces(
        everybody,
        np.concatenate([start, begin]),
        np.concatenate([end, cut]),
        jobs.cores[everybody],
    )
    return Schedule(
        *(jobs, cluster, start, str(policy)),
        own_end=end if slow.preemption.cancelled else None,
        pieces=pieces if lost else None,
    )


def _with_cancelled(
    workload: Workload, cluster: Cluster | NodeCluster, policy: AnyPolicy
) -> Schedule:
    """Replay with jobs in the queue that were cancelled while they waited."""
    jobs = jobs_that_fit(workload, cluster)
    everybody = with_cancelled(jobs, cluster)
    if everybody is None:
        return simulate_slowly(jobs.replaced(cancelled=None), cluster, policy)
    machine = cluster
    if isinstance(cluster, Cluster):
        machine = as_one_node(cluster, jobs)
        kept = everybody.extra[CANCELLED_AFTER]
        everybody = everybody.replaced(extra={CANCELLED_AFTER: kept})
    found = simulate_slowly(everybody, machine, policy)
    return Schedule(jobs, cluster, found.start[ran(everybody)], str(policy))


def twin_of(
    workload: Workload, cluster: Cluster, policy: AnyPolicy, reservations: Sequence[Request] = ()
) -> Twin:
    """Return the twin of a replay; the workload must fit the machine."""
    tasks = tasks_of(workload, cluster)
    if isinstance(policy, Policy) and policy.backfill == "plan" and reservations:
        check_plans_all(policy)
        policy = SelfTuning((policy.order,))
    if isinstance(policy, SelfTuning):
        return SelfTuningTwin(cluster, tasks, policy, reservations)
    if isinstance(policy, Policy) and not reservations:
        return OrderedTwin(cluster, tasks, policy)
    if isinstance(policy, OwnBackfill) and not reservations:
        return OwnBackfillTwin(cluster, tasks, policy)
    if isinstance(policy, Committed) and not reservations:
        return CommittedTwin(cluster, tasks, policy)
    if isinstance(policy, RuleBased) and not reservations:
        return RuleBasedTwin(cluster, tasks, policy)
    raise PolicyError(
        f"there is no twin that replays '{policy}'{' with reservations' if reservations else ''}. "
        "Give an order with a backfill, a rule base or dynp(...)."
    )
