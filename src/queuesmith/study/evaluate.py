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
from queuesmith.study.engines import Engine
from queuesmith.study.judgement import GIVEN_UP, Judgement, Standing
from queuesmith.study.pool import ReplayPool
from queuesmith.study.spreading import spread
from queuesmith.workload import Workload

#: A rule base is given up once its passes had to look at so many waiting jobs for each job of the
#: log: it lets the queue grow without end, and its replay would take minutes. On the scaled KTH log
#: random rule bases need 1 to 130; one that needed 240 was fifty times as bad as EASY.
PATIENCE = 300.0
#: But not before it has looked at so many in all, which takes a tenth of a second: on a short log
#: it is sooner replayed than anything else is compiled to judge it by.
SOON_DONE = 2e7


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
    engine
        Other machines, or other processes, that replay instead of threads of this one.
    """

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster | NodeCluster | None = None,
        objective: Objective | str = "awrt",
        *,
        workers: int | None = None,
        limits: Limits | None = None,
        engine: Engine | None = None,
    ) -> None:
        super().__init__(1 if engine is not None else workers)
        self._engine = engine
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
        if self._engine is None:
            judgements = self.each(self._judged, policies)
        else:
            judgements = self._judged_elsewhere(self._engine, policies)
        self.evaluations += len(judgements)
        return judgements

    def _judged_elsewhere(
        self, engine: Engine, policies: Sequence[AnyPolicy | str]
    ) -> list[Judgement]:
        """Let each worker judge some of the policies; the log travels once with each part."""
        engine.ready()
        size = max(1, -(-len(policies) // max(engine.workers, 1)))
        parts = [policies[i : i + size] for i in range(0, len(policies), size)]
        log = (self.workload, self.cluster, self.objective, self._limits)
        found = spread(engine, _judge_part, [(*log, list(part)) for part in parts])
        return [judgement for part in found for judgement in part]

    def admits(self, policy: AnyPolicy | str) -> bool:
        """Tell whether a policy keeps the limits, where there are any."""
        return self._limits is None or self._judged(policy).admitted

    def schedule(self, policy: AnyPolicy | str) -> Schedule:
        """Return the schedule that a policy makes."""
        return Replay(self._packed, self.cluster, as_policy(policy)).run()

    def _judged(self, policy: AnyPolicy | str) -> Judgement:
        patience = max(PATIENCE, SOON_DONE / len(self._packed.workload))
        replay = Replay(self._packed, self.cluster, policy, patience=patience)
        try:
            schedule = self.run(replay)
            shortfall = 0.0 if self._limits is None else self._limits.shortfall(schedule)
            if shortfall:
                return Judgement(Standing.BEYOND_LIMITS, shortfall)
            return Judgement(Standing.ADMITTED, self._sign * self.objective(schedule))
        except PatienceError:
            return GIVEN_UP


def _judge_part(
    asked: tuple[Workload, Cluster | NodeCluster, Objective, Limits | None, list[AnyPolicy | str]],
) -> list[Judgement]:
    workload, cluster, objective, limits, policies = asked
    with Evaluator(workload, cluster, objective, workers=1, limits=limits) as judge:
        return judge.judged(policies)
