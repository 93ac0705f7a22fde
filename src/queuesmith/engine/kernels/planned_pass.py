"""One scheduling pass under ``plan``: every job is planned afresh."""

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import DEPTH, FREE, STEPS, TAIL
from queuesmith.engine.kernels.plan import begin_plan, change_plan, earliest, may_start_now
from queuesmith.engine.kernels.queue import close_gap, move
from queuesmith.engine.kernels.replay import start_job


@kernel
def last_that_may_start(queue, plan, counters, last):
    """Return the last place up to ``last`` whose job may start now, or -1."""
    while last >= 0 and (
        queue.cores[last] > counters[FREE]
        or not may_start_now(plan, counters, queue.walltime[last], queue.cores[last])
    ):
        last -= 1
    return last


@kernel
def start_as_planned(replay, plan, now):
    """Plan every job afresh, in queue order, at its earliest room; start those planned for now."""
    begin_plan(replay.running, replay.counters, plan, now)
    start_within_plan(replay, plan, now)


@kernel
def start_within_plan(replay, plan, now):
    """Do so in a plan that has been begun, and forget the plan.

    With a depth, planning ends when so many jobs are planned that do not start now.
    """
    queue, counters = replay.queue, replay.counters
    # Room only shrinks while jobs are planned. Behind the last that may still start now none can:
    # that part of the plan is not needed. It is looked for anew whenever twice as many are planned.
    last = last_that_may_start(queue, plan, counters, counters[TAIL] - 1)
    i = kept = 0
    look_again = 1
    while i <= last and kept < counters[DEPTH]:
        walltime, cores = queue.walltime[i], queue.cores[i]
        begin = earliest(plan, counters, walltime, cores)
        change_plan(plan, counters, begin, begin + walltime, -cores)
        if begin == now:
            start_job(replay, queue.job[i], now)
        else:
            move(queue, kept, i)
            kept += 1
        i += 1
        if begin == now or i == look_again:
            last = last_that_may_start(queue, plan, counters, last)
            look_again = 2 * i
    close_gap(queue, counters, kept, i)
    counters[STEPS] = 0
