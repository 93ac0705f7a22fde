"""A replay under a policy that replays by itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster import Cluster
from queuesmith.engine.kernels.constants import ARRIVED, CANCEL, COUNTERS
from queuesmith.engine.packing import Packed
from queuesmith.policy.any_policy import SelfReplaying
from queuesmith.schedule import Schedule
from queuesmith.schedule.reservations import RequestAnswer
from queuesmith.schedule.verify import verify


class PythonRun:
    """The state of such a replay, which is also what watches the policy."""

    decisions = None
    answers: tuple[RequestAnswer, ...] = ()

    def __init__(self, packed: Packed, policy: SelfReplaying) -> None:
        self._packed, self._policy = packed, policy
        self.counters: NDArray[np.int64] = np.zeros(COUNTERS, np.int64)

    @property
    def cancelled(self) -> bool:
        """Whether the replay should stop."""
        return bool(self.counters[CANCEL])

    def arrived(self, count: int) -> None:
        """Take note that so many jobs have arrived so far."""
        self.counters[ARRIVED] = count

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts; a policy from elsewhere is not trusted."""
        workload, cluster = self._packed.workload, self._packed.cluster
        assert isinstance(cluster, Cluster)  # machines of nodes are refused before
        start = self._policy.replay(workload, cluster, self)
        if not self.cancelled:
            verify(Schedule(workload, cluster, start, str(self._policy)))
        return start
