"""Whether replays of a running cluster can be believed: Slurm against its own accounting."""

from __future__ import annotations

from collections.abc import Sequence

from queuesmith.base.errors import QueuesmithError
from queuesmith.base.words import so_many
from queuesmith.cluster.fitting import fitting
from queuesmith.engine.simulate import simulate
from queuesmith.live.commands import SlurmError
from queuesmith.live.state import ClusterState
from queuesmith.policy import AnyPolicy, as_policy
from queuesmith.schedule import Schedule
from queuesmith.schedule import history as really
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.workload import Workload

#: How Slurm orders its queue by itself.
STOCK = "slurm()"
#: Of fewer jobs no grade is given, and of more the last so many.
FEWEST, MOST = 100, 2000


def grade_of(
    state: ClusterState, past: Workload | None, policies: Sequence[AnyPolicy | str] = (STOCK,)
) -> Fidelity | None:
    """Return how well the best replay of the past agrees with it; None where too little is known.

    Parameters
    ----------
    state
        The cluster.
    past
        Jobs that have ended, as the accounting tells them.
    policies
        What may have ordered the queue meanwhile: Slurm itself, or a policy that steered it.
    """
    if past is None or len(past) < FEWEST:
        return None
    try:
        jobs = fitting(past.select(range(max(len(past) - MOST, 0), len(past))), state.machine)
        real = really(jobs, state.machine)
    except QueuesmithError:
        return None
    if real is None or len(jobs) < FEWEST:
        return None
    judged = [each for policy in policies if (each := _judged(state, jobs, real, policy))]
    return min(judged, key=lambda each: each.grade, default=None)


def _judged(
    state: ClusterState, jobs: Workload, real: Schedule, policy: AnyPolicy | str
) -> Fidelity | None:
    try:
        policy = as_policy(policy)
        known = jobs if policy.groups is None else policy.groups.grouped(jobs)
        return Fidelity(real, simulate(known, state.machine, policy))
    except QueuesmithError:  # such as a policy that cannot be replayed on nodes
        return None


def check_grade(judged: Fidelity | None) -> None:
    """Raise where replays of the cluster must not be believed."""
    if judged is not None and not judged.grade.trustworthy:
        raise SlurmError(
            f"a replay of this cluster's last {so_many(len(judged.history), 'job')} has the "
            f"fidelity grade {judged.grade}, so what a policy gains in replays need not come true; "
            "nothing is changed. See queuesmith fidelity, or steer with --any-grade."
        )
