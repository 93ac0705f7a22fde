"""The grade of replays for commands: today's policy against what really happened."""

from __future__ import annotations

from collections.abc import Sequence
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
        A replay, of which only jobs and machine count where another policy really ran.
    today
        The policy that really ran, where it is stated.
    """
    machine: Cluster | NodeCluster = replayed.cluster  # type: ignore[assignment]  # as replayed
    return graded_log(replayed.workload, machine, today, known=[replayed])


def graded_log(
    workload: Workload,
    machine: Cluster | NodeCluster,
    today: str | None,
    *,
    known: Sequence[Schedule] = (),
) -> Fidelity | None:
    """Replay a log under the policy that really ran, and grade that.

    Parameters
    ----------
    workload, machine
        The jobs, all of which fit, and the machine.
    today
        The policy that really ran, where it is stated.
    known
        Replays that there are already.
    """
    from queuesmith.report.compare import todays_policy
    from queuesmith.schedule import history
    from queuesmith.schedule.fidelity import Fidelity
    from queuesmith.study import simulate_many

    real = history(workload, machine)
    if real is None:
        return None
    policy = todays_policy(machine, today)
    found = next((each for each in known if each.policy == str(policy)), None)
    return Fidelity(real, found or simulate_many(workload, machine, [policy])[0])
