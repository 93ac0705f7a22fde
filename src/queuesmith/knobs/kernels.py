"""The compiled replay of bags of tasks under the priority of equation 1, and the sweep over knobs.

A job is a bag of tasks of equal width and duration. A rigid job is a bag of one wide task, so one
loop replays both: with rigid jobs alone it is the list scheduler of the engine (or EASY, or none).

The order of events at one instant is::

    (completions, arrivals, one scheduling pass)

``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int8, int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import (
    FROZEN_INTS,
    FROZEN_REALS,
    INTS,
    REAL_TABLE,
    REALS,
    SMALL_INTS,
)
from queuesmith.compiled.due import insert_due, remove_due, reserve
from queuesmith.compiled.heap import rise, sink

NONE, LIST, EASY = range(3)

# Places in the array of counters.
FREE, WAITING, RUNNING, DUE, ARRIVED, CHUNKS, CANCEL = range(7)
COUNTERS = 7

# Places in the array of findings: up to which gamma the schedule is proven to stay the same, and
# whether every decision was clear.
REACH, CLEAR = range(2)

# How the costs of a setting came about.
UNKNOWN, REPLAYED, PROVEN, LATER = range(4)

#: The columns of costs: expansion factors of the classes A to D, makespan, mean wait, mean
#: expansion factor of all jobs.
CLASSES = 4
MAKESPAN, MEAN_WAIT, EXPANSION = 4, 5, 6
COSTS = 7

NEVER = np.iinfo(np.int64).max
NOBODY = -1
#: Two scores closer than this, for each unit of the exponents, may be told apart by rounding alone:
#: the logarithms are below 28, so that a score is off by less than 28 * 8 * 2**-53 of it.
ROUNDING = 1e-12
NOBODY_ASKS = -1.0


class Bags(NamedTuple):
    """The columns of all jobs, in the order of submission, then id."""

    submit: Any
    runtime: Any  # of one task
    walltime: Any  # of one task; at least one second
    width: Any  # cores of one task
    tasks: Any
    limit: Any  # how many tasks may run at once
    log_size: Any
    log_walltime: Any
    kind: Any  # 0 to 3 for the classes A to D


class Queue(NamedTuple):
    """Waiting jobs in no order, what a pass reads of each, and its score."""

    job: Any
    width: Any
    walltime: Any
    room: Any  # tasks that could start if cores were free: within the share, not yet started
    score: Any
    log_walltime: Any


class Running(NamedTuple):
    """Chunks of tasks that run: a heap by their true end, a sorted list by the expected end."""

    end: Any
    job: Any
    tasks: Any
    due: Any
    due_cores: Any


class Record(NamedTuple):
    """Every chunk that started, where one wants to know; else of no length."""

    job: Any
    start: Any
    tasks: Any


class Replay(NamedTuple):
    """All that a replay in progress consists of."""

    bags: Bags
    queue: Queue
    running: Running
    record: Record
    waiting: Any  # of each job, the tasks that have not started
    active: Any  # of each job, the tasks that run
    place: Any  # of each job, its place in the queue, or NOBODY
    start: Any  # of each job, the first start
    end: Any  # of each job, the last end
    counters: Any
    findings: Any


# -- chunks that run -------------------------------------------------------------------------------


@kernel
def end_at(running, place):
    """Return the end by which the heap is ordered."""
    return running.end[place]


@kernel
def move_end(running, goal, source):
    """Move a chunk of the heap to another place."""
    running.end[goal] = running.end[source]
    running.job[goal] = running.job[source]
    running.tasks[goal] = running.tasks[source]


@kernel
def push_end(running, counters, end, job, tasks):
    """Add a chunk to the heap of true ends."""
    place = rise(running, counters[RUNNING], end, end_at, move_end)
    counters[RUNNING] += 1
    running.end[place] = end
    running.job[place] = job
    running.tasks[place] = tasks


@kernel
def pop_end(running, counters):
    """Take the chunk that ends first from the heap: its job and its tasks."""
    job, tasks = running.job[0], running.tasks[0]
    size = counters[RUNNING] - 1
    counters[RUNNING] = size
    end, last_job, last_tasks = running.end[size], running.job[size], running.tasks[size]
    place = sink(running, 0, size, end, end_at, move_end)
    running.end[place] = end
    running.job[place] = last_job
    running.tasks[place] = last_tasks
    return job, tasks


@kernel
def start_tasks(replay, place, tasks, now, backfill):
    """Let some tasks of a waiting job run from now on; the job leaves once none is left."""
    bags, queue, counters = replay.bags, replay.queue, replay.counters
    job = queue.job[place]
    cores = tasks * queue.width[place]
    counters[FREE] -= cores
    if replay.start[job] < 0:
        replay.start[job] = now
    end = now + bags.runtime[job]
    replay.end[job] = max(replay.end[job], end)
    push_end(replay.running, counters, end, job, tasks)
    if backfill == EASY:
        due = now + bags.walltime[job]
        counters[DUE] = insert_due(replay.running, counters[DUE], due, cores)
    note(replay.record, counters, job, now, tasks)
    replay.active[job] += tasks
    replay.waiting[job] -= tasks
    queue.room[place] -= tasks
    if replay.waiting[job] == 0:
        leave(replay, place)


@kernel
def note(record, counters, job, now, tasks):
    """Record a chunk; where there is no room left it is only counted."""
    if counters[CHUNKS] < len(record.job):
        record.job[counters[CHUNKS]] = job
        record.start[counters[CHUNKS]] = now
        record.tasks[counters[CHUNKS]] = tasks
    counters[CHUNKS] += 1


@kernel
def complete(replay, now, backfill):
    """Release the cores of all chunks that end now."""
    bags, queue, counters = replay.bags, replay.queue, replay.counters
    while counters[RUNNING] > 0 and replay.running.end[0] == now:
        job, tasks = pop_end(replay.running, counters)
        cores = tasks * bags.width[job]
        counters[FREE] += cores
        if backfill == EASY:
            due = now - bags.runtime[job] + bags.walltime[job]
            counters[DUE] = remove_due(replay.running, counters[DUE], due, cores)
        replay.active[job] -= tasks
        place = replay.place[job]
        if place != NOBODY:
            room = bags.limit[job] - replay.active[job]
            queue.room[place] = min(room, replay.waiting[job])


# -- jobs that wait --------------------------------------------------------------------------------


@kernel
def arrive(replay, now):
    """Let the jobs of this instant join the queue."""
    bags, queue, counters = replay.bags, replay.queue, replay.counters
    job = counters[ARRIVED]
    while job < len(bags.submit) and bags.submit[job] == now:
        place = counters[WAITING]
        counters[WAITING] = place + 1
        queue.job[place] = job
        queue.width[place] = bags.width[job]
        queue.walltime[place] = bags.walltime[job]
        queue.room[place] = min(bags.limit[job], bags.tasks[job])
        queue.log_walltime[place] = bags.log_walltime[job]
        replay.place[job] = place
        job += 1
    counters[ARRIVED] = job


@kernel
def leave(replay, place):
    """Move the last job of the queue to the place of one that left."""
    queue, counters = replay.queue, replay.counters
    replay.place[queue.job[place]] = NOBODY
    last = counters[WAITING] - 1
    counters[WAITING] = last
    if place != last:
        queue.job[place] = queue.job[last]
        queue.width[place] = queue.width[last]
        queue.walltime[place] = queue.walltime[last]
        queue.room[place] = queue.room[last]
        queue.score[place] = queue.score[last]
        queue.log_walltime[place] = queue.log_walltime[last]
        replay.place[queue.job[place]] = place


@kernel
def score_queue(replay, now, knobs):
    """Give every waiting job the logarithm of its priority (equation 1 without the averages)."""
    bags, queue = replay.bags, replay.queue
    alpha, beta, gamma = knobs
    for i in range(replay.counters[WAITING]):
        job = queue.job[i]
        wait = max(now - bags.submit[job], 1)
        queue.score[i] = (
            alpha * bags.log_size[job] + beta * np.log(wait) + gamma * queue.log_walltime[i]
        )


@kernel
def may_start(queue, i, free, longest, extra):
    """Tell whether a task of a waiting job may start now."""
    return (
        queue.room[i] > 0
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


# -- one scheduling pass ---------------------------------------------------------------------------


@kernel
def wanted(queue, waiting, free):
    """Return the cores that all tasks within their shares want, and whether one of them fits."""
    cores = 0
    fits = False
    for i in range(waiting):
        cores += queue.room[i] * queue.width[i]
        fits = fits or (queue.room[i] > 0 and queue.width[i] <= free)
    return cores, fits


@kernel
def start_everyone(replay, now, backfill):
    """Start all tasks within their shares, where cores are enough: the order does not matter."""
    queue, counters = replay.queue, replay.counters
    i = counters[WAITING] - 1
    while i >= 0:
        if queue.room[i] > 0:
            start_tasks(replay, i, queue.room[i], now, backfill)
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
        tasks = min(queue.room[place], most // queue.width[place])
        if queue.walltime[place] > longest:
            extra -= tasks * queue.width[place]
        start_tasks(replay, place, tasks, now, backfill)


# -- the loop over events --------------------------------------------------------------------------


@kernel
def begin(replay, cores):
    """Put everything back to where nothing has happened."""
    for job in range(len(replay.start)):
        replay.waiting[job] = replay.bags.tasks[job]
        replay.active[job] = 0
        replay.place[job] = NOBODY
        replay.start[job] = -1
        replay.end[job] = -1
    for i in range(CANCEL):
        replay.counters[i] = 0
    replay.counters[FREE] = cores
    replay.findings[REACH] = math.inf
    replay.findings[CLEAR] = 1.0


@kernel
def replay_knobs(replay, when, knobs, cores, backfill, doubt):
    """Replay all jobs; from second ``when[i]`` on the knobs are ``knobs[i]``."""
    bags, counters = replay.bags, replay.counters
    begin(replay, cores)
    turn = 0
    while counters[CANCEL] == 0:
        now = NEVER
        if counters[ARRIVED] < len(bags.submit):
            now = bags.submit[counters[ARRIVED]]
        if counters[RUNNING] > 0:
            now = min(now, replay.running.end[0])
        if now == NEVER:
            return
        complete(replay, now, backfill)
        arrive(replay, now)
        if counters[WAITING] > 0:
            while turn + 1 < len(when) and when[turn + 1] <= now:
                turn += 1
            chosen = (knobs[turn, 0], knobs[turn, 1], knobs[turn, 2])
            schedule_pass(replay, now, chosen, backfill, doubt)


@kernel
def count_costs(replay, number, costs):
    """Write the costs of a finished replay; ``number[c]`` is how many jobs class c has."""
    bags = replay.bags
    for c in range(COSTS):
        costs[c] = 0.0
    last = 0
    jobs = len(bags.submit)
    for job in range(jobs):
        last = max(last, replay.end[job])
        response = replay.end[job] - bags.submit[job]
        factor = max(1.0, response / max(bags.runtime[job], 1))
        costs[bags.kind[job]] += factor
        costs[EXPANSION] += factor
        costs[MEAN_WAIT] += replay.start[job] - bags.submit[job]
    for c in range(CLASSES):
        costs[c] = costs[c] / number[c] if number[c] > 0 else math.nan
    costs[MAKESPAN] = last - bags.submit[0]
    costs[MEAN_WAIT] /= jobs
    costs[EXPANSION] /= jobs


# -- the ways in -----------------------------------------------------------------------------------

BAGS_TYPE = types.NamedTuple([FROZEN_INTS] * 6 + [FROZEN_REALS] * 2 + [FROZEN_INTS], Bags)
REPLAY_TYPE = types.NamedTuple(
    [
        BAGS_TYPE,
        types.NamedTuple([SMALL_INTS, INTS, INTS, INTS, REALS, REALS], Queue),
        types.NamedTuple([INTS, SMALL_INTS, INTS, INTS, INTS], Running),
        types.NamedUniTuple(INTS, 3, Record),
        INTS,
        INTS,
        SMALL_INTS,
        INTS,
        INTS,
        INTS,
        REALS,
    ],
    Replay,
)


@entry(void(REPLAY_TYPE, FROZEN_INTS, REAL_TABLE, int64, int64), error_model="numpy")
def run_once(replay, when, knobs, cores, backfill):
    """Replay all jobs, turning the knobs at the given seconds; fills start, end and the record."""
    replay_knobs(replay, when, knobs, cores, backfill, NOBODY_ASKS)


@entry(
    void(REPLAY_TYPE, FROZEN_INTS, REAL_TABLE, int64, int64, FROZEN_INTS, REAL_TABLE),
    error_model="numpy",
)
def run_settings(replay, when, settings, cores, backfill, number, costs):
    """Replay each setting on its own and write its costs."""
    for i in range(len(settings)):
        if replay.counters[CANCEL] != 0:
            return
        replay_knobs(replay, when, settings[i : i + 1], cores, backfill, NOBODY_ASKS)
        count_costs(replay, number, costs[i])


@entry(
    void(
        REPLAY_TYPE,
        FROZEN_INTS,
        REAL_TABLE,
        int64,
        int64,
        float64,
        FROZEN_INTS,
        REAL_TABLE,
        int8[::1],
        int8[::1],
    ),
    error_model="numpy",
)
def run_lines(replay, when, settings, cores, backfill, doubt, number, costs, origin, clear):
    """Replay settings in lines of equal alpha and beta and rising gamma.

    A setting up to which the schedule of the last replay of its line reaches is not replayed.
    Settings whose ``origin`` is not UNKNOWN are passed over. Progress is visible in ``origin``.
    """
    known = -1
    for i in range(len(settings)):
        if replay.counters[CANCEL] != 0:
            return
        if known >= 0 and (
            settings[i, 0] != settings[known, 0] or settings[i, 1] != settings[known, 1]
        ):
            known = -1
        if origin[i] != UNKNOWN:
            continue
        if known >= 0 and settings[i, 2] <= replay.findings[REACH]:
            for c in range(COSTS):
                costs[i, c] = costs[known, c]
            clear[i] = clear[known]
            origin[i] = PROVEN
            continue
        replay_knobs(replay, when, settings[i : i + 1], cores, backfill, doubt)
        count_costs(replay, number, costs[i])
        clear[i] = 1 if replay.findings[CLEAR] > 0.0 else 0
        origin[i] = REPLAYED
        known = i


@entry(void(REAL_TABLE, INTS))
def find_front(costs, front):
    """Mark the rows that no other row equals or beats in every column; rows are sorted.

    A row that beats another stands before it, and whatever beats a row is itself on the front or
    beaten by one that is: so each row need only be compared with the front so far.
    ``front[:size]`` are the rows found, ``front[-1]`` is the size.
    """
    size = 0
    for i in range(len(costs)):
        beaten = False
        for k in range(size):
            beaten = True
            for c in range(costs.shape[1]):
                if costs[front[k], c] > costs[i, c]:
                    beaten = False
                    break
            if beaten:
                break
        if not beaten:
            front[size] = i
            size += 1
    front[-1] = size


def new_replay(bags: Bags, cores: int, *, chunks: int = 0) -> Replay:
    """Return a replay with all the room it will need, and with room to record some chunks."""
    count = len(bags.submit)
    running = int(min(cores, int(bags.tasks.sum())))
    return Replay(
        bags,
        Queue(
            job=np.empty(count, np.int32),
            width=np.empty(count, np.int64),
            walltime=np.empty(count, np.int64),
            room=np.empty(count, np.int64),
            score=np.empty(count, np.float64),
            log_walltime=np.empty(count, np.float64),
        ),
        Running(
            end=np.empty(running, np.int64),
            job=np.empty(running, np.int32),
            tasks=np.empty(running, np.int64),
            due=np.empty(running, np.int64),
            due_cores=np.empty(running, np.int64),
        ),
        Record(*(np.empty(chunks, np.int64) for _ in range(3))),
        waiting=np.empty(count, np.int64),
        active=np.empty(count, np.int64),
        place=np.empty(count, np.int32),
        start=np.empty(count, np.int64),
        end=np.empty(count, np.int64),
        counters=np.zeros(COUNTERS, np.int64),
        findings=np.zeros(2),
    )
