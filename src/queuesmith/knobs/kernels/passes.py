"""One scheduling pass, and up to which gamma it would stay the same."""

import math

import numpy as np

from queuesmith.compiled import kernel
from queuesmith.compiled.due import reserve
from queuesmith.knobs.kernels.events import start_tasks
from queuesmith.knobs.kernels.replay import (
    CLEAR,
    DUE,
    FREE,
    LIST,
    NEVER,
    NOBODY,
    NONE,
    REACH,
    WAITING,
)

#: Scores are kept to so many parts of 1, as in the order `power`: jobs whose priorities are equal
#: are told apart by nothing but their arrival, whatever rounding makes of the logarithms.
SCORE_DIGITS = 2.0**24
#: Two scores closer than this may be equal or not at another length of the same knobs.
DOUBT = 2.5 / SCORE_DIGITS


@kernel
def score_queue(replay, now, knobs):
    """Give every waiting job the logarithm of its priority (equation 1 without the averages)."""
    bags, queue = replay.bags, replay.queue
    alpha, beta, gamma = knobs
    for i in range(replay.counters[WAITING]):
        job = queue.job[i]
        wait = max(now - bags.submit[job], 1)
        score = alpha * bags.log_size[job] + beta * np.log(wait) + gamma * queue.log_walltime[i]
        queue.score[i] = np.rint(score * SCORE_DIGITS) / SCORE_DIGITS


@kernel
def may_start(queue, i, free, longest, extra):
    """Tell whether a task of a waiting job may start now."""
    return (
        queue.startable[i] > 0
        and queue.width[i] <= free
        and (queue.walltime[i] <= longest or queue.width[i] <= extra)
    )


@kernel
def first_of(queue, waiting, free, longest, extra):
    """Return the place of the job of highest score that may start, or NOBODY."""
    found = NOBODY
    for i in range(waiting):
        if may_start(queue, i, free, longest, extra) and (
            found == NOBODY
            or queue.score[i] > queue.score[found]
            or (queue.score[i] == queue.score[found] and queue.job[i] < queue.job[found])
        ):
            found = i
    return found


@kernel
def ever_alike(bags, now, one, other, alpha, beta):
    """Tell whether two jobs have the same score whatever gamma is, but for their walltimes."""
    same_size = alpha == 0.0 or bags.log_size[one] == bags.log_size[other]
    wait, other_wait = max(now - bags.submit[one], 1), max(now - bags.submit[other], 1)
    return same_size and (beta == 0.0 or wait == other_wait)


@kernel
def narrow_reach(replay, now, winner, free, longest, extra, knobs, doubt):
    """Note up to which gamma the winner would still be the first of those that may start.

    The lead of the winner over another job is linear in gamma, so it stays above ``doubt`` up to
    the gamma at which it shrinks to it. A negative ``doubt`` says that nobody asks.
    """
    if doubt < 0.0:
        return
    queue, findings = replay.queue, replay.findings
    alpha, beta, gamma = knobs
    highest, steepest = queue.score[winner], queue.log_walltime[winner]
    for i in range(replay.counters[WAITING]):
        if i == winner or not may_start(queue, i, free, longest, extra):
            continue
        lead = highest - queue.score[i]
        slope = steepest - queue.log_walltime[i]
        if lead > doubt:
            if slope < 0.0:
                findings[REACH] = min(findings[REACH], gamma + (lead - doubt) / -slope)
        elif not ever_alike(replay.bags, now, queue.job[winner], queue.job[i], alpha, beta) or (
            slope != 0.0 and gamma != 0.0
        ):
            findings[CLEAR] = 0.0
            findings[REACH] = -math.inf
        elif slope != 0.0:
            findings[REACH] = -math.inf  # equal only because gamma is 0


@kernel
def wanted(queue, waiting, free):
    """Return the cores that all tasks within their shares want, and whether one of them fits."""
    cores = 0
    fits = False
    for i in range(waiting):
        cores += queue.startable[i] * queue.width[i]
        fits = fits or (queue.startable[i] > 0 and queue.width[i] <= free)
    return cores, fits


@kernel
def start_everyone(replay, now, backfill):
    """Start all tasks within their shares, where cores are enough: the order does not matter."""
    queue, counters = replay.queue, replay.counters
    i = counters[WAITING] - 1
    while i >= 0:
        if queue.startable[i] > 0:
            start_tasks(replay, i, queue.startable[i], now, backfill)
        i -= 1


@kernel
def schedule_pass(replay, now, knobs, backfill, doubt):
    """Start tasks in the order of priority: as many of each job as fit, within its share."""
    queue, counters = replay.queue, replay.counters
    cores, fits = wanted(queue, counters[WAITING], counters[FREE])
    if not fits:
        return
    if cores <= counters[FREE]:
        start_everyone(replay, now, backfill)
        return
    if counters[WAITING] > 1:
        score_queue(replay, now, knobs)
    longest, extra = NEVER, 0
    blocked = backfill == LIST  # whether the first job waits, and only others may start
    while counters[WAITING] > 0 and counters[FREE] > 0:
        free = counters[FREE] if blocked else NEVER
        place = first_of(queue, counters[WAITING], free, longest, extra)
        if place == NOBODY:
            return
        narrow_reach(replay, now, place, free, longest, extra, knobs, doubt)
        if queue.width[place] > counters[FREE]:
            if backfill == NONE:
                return
            width = queue.width[place]
            shadow, extra = reserve(replay.running, counters[DUE], counters[FREE], width)
            longest = shadow - now
            blocked = True
            continue
        most = counters[FREE]
        if queue.walltime[place] > longest:
            most = min(most, extra)
        tasks = min(queue.startable[place], most // queue.width[place])
        if queue.walltime[place] > longest:
            extra -= tasks * queue.width[place]
        start_tasks(replay, place, tasks, now, backfill)
