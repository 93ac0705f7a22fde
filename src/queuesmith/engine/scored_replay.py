"""A replay in which the whole queue is scored at each pass, whatever the order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.compiled import load
from queuesmith.engine.asked import asked_by, own_columns
from queuesmith.engine.kernels.committed_replay import run_committed
from queuesmith.engine.kernels.own_backfill import run_own_backfill
from queuesmith.engine.kernels.replay import new_replay
from queuesmith.engine.overtaking import compile_overtaker
from queuesmith.engine.packing import Packed
from queuesmith.engine.scoring import compile_scorer, parameter_values
from queuesmith.policy.committed import Committed
from queuesmith.policy.function import PolicyFunction
from queuesmith.policy.order import Order
from queuesmith.policy.own_backfill import OwnBackfill
from queuesmith.schedule.reservations import RequestAnswer


class ScoredRun:
    """The state of such a replay, and how a kernel runs it.

    Parameters
    ----------
    packed
        The jobs and the machine.
    order
        Who comes first.
    kernel
        What replays: it takes the state, the scoring loop with its parameters, and ``further``.
    further
        What this kernel takes beside them.
    functions
        Other functions of the policy that may look at what jobs ask for.
    """

    decisions = None
    answers: tuple[RequestAnswer, ...] = ()

    def __init__(
        self,
        packed: Packed,
        order: Order,
        kernel: Any,
        further: tuple[Any, ...],
        functions: tuple[PolicyFunction, ...] = (),
    ) -> None:
        self._packed, self._order = packed, order
        self._kernel, self._further = kernel, further
        self._scorer = compile_scorer(order, own_columns(packed.log, [order, *functions]))
        load(kernel)
        self._replay = new_replay(
            packed.jobs,
            packed.cluster.cores,
            packed.usage([order]),
            scored=True,
            asked=asked_by(packed.log, [order, *functions]),
        )

    @property
    def counters(self) -> NDArray[np.int64]:
        """The counters of the kernel."""
        return self._replay.counters  # type: ignore[no-any-return]

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts."""
        order = self._order
        self._kernel(self._replay, self._scorer, parameter_values(order), *self._further)
        self._packed.check_scores(order, self.counters, self._replay.start)
        return self._replay.start  # type: ignore[no-any-return]


def committed_run(packed: Packed, policy: Committed) -> ScoredRun:
    """Return a replay under RLScheduler's rules."""
    early = policy.backfill == "early"
    return ScoredRun(packed, policy.order, run_committed, (packed.cluster.cores, early))


def own_backfill_run(packed: Packed, policy: OwnBackfill) -> ScoredRun:
    """Return a replay under an order and a backfill of the user's own."""
    backfill = policy.backfill
    overtaker = compile_overtaker(backfill, own_columns(packed.log, [policy.order, backfill]))
    further = (overtaker, parameter_values(backfill), packed.cluster.cores)
    return ScoredRun(packed, policy.order, run_own_backfill, further, (backfill,))
