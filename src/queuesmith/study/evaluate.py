"""What many policies are worth on one workload: replays on all cores, one number each."""

from __future__ import annotations

from collections.abc import Sequence

from queuesmith.base.errors import PatienceError
from queuesmith.cluster import Cluster, as_cluster
from queuesmith.engine.packing import Packed
from queuesmith.engine.simulate import Replay
from queuesmith.policy import AnyPolicy, as_policy
from queuesmith.schedule import Schedule
from queuesmith.schedule.guard import Limits
from queuesmith.schedule.objective import Objective
from queuesmith.study.pool import ReplayPool
from queuesmith.workload import Workload

#: A rule base is given up once its passes had to look at so many waiting jobs for each job of the
#: log: it lets the queue grow without end, and its replay would take minutes. On the scaled KTH log
#: rule bases by chance need 1 to 130; one that needed 240 was fifty times as bad as EASY.
PATIENCE = 300.0

#: What a policy is worth whose replay was given up: worse than any, yet a number.
HOPELESS = 1e30

#: What a policy is worth at least that is not admitted: worse than any that is, not yet hopeless.
BARRED = 1e29


def barred(shortfall: float) -> float:
    """Return what a policy is worth that is so far beyond its limits: up to twice ``BARRED``."""
    return BARRED * (1.0 + shortfall / (1.0 + shortfall))


class Evaluator(ReplayPool):
    """Values policies by an objective; the log is packed once and shared by all replays.

    Values come in the order of the policies and are the same on any number of workers. Use it as a
    context manager, so that no thread outlives it.

    Parameters
    ----------
    workload, cluster
        The jobs and the machine; by default the size that the log states.
    objective
        What the values are of; those of an objective that is better when higher are negated, so
        that lower is always better.
    workers
        How many replays run at the same time; by default one for each core of this computer.
    limits
        What a schedule must keep for its policy to be admitted; None where all are.
    """

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster | None = None,
        objective: Objective | str = "awrt",
        *,
        workers: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(workers)
        self.cluster = as_cluster(workload, cluster, None)
        self.objective = Objective(objective) if isinstance(objective, str) else objective
        self.evaluations = 0
        self._packed = Packed(workload, self.cluster)
        self._sign = -1.0 if self.objective.better == "higher" else 1.0
        self._limits = limits

    @property
    def workload(self) -> Workload:
        """The jobs that are replayed: those that fit the machine."""
        return self._packed.workload

    def values(self, policies: Sequence[AnyPolicy | str]) -> list[float]:
        """Return what each policy is worth; the lower, the better.

        A policy that is not admitted is worth ``BARRED`` or more, the more the further it is beyond
        the limits; a rule base whose replay is given up is worth ``HOPELESS``.
        """
        values = self.each(self._value, policies)
        self.evaluations += len(values)
        return values

    def admits(self, policy: AnyPolicy | str) -> bool:
        """Tell whether a policy keeps the limits, where there are any."""
        return self._limits is None or self._value(policy) < BARRED

    def schedule(self, policy: AnyPolicy | str) -> Schedule:
        """Return the schedule that a policy makes."""
        return Replay(self._packed, self.cluster, as_policy(policy)).run()

    def _value(self, policy: AnyPolicy | str) -> float:
        replay = Replay(self._packed, self.cluster, policy, patience=PATIENCE)
        try:
            schedule = self.run(replay)
            shortfall = 0.0 if self._limits is None else self._limits.shortfall(schedule)
            return barred(shortfall) if shortfall else self._sign * self.objective(schedule)
        except PatienceError:
            return HOPELESS
