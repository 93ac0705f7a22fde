"""One scheduling pass under none, list or EASY."""

from queuesmith.compiled import kernel
from queuesmith.compiled.due import reserve
from queuesmith.engine.kernels.constants import (
    DUE,
    EASY,
    FREE,
    LIST,
    NEVER,
    NOBODY,
    NONE,
    TAIL,
    TOO_WIDE,
)
from queuesmith.engine.kernels.line import FAVOURED, KEPT, leave_line, next_in_line
from queuesmith.engine.kernels.queue import best, best_that_may_start, fill_gap
from queuesmith.engine.kernels.replay import start_job


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
