"""A replay under one order and one backfill."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from queuesmith.compiled import load
from queuesmith.engine.asked import asked_by
from queuesmith.engine.kernels.constants import (
    BAD_JOB,
    BAD_TIME,
    CONSERVATIVE,
    DEPTH,
    EASY,
    LIST,
    NONE,
    PLAN,
)
from queuesmith.engine.kernels.order_replay import run_changing, run_fixed
from queuesmith.engine.kernels.replay import new_replay
from queuesmith.engine.packing import Packed
from queuesmith.engine.scoring import compile_scorer, not_a_number, parameter_values
from queuesmith.policy.policy import Policy
from queuesmith.schedule.reservations import RequestAnswer

BACKFILL_CODES = {
    "none": NONE,
    "list": LIST,
    "easy": EASY,
    "conservative": CONSERVATIVE,
    "plan": PLAN,
}


class OrderRun:
    """The state of such a replay, and how it is run."""

    decisions = None
    answers: tuple[RequestAnswer, ...] = ()

    def __init__(self, packed: Packed, policy: Policy) -> None:
        order = policy.order
        self._packed, self._order = packed, order
        self._backfill = BACKFILL_CODES[policy.backfill]
        self._rank = packed.rank(order, policy.keep) if order.fixed else None
        self._scorer = None if order.fixed else compile_scorer(order)
        load(run_fixed if order.fixed else run_changing)
        planned = self._backfill > EASY
        self._replay = new_replay(
            packed.jobs,
            packed.cluster.cores,
            packed.usage([order]),
            rank=None if planned else self._rank,
            keep=packed.keep(policy.keep),
            scored=not order.fixed,
            planned=planned,
        )
        asked = asked_by(packed.log, [] if order.fixed else [order])
        self._replay = self._replay._replace(queue=self._replay.queue._replace(asked=asked))
        if policy.depth is not None:
            self.counters[DEPTH] = policy.depth

    @property
    def counters(self) -> NDArray[np.int64]:
        """The counters of the kernel."""
        return self._replay.counters  # type: ignore[no-any-return]

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts."""
        if self._rank is not None:
            run_fixed(self._replay, self._rank, self._backfill)
            return self._replay.start  # type: ignore[no-any-return]
        order = self._order
        run_changing(
            self._replay,
            self._scorer,
            parameter_values(order),
            self._packed.cluster.cores,
            self._backfill,
        )
        bad = int(self.counters[BAD_JOB])
        if bad >= 0:
            raise not_a_number(order, self._packed.jobs, bad, int(self.counters[BAD_TIME]))
        return self._replay.start  # type: ignore[no-any-return]
