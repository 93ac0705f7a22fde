"""One scheduling pass on nodes by one of several strategies."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import FROZEN_INT_TABLE, FROZEN_REAL_TABLE, SMALL_INTS
from queuesmith.engine.kernels.constants import DEPTH, NEVER, PLAN, STARTED, WAITING, WORK
from queuesmith.engine.kernels.line import LINES_TYPE, Lines, line_of
from queuesmith.engine.kernels.node_future import reserve_nothing
from queuesmith.engine.kernels.node_passes import (
    start_as_planned_on_nodes,
    start_if_it_fits,
    start_in_line_on_nodes,
    start_in_queue_on_nodes,
)
from queuesmith.engine.kernels.node_state import NODE_REPLAY_TYPE, NodeReplay, over_limit
from queuesmith.engine.kernels.strategy_queue import queue_sorted, take_out_started


class NodeStrategyQueue(NamedTuple):
    """The waiting jobs of a policy that chooses, as for a pool of cores, on nodes."""

    replay: NodeReplay
    lines: Lines
    following: Any
    preceding: Any
    strategies: Any
    parameters: Any


NODE_STRATEGY_QUEUE_TYPE = types.NamedTuple(
    [NODE_REPLAY_TYPE, LINES_TYPE, SMALL_INTS, SMALL_INTS, FROZEN_INT_TABLE, FROZEN_REAL_TABLE],
    NodeStrategyQueue,
)


@kernel
def start_by_strategy_on_nodes(pool, strategy, score_queue, now, cores):
    """Run one scheduling pass by one of the strategies; tells whether it could be done."""
    state, counters = pool.replay, pool.replay.counters
    order, backfill = pool.strategies[strategy, 0], pool.strategies[strategy, 1]
    before = counters[STARTED]
    if backfill == PLAN or order < 0:
        counters[WORK] += counters[WAITING]
        if not queue_sorted(pool, order, score_queue, now, cores):
            return False
        if backfill == PLAN:
            counters[DEPTH] = pool.strategies[strategy, 2]
            start_as_planned_on_nodes(state, now)
        else:
            start_in_queue_on_nodes(state, now, backfill)
    else:
        start_in_line_on_nodes(state, line_of(pool.lines, order), order, now, backfill)
    take_out_started(pool, before)
    return True


@kernel
def start_the_only_one(pool, now):
    """Start the only job that waits, where it fits: whatever is chosen, it would start."""
    state, before = pool.replay, pool.replay.counters[STARTED]
    job = np.int64(pool.following[len(pool.following) - 1])
    reserve_nothing(state.counters)
    if not over_limit(state, job):
        start_if_it_fits(state, job, now, np.int64(NEVER))
    take_out_started(pool, before)
