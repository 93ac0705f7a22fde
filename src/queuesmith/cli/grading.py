"""The grade of replays for commands: today's policy against what really happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.schedule import Schedule
    from queuesmith.schedule.fidelity import Fidelity
    from queuesmith.workload import Workload


def grade(replayed: Schedule, today: str | None) -> Fidelity | None:
    """Grade the machine of a replay; None where the log does not tell what really happened.

    Parameters
    ----------
    replayed
        A replay; it is what is graded unless another policy is known to have really run.
    today
        The policy that really ran, where it is stated.
    """
    from queuesmith.report.compare import todays_policy
    from queuesmith.schedule import history
    from queuesmith.schedule.fidelity import Fidelity
    from queuesmith.study import simulate_many

    real = history(replayed.workload, replayed.cluster)
    if real is None:
        return None
    policy = todays_policy(replayed.cluster, today)  # type: ignore[arg-type]  # as it was replayed
    if policy is not None and str(policy) != replayed.policy:
        machine: Cluster | NodeCluster = replayed.cluster  # type: ignore[assignment]
        replayed = simulate_many(replayed.workload, machine, [policy])[0]
    return Fidelity(real, replayed)


def graded_log(
    workload: Workload, machine: Cluster | NodeCluster, today: str | None, default: str
) -> Fidelity | None:
    """Replay a log under the policy that really ran, or else under a default, and grade that."""
    from queuesmith.report.compare import todays_policy
    from queuesmith.schedule import history
    from queuesmith.study import simulate_many

    if history(workload, machine) is None:
        return None
    policy = todays_policy(machine, today) or default
    return grade(simulate_many(workload, machine, [policy])[0], str(policy))
