"""Whether replays of a running cluster can be believed: Slurm against its own accounting."""

from __future__ import annotations

from queuesmith.base.errors import QueuesmithError
from queuesmith.cluster.fitting import fitting
from queuesmith.engine.simulate import simulate
from queuesmith.live.commands import SlurmError
from queuesmith.live.state import ClusterState
from queuesmith.schedule import history as really
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.workload import Workload

#: Of fewer jobs no grade is given, and of more the last so many.
FEWEST, MOST = 100, 2000


def grade_of(state: ClusterState, past: Workload | None) -> Fidelity | None:
    """Return how well a replay of Slurm agrees with the past; None where too little is known."""
    if past is None or len(past) < FEWEST:
        return None
    try:
        jobs = fitting(past.select(range(max(len(past) - MOST, 0), len(past))), state.machine)
        real = really(jobs, state.machine)
        if real is None or len(jobs) < FEWEST:
            return None
        return Fidelity(real, simulate(jobs, state.machine, "slurm()"))
    except QueuesmithError:
        return None


def check_grade(judged: Fidelity | None) -> None:
    """Raise where replays of the cluster must not be believed."""
    if judged is not None and not judged.grade.trustworthy:
        raise SlurmError(
            f"a replay of this cluster's last {len(judged.history):,} jobs has the fidelity grade "
            f"{judged.grade}, so what a policy gains in replays need not come true; nothing is "
            "changed. See queuesmith fidelity, or steer with --any-grade."
        )
