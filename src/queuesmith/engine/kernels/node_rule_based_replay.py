"""Replays on nodes under a rule base."""

from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.engine.kernels.constants import (
    CANCEL,
    FREE,
    MOST_WORK,
    NEVER,
    STARTED,
    WAITING,
    WORK,
)
from queuesmith.engine.kernels.line import (
    PATIENCE,
    let_impatient_pass,
    line_of,
    pass_if_impatient,
)
from queuesmith.engine.kernels.node_events import (
    arrive_on_nodes,
    finish,
    next_instant_on_nodes,
    nodes_come_back,
)
from queuesmith.engine.kernels.node_state import end_on_nodes
from queuesmith.engine.kernels.node_strategy_queue import (
    NODE_STRATEGY_QUEUE_TYPE,
    start_by_strategy_on_nodes,
    start_the_only_one,
)
from queuesmith.engine.kernels.replay import SCORER_TYPE
from queuesmith.engine.kernels.rule_based_replay import (
    DESCRIBE_TYPE,
    choose_strategy,
    complete_tallied,
    rule_based_type,
    tally_waiting,
)
from queuesmith.engine.kernels.strategy_queue import join_pool

NODE_RULE_BASED_TYPE = rule_based_type(NODE_STRATEGY_QUEUE_TYPE)


@kernel
def let_impatient_pass_on_nodes(ruled, newcomers, now):
    """Let all whose patience is over wait among the favoured, in all lines where it ends.

    A job may come long after it was submitted, so newcomers are looked at one by one.
    """
    pool, upkeep = ruled.pool, ruled.upkeep
    jobs, lines = pool.replay.jobs, pool.lines
    for k in range(len(lines.rank)):
        line, rank = line_of(lines, k), lines.rank[k]
        if line.keep[PATIENCE] != NEVER:
            for i in range(newcomers):
                job = pool.replay.newcomers[i]
                pass_if_impatient(jobs, line, rank[job], job, now)
            upkeep.oldest[k], _ = let_impatient_pass(jobs, line, rank, upkeep.oldest[k], now)


@kernel
def start_by_rules_on_nodes(ruled, describe, score_queue, now, cores):
    """Let the rules choose a strategy and run its pass; tells whether it could be done.

    Nothing is chosen where no waiting job fits by its cores, or where only one waits and no
    strategy keeps cores free.
    """
    pool, counters, done = ruled.pool, ruled.pool.replay.counters, True
    if counters[WAITING] == 0 or pool.lines.cores[0, 1] > counters[FREE]:
        return True
    before = counters[STARTED]
    if counters[WAITING] == 1 and len(pool.replay.board.shares) == 0:
        start_the_only_one(pool, now)
    else:
        strategy = choose_strategy(ruled, describe, now, cores)
        done = start_by_strategy_on_nodes(pool, strategy, score_queue, now, cores)
    for i in range(before, counters[STARTED]):
        tally_waiting(ruled.tally, pool.replay.jobs, pool.replay.started[i], -1.0)
    return done


@entry(
    void(
        NODE_RULE_BASED_TYPE,
        types.FunctionType(DESCRIBE_TYPE),
        types.FunctionType(SCORER_TYPE),
        int64,
    )
)
def run_rule_based_on_nodes(ruled, describe, score_queue, cores):
    """Replay all jobs on nodes under a rule base; fills starts, pieces and the counts."""
    state, counters, going = ruled.pool.replay, ruled.pool.replay.counters, True
    now = next_instant_on_nodes(state)
    while going and now != NEVER and counters[CANCEL] == 0:
        complete_tallied(ruled, now, end_on_nodes)
        nodes_come_back(counters, state.board.returns, len(state.released), now)
        newcomers = arrive_on_nodes(state, now)
        for i in range(newcomers):
            join_pool(ruled.pool, state.newcomers[i])
            tally_waiting(ruled.tally, state.jobs, state.newcomers[i], 1.0)
        let_impatient_pass_on_nodes(ruled, newcomers, now)
        going = start_by_rules_on_nodes(ruled, describe, score_queue, now, cores)
        going = going and counters[WORK] <= counters[MOST_WORK]
        now = next_instant_on_nodes(state)
    finish(state)
