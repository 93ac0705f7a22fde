"""A replay under one order and one backfill."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.compiled import load
from queuesmith.engine.asked import asked_by, own_columns
from queuesmith.engine.kernels.blocks import LONG, new_blocks
from queuesmith.engine.kernels.constants import (
    BAD_JOB,
    CANCEL,
    CONSERVATIVE,
    DEPTH,
    EASY,
    LIST,
    NOBODY,
    NONE,
    PLAN,
    TAIL,
    TOO_LONG,
)
from queuesmith.engine.kernels.order_replay import (
    run_changing,
    run_changing_conservative,
    run_changing_plan,
    run_fixed,
    run_fixed_conservative,
    run_fixed_plan,
)
from queuesmith.engine.kernels.plan import new_plan
from queuesmith.engine.kernels.replay import most_running, new_replay
from queuesmith.engine.kernels.reservations import new_reservations
from queuesmith.engine.kernels.rising_replay import run_rising
from queuesmith.engine.packing import Packed
from queuesmith.engine.scoring import compile_scorer, parameter_values
from queuesmith.policy.orders import rises
from queuesmith.policy.policy import Policy
from queuesmith.schedule.reservations import RequestAnswer

BACKFILL_CODES = {
    "none": NONE,
    "list": LIST,
    "easy": EASY,
    "conservative": CONSERVATIVE,
    "plan": PLAN,
}


def replay_under(policy: Policy, packed: Packed, rank: NDArray[np.int64] | None) -> Any:
    """Return the beginning of a replay under an order and a backfill: a kernel's bundle."""
    order, planned = policy.order, BACKFILL_CODES[policy.backfill] > EASY
    return new_replay(
        packed.jobs,
        packed.cluster.cores,
        packed.usage([order]),
        rank=None if planned else rank,
        keep=packed.keep(policy.keep),
        scored=not order.fixed,
        planned=planned,
        asked=asked_by(packed.log, [] if order.fixed else [order]),
    )


class OrderRun:
    """The state of such a replay, and how it is run."""

    decisions = None
    answers: tuple[RequestAnswer, ...] = ()

    def __init__(self, packed: Packed, policy: Policy) -> None:
        order = policy.order
        self._packed, self._order = packed, order
        self._rank = packed.rank(order, policy.keep) if order.fixed else None
        own = own_columns(packed.log, [order])
        self._scorer = None if order.fixed else compile_scorer(order, own)
        self._entry = _entry(order.fixed, policy.backfill)
        load(self._entry)
        self._manner = _manner(packed, policy.backfill)
        self._replay = replay_under(policy, packed, self._rank)
        if policy.depth is not None:
            self.counters[DEPTH] = policy.depth
        if self._entry is run_changing and rises(order):
            self._cut_long_queues()

    @property
    def counters(self) -> NDArray[np.int64]:
        """The counters of the kernel."""
        return self._replay.counters  # type: ignore[no-any-return]

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts."""
        if self._rank is not None:
            self._entry(self._replay, self._rank, self._manner)
            return self._replay.start  # type: ignore[no-any-return]
        order = self._order
        scoring = self._scorer, parameter_values(order), self._packed.cluster.cores
        self._entry(self._replay, *scoring, self._manner)
        while self._queue_is_long():
            load(run_rising)
            run_rising(self._replay, *scoring, self._manner, self._blocks)
            self._entry(self._replay, *scoring, self._manner)
        self._packed.check_scores(order, self.counters, self._replay.start)
        return self._replay.start  # type: ignore[no-any-return]

    def _cut_long_queues(self) -> None:
        """Let long queues be cut into blocks."""
        self._blocks = new_blocks(len(self._replay.start), len(self._replay.usage.level))
        self.counters[TOO_LONG] = LONG

    def _queue_is_long(self) -> bool:
        """Tell whether the replay stopped since its queue had better be cut into blocks."""
        counters = self.counters
        stopped = counters[CANCEL] != 0 or counters[BAD_JOB] != NOBODY
        return not stopped and bool(counters[TAIL] >= counters[TOO_LONG])


def _entry(fixed: bool, backfill: str) -> Any:
    """Return the entry for an order that is fixed or changes, and a backfill."""
    if backfill == "plan":
        return run_fixed_plan if fixed else run_changing_plan
    if backfill == "conservative":
        return run_fixed_conservative if fixed else run_changing_conservative
    return run_fixed if fixed else run_changing


def _manner(packed: Packed, backfill: str) -> Any:
    """Return what an entry takes to know how passes are made: room for a plan, or a number."""
    jobs, cores = packed.jobs, packed.cluster.cores
    running = most_running(jobs, cores)
    if backfill == "plan":
        return new_plan(len(jobs.submit), running, cores)
    if backfill == "conservative":
        return new_reservations(jobs.cores, jobs.walltime, running, cores)
    return BACKFILL_CODES[backfill]
