"""What many policies are worth on one workload: replays on all cores, one judgement each."""

from __future__ import annotations

from collections.abc import Sequence

from queuesmith.base.errors import PatienceError
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.engine.packing import Packed
from queuesmith.engine.simulate import Replay, as_machine
from queuesmith.policy import AnyPolicy, as_policy
from queuesmith.schedule import Schedule
from queuesmith.schedule.guard import Limits
from queuesmith.schedule.objective import Objective
from queuesmith.study.judgement import GIVEN_UP, Judgement, Standing
from queuesmith.study.pool import ReplayPool
from queuesmith.workload import Workload

#: A rule base is given up once its passes had to look at so many waiting jobs for each job of the
#: log: it lets the queue grow without end, and its replay would take minutes. On the scaled KTH log
#: rule bases by chance need 1 to 130; one that needed 240 was fifty times as bad as EASY.
PATIENCE = 300.0


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
        cluster: Cluster | NodeCluster | None = None,
        objective: Objective | str = "awrt",
        *,
        workers: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(workers)
        self.cluster = as_machine(workload, cluster, None)
        self.objective = Objective(objective) if isinstance(objective, str) else objective
        self.evaluations = 0
        self._packed = Packed(workload, self.cluster)
        self._sign = -1.0 if self.objective.better == "higher" else 1.0
        self._limits = limits

    @property
    def workload(self) -> Workload:
        """The jobs that are replayed: those that fit the machine."""
        return self._packed.workload

    def judged(self, policies: Sequence[AnyPolicy | str]) -> list[Judgement]:
        """Return what each policy is worth: its loss, where it keeps the limits."""
        judgements = self.each(self._judged, policies)
        self.evaluations += len(judgements)
        return judgements

    def admits(self, policy: AnyPolicy | str) -> bool:
        """Tell whether a policy keeps the limits, where there are any."""
        return self._limits is None or self._judged(policy).admitted

    def schedule(self, policy: AnyPolicy | str) -> Schedule:
        """Return the schedule that a policy makes."""
        return Replay(self._packed, self.cluster, as_policy(policy)).run()

    def _judged(self, policy: AnyPolicy | str) -> Judgement:
        replay = Replay(self._packed, self.cluster, policy, patience=PATIENCE)
        try:
            schedule = self.run(replay)
            shortfall = 0.0 if self._limits is None else self._limits.shortfall(schedule)
            if shortfall:
                return Judgement(Standing.BEYOND_LIMITS, shortfall)
            return Judgement(Standing.ADMITTED, self._sign * self.objective(schedule))
        except PatienceError:
            return GIVEN_UP
