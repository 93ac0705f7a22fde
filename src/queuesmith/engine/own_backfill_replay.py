"""A replay under an order and a backfill of the user's own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from queuesmith.compiled import load
from queuesmith.engine.asked import asked_by
from queuesmith.engine.kernels.constants import BAD_JOB, BAD_TIME
from queuesmith.engine.kernels.own_backfill import run_own_backfill
from queuesmith.engine.kernels.replay import new_replay
from queuesmith.engine.overtaking import compile_overtaker
from queuesmith.engine.packing import Packed
from queuesmith.engine.scoring import compile_scorer, not_a_number, parameter_values
from queuesmith.policy.own_backfill import OwnBackfill
from queuesmith.schedule.reservations import RequestAnswer


class OwnBackfillRun:
    """The state of such a replay, and how it is run; the queue is scored at each pass."""

    decisions = None
    answers: tuple[RequestAnswer, ...] = ()

    def __init__(self, packed: Packed, policy: OwnBackfill) -> None:
        self._packed, self._policy = packed, policy
        self._scorer = compile_scorer(policy.order)
        self._overtaker = compile_overtaker(policy.backfill)
        load(run_own_backfill)
        self._replay = new_replay(
            packed.jobs,
            packed.cluster.cores,
            packed.usage([policy.order]),
            scored=True,
            asked=asked_by(packed.log, [policy.order, policy.backfill]),
        )

    @property
    def counters(self) -> NDArray[np.int64]:
        """The counters of the kernel."""
        return self._replay.counters  # type: ignore[no-any-return]

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts."""
        order, backfill = self._policy.order, self._policy.backfill
        run_own_backfill(
            self._replay,
            self._scorer,
            parameter_values(order),
            self._overtaker,
            parameter_values(backfill),
            self._packed.cluster.cores,
        )
        bad = int(self.counters[BAD_JOB])
        if bad >= 0:
            raise not_a_number(order, self._packed.jobs, bad, int(self.counters[BAD_TIME]))
        return self._replay.start  # type: ignore[no-any-return]
