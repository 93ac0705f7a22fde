"""A replay under one order and one backfill, on a machine of nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import WorkloadError
from queuesmith.cluster import NodeCluster
from queuesmith.compiled import load
from queuesmith.engine.asked import own_columns
from queuesmith.engine.kernels.constants import DEPTH, EASY, STARTED
from queuesmith.engine.kernels.node_order_replay import run_fixed_on_nodes, run_queue_on_nodes
from queuesmith.engine.kernels.node_state import (
    FIRST_PIECE,
    PIECE_CORES,
    PIECE_NODE,
    STUCK,
    NodeReplay,
)
from queuesmith.engine.kernels.strategy_queue import score_nobody
from queuesmith.engine.node_packing import node_replay
from queuesmith.engine.order_replay import BACKFILL_CODES, replay_under
from queuesmith.engine.packing import Packed, frozen
from queuesmith.engine.scoring import compile_scorer, parameter_values
from queuesmith.policy.policy import Policy
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.reservations import RequestAnswer
from queuesmith.workload import Workload


class NodeOrderRun:
    """The state of such a replay, and how it is run."""

    decisions = None
    answers: tuple[RequestAnswer, ...] = ()

    def __init__(self, packed: Packed, policy: Policy) -> None:
        assert isinstance(packed.cluster, NodeCluster)
        order = policy.order
        self._packed, self._order = packed, order
        self._backfill = BACKFILL_CODES[policy.backfill]
        self._rank = packed.rank(order, policy.keep) if order.fixed else None
        own = own_columns(packed.log, [order])
        self._scorer = score_nobody if order.fixed else compile_scorer(order, own)
        load(self._scorer)
        planned = self._backfill > EASY
        self._in_line = order.fixed and not planned
        load(run_fixed_on_nodes if self._in_line else run_queue_on_nodes)
        replay = replay_under(policy, packed, self._rank)
        self._state = node_replay(replay, packed, planned=planned, keeps=[policy.keep])
        if policy.depth is not None:
            self.counters[DEPTH] = policy.depth

    @property
    def counters(self) -> NDArray[np.int64]:
        """The counters of the kernel."""
        return self._state.counters  # type: ignore[no-any-return]

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts."""
        cluster, order = self._packed.cluster, self._order
        if self._in_line:
            run_fixed_on_nodes(self._state, self._rank, self._backfill)
        else:
            rank = np.empty(0, np.int64) if self._rank is None else self._rank
            values = frozen(rank), self._scorer, parameter_values(order)
            run_queue_on_nodes(self._state, *values, cluster.cores, self._backfill)
            self._packed.check_scores(order, self.counters, self._state.start)
        check_all_started(self._state, self._packed.workload, cluster.name)
        return self._state.start  # type: ignore[no-any-return]

    @property
    def pieces(self) -> Pieces:
        """The parts of jobs on nodes."""
        return pieces_on_nodes(self._state)


def check_all_started(state: NodeReplay, workload: Workload, machine: str) -> None:
    """Raise where a job was left that can never start."""
    if not state.counters[STUCK]:
        return
    started = np.isin(np.arange(len(workload)), state.started[: state.counters[STARTED]])
    name = workload.label("id", int(workload.id[int(np.argmin(started))]))
    raise WorkloadError(
        f"job {name} can never start on machine '{machine}': a limit or an outage without an end "
        "keeps it waiting. Correct the machine, or leave it out."
    )


def pieces_on_nodes(state: NodeReplay) -> Pieces:
    """Return the parts of jobs on nodes, with the cores that they asked for."""
    board = state.board
    count = board.count.astype(np.int64)
    job = np.repeat(np.arange(len(count)), count)
    place = np.arange(len(job)) - np.repeat(np.cumsum(count) - count, count)
    pieces = board.pieces[board.job[FIRST_PIECE][job] + place]
    start = state.start[job]
    end = start + state.jobs.runtime[job]
    return Pieces(job, start, end, pieces[:, PIECE_CORES], pieces[:, PIECE_NODE])
