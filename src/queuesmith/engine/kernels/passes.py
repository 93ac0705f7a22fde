"""One scheduling pass, for each kind of backfill."""

from queuesmith.compiled import kernel
from queuesmith.compiled.due import reserve
from queuesmith.engine.kernels.constants import (
    CONSERVATIVE,
    DEPTH,
    DUE,
    EASY,
    FREE,
    LIST,
    NEVER,
    NEXT_START,
    NOBODY,
    NONE,
    STEPS,
    TAIL,
    TOO_WIDE,
)
from queuesmith.engine.kernels.line import FAVOURED, KEPT, leave_line, next_in_line
from queuesmith.engine.kernels.plan import begin_plan, change_plan, earliest, may_start_now
from queuesmith.engine.kernels.queue import best, best_that_may_start, close_gap, fill_gap, move
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
def start_as_planned(replay, now):
    """Plan every job afresh, in queue order, at its earliest room; start those planned for now."""
    begin_plan(replay.running, replay.counters, replay.plan, now)
    start_within_plan(replay, now)


@kernel
def start_within_plan(replay, now):
    """Do so in a plan that has been begun, and forget the plan.

    With a depth, planning ends when so many jobs are planned that do not start now.
    """
    queue, plan, counters = replay.queue, replay.plan, replay.counters
    # Room only shrinks while jobs are planned. Behind the last that may still start now none can:
    # that part of the plan is not needed. It is looked for anew whenever twice as many are planned.
    last = last_that_may_start(queue, plan, counters, counters[TAIL] - 1)
    i = kept = 0
    look_again = 1
    while i <= last and kept < counters[DEPTH]:
        walltime, cores = queue.walltime[i], queue.cores[i]
        begin = earliest(plan, counters, walltime, cores, NEVER)
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


@kernel
def move_forward(plan, counters, old, walltime, cores):
    """Move a reservation to the earliest room and return it; all others stay where they are."""
    new = earliest(plan, counters, walltime, cores, old)
    if new < old:
        change_plan(plan, counters, new, min(new + walltime, old), -cores)
        if old != NEVER:
            change_plan(plan, counters, max(new + walltime, old), old + walltime, cores)
    return new


@kernel
def keep_reservations(replay, now, released):
    """Conservative backfilling: where cores were released, move every reservation forward, in queue
    order; then find the earliest room for each job that has none, as deep as the queue is planned;
    then start the jobs whose time has come.
    """
    queue, plan, counters, start = replay.queue, replay.plan, replay.counters, replay.start
    tail = counters[TAIL]
    if counters[STEPS] == 0:
        begin_plan(replay.running, counters, plan, now)
    if released:
        for i in range(tail):
            job = queue.job[i]
            if start[job] != NOBODY:
                walltime, cores = queue.walltime[i], queue.cores[i]
                start[job] = move_forward(plan, counters, start[job], walltime, cores)
    later = 0  # jobs so far that have a reservation and do not start now
    for i in range(tail):
        job = queue.job[i]
        if start[job] == NOBODY and later < counters[DEPTH]:
            start[job] = move_forward(plan, counters, NEVER, queue.walltime[i], queue.cores[i])
        later += start[job] > now
    start_reserved(replay, now)


@kernel
def start_reserved(replay, now):
    """Start the jobs reserved for now, and note when the next is due."""
    queue, counters, start = replay.queue, replay.counters, replay.start
    kept = 0
    soonest = NEVER
    for i in range(counters[TAIL]):
        job = queue.job[i]
        if start[job] == now:
            start_job(replay, job, now)
        else:
            if start[job] != NOBODY:
                soonest = min(soonest, start[job])
            if kept < i:
                move(queue, kept, i)
            kept += 1
    counters[TAIL] = kept
    counters[NEXT_START] = soonest
    if kept == 0:
        # With nobody waiting the plan need not be kept up.
        counters[STEPS] = 0


@kernel
def follow_plan(replay, now, backfill, released):
    """Run one scheduling pass over the sorted queue: conservative or plan."""
    if backfill == CONSERVATIVE:
        keep_reservations(replay, now, released)
    else:
        start_as_planned(replay, now)


@kernel
def start_in_line(replay, line, now, first, backfill):
    """Run one scheduling pass over a line: none, list or EASY.

    Returns who is first in line then, and under EASY the reservation: its instant and the extra
    cores.
    """
    counters = replay.counters
    shadow, extra = NEVER, 0
    while first != NOBODY and line.cores[len(line.job) + first] <= counters[FREE]:
        start_job(replay, line.job[first], now)
        leave_line(line, first)
        first = next_in_line(line, first + 1, TOO_WIDE - 1, NEVER, 0)
    if first == NOBODY or backfill == NONE:
        return first, shadow, extra
    if backfill == EASY:
        room = line.cores[len(line.job) + first]
        shadow, extra = reserve(replay.running, counters[DUE], counters[FREE], room)
    favoured = line.keep[FAVOURED]
    kept = 0 if first < favoured else line.keep[KEPT]  # what all who may overtake count with
    place = first
    while counters[FREE] > 0:
        place = next_in_line(line, place + 1, counters[FREE], shadow - now, extra + kept)
        if place == NOBODY or first < favoured <= place:
            break
        job = line.job[place]
        if now + replay.jobs.walltime[job] > shadow:
            extra -= replay.jobs.cores[job]
        start_job(replay, job, now)
        leave_line(line, place)
    return first, shadow, extra


@kernel
def start_in_queue(replay, now, backfill):
    """Run one scheduling pass over a scored but unsorted queue: none, list or EASY.

    Few jobs start at one instant, so finding the first of those that may start, again and again,
    beats sorting.
    """
    queue, counters = replay.queue, replay.counters
    longest, extra = NEVER, 0
    blocked = backfill == LIST  # whether the first job waits, and only others may start
    while counters[TAIL] > 0 and counters[FREE] > 0:
        if blocked:
            place = best_that_may_start(queue, counters, longest, extra)
            if place == NOBODY:
                return
        else:
            place = best(queue, counters)
            if queue.cores[place] > counters[FREE]:
                if backfill == NONE:
                    return
                cores = queue.cores[place]
                shadow, extra = reserve(replay.running, counters[DUE], counters[FREE], cores)
                longest = shadow - now
                blocked = True
                continue
        if queue.walltime[place] > longest:
            extra -= queue.cores[place]
        start_job(replay, queue.job[place], now)
        fill_gap(queue, counters, place)
