"""The grade of a machine: the policy that really ran on it, held against what really happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from queuesmith.base.checks import whole_number
from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.cluster.fitting import jobs_that_fit
from queuesmith.cluster.inference.placed import as_placed as bound_as_placed
from queuesmith.engine.simulate import as_machine
from queuesmith.policy import AnyPolicy, Slurm, as_policy
from queuesmith.schedule import Schedule, history
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.study.constraints import Constraints, with_constraints
from queuesmith.study.runner import simulate_many
from queuesmith.workload import Workload


def fidelity(
    workload: Workload,
    cluster: Cluster | NodeCluster | None = None,
    policy: AnyPolicy | str | None = None,
    *,
    cores: int | None = None,
    draws: int = 1,
    as_placed: bool = False,
    constraints: str | Path | None = None,
    strict: bool = False,
    whole: Workload | None = None,
    progress: Callable[[float], None] | None = None,
) -> Fidelity:
    """Replay the policy that really ran, and grade how well that agrees with what happened.

    Parameters
    ----------
    workload
        A log that tells when its jobs really began.
    cluster, cores, strict
        The machine, as for ``simulate``.
    policy
        The policy that really ran; by default ``slurm()`` on a machine of nodes, else
        ``fcfs+easy``.
    draws
        Replay ``slurm()`` so often, each time looking at other instants, and grade the mean wait
        of each job: no log tells when Slurm looked.
    as_placed
        Let each job run only on nodes of the kinds that it really ran on, for logs that do not
        tell what jobs were bound to.
    constraints, whole
        As for ``with_constraints``; as logged by default where jobs are placed as they were.
    progress
        Called with the share of the replays that is done.
    """
    whole_number("the number of draws", draws, 1, "Give for example 16.")
    machine = as_machine(workload, cluster, cores)
    chosen = todays_policy(machine, policy)
    jobs = jobs_that_fit(workload, machine, strict=strict)
    if as_placed:
        jobs = _bound(jobs, machine)
        constraints = Constraints.AS_LOGGED if constraints is None else constraints
    known = with_constraints(jobs, machine, constraints, today=chosen, whole=whole)
    known = jobs_that_fit(known, machine, strict=strict)
    policies = _drawn(chosen, jobs, machine, draws)
    judged = _judged(jobs, machine, policies, progress)
    if known is jobs:
        return judged
    return replace(_judged(known, machine, policies, progress), as_logged=judged)


def _judged(
    jobs: Workload,
    machine: Cluster | NodeCluster,
    policies: Sequence[AnyPolicy],
    progress: Callable[[float], None] | None,
) -> Fidelity:
    real = history(jobs, machine)
    if real is None:
        raise WorkloadError(
            f"the log '{jobs.name}' does not tell when its jobs really began, so no replay of "
            "it can be graded. Give a log with starts or waits."
        )
    replayed, *others = simulate_many(jobs, machine, policies, progress=progress)
    return Fidelity(real, replayed, tuple(others))


def grade_of(
    workload: Workload,
    machine: Cluster | NodeCluster,
    today: AnyPolicy | str | None = None,
    *,
    known: Sequence[Schedule] = (),
) -> Fidelity | None:
    """Grade a machine for whoever replays on it; None where no log tells what really happened.

    Parameters
    ----------
    workload, machine
        The jobs, all of which fit, and the machine.
    today
        The policy that really ran, where it is stated.
    known
        Replays that there are already.
    """
    real = history(workload, machine)
    if real is None:
        return None
    policy = todays_policy(machine, today)
    found = next((each for each in known if each.policy == str(policy)), None)
    return Fidelity(real, found or simulate_many(workload, machine, [policy])[0])


def todays_policy(machine: Cluster | NodeCluster, today: AnyPolicy | str | None) -> AnyPolicy:
    """Return the policy that really ran: as stated, else Slurm on nodes and EASY on a pool."""
    if today is not None:
        return as_policy(today)
    return as_policy("slurm()" if isinstance(machine, NodeCluster) else "fcfs+easy")


def _bound(jobs: Workload, machine: Cluster | NodeCluster) -> Workload:
    """Return jobs that run only where they ran."""
    if not isinstance(machine, NodeCluster):
        raise UsageError(
            f"jobs can be placed as they were only on nodes, but the machine '{machine.name}' is a "
            "number of cores. Leave --as-placed (as_placed) out, or give a --machine with nodes."
        )
    return bound_as_placed(jobs, machine)


def _drawn(
    chosen: AnyPolicy, jobs: Workload, machine: Cluster | NodeCluster, draws: int
) -> list[AnyPolicy]:
    """Return the policies to replay: the chosen one, and as often as asked with other clocks."""
    if draws == 1:
        return [chosen]
    if not isinstance(chosen, Slurm) or not isinstance(machine, NodeCluster):
        raise UsageError(
            f"{so_many(draws, 'draw replays', 'draws replay')} with other clocks of Slurm, but "
            f"{chosen} has no clocks. Leave --draws (draws) out, or give a --machine with a "
            "slurm.conf."
        )
    first = int(jobs.submit[0]) + (jobs.epoch or 0)
    return [*chosen.with_other_clocks(machine.settings, first, draws)]
