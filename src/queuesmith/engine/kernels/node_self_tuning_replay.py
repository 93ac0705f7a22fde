"""Replays on nodes under the self-tuning planner."""

import numpy as np
from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.engine.kernels.constants import CANCEL, NEVER, TAIL, WAITING
from queuesmith.engine.kernels.node_events import (
    arrive_on_nodes,
    finish,
    next_instant_on_nodes,
    release_on_nodes,
)
from queuesmith.engine.kernels.node_future import book, reserve_nothing
from queuesmith.engine.kernels.node_passes import earliest_for, start_as_planned_on_nodes
from queuesmith.engine.kernels.node_state import BOOKED_ENDS, over_limit
from queuesmith.engine.kernels.node_strategy_queue import NODE_STRATEGY_QUEUE_TYPE
from queuesmith.engine.kernels.replay import SCORER_TYPE
from queuesmith.engine.kernels.self_tuning_replay import (
    PLAN_VALUE_TYPE,
    add_response,
    end_measures,
    self_tuning_type,
    start_by_plan,
    still_busy,
    tune_step,
)
from queuesmith.engine.kernels.strategy_queue import join_pool

NODE_SELF_TUNING_TYPE = self_tuning_type(NODE_STRATEGY_QUEUE_TYPE)


@kernel
def measure_plan_on_nodes(tuning, now, cores):
    """Plan all jobs that are over no limit, in queue order, and measure the plan by the walltimes.

    Tells whether any was planned.
    """
    state, measures = tuning.pool.replay, tuning.measures
    jobs, queue, counters = state.jobs, state.queue, state.counters
    widths, areas, count = 0.0, 0.0, 0
    horizon, busy = still_busy(state, now)
    measures[:] = 0.0
    counters[BOOKED_ENDS] = 0
    for i in range(counters[TAIL]):
        job, walltime, width = np.int64(queue.job[i]), queue.walltime[i], queue.cores[i]
        if over_limit(state, job):
            continue
        begin, nodes = earliest_for(state, job, now)
        if begin == NEVER:
            continue
        book(state.board, job, begin, walltime, nodes)
        count += 1
        response = float(begin + walltime - jobs.submit[job])
        widths += width
        areas += float(walltime) * width
        horizon = max(horizon, begin + walltime)
        add_response(measures, response, walltime, width)
    counters[BOOKED_ENDS] = 0
    reserve_nothing(counters)
    if count == 0:
        return False
    end_measures(measures, widths, areas, count, busy, horizon - now, cores)
    return True


@kernel
def start_planned_on_nodes(tuning, now):
    """Plan the queue in its order and start those planned for now."""
    start_as_planned_on_nodes(tuning.pool.replay, now)


@entry(
    void(
        NODE_SELF_TUNING_TYPE,
        types.FunctionType(SCORER_TYPE),
        types.FunctionType(PLAN_VALUE_TYPE),
        int64,
        int64,
    )
)
def run_self_tuning_on_nodes(tuning, score_queue, plan_value, cores, until):
    """Replay on nodes under the self-tuning planner, up to but not including an instant."""
    state, counters, going = tuning.pool.replay, tuning.pool.replay.counters, True
    now = next_instant_on_nodes(state)
    while going and now < until and counters[CANCEL] == 0:
        released = release_on_nodes(state, now)
        count = arrive_on_nodes(state, now)
        for i in range(count):
            join_pool(tuning.pool, state.newcomers[i])
        is_step = count > 0 or (released and tuning.settings[2] != 0)
        if is_step and counters[WAITING] > 0:
            going = tune_step(tuning, measure_plan_on_nodes, score_queue, plan_value, now, cores)
        going = going and start_by_plan(tuning, start_planned_on_nodes, score_queue, now, cores)
        now = next_instant_on_nodes(state)
    finish(state)
