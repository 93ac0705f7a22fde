"""Conservative backfilling: every job has a reservation, kept from pass to pass.

Free cores over time stand in a list while it is short, which is quickest on ordinary logs, and in a
chain when it outgrows that.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INTS
from queuesmith.engine.kernels.chain_room import (
    BEGIN,
    CORES,
    COUNT,
    END,
    HEAD,
    HOLDERS,
    INSERTED,
    NEXT,
    NO_STEP,
    ROW,
    STEP_CHAIN_TYPE,
    StepChain,
    index_steps,
    new_chain,
)
from queuesmith.engine.kernels.constants import (
    DEPTH,
    DUE,
    ENDING,
    NEVER,
    NEXT_START,
    NOBODY,
    STEPS,
    TAIL,
)
from queuesmith.engine.kernels.queue import move
from queuesmith.engine.kernels.replay import end_job, start_job
from queuesmith.engine.kernels.step_chain import (
    advance_chain,
    choose_rows,
    fill_rows,
    hold,
    hold_chosen,
    link_rows,
    move_in_chain,
    release_in_chain,
    reserve_in_chain,
    step_from,
)
from queuesmith.engine.kernels.step_list import (
    advance_list,
    begin_list,
    change_list,
    earliest_in_list,
)

#: A list that has so many steps more than jobs run becomes a chain.
LONG = 512
#: How many steps a list has that has become a chain, as far as its counter tells.
IN_CHAIN = -1
#: A chain in which so many steps were inserted for each there is has its rows put in order.
TIDY = 4


class Reservations(NamedTuple):
    """Free cores from ``time[i]`` up to ``time[i + 1]``, the last step lasts for ever; or the same
    in a chain. There is no plan while ``counters[STEPS]`` is 0.
    """

    time: Any
    free: Any
    long: Any  # one number: how many steps more than jobs run a list may have
    chain: StepChain


RESERVATIONS_TYPE = types.NamedTuple([INTS, INTS, INTS, STEP_CHAIN_TYPE], Reservations)


def new_reservations(
    job_cores: Any, job_walltime: Any, running: int, cores: int, long: int = LONG
) -> Reservations:
    """Return room for the reservations of all jobs.

    Parameters
    ----------
    running
        How many jobs run at most.
    long
        How many steps more than that a list may have.
    """
    steps = 2 * running + long + 4  # those who end at one instant add a step each
    return Reservations(
        np.empty(steps, np.int64),
        np.empty(steps, np.int64),
        np.array([long]),
        new_chain(job_cores, job_walltime, running, cores),
    )


# -- from a list to a chain and back ---------------------------------------------------------------


@kernel
def chain_steps(replay, plan):
    """Make a chain of a list that has grown long."""
    chain, counters = plan.chain, replay.counters
    advance_list(plan, counters, plan.time[0])  # steps that are alike are one
    steps = counters[STEPS]
    for i in range(steps):
        chain.time[i * ROW >> 1], chain.step[i * ROW + CORES] = plan.time[i], plan.free[i]
        chain.step[i * ROW + HOLDERS] = 0
    link_rows(chain, steps, len(chain.step) // ROW)
    index_steps(chain)
    for i in range(counters[ENDING]):
        hold_in_chain(replay, plan, replay.running.job[i])
    for i in range(counters[TAIL]):
        if replay.start[replay.queue.job[i]] != NOBODY:
            hold_in_chain(replay, plan, replay.queue.job[i])
    counters[STEPS] = IN_CHAIN


@kernel
def hold_in_chain(replay, plan, job):
    """Let a job hold the steps at which what it runs by, or has reserved, begins and ends."""
    now, steps = plan.time[0], replay.counters[STEPS]
    begin = max(replay.start[job], now)
    end = replay.start[job] + replay.jobs.walltime[job]
    first = np.searchsorted(plan.time[:steps], begin, side="right") - 1
    last = np.searchsorted(plan.time[:steps], end, side="right") - 1
    first = step_from(plan.chain, np.uint32(first * ROW), begin)
    hold(plan.chain, job, first, step_from(plan.chain, np.uint32(last * ROW), end))


@kernel
def tidy_chain(replay, plan):
    """Put steps into rows in which neighbours are neighbours: they come from memory together."""
    chain, queue, running = plan.chain, replay.queue, replay.running
    choose_rows(chain)
    for i in range(replay.counters[ENDING]):
        hold_chosen(chain, running.job[i], END)
    for i in range(replay.counters[TAIL]):
        if replay.start[queue.job[i]] != NOBODY:
            hold_chosen(chain, queue.job[i], BEGIN)
            hold_chosen(chain, queue.job[i], END)
    fill_rows(chain)


@kernel
def list_steps(plan, counters):
    """Make a list of a chain that has grown short."""
    chain, steps = plan.chain, 0
    step = np.uint32(chain.facts[HEAD])
    while step != NO_STEP:
        plan.time[steps], plan.free[steps] = chain.time[step >> 1], chain.step[step + CORES]
        steps += 1
        step = chain.step[step + NEXT]
    counters[STEPS] = steps


# -- what happens to a plan ------------------------------------------------------------------------


@kernel
def advance_reservations(plan, counters, now):
    """Forget what lies before now."""
    if counters[STEPS] > 0:
        advance_list(plan, counters, now)
    elif counters[STEPS] == IN_CHAIN:
        advance_chain(plan.chain, now)
        if 2 * plan.chain.facts[COUNT] <= counters[DUE] + plan.long[0]:
            list_steps(plan, counters)


@kernel
def give_back(replay, plan, now):
    """Give back, from now on, what the job that ends first holds."""
    counters = replay.counters
    job = replay.running.job[0]
    due, cores = replay.start[job] + replay.jobs.walltime[job], replay.jobs.cores[job]
    if due > now and counters[STEPS] > 0:
        change_list(plan, counters, now, due, cores)
    elif due > now and counters[STEPS] == IN_CHAIN:
        release_in_chain(plan.chain, job, cores)


@kernel
def complete_reserved(replay, plan, now):
    """Release the cores of all jobs that end now; tells whether there was any."""
    counters = replay.counters
    advance_reservations(plan, counters, now)
    before = counters[ENDING]
    while counters[ENDING] > 0 and replay.running.end[0] == now:
        give_back(replay, plan, now)
        end_job(replay, now)
    return counters[ENDING] < before


@kernel
def chain_if_long(replay, plan):
    """Make a chain of a list that might outgrow its room with the next reservation."""
    if replay.counters[STEPS] + 4 > replay.counters[DUE] + plan.long[0]:
        chain_steps(replay, plan)


@kernel
def reserve_earliest(replay, plan, job, walltime, cores):
    """Reserve the earliest room for a job that has no reservation; all others stay."""
    chain_if_long(replay, plan)
    if replay.counters[STEPS] == IN_CHAIN:
        replay.start[job] = reserve_in_chain(plan.chain, job, walltime, cores)
    else:
        replay.start[job] = move_in_list(plan, replay.counters, NOBODY, walltime, cores)


@kernel(forceinline=True)
def move_to_earliest(replay, plan, job, walltime, cores):
    """Move the reservation of a job to the earliest room; all others stay."""
    chain_if_long(replay, plan)
    if replay.counters[STEPS] == IN_CHAIN:
        replay.start[job] = move_in_chain(plan.chain, job, walltime, cores)
    else:
        old = replay.start[job]
        replay.start[job] = move_in_list(plan, replay.counters, old, walltime, cores)


@kernel
def move_in_list(plan, counters, old, walltime, cores):
    """Move a reservation, if there is one, to the earliest room, and return when that is."""
    begin = earliest_in_list(plan, counters, walltime, cores, NEVER if old == NOBODY else old)
    if old == NOBODY:
        change_list(plan, counters, begin, begin + walltime, -cores)
    elif begin < old:
        change_list(plan, counters, begin, min(begin + walltime, old), -cores)
        change_list(plan, counters, max(begin + walltime, old), old + walltime, cores)
    return begin


# -- the pass --------------------------------------------------------------------------------------


@kernel
def keep_reservations(replay, plan, now, released):
    """Where cores were released, move every reservation forward, in queue order; then find the
    earliest room for each job that has none, as deep as the queue is planned; then start the jobs
    whose time has come.
    """
    if replay.counters[STEPS] == 0:
        begin_list(replay.running, replay.counters, plan, now)
    if not released or move_reservations(replay, plan):
        make_reservations(replay, plan, now)
    start_reserved(replay, now, start_it)
    if replay.counters[TAIL] == 0:
        # With nobody waiting the plan need not be kept up.
        replay.counters[STEPS] = 0


@kernel
def move_reservations(replay, plan):
    """Move every reservation forward, in queue order; tells whether any job has none."""
    queue, start, facts = replay.queue, replay.start, plan.chain.facts
    if replay.counters[STEPS] == IN_CHAIN and facts[INSERTED] > TIDY * facts[COUNT]:
        tidy_chain(replay, plan)
    without = 0
    for i in range(replay.counters[TAIL]):
        job = queue.job[i]
        if start[job] == NOBODY:
            without += 1
        else:
            move_to_earliest(replay, plan, job, queue.walltime[i], queue.cores[i])
    return without > 0


@kernel
def make_reservations(replay, plan, now):
    """Find the earliest room for each job that has none, as deep as the queue is planned."""
    queue, counters, start = replay.queue, replay.counters, replay.start
    later = 0  # jobs so far that have a reservation and do not start now
    for i in range(counters[TAIL]):
        job = queue.job[i]
        if start[job] == NOBODY and later < counters[DEPTH]:
            reserve_earliest(replay, plan, job, queue.walltime[i], queue.cores[i])
        later += start[job] > now


@kernel
def start_it(replay, job, now):
    """Start a job whose reservation begins now: nothing can stand in its way."""
    start_job(replay, job, now)
    return True


@kernel
def start_reserved(replay, now, start_one):
    """Start the jobs reserved for now, and note when the next is due.

    A kernel starts a job and tells whether it could; one that could not goes on waiting.
    """
    queue, counters, start = replay.queue, replay.counters, replay.start
    kept = 0
    soonest = NEVER
    for i in range(counters[TAIL]):
        job = queue.job[i]
        if start[job] == now and start_one(replay, job, now):
            continue
        if start[job] != NOBODY:
            soonest = min(soonest, start[job])
        if kept < i:
            move(queue, kept, i)
        kept += 1
    counters[TAIL] = kept
    counters[NEXT_START] = soonest
