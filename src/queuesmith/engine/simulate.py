"""Replay a workload on a cluster under a policy: check, pack, run the kernel, unpack."""

from __future__ import annotations

import time
from collections.abc import Sequence

from queuesmith.base.errors import CancelledError, PolicyError
from queuesmith.cluster import Cluster, NodeCluster, as_cluster
from queuesmith.engine.cancelled import RunWithCancelled, ran, with_cancelled
from queuesmith.engine.kernels.constants import ARRIVED, CANCEL
from queuesmith.engine.node_order_replay import NodeOrderRun
from queuesmith.engine.node_strategies import NodeRuleBasedRun, NodeSelfTuningRun
from queuesmith.engine.order_replay import OrderRun
from queuesmith.engine.packing import Packed
from queuesmith.engine.predicted_replay import PredictedRun
from queuesmith.engine.python_replay import PythonRun
from queuesmith.engine.rule_based_replay import RuleBasedRun
from queuesmith.engine.scored_replay import ScoredRun, committed_run, own_backfill_run
from queuesmith.engine.self_tuning_replay import SelfTuningRun
from queuesmith.engine.slurm_replay import SlurmRun
from queuesmith.policy import (
    AnyPolicy,
    Committed,
    OwnBackfill,
    Policy,
    Predicted,
    SelfReplaying,
    SelfTuning,
    Slurm,
    as_policy,
)
from queuesmith.policy.rulebase import RuleBased
from queuesmith.policy.self_tuning import check_plans_all
from queuesmith.schedule import Schedule
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.reservations import Request
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import has_dependencies
from queuesmith.workload.workload import checked_workload


def simulate(
    workload: Workload,
    cluster: Cluster | NodeCluster | None = None,
    policy: AnyPolicy | str = "fcfs+easy",
    *,
    cores: int | None = None,
    strict: bool = False,
    reservations: Sequence[Request] = (),
) -> Schedule:
    """Replay a workload on a cluster under a policy.

    Parameters
    ----------
    workload
        The jobs. Those wider than the machine are left out and counted.
    cluster, cores
        The machine, or just its number of processors; by default the size that the log states.
        On a machine of nodes jobs are placed on nodes; see docs/machine.md for the rules.
    policy
        A policy, or one as it is written: ``"fcfs+easy"``.
    strict
        Raise where a job is wider than the machine, instead of leaving it out.
    reservations
        Requests for cores in advance, for policies that plan: ``dynp(...)`` and ``order+plan``.

    Examples
    --------
    >>> from queuesmith import Workload, simulate
    >>> jobs = Workload(submit=[0, 0], runtime=[10, 10], walltime=[10, 10], cores=[1, 1])
    >>> simulate(jobs, cores=1).wait.tolist()
    [0, 10]
    """
    chosen = as_machine(workload, cluster, cores)
    return Replay(workload, chosen, policy, strict=strict, reservations=reservations).run()


def as_machine(
    workload: Workload, cluster: Cluster | NodeCluster | None, cores: int | None
) -> Cluster | NodeCluster:
    """Return the machine that is meant: one of nodes as it is, or else as `as_cluster` does."""
    checked_workload(workload)
    if isinstance(cluster, NodeCluster) and cores in (None, cluster.cores):
        return cluster
    if isinstance(cluster, NodeCluster):
        cluster = Cluster(cluster.cores, cluster.name)
    return as_cluster(workload, cluster, cores)


#: Replays that place jobs on nodes, and all others.
NodeRun = SlurmRun | NodeOrderRun | NodeRuleBasedRun | NodeSelfTuningRun
PoolRun = OrderRun | ScoredRun | PredictedRun | RuleBasedRun | SelfTuningRun
AnyRun = PoolRun | PythonRun | NodeRun


class Replay:
    """One replay, ready to run: in this thread or another, once.

    While it runs, ``progress`` tells how far it is and ``cancel`` stops it. With ``patience``, a
    rule base is given up (PatienceError) once passes that look at every waiting job have looked at
    so many for each job of the log.
    """

    def __init__(
        self,
        workload: Workload | Packed,
        cluster: Cluster | NodeCluster,
        policy: AnyPolicy | str,
        *,
        strict: bool = False,
        reservations: Sequence[Request] = (),
        patience: float | None = None,
    ) -> None:
        self.policy = as_policy(policy)
        self.cluster = cluster
        if isinstance(workload, Workload):
            packed = Packed(workload, cluster, strict=strict)
        else:
            packed = workload
        self.workload = packed.workload
        if self.policy.groups is not None:
            packed = packed.for_groups(self.policy.groups, self.policy)
        self._run: AnyRun | RunWithCancelled = _prepared_with_cancelled(
            packed, self.policy
        ) or _prepared(packed, self.policy, reservations, patience)

    @property
    def progress(self) -> float:
        """The share of jobs that have arrived so far, 0 to 1."""
        return min(float(self._run.counters[ARRIVED]) / len(self.workload), 1.0)

    def cancel(self) -> None:
        """Stop the replay at its next event; ``run`` then raises CancelledError."""
        self._run.counters[CANCEL] = 1

    def run(self) -> Schedule:
        """Replay all jobs and return the schedule."""
        began = time.perf_counter()
        start = self._run.run()
        seconds = time.perf_counter() - began
        if self._run.counters[CANCEL]:
            raise CancelledError(f"the replay of '{self.workload.name}' was cancelled.")
        return Schedule(
            self.workload,
            self.cluster,
            start,
            str(self.policy),
            seconds,
            # An order with a plan has chosen nothing, even where the planner replayed it.
            None if isinstance(self.policy, Policy) else self._run.decisions,
            self._run.answers,
            own_end=getattr(self._run, "own_end", None),
            pieces=self._pieces(),
        )

    def _pieces(self) -> Pieces | None:
        """Return the parts of jobs on nodes, where the machine has nodes."""
        on_nodes = isinstance(self.cluster, NodeCluster)
        placed = isinstance(self._run, NodeRun | RunWithCancelled)
        return self._run.pieces if on_nodes and placed else None  # type: ignore[union-attr]


def queues_cancelled(policy: AnyPolicy) -> bool:
    """Tell whether jobs that were cancelled while they waited stand in the queue of a policy.

    So they do under slurm(...) and under an order with a backfill; others leave them out.
    """
    return isinstance(policy, Slurm | Policy)


def _prepared_with_cancelled(packed: Packed, policy: AnyPolicy) -> RunWithCancelled | None:
    """Return a replay in whose queue stand jobs that were cancelled while they waited.

    None where there are none, or where the policy does not know such jobs.
    """
    merged = with_cancelled(packed.workload, packed.cluster) if queues_cancelled(policy) else None
    if merged is None:
        return None
    everybody = Packed(merged, packed.cluster)
    if isinstance(packed.cluster, Cluster):
        everybody = everybody.on_one_node()
    run = SlurmRun if isinstance(policy, Slurm) else NodeOrderRun
    return RunWithCancelled(run(everybody, policy), ran(merged))  # type: ignore[arg-type]


def _prepared(
    packed: Packed, policy: AnyPolicy, reservations: Sequence[Request], patience: float | None
) -> AnyRun:
    if isinstance(packed.cluster, Cluster) and (
        packed.cluster.maintenance or has_dependencies(packed.workload)
    ):
        packed = packed.on_one_node()
    if isinstance(packed.cluster, NodeCluster):
        return _prepared_on_nodes(packed, policy, reservations, patience)
    if reservations and isinstance(policy, Policy) and policy.backfill == "plan":
        check_plans_all(policy)
        # One candidate: a planner that has nothing to tune.
        policy = SelfTuning((policy.order,))
    if isinstance(policy, SelfTuning):
        return SelfTuningRun(packed, policy, reservations)
    if reservations:
        raise PolicyError(
            f"policy '{policy}' does not plan, so it cannot take reservations. "
            "Use dynp(...) or an order with the backfill plan, for example fcfs+plan."
        )
    if isinstance(policy, Slurm):
        return SlurmRun(packed, policy)
    if isinstance(policy, Committed):
        return committed_run(packed, policy)
    if isinstance(policy, Policy):
        return OrderRun(packed, policy)
    if isinstance(policy, OwnBackfill):
        return own_backfill_run(packed, policy)
    if isinstance(policy, Predicted):
        return PredictedRun(packed, policy)
    if isinstance(policy, RuleBased):
        return RuleBasedRun(packed, policy, patience)
    if isinstance(policy, SelfReplaying):
        return PythonRun(packed, policy)
    raise PolicyError(f"the engine does not know how to replay '{policy}'. Give another policy.")


def _prepared_on_nodes(
    packed: Packed, policy: AnyPolicy, reservations: Sequence[Request], patience: float | None
) -> NodeRun:
    machine = packed.cluster
    if reservations:
        raise PolicyError(
            f"reservations are made of cores, but machine '{machine.name}' has nodes. Leave them "
            f"out, or give the machine as cores={machine.cores}."
        )
    if isinstance(policy, Slurm):
        return SlurmRun(packed, policy)
    if isinstance(policy, Policy):
        return NodeOrderRun(packed, policy)
    if isinstance(policy, RuleBased):
        return NodeRuleBasedRun(packed, policy, patience)
    if isinstance(policy, SelfTuning):
        return NodeSelfTuningRun(packed, policy)
    raise PolicyError(
        f"policy '{policy}' knows a number of cores, but machine '{machine.name}' has nodes. Give "
        f"an order with a backfill, or the machine as cores={machine.cores}."
    )
