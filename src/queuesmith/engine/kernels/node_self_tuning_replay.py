"""Replays on nodes under the self-tuning planner."""

import numpy as np
from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.engine.kernels.constants import (
    ACTIVE,
    CANCEL,
    DECISIONS,
    FREE,
    NEVER,
    STARTED,
    TAIL,
    WAITING,
)
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
    choose_candidate,
    end_measures,
    self_tuning_type,
    still_busy,
)
from queuesmith.engine.kernels.strategy_queue import join_pool, queue_sorted, take_out_started

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
def tune_step_on_nodes(tuning, score_queue, plan_value, now, cores):
    """Plan under each candidate, value the plans, and make the decider's choice the active one.

    Tells whether it could be done.
    """
    pool, counters = tuning.pool, tuning.pool.replay.counters
    step = counters[DECISIONS]
    for candidate in range(len(pool.strategies)):
        if not queue_sorted(pool, pool.strategies[candidate, 0], score_queue, now, cores):
            return False
        value = 0.0
        if measure_plan_on_nodes(tuning, now, cores):
            value = plan_value(tuning.measures)
        # A plan that the metric cannot value is no good: it counts as the worst.
        tuning.value[step, candidate] = value if value == value else np.inf
    choose_candidate(tuning, now)
    return True


@kernel
def start_by_plan_on_nodes(tuning, score_queue, now, cores):
    """Plan all waiting jobs under the active candidate and start those planned for now.

    Tells whether it could be done.
    """
    pool, counters = tuning.pool, tuning.pool.replay.counters
    if counters[WAITING] == 0 or pool.lines.cores[0, 1] > counters[FREE]:
        return True
    order, before = pool.strategies[counters[ACTIVE], 0], counters[STARTED]
    if not queue_sorted(pool, order, score_queue, now, cores):
        return False
    start_as_planned_on_nodes(pool.replay, now)
    take_out_started(pool, before)
    return True


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
            going = tune_step_on_nodes(tuning, score_queue, plan_value, now, cores)
        going = going and start_by_plan_on_nodes(tuning, score_queue, now, cores)
        now = next_instant_on_nodes(state)
    finish(state)
