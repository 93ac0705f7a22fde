"""Replays under the self-tuning planner: plan under each candidate, follow the best."""

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_INTS, FROZEN_REALS, INTS, REAL_TABLE, REALS, TRUTHS
from queuesmith.compiled.due import insert_due, remove_due
from queuesmith.engine.kernels.constants import (
    ACTIVE,
    BOOKED,
    CANCEL,
    DECISIONS,
    DUE,
    ENDING,
    FREE,
    NEVER,
    NEXT_START,
    RELEASED,
    STARTED,
    STEPS,
    TAIL,
    WAITING,
)
from queuesmith.engine.kernels.plan import begin_plan, change_plan, earliest, earliest_from
from queuesmith.engine.kernels.planned_pass import start_within_plan
from queuesmith.engine.kernels.replay import SCORER_TYPE, arrive, end_all, end_job, next_instant
from queuesmith.engine.kernels.strategy_queue import (
    STRATEGY_QUEUE_TYPE,
    StrategyQueue,
    join_pool,
    queue_sorted,
    take_out_started,
)

SIMPLE, ADVANCED, PREFERRED = range(3)
ROUNDING = 1e-12

# Places in the array of a plan's measures.
PLAN_ARTWW, PLAN_SLDWA, PLAN_RESPONSE, PLAN_WAIT, PLAN_SLOWDOWN, PLAN_MAKESPAN, PLAN_USE = range(7)
PLAN_MEASURES = 7


class Booking(NamedTuple):
    """Advance reservations: accepted ones hold cores from one instant to another."""

    begin: Any
    end: Any
    cores: Any
    active: Any  # numbers of those that have not ended
    holding: Any  # whether each holds its cores now


class SelfTuningReplay(NamedTuple):
    """A replay of the self-tuning planner, and the record of its steps."""

    pool: StrategyQueue
    booking: Booking
    settings: Any  # decider, preferred candidate, whether completions are steps too
    margin: Any  # one number, a share
    measures: Any  # room for one plan
    value: Any  # a row a step, a column a candidate
    time: Any  # of each step
    choice: Any  # the candidate chosen in each step
    waiting: Any  # how many jobs were planned in each step


def self_tuning_type(queue: types.NamedTuple) -> types.NamedTuple:
    """Return the type of a replay under the self-tuning planner, with this type of queue."""
    bookings = types.NamedTuple([INTS, INTS, INTS, INTS, TRUTHS], Booking)
    parts = [queue, bookings, FROZEN_INTS, FROZEN_REALS, REALS, REAL_TABLE, INTS, INTS, INTS]
    return types.NamedTuple(parts, SelfTuningReplay)


SELF_TUNING_TYPE = self_tuning_type(STRATEGY_QUEUE_TYPE)
PLAN_VALUE_TYPE = float64(REALS)


@kernel
def next_tuning_instant(tuning):
    """Return when something happens next, reservations included."""
    booking, replay = tuning.booking, tuning.pool.replay
    instant = next_instant(replay)
    for i in range(replay.counters[BOOKED]):
        number = booking.active[i]
        holding = booking.holding[number]
        instant = min(instant, booking.end[number] if holding else booking.begin[number])
    return instant


@kernel
def turn_bookings(tuning, now):
    """End the reservations that end now and begin those that begin now."""
    booking, replay = tuning.booking, tuning.pool.replay
    counters = replay.counters
    i = 0
    while i < counters[BOOKED]:
        number = booking.active[i]
        if booking.holding[number] and booking.end[number] == now:
            cores = booking.cores[number]
            counters[FREE] += cores
            counters[DUE] = remove_due(replay.running, counters[DUE], now, cores)
            counters[BOOKED] -= 1
            booking.active[i] = booking.active[counters[BOOKED]]
        else:
            i += 1
    for i in range(counters[BOOKED]):
        number = booking.active[i]
        if not booking.holding[number] and booking.begin[number] == now:
            booking.holding[number] = True
            cores, end = booking.cores[number], booking.end[number]
            counters[FREE] -= cores
            counters[DUE] = insert_due(replay.running, counters[DUE], end, cores)


@kernel
def begin_plan_around(tuning, now):
    """Begin a plan with the running jobs and the accepted reservations."""
    booking, replay, plan = tuning.booking, tuning.pool.replay, tuning.pool.plan
    begin_plan(replay.running, replay.counters, plan, now)
    for i in range(replay.counters[BOOKED]):
        number = booking.active[i]
        if not booking.holding[number]:
            change_plan(
                plan,
                replay.counters,
                booking.begin[number],
                booking.end[number],
                -booking.cores[number],
            )


@kernel
def still_busy(replay, now):
    """Return when the last running job is due, and the work of all of them until then."""
    jobs, horizon, busy = replay.jobs, now, 0.0
    for i in range(replay.counters[ENDING]):
        job = replay.running.job[i]
        due = replay.start[job] + jobs.walltime[job]
        horizon = max(horizon, due)
        busy += float(due - now) * jobs.cores[job]
    return horizon, busy


@kernel
def add_response(measures, response, walltime, width):
    """Add a planned job to the sums of which measures are made."""
    measures[PLAN_ARTWW] += response * width
    measures[PLAN_SLDWA] += response * width  # slowdown times area, and no rounding
    measures[PLAN_RESPONSE] += response
    measures[PLAN_WAIT] += response - walltime
    measures[PLAN_SLOWDOWN] += response / walltime


@kernel
def end_measures(measures, widths, areas, count, busy, span, cores):
    """Make measures of the sums over all planned jobs: so many, with these widths and areas."""
    measures[PLAN_ARTWW] /= widths
    measures[PLAN_SLDWA] /= areas
    for mean in (PLAN_RESPONSE, PLAN_WAIT, PLAN_SLOWDOWN):
        measures[mean] /= count
    measures[PLAN_MAKESPAN] = span
    measures[PLAN_USE] = (busy + areas) / (float(cores) * span)


@kernel
def measure_plan(tuning, now, cores):
    """Plan the whole queue, in its order, and measure the plan by the walltimes.

    Tells whether any job was planned: all are.
    """
    replay, plan, measures = tuning.pool.replay, tuning.pool.plan, tuning.measures
    jobs, queue, counters = replay.jobs, replay.queue, replay.counters
    begin_plan_around(tuning, now)
    widths = areas = 0.0
    horizon, busy = still_busy(replay, now)
    measures[:] = 0.0
    for i in range(counters[TAIL]):
        walltime, width = queue.walltime[i], queue.cores[i]
        begin = earliest(plan, counters, walltime, width)
        change_plan(plan, counters, begin, begin + walltime, -width)
        response = float(begin + walltime - jobs.submit[queue.job[i]])
        widths += width
        areas += float(walltime) * width
        horizon = max(horizon, begin + walltime)
        add_response(measures, response, walltime, width)
    end_measures(measures, widths, areas, counters[TAIL], busy, horizon - now, cores)
    counters[STEPS] = 0
    return True


@kernel
def clearly_less(value, other):
    """Tell whether a value is below another by more than rounding.

    Plans that are alike may differ in the last digit, for sums are taken in the order of the queue.
    """
    return value < other and (
        other == np.inf or other - value > ROUNDING * max(abs(value), abs(other))
    )


@kernel
def decide(tuning, value):
    """Return the candidate that the decider takes, given the value of each; low is good."""
    decider, preferred = tuning.settings[0], tuning.settings[1]
    best_candidate = 0
    for candidate in range(1, len(value)):
        if clearly_less(value[candidate], value[best_candidate]):
            best_candidate = candidate
    lowest = value[best_candidate]
    active = tuning.pool.replay.counters[ACTIVE]
    if decider == ADVANCED and not clearly_less(lowest, value[active]):
        return active
    if decider == PREFERRED:
        own = value[preferred]
        near = own < np.inf and own - lowest <= tuning.margin[0] * abs(own)
        if near or not clearly_less(lowest, own):
            return preferred
    return best_candidate


@kernel
def choose_candidate(tuning, now):
    """Make the decider's choice among the valued plans the active one, and keep it."""
    counters = tuning.pool.replay.counters
    step = counters[DECISIONS]
    counters[ACTIVE] = decide(tuning, tuning.value[step])
    tuning.time[step], tuning.choice[step] = now, counters[ACTIVE]
    tuning.waiting[step] = counters[WAITING]
    counters[DECISIONS] = step + 1


@kernel
def tune_step(tuning, measure, score_queue, plan_value, now, cores):
    """Plan under each candidate, value the plans, and make the decider's choice the active one.

    A kernel plans and measures; it tells whether there was anything to plan. Tells whether it could
    be done.
    """
    pool, counters = tuning.pool, tuning.pool.replay.counters
    step = counters[DECISIONS]
    for candidate in range(len(pool.strategies)):
        if not queue_sorted(pool, pool.strategies[candidate, 0], score_queue, now, cores):
            return False
        value = 0.0
        if measure(tuning, now, cores):
            value = plan_value(tuning.measures)
        # A plan that the metric cannot value is no good: it counts as the worst.
        tuning.value[step, candidate] = value if value == value else np.inf
    choose_candidate(tuning, now)
    return True


@kernel
def start_around_bookings(tuning, now):
    """Plan the whole queue beside the accepted reservations, and start those planned for now."""
    begin_plan_around(tuning, now)
    start_within_plan(tuning.pool.replay, tuning.pool.plan, now)


@kernel
def start_by_plan(tuning, start_planned, score_queue, now, cores):
    """Plan all waiting jobs under the active candidate and start those planned for now.

    A kernel does so with the queue in order. Tells whether it could be done.
    """
    pool, counters = tuning.pool, tuning.pool.replay.counters
    if counters[WAITING] == 0 or pool.lines.cores[0, 1] > counters[FREE]:
        return True
    order, before = pool.strategies[counters[ACTIVE], 0], counters[STARTED]
    if not queue_sorted(pool, order, score_queue, now, cores):
        return False
    start_planned(tuning, now)
    take_out_started(pool, before)
    return True


@entry(
    void(
        SELF_TUNING_TYPE,
        types.FunctionType(SCORER_TYPE),
        types.FunctionType(PLAN_VALUE_TYPE),
        int64,
        int64,
    )
)
def run_self_tuning(tuning, score_queue, plan_value, cores, until):
    """Replay under the self-tuning planner, up to but not including an instant."""
    replay, counters = tuning.pool.replay, tuning.pool.replay.counters
    now = next_tuning_instant(tuning)
    going = True
    while going and now < until and counters[CANCEL] == 0:
        counters[NEXT_START] = NEVER
        released = end_all(replay, now, end_job) or counters[RELEASED] != 0
        counters[RELEASED] = 0
        turn_bookings(tuning, now)
        job, last = arrive(replay, now)
        for newcomer in range(job, last):
            join_pool(tuning.pool, newcomer)
        is_step = job < last or (released and tuning.settings[2] != 0)
        if is_step and counters[WAITING] > 0:
            going = tune_step(tuning, measure_plan, score_queue, plan_value, now, cores)
        going = going and start_by_plan(tuning, start_around_bookings, score_queue, now, cores)
        now = next_tuning_instant(tuning)


@kernel
def room_for(tuning, now, begin, duration, cores):
    """Return the earliest instant from ``begin`` on at which so many cores are free for so long,
    as far as running jobs and accepted reservations tell.
    """
    replay = tuning.pool.replay
    begin_plan_around(tuning, now)
    first = earliest_from(tuning.pool.plan, replay.counters, begin, duration, cores)
    replay.counters[STEPS] = 0
    return first


@entry(int64(SELF_TUNING_TYPE, int64, int64, int64, int64))
def answer_request(tuning, now, begin, duration, cores):
    """Answer a request for a reservation: the earliest instant from ``begin`` on with room."""
    counters = tuning.pool.replay.counters
    if end_all(tuning.pool.replay, now, end_job):
        counters[RELEASED] = 1
    turn_bookings(tuning, now)
    counters[NEXT_START] = now  # all is planned anew, with the answer and what was released
    return room_for(tuning, now, begin, duration, cores)
