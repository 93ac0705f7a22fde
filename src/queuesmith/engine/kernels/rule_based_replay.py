"""Replays under a rule base: the state is described, rules choose a strategy for it."""

from typing import Any, NamedTuple

from numba import float64, int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_INTS, INTS, REALS, SMALL_INTS
from queuesmith.engine.kernels.constants import (
    CANCEL,
    DECISIONS,
    ENDED,
    ENDING,
    FREE,
    MOST_WORK,
    NEVER,
    OLDEST_ENDED,
    STARTED,
    WAITING,
    WORK,
)
from queuesmith.engine.kernels.line import some_line_keeps
from queuesmith.engine.kernels.replay import SCORER_TYPE, arrive, end_job, next_instant, start_job
from queuesmith.engine.kernels.rule_based_lines import UPKEEP_TYPE, Upkeep, let_go, let_wait
from queuesmith.engine.kernels.rule_based_pass import (
    start_by_strategy,
    start_scored_any,
    start_scored_unplanned,
)
from queuesmith.engine.kernels.rules import RULES_TYPE, Rules, choose
from queuesmith.engine.kernels.strategy_queue import STRATEGY_QUEUE_TYPE, StrategyQueue

RECOUNT_BELOW = 1e-3  # of the highest sum so far


class Tally(NamedTuple):
    """What features are computed from, kept up to date."""

    group_work: Any  # walltime times cores that wait, by group; others at place 0
    ended: Any  # numerator and denominator of the slowdown, equation 5; the highest denominator
    ended_job: Any  # ended jobs in the order of their ends, where a window is kept
    window: Any  # one number: seconds, or 0 for all that ended


class RuleBasedReplay(NamedTuple):
    """A replay under a rule base, or under two that choose order and algorithm."""

    pool: StrategyQueue
    upkeep: Upkeep
    tally: Tally
    rules: Rules
    more_rules: Rules
    features: Any  # room for the values
    count: Any  # how often each strategy was chosen


def rule_based_type(queue: types.NamedTuple) -> types.NamedTuple:
    """Return the type of a replay under a rule base, with this type of queue."""
    tally = types.NamedTuple([REALS, REALS, SMALL_INTS, FROZEN_INTS], Tally)
    parts = [queue, UPKEEP_TYPE, tally, RULES_TYPE, RULES_TYPE, REALS, INTS]
    return types.NamedTuple(parts, RuleBasedReplay)


RULE_BASED_TYPE = rule_based_type(STRATEGY_QUEUE_TYPE)

# What a State has, field by field, and the room for the features' values.
DESCRIBE_TYPE = void(int64, int64, int64, int64, int64, int64, float64, REALS, float64, REALS)


@kernel
def tally_waiting(tally, jobs, job, sign):
    """Count a job's work as waiting, or no more."""
    group = jobs.group[job]
    place = group if 0 < group < len(tally.group_work) else 0
    tally.group_work[place] += sign * float(jobs.walltime[job]) * jobs.cores[job]


@kernel
def tally_ended(tally, replay, job, sign):
    """Count a job in the slowdown of ended jobs, or no more."""
    jobs = replay.jobs
    work = sign * float(jobs.runtime[job]) * jobs.cores[job]
    tally.ended[0] += work * (replay.start[job] + jobs.runtime[job] - jobs.submit[job])
    tally.ended[1] += work * jobs.runtime[job]
    tally.ended[2] = max(tally.ended[1], tally.ended[2])


@kernel
def count_ended(tally, replay, job):
    """Count a job that has just ended, and remember it where there is a window."""
    counters = replay.counters
    tally_ended(tally, replay, job, 1.0)
    if tally.window[0] > 0:
        tally.ended_job[counters[ENDED]] = job
        counters[ENDED] += 1


@kernel
def complete_tallied(ruled, now, end_first):
    """End all jobs that end now, by a kernel that ends the first, and count them."""
    replay, tally = ruled.pool.replay, ruled.tally
    counters = replay.counters
    while counters[ENDING] > 0 and replay.running.end[0] == now:
        count_ended(tally, replay, end_first(replay, now))
    if tally.window[0] > 0:
        forget_ended(tally, replay, now)


@kernel
def forget_ended(tally, replay, now):
    """Count no more the jobs that ended before the window."""
    counters = replay.counters
    while counters[OLDEST_ENDED] < counters[ENDED]:
        job = tally.ended_job[counters[OLDEST_ENDED]]
        if replay.start[job] + replay.jobs.runtime[job] >= now - tally.window[0]:
            break
        tally_ended(tally, replay, job, -1.0)
        counters[OLDEST_ENDED] += 1
    if tally.ended[1] < RECOUNT_BELOW * tally.ended[2]:
        # So little is left of so much that rounding would show: count what is left anew.
        tally.ended[:] = 0.0
        for i in range(counters[OLDEST_ENDED], counters[ENDED]):
            tally_ended(tally, replay, tally.ended_job[i], 1.0)


@kernel
def describe_state(ruled, describe, now, cores):
    """Compute the features from what is known now."""
    pool, tally = ruled.pool, ruled.tally
    jobs, counters = pool.replay.jobs, pool.replay.counters
    oldest = pool.following[len(pool.following) - 1]
    slowdown = tally.ended[0] / tally.ended[1] if tally.ended[1] > 0.0 else 1.0
    describe(
        now,
        cores,
        counters[FREE],
        counters[WAITING],
        jobs.submit[oldest],
        pool.lines.cores[0, 1],
        tally.group_work.sum(),
        tally.group_work,
        slowdown,
        ruled.features,
    )


@kernel
def choose_strategy(ruled, describe, now, cores):
    """Return the strategy that the rules choose now."""
    describe_state(ruled, describe, now, cores)
    strategy = choose(ruled.rules, ruled.features)
    if len(ruled.more_rules.count) > 0:
        strategy = strategy * ruled.more_rules.kind[1] + choose(ruled.more_rules, ruled.features)
    ruled.count[strategy] += 1
    ruled.pool.replay.counters[DECISIONS] += 1
    return strategy


@kernel
def start_by_rules(ruled, describe, score_queue, start_scored, now, cores):
    """Let the rules choose a strategy and run its pass; tells whether it could be done.

    Nothing is chosen where no strategy could do anything (no waiting job fits), or where all would
    do the same (the only waiting job starts, for no strategy keeps cores free).
    """
    pool, tally = ruled.pool, ruled.tally
    replay, counters = pool.replay, pool.replay.counters
    if counters[WAITING] == 0 or pool.lines.cores[0, 1] > counters[FREE]:
        return True
    before = counters[STARTED]
    if counters[WAITING] == 1 and not some_line_keeps(pool.lines):
        start_job(replay, pool.following[len(pool.following) - 1], now)
        let_go(pool, ruled.upkeep, before, len(ruled.upkeep.place) > 0)
        done = True
    else:
        strategy = choose_strategy(ruled, describe, now, cores)
        done = start_by_strategy(
            pool, ruled.upkeep, strategy, score_queue, start_scored, now, cores
        )
    for i in range(before, counters[STARTED]):
        tally_waiting(tally, replay.jobs, replay.started[i], -1.0)
    return done


@kernel
def replay_ruled(ruled, describe, score_queue, cores, start_scored):
    """Replay under rules that choose a strategy at each scheduling instant.

    It ends early where passes that look at every waiting job have looked at too many.
    """
    replay, counters = ruled.pool.replay, ruled.pool.replay.counters
    now = next_instant(replay)
    going = True
    while going and now != NEVER and counters[CANCEL] == 0:
        complete_tallied(ruled, now, end_job)
        job, last = arrive(replay, now)
        for newcomer in range(job, last):
            let_wait(ruled.pool, ruled.upkeep, newcomer)
            tally_waiting(ruled.tally, replay.jobs, newcomer, 1.0)
        going = start_by_rules(ruled, describe, score_queue, start_scored, now, cores)
        going = going and counters[WORK] <= counters[MOST_WORK]
        now = next_instant(replay)


# -- entries: few rule bases plan by orders that change with time; others need not compile that ----

RULED = (
    RULE_BASED_TYPE,
    types.FunctionType(DESCRIBE_TYPE),
    types.FunctionType(SCORER_TYPE),
    int64,
)


@entry(void(*RULED))
def run_rule_based(ruled, describe, score_queue, cores):
    """Replay all jobs under a rule base; fills ``replay.start`` and the counts.

    Strategies whose order changes with time have none, list or EASY; others may plan, too.
    """
    replay_ruled(ruled, describe, score_queue, cores, start_scored_unplanned)


@entry(void(*RULED))
def run_rule_based_planning_scored(ruled, describe, score_queue, cores):
    """Replay all jobs under a rule base in which any strategy may plan."""
    replay_ruled(ruled, describe, score_queue, cores, start_scored_any)
