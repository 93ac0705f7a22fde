"""The compiled replay: plain numbers in, start times out.

Everything compiled that calls each other lives in this file, so that a cached kernel can never be
stale. ``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.

The order of events at one instant is::

    (completions, arrivals, one scheduling pass)

Jobs are known by their position: jobs stand in the order of submission, then id, which is also the
order of jobs with equal scores.
"""

import functools
import math
import threading
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import boolean, float64, int32, int64, types, void

njit: Any = numba.njit  # its stubs do not know all its options

# Kernels allocate nothing, so they need no reference counts. Counting them for bundles of arrays
# costs a factor of ten.
kernel = njit(_nrt=False)

NONE, LIST, EASY, CONSERVATIVE, PLAN = range(5)

# Places in the array of counters.
FREE, HEAD, TAIL, ENDING, DUE, ARRIVED, STARTED, STEPS, NEXT_START = range(9)
CANCEL, BAD_JOB, BAD_TIME, WAITING, ENDED, OLDEST_ENDED, DECISIONS, ACTIVE, BOOKED = range(9, 18)
RELEASED, WORK, MOST_WORK = range(18, 21)
COUNTERS = 21

NEVER = np.iinfo(np.int64).max
NOBODY = -1
TOO_WIDE = np.iinfo(np.int32).max  # wider than any machine


class Jobs(NamedTuple):
    """The columns of all jobs, in the order of submission, then id."""

    id: Any
    submit: Any
    runtime: Any
    walltime: Any  # at least one second
    cores: Any
    user: Any  # dense: 0 to users - 1
    group: Any
    log_walltime: Any
    log_cores: Any
    partition_factor: Any
    qos_factor: Any


class Usage(NamedTuple):
    """What each user has consumed, in core-seconds that halve every half-life.

    At any instant it is ``level + slope * usage_clock(now)``, so that one evaluation of the clock
    serves all users. The last slot is the total of all users.
    """

    level: Any
    slope: Any
    clock: Any  # two numbers: the half-life, or 0 for no decay, and when the clock was set


class Line(NamedTuple):
    """Waiting jobs in a fixed order: a tree over all ranks, of the least cores and walltime below.

    Node 1 is the root, nodes 2i and 2i + 1 are below node i, the leaves are the ranks. It answers
    "who is the next in line that may start now?" in a few steps, however long the line is. A job
    that must leave cores free counts with these, as far as the machine has them.
    """

    cores: Any
    walltime: Any
    job: Any  # by rank
    keep: Any  # three numbers, see below


# Places in the array of what is kept free, in a line whose favoured ranks come first: how many
# these are, the cores that all others must leave free, the cores of the machine.
FAVOURED, KEPT, MACHINE = range(3)


class Queue(NamedTuple):
    """Waiting jobs at ``job[head:tail]``, for orders that change and for plans.

    Their cores and walltimes are kept beside them, so that long queues are read in one sweep.
    """

    job: Any
    cores: Any
    walltime: Any
    score: Any
    spare_job: Any
    spare_score: Any


class Running(NamedTuple):
    """Jobs that hold cores: a heap by their true end, a sorted list by the end one must expect."""

    end: Any
    job: Any
    due: Any
    due_cores: Any


class Plan(NamedTuple):
    """Free cores from ``time[i]`` up to ``time[i + 1]``; the last step lasts for ever."""

    time: Any
    free: Any


class Replay(NamedTuple):
    """All that a replay in progress consists of."""

    jobs: Jobs
    line: Line
    queue: Queue
    running: Running
    plan: Plan
    usage: Usage
    counters: Any
    start: Any
    started: Any  # jobs in the order of their starts


# -- the jobs that run -----------------------------------------------------------------------------


@kernel
def push_end(running, counters, end, job):
    """Add a job to the heap of true ends."""
    child = counters[ENDING]
    counters[ENDING] = child + 1
    while child > 0:
        parent = (child - 1) >> 1
        if running.end[parent] <= end:
            break
        running.end[child] = running.end[parent]
        running.job[child] = running.job[parent]
        child = parent
    running.end[child] = end
    running.job[child] = job


@kernel
def pop_end(running, counters):
    """Take the job that ends first from the heap."""
    job = running.job[0]
    size = counters[ENDING] - 1
    counters[ENDING] = size
    end, last = running.end[size], running.job[size]
    parent = 0
    child = 1
    while child < size:
        if child + 1 < size and running.end[child + 1] < running.end[child]:
            child += 1
        if running.end[child] >= end:
            break
        running.end[parent] = running.end[child]
        running.job[parent] = running.job[child]
        parent = child
        child = 2 * parent + 1
    running.end[parent] = end
    running.job[parent] = last
    return job


@kernel
def insert_due(running, counters, due, cores):
    """Add a job to the list of expected ends, kept sorted."""
    i = counters[DUE]
    counters[DUE] = i + 1
    while i > 0 and running.due[i - 1] > due:
        running.due[i] = running.due[i - 1]
        running.due_cores[i] = running.due_cores[i - 1]
        i -= 1
    running.due[i] = due
    running.due_cores[i] = cores


@kernel
def remove_due(running, counters, due, cores):
    """Take a job from the list of expected ends; jobs alike in end and cores are one as good."""
    i = np.searchsorted(running.due[: counters[DUE]], due)
    while running.due_cores[i] != cores:
        i += 1
    last = counters[DUE] - 1
    counters[DUE] = last
    while i < last:
        running.due[i] = running.due[i + 1]
        running.due_cores[i] = running.due_cores[i + 1]
        i += 1


@kernel
def start_job(replay, job, now):
    """Let a job run from now on."""
    jobs, running, counters = replay.jobs, replay.running, replay.counters
    cores = jobs.cores[job]
    replay.start[job] = now
    replay.started[counters[STARTED]] = job
    counters[STARTED] += 1
    counters[FREE] -= cores
    push_end(running, counters, now + jobs.runtime[job], job)
    insert_due(running, counters, now + jobs.walltime[job], cores)
    if len(replay.usage.level) > 0:
        use_cores(replay.usage, jobs.user[job], cores, now)


@kernel
def end_job(replay, now):
    """Release the cores of the job that ends first, and return it."""
    jobs, running, counters = replay.jobs, replay.running, replay.counters
    job = pop_end(running, counters)
    cores = jobs.cores[job]
    counters[FREE] += cores
    due = replay.start[job] + jobs.walltime[job]
    remove_due(running, counters, due, cores)
    if counters[STEPS] > 0:
        change_plan(replay.plan, counters, now, due, cores)
    if len(replay.usage.level) > 0:
        use_cores(replay.usage, jobs.user[job], -cores, now)
    return job


# -- what users have consumed ----------------------------------------------------------------------


@kernel
def usage_clock(usage, now):
    """Return what usage depends on at an instant: the decay, or without decay the seconds."""
    elapsed = now - usage.clock[1]
    if usage.clock[0] <= 0.0:
        return elapsed
    return 2.0 ** (-elapsed / usage.clock[0])


@kernel
def use_cores(usage, user, cores, now):
    """Note that a user, and so all users together, hold so many cores more from now on."""
    clock = usage_clock(usage, now)
    half_life = usage.clock[0]
    if half_life > 0.0 and clock < 1e-200:
        for slot in range(len(usage.slope)):
            usage.slope[slot] *= clock
        usage.clock[1] = now
        clock = 1.0
    for slot in (user, len(usage.level) - 1):
        amount = usage.level[slot] + usage.slope[slot] * clock
        if half_life > 0.0:
            # A core held for ever would settle at this level: what decays equals what is added.
            usage.level[slot] += cores * half_life / math.log(2.0)
            usage.slope[slot] = (amount - usage.level[slot]) / clock
        else:
            usage.slope[slot] += cores
            usage.level[slot] = amount - usage.slope[slot] * clock


# -- the jobs that wait ----------------------------------------------------------------------------


@kernel
def room_for_start(line, rank, cores):
    """Return how many cores must be free for a job with that rank to start."""
    if rank < line.keep[FAVOURED]:
        return cores
    return min(cores + line.keep[KEPT], line.keep[MACHINE])


@kernel
def join_line(jobs, line, rank, job):
    """Let a job wait at a rank."""
    node = len(line.job) + rank
    cores = room_for_start(line, rank, jobs.cores[job])
    walltime = jobs.walltime[job]
    while node > 0 and (cores < line.cores[node] or walltime < line.walltime[node]):
        line.cores[node] = min(cores, line.cores[node])
        line.walltime[node] = min(walltime, line.walltime[node])
        node >>= 1


@kernel
def leave_line(line, rank):
    """Let nobody wait at a rank any more."""
    node = len(line.job) + rank
    line.cores[node] = TOO_WIDE
    line.walltime[node] = NEVER
    node >>= 1
    while node > 0:
        cores = min(line.cores[2 * node], line.cores[2 * node + 1])
        walltime = min(line.walltime[2 * node], line.walltime[2 * node + 1])
        if cores == line.cores[node] and walltime == line.walltime[node]:
            break
        line.cores[node] = cores
        line.walltime[node] = walltime
        node >>= 1


@kernel
def next_in_line(line, rank, most, longest, extra):
    """Return the first rank from ``rank`` on whose job needs at most so many cores, and is short
    enough or needs no more than the extra cores; NOBODY where there is none.
    """
    leaves = len(line.job)
    if rank >= leaves:
        return NOBODY
    node = leaves + rank
    while node > 0:
        cores = line.cores[node]
        if cores <= most and (line.walltime[node] <= longest or cores <= extra):
            if node >= leaves:
                return node - leaves
            node *= 2
        else:
            # On to the next subtree to the right: up as long as this is a right child.
            while node & 1:
                node >>= 1
            if node > 0:
                node += 1
    return NOBODY


@kernel
def put(jobs, queue, place, job):
    """Write a job into a place of the queue."""
    queue.job[place] = job
    queue.cores[place] = jobs.cores[job]
    queue.walltime[place] = jobs.walltime[job]


@kernel
def move(queue, place, other):
    """Copy the job of another place into a place of the queue."""
    queue.job[place] = queue.job[other]
    queue.cores[place] = queue.cores[other]
    queue.walltime[place] = queue.walltime[other]


@kernel
def join_at_end(replay, job):
    """Put a job behind all others."""
    put(replay.jobs, replay.queue, replay.counters[TAIL], job)
    replay.counters[TAIL] += 1


@kernel
def join_by_rank(replay, rank, job):
    """Put a job into the queue at its place in a fixed order."""
    queue, counters = replay.queue, replay.counters
    low, high = counters[HEAD], counters[TAIL]
    if low < high and rank[queue.job[high - 1]] < rank[job]:
        low = high
    while low < high:
        middle = (low + high) >> 1
        if rank[queue.job[middle]] < rank[job]:
            low = middle + 1
        else:
            high = middle
    for i in range(counters[TAIL], low, -1):
        move(queue, i, i - 1)
    put(replay.jobs, queue, low, job)
    counters[TAIL] += 1


@kernel
def close_gap(queue, counters, kept, i):
    """Move the jobs from place ``i`` on forward to place ``kept``."""
    if kept < i:
        while i < counters[TAIL]:
            move(queue, kept, i)
            kept += 1
            i += 1
        counters[TAIL] = kept


@kernel
def fill_gap(queue, counters, place):
    """Move the last job of an unsorted queue to the place of one that left."""
    last = counters[TAIL] - 1
    move(queue, place, last)
    queue.score[place] = queue.score[last]
    counters[TAIL] = last


@kernel
def comes_before(score, job, other_score, other_job):
    """Tell whether a job stands before another: the higher score, then the earlier job."""
    return score > other_score or (score == other_score and job < other_job)


@kernel
def end_of_run(job, score, i, tail):
    """Return where the sorted run that begins at ``i`` ends."""
    i += 1
    while i < tail and not comes_before(score[i], job[i], score[i - 1], job[i - 1]):
        i += 1
    return i


@kernel
def merge(job, score, left, middle, right, to_job, to_score):
    """Merge two neighbouring sorted runs into other arrays."""
    a, b = left, middle
    for i in range(left, right):
        if b >= right or (a < middle and not comes_before(score[b], job[b], score[a], job[a])):
            to_job[i], to_score[i] = job[a], score[a]
            a += 1
        else:
            to_job[i], to_score[i] = job[b], score[b]
            b += 1


@kernel
def sort_queue(jobs, queue, counters):
    """Sort the queue by score: a natural merge sort, quick where little has changed."""
    head, tail = counters[HEAD], counters[TAIL]
    while end_of_run(queue.job, queue.score, head, tail) < tail:
        left = head
        while left < tail:
            middle = end_of_run(queue.job, queue.score, left, tail)
            right = middle
            if middle < tail:
                right = end_of_run(queue.job, queue.score, middle, tail)
            merge(queue.job, queue.score, left, middle, right, queue.spare_job, queue.spare_score)
            left = right
        for i in range(head, tail):
            put(jobs, queue, i, queue.spare_job[i])
            queue.score[i] = queue.spare_score[i]


@kernel
def some_job_fits(queue, counters):
    """Tell whether any waiting job is narrow enough to start now."""
    for i in range(counters[HEAD], counters[TAIL]):  # noqa: SIM110 (compiled)
        if queue.cores[i] <= counters[FREE]:
            return True
    return False


@kernel
def best(queue, counters):
    """Return the place of the first job in an unsorted queue that is not empty."""
    found = counters[HEAD]
    for i in range(found + 1, counters[TAIL]):
        if comes_before(queue.score[i], queue.job[i], queue.score[found], queue.job[found]):
            found = i
    return found


@kernel
def best_that_may_start(queue, counters, longest, extra):
    """Return the place of the first job in an unsorted queue that fits and is short enough or
    narrow enough, or NOBODY.
    """
    found = NOBODY
    for i in range(counters[HEAD], counters[TAIL]):
        if (
            queue.cores[i] <= counters[FREE]
            and (queue.walltime[i] <= longest or queue.cores[i] <= extra)
            and (
                found == NOBODY
                or comes_before(queue.score[i], queue.job[i], queue.score[found], queue.job[found])
            )
        ):
            found = i
    return found


# -- plans: who is to use which cores when ---------------------------------------------------------


@kernel
def begin_plan(running, counters, plan, now):
    """Begin a plan with the cores that running jobs will free by their walltimes."""
    plan.time[0] = now
    plan.free[0] = counters[FREE]
    steps = 1
    for i in range(counters[DUE]):
        if running.due[i] > plan.time[steps - 1]:
            plan.time[steps] = running.due[i]
            plan.free[steps] = plan.free[steps - 1]
            steps += 1
        plan.free[steps - 1] += running.due_cores[i]
    counters[STEPS] = steps


@kernel
def advance_plan(plan, counters, now):
    """Forget what lies before now, and join neighbouring steps that are alike."""
    first = np.searchsorted(plan.time[: counters[STEPS]], now, side="right") - 1
    plan.time[0] = now
    plan.free[0] = plan.free[first]
    kept = 1
    for i in range(first + 1, counters[STEPS]):
        if plan.free[i] != plan.free[kept - 1]:
            plan.time[kept] = plan.time[i]
            plan.free[kept] = plan.free[i]
            kept += 1
    counters[STEPS] = kept


@kernel
def split_plan(plan, counters, time):
    """Return the step that begins at an instant, making one where there is none."""
    steps = counters[STEPS]
    step = np.searchsorted(plan.time[:steps], time)
    if step == steps or plan.time[step] != time:
        for i in range(steps, step, -1):
            plan.time[i] = plan.time[i - 1]
            plan.free[i] = plan.free[i - 1]
        plan.time[step] = time
        plan.free[step] = plan.free[step - 1]
        counters[STEPS] = steps + 1
    return step


@kernel
def change_plan(plan, counters, begin, end, cores):
    """Give back cores between two instants, or take them where the number is negative."""
    if begin < end:
        first = split_plan(plan, counters, begin)
        last = split_plan(plan, counters, end)
        for i in range(first, last):
            plan.free[i] += cores


@kernel
def earliest(plan, counters, walltime, cores, reserved):
    """Return the earliest start for a job that holds a reservation, or NEVER for none.

    Its own reservation is in the plan and does not stand in its way.
    """
    first = 0
    for i in range(counters[STEPS]):
        if plan.time[i] >= reserved:
            break
        if plan.free[i] < cores:
            first = i + 1
        elif i + 1 == counters[STEPS] or plan.time[i + 1] - plan.time[first] >= walltime:
            break
    return min(plan.time[first], reserved) if first < counters[STEPS] else reserved


# -- one scheduling pass, for each kind of backfill ------------------------------------------------


@kernel
def reserve(running, counters, cores):
    """Return when so many cores will be free, and how many more are free at that instant."""
    free = counters[FREE]
    i = 0
    while free < cores:
        free += running.due_cores[i]
        i += 1
    shadow = running.due[i - 1]
    while i < counters[DUE] and running.due[i] == shadow:
        free += running.due_cores[i]
        i += 1
    return shadow, free - cores


@kernel
def may_start_now(plan, counters, walltime, cores):
    """Tell whether a plan has room for a job from its first instant on."""
    end = plan.time[0] + walltime
    for i in range(counters[STEPS]):
        if plan.time[i] >= end:
            break
        if plan.free[i] < cores:
            return False
    return True


@kernel
def last_that_may_start(queue, plan, counters, last):
    """Return the last place up to ``last`` whose job may start now, or one before the head."""
    while last >= counters[HEAD] and (
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
    """Do so in a plan that has been begun, and forget the plan."""
    queue, plan, counters = replay.queue, replay.plan, replay.counters
    # Room only shrinks while jobs are planned. Behind the last that may still start now none can:
    # that part of the plan is not needed. It is looked for anew whenever twice as many are planned.
    last = last_that_may_start(queue, plan, counters, counters[TAIL] - 1)
    i = counters[HEAD]
    kept = i
    look_again = 1
    while i <= last:
        walltime, cores = queue.walltime[i], queue.cores[i]
        begin = earliest(plan, counters, walltime, cores, NEVER)
        change_plan(plan, counters, begin, begin + walltime, -cores)
        if begin == now:
            start_job(replay, queue.job[i], now)
        else:
            move(queue, kept, i)
            kept += 1
        i += 1
        if begin == now or i - counters[HEAD] == look_again:
            last = last_that_may_start(queue, plan, counters, last)
            look_again = 2 * (i - counters[HEAD])
    close_gap(queue, counters, kept, i)
    counters[STEPS] = 0


@kernel
def move_forward(replay, job):
    """Move a job's reservation to the earliest room; all others stay where they are."""
    plan, counters, start = replay.plan, replay.counters, replay.start
    walltime, cores = replay.jobs.walltime[job], replay.jobs.cores[job]
    old = start[job]
    new = earliest(plan, counters, walltime, cores, old)
    if new < old:
        change_plan(plan, counters, new, min(new + walltime, old), -cores)
        if old != NEVER:
            change_plan(plan, counters, max(new + walltime, old), old + walltime, cores)
        start[job] = new


@kernel
def keep_reservations(replay, now, released, newcomer):
    """Conservative backfilling: where cores were released, move every reservation forward, in queue
    order; then find the earliest room for each newcomer; then start the jobs whose time has come.
    """
    queue, counters = replay.queue, replay.counters
    head, tail = counters[HEAD], counters[TAIL]
    if counters[STEPS] == 0:
        begin_plan(replay.running, counters, replay.plan, now)
    if released:
        for i in range(head, tail):
            if queue.job[i] < newcomer:
                move_forward(replay, queue.job[i])
    for i in range(head, tail):
        if queue.job[i] >= newcomer:
            replay.start[queue.job[i]] = NEVER
            move_forward(replay, queue.job[i])
    start_reserved(replay, now)


@kernel
def start_reserved(replay, now):
    """Start the jobs reserved for now, and note when the next is due."""
    queue, counters, start = replay.queue, replay.counters, replay.start
    kept = counters[HEAD]
    soonest = NEVER
    for i in range(counters[HEAD], counters[TAIL]):
        job = queue.job[i]
        if start[job] == now:
            start_job(replay, job, now)
        else:
            soonest = min(soonest, start[job])
            move(queue, kept, i)
            kept += 1
    counters[TAIL] = kept
    counters[NEXT_START] = soonest
    if kept == counters[HEAD]:
        # With nobody waiting the plan need not be kept up.
        counters[STEPS] = 0


@kernel
def follow_plan(replay, now, backfill, released, newcomer):
    """Run one scheduling pass over the sorted queue: conservative or plan."""
    if backfill == CONSERVATIVE:
        keep_reservations(replay, now, released, newcomer)
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
        shadow, extra = reserve(replay.running, counters, line.cores[len(line.job) + first])
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
    while counters[HEAD] < counters[TAIL] and counters[FREE] > 0:
        if blocked:
            place = best_that_may_start(queue, counters, longest, extra)
            if place == NOBODY:
                return
        else:
            place = best(queue, counters)
            if queue.cores[place] > counters[FREE]:
                if backfill == NONE:
                    return
                shadow, extra = reserve(replay.running, counters, queue.cores[place])
                longest = shadow - now
                blocked = True
                continue
        if queue.walltime[place] > longest:
            extra -= queue.cores[place]
        start_job(replay, queue.job[place], now)
        fill_gap(queue, counters, place)


# -- the loop over events --------------------------------------------------------------------------


@kernel
def next_instant(replay):
    """Return when something happens next: an arrival, a completion, a reserved start."""
    counters, submit = replay.counters, replay.jobs.submit
    arrival = submit[counters[ARRIVED]] if counters[ARRIVED] < len(submit) else NEVER
    completion = replay.running.end[0] if counters[ENDING] > 0 else NEVER
    return min(arrival, completion, counters[NEXT_START])


@kernel
def complete(replay, now):
    """Release the cores of all jobs that end now; tells whether there was any."""
    counters = replay.counters
    if counters[STEPS] > 0:
        advance_plan(replay.plan, counters, now)
    before = counters[ENDING]
    while counters[ENDING] > 0 and replay.running.end[0] == now:
        end_job(replay, now)
    return counters[ENDING] < before


@kernel
def arrive(replay, now):
    """Take note of the jobs that arrive now: they are those from the first returned up to, not
    including, the last.
    """
    counters, submit = replay.counters, replay.jobs.submit
    first = counters[ARRIVED]
    last = first
    while last < len(submit) and submit[last] == now:
        last += 1
    counters[ARRIVED] = last
    return first, last


@kernel
def replay_fixed(replay, rank, backfill):
    """Replay under an order in which jobs never change places: none, list or EASY."""
    jobs, line, counters = replay.jobs, replay.line, replay.counters
    first, shadow, extra = NOBODY, NEVER, 0
    now = next_instant(replay)
    while now != NEVER and counters[CANCEL] == 0:
        released = complete(replay, now)
        job, last = arrive(replay, now)
        alone = last == job + 1
        room = room_for_start(line, rank[job], jobs.cores[job]) if alone else TOO_WIDE
        if first == NOBODY and room <= counters[FREE]:
            start_job(replay, job, now)
        elif alone and not released and first != NOBODY and rank[job] > first:
            # Since the last pass only time has passed and this job has come, so no other can
            # start: it would have started then.
            cores = jobs.cores[job]
            in_time = now + jobs.walltime[job] <= shadow
            may_overtake = backfill != NONE and not first < line.keep[FAVOURED] <= rank[job]
            if may_overtake and room <= counters[FREE] and (in_time or cores <= extra):
                start_job(replay, job, now)
                if not in_time:
                    extra -= cores
            else:
                join_line(jobs, line, rank[job], job)
        elif job < last or first != NOBODY:
            for newcomer in range(job, last):
                join_line(jobs, line, rank[newcomer], newcomer)
                if first == NOBODY or rank[newcomer] < first:
                    first = rank[newcomer]
            first, shadow, extra = start_in_line(replay, line, now, first, backfill)
        now = next_instant(replay)


@kernel
def replay_fixed_planned(replay, rank, backfill):
    """Replay under an order in which jobs never change places: conservative or plan."""
    jobs, counters = replay.jobs, replay.counters
    now = next_instant(replay)
    while now != NEVER and counters[CANCEL] == 0:
        released = complete(replay, now)
        job, last = arrive(replay, now)
        empty = counters[HEAD] == counters[TAIL]
        if last == job + 1 and empty and jobs.cores[job] <= counters[FREE]:
            start_job(replay, job, now)
        elif job < last or not empty:
            for newcomer in range(job, last):
                join_by_rank(replay, rank, newcomer)
            follow_plan(replay, now, backfill, released, job)
        now = next_instant(replay)


@kernel
def replay_changing(replay, score_queue, parameters, cores, backfill):
    """Replay under an order whose scores change with time: the queue is scored at each pass."""
    jobs, queue, counters = replay.jobs, replay.queue, replay.counters
    now = next_instant(replay)
    while now != NEVER and counters[CANCEL] == 0:
        released = complete(replay, now)
        job, last = arrive(replay, now)
        empty = counters[HEAD] == counters[TAIL]
        if last == job + 1 and empty and jobs.cores[job] <= counters[FREE]:
            start_job(replay, job, now)
        elif job < last or not empty:
            for newcomer in range(job, last):
                join_at_end(replay, newcomer)
            if backfill == CONSERVATIVE or some_job_fits(queue, counters):
                head, tail = counters[HEAD], counters[TAIL]
                waiting, score = queue.job[head:tail], queue.score[head:tail]
                bad = score_queue(
                    jobs, replay.usage, waiting, score, now, cores, counters[FREE], parameters
                )
                if bad >= 0:
                    counters[BAD_JOB], counters[BAD_TIME] = bad, now
                    return
                if backfill <= EASY:
                    start_in_queue(replay, now, backfill)
                else:
                    sort_queue(jobs, queue, counters)
                    follow_plan(replay, now, backfill, released, job)
        now = next_instant(replay)


# -- policies that choose among strategies ---------------------------------------------------------


class Lines(NamedTuple):
    """Waiting jobs in several fixed orders at once: row k of each array is line k."""

    cores: Any
    walltime: Any
    job: Any
    rank: Any  # each job's place in each line
    keep: Any


class Pool(NamedTuple):
    """The waiting jobs of a policy that chooses, so that any strategy can begin at once.

    Besides the lines they form a ring in the order of submission, whose anchor is the last place.
    A strategy is a row of two: its line, or where its order changes ``-1 - k`` for the row k of
    ``parameters`` with which that order is scored; and its backfill.
    """

    replay: Replay
    lines: Lines
    following: Any
    preceding: Any
    strategies: Any
    parameters: Any


@kernel
def line_of(lines, k):
    """Return one of several lines."""
    return Line(lines.cores[k], lines.walltime[k], lines.job[k], lines.keep[k])


@kernel
def some_line_keeps(lines):
    """Tell whether cores are kept free in any of the lines."""
    for k in range(len(lines.keep)):  # noqa: SIM110 (compiled)
        if lines.keep[k, KEPT] > 0:
            return True
    return False


@kernel
def join_pool(pool, job):
    """Let a job wait: in every line, and as the last of the ring."""
    anchor = len(pool.following) - 1
    last = pool.preceding[anchor]
    pool.following[last], pool.following[job] = job, anchor
    pool.preceding[anchor], pool.preceding[job] = job, last
    pool.replay.counters[WAITING] += 1
    for k in range(len(pool.lines.rank)):
        join_line(pool.replay.jobs, line_of(pool.lines, k), pool.lines.rank[k, job], job)


@kernel
def leave_pool(pool, job):
    """Let a job wait no more."""
    before, after = pool.preceding[job], pool.following[job]
    pool.following[before], pool.preceding[after] = after, before
    pool.replay.counters[WAITING] -= 1
    for k in range(len(pool.lines.rank)):
        leave_line(line_of(pool.lines, k), pool.lines.rank[k, job])


@kernel
def queue_in_line(pool, k):
    """Put the jobs of a line into the queue."""
    replay, line = pool.replay, line_of(pool.lines, k)
    replay.counters[HEAD] = replay.counters[TAIL] = 0
    place = next_in_line(line, 0, TOO_WIDE - 1, NEVER, 0)
    while place != NOBODY:
        join_at_end(replay, line.job[place])
        place = next_in_line(line, place + 1, TOO_WIDE - 1, NEVER, 0)


@kernel
def queue_scored(pool, k, score_queue, now, cores):
    """Put the waiting jobs into the queue, unsorted, with their scores; tells of a bad one."""
    replay, queue, counters = pool.replay, pool.replay.queue, pool.replay.counters
    counters[HEAD] = counters[TAIL] = 0
    anchor = len(pool.following) - 1
    job = pool.following[anchor]
    while job != anchor:
        join_at_end(replay, job)
        job = pool.following[job]
    tail = counters[TAIL]
    bad = score_queue(
        replay.jobs,
        replay.usage,
        queue.job[:tail],
        queue.score[:tail],
        now,
        cores,
        counters[FREE],
        pool.parameters[k],
    )
    if bad >= 0:
        counters[BAD_JOB], counters[BAD_TIME], counters[ACTIVE] = bad, now, k
    return bad < 0


@kernel
def queue_sorted(pool, order, score_queue, now, cores):
    """Put the waiting jobs into the queue in an order; tells whether it could be done."""
    if order >= 0:
        queue_in_line(pool, order)
        return True
    scored = queue_scored(pool, -1 - order, score_queue, now, cores)
    if scored:
        sort_queue(pool.replay.jobs, pool.replay.queue, pool.replay.counters)
    return scored


@kernel
def start_by_strategy(pool, strategy, score_queue, now, cores):
    """Run one scheduling pass by one of the strategies; tells whether it could be done."""
    replay, counters = pool.replay, pool.replay.counters
    order, backfill = pool.strategies[strategy, 0], pool.strategies[strategy, 1]
    before = counters[STARTED]
    if backfill == PLAN or order < 0:
        counters[WORK] += counters[WAITING]
    if backfill == PLAN:
        if not queue_sorted(pool, order, score_queue, now, cores):
            return False
        start_as_planned(replay, now)
    elif order >= 0:
        line = line_of(pool.lines, order)
        first = next_in_line(line, 0, TOO_WIDE - 1, NEVER, 0)
        start_in_line(replay, line, now, first, backfill)
    else:
        if not queue_scored(pool, -1 - order, score_queue, now, cores):
            return False
        start_in_queue(replay, now, backfill)
    take_out_started(pool, before)
    return True


@kernel
def take_out_started(pool, before):
    """Let the jobs that started since then wait no more."""
    for i in range(before, pool.replay.counters[STARTED]):
        leave_pool(pool, pool.replay.started[i])


# -- rule bases ------------------------------------------------------------------------------------

FUZZY, RIGID = range(2)
RECOUNT_BELOW = 1e-3  # of the highest sum so far


class Rules(NamedTuple):
    """Fuzzy or rigid rules, ready to choose."""

    kind: Any  # one number
    centre: Any  # fuzzy: a row a rule, a column a feature
    precision: Any  # 1 / (2 width**2)
    height: Any  # logarithm of the density at the centre, a number a rule
    weight: Any  # a row a rule, a column a choice
    bounds: Any  # rigid: a row a feature, filled up with infinity
    intervals: Any  # how many intervals each feature has
    choice: Any  # a number a class
    membership: Any  # room for one number a rule
    count: Any  # how often each rule decided


class Tally(NamedTuple):
    """What features are computed from, kept up to date."""

    group_work: Any  # walltime times cores that wait, by group; others at place 0
    ended: Any  # numerator and denominator of the slowdown, equation 5; the highest denominator
    ended_job: Any  # ended jobs in the order of their ends, where a window is kept
    window: Any  # one number: seconds, or 0 for all that ended


class Ruled(NamedTuple):
    """A replay under a rule base, or under two that choose order and algorithm."""

    pool: Pool
    tally: Tally
    rules: Rules
    more_rules: Rules
    features: Any  # room for the values
    count: Any  # how often each strategy was chosen


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
def complete_tallied(ruled, now):
    """Release the cores of all jobs that end now, and count them."""
    replay, tally = ruled.pool.replay, ruled.tally
    counters = replay.counters
    while counters[ENDING] > 0 and replay.running.end[0] == now:
        job = end_job(replay, now)
        tally_ended(tally, replay, job, 1.0)
        if tally.window[0] > 0:
            tally.ended_job[counters[ENDED]] = job
            counters[ENDED] += 1
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
def choose_fuzzily(rules, state):
    """Return the choice with the highest superposed weight (section 4.2); of equals the first.

    Memberships are relative to the highest, which changes no choice and cannot underflow to 0.
    """
    count, features = rules.centre.shape
    highest = -np.inf
    for rule in range(count):
        logarithm = rules.height[rule]
        for feature in range(features):
            distance = state[feature] - rules.centre[rule, feature]
            logarithm -= distance * distance * rules.precision[rule, feature]
        rules.membership[rule] = logarithm
        highest = max(highest, logarithm)
    for rule in range(count):
        rules.membership[rule] = math.exp(rules.membership[rule] - highest)
    best_choice, best_weight = 0, -np.inf
    for choice in range(rules.weight.shape[1]):
        weight = 0.0
        for rule in range(count):
            weight += rules.membership[rule] * rules.weight[rule, choice]
        if weight > best_weight:
            best_choice, best_weight = choice, weight
    count_deciding_rule(rules, best_choice)
    return best_choice


@kernel
def count_deciding_rule(rules, choice):
    """Note which rule contributed most to a choice."""
    deciding, most = 0, -np.inf
    for rule in range(len(rules.membership)):
        contribution = rules.membership[rule] * rules.weight[rule, choice]
        if contribution > most:
            deciding, most = rule, contribution
    rules.count[deciding] += 1


@kernel
def choose_rigidly(rules, state):
    """Return the choice of the state's class (section 4.1)."""
    rule = 0
    for feature in range(len(rules.bounds)):
        interval = 0
        while state[feature] > rules.bounds[feature, interval]:
            interval += 1
        rule = rule * rules.intervals[feature] + interval
    rules.count[rule] += 1
    return rules.choice[rule]


@kernel
def choose(rules, state):
    """Return what the rules choose for a state."""
    return choose_fuzzily(rules, state) if rules.kind[0] == FUZZY else choose_rigidly(rules, state)


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
def start_by_rules(ruled, describe, score_queue, now, cores):
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
        take_out_started(pool, before)
        done = True
    else:
        strategy = choose_strategy(ruled, describe, now, cores)
        done = start_by_strategy(pool, strategy, score_queue, now, cores)
    for i in range(before, counters[STARTED]):
        tally_waiting(tally, replay.jobs, replay.started[i], -1.0)
    return done


@kernel
def replay_ruled(ruled, describe, score_queue, cores):
    """Replay under rules that choose a strategy at each scheduling instant.

    It ends early where passes that look at every waiting job have looked at too many.
    """
    replay, counters = ruled.pool.replay, ruled.pool.replay.counters
    now = next_instant(replay)
    going = True
    while going and now != NEVER and counters[CANCEL] == 0:
        complete_tallied(ruled, now)
        job, last = arrive(replay, now)
        for newcomer in range(job, last):
            join_pool(ruled.pool, newcomer)
            tally_waiting(ruled.tally, replay.jobs, newcomer, 1.0)
        going = start_by_rules(ruled, describe, score_queue, now, cores)
        going = going and counters[WORK] <= counters[MOST_WORK]
        now = next_instant(replay)


# -- self-tuning: plan under each candidate, follow the best ---------------------------------------

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


class Tuning(NamedTuple):
    """A replay of the self-tuning planner, and the record of its steps."""

    pool: Pool
    booking: Booking
    settings: Any  # decider, preferred candidate, whether completions are steps too
    margin: Any  # one number, a share
    measures: Any  # room for one plan
    value: Any  # a row a step, a column a candidate
    time: Any  # of each step
    choice: Any  # the candidate chosen in each step
    waiting: Any  # how many jobs were planned in each step


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
            counters[FREE] += booking.cores[number]
            remove_due(replay.running, counters, now, booking.cores[number])
            counters[BOOKED] -= 1
            booking.active[i] = booking.active[counters[BOOKED]]
        else:
            i += 1
    for i in range(counters[BOOKED]):
        number = booking.active[i]
        if not booking.holding[number] and booking.begin[number] == now:
            booking.holding[number] = True
            counters[FREE] -= booking.cores[number]
            insert_due(replay.running, counters, booking.end[number], booking.cores[number])


@kernel
def begin_plan_around(tuning, now):
    """Begin a plan with the running jobs and the accepted reservations."""
    booking, replay = tuning.booking, tuning.pool.replay
    begin_plan(replay.running, replay.counters, replay.plan, now)
    for i in range(replay.counters[BOOKED]):
        number = booking.active[i]
        if not booking.holding[number]:
            change_plan(
                replay.plan,
                replay.counters,
                booking.begin[number],
                booking.end[number],
                -booking.cores[number],
            )


@kernel
def measure_plan(tuning, now, cores):
    """Plan the whole queue, in its order, and measure the plan by the walltimes."""
    replay, measures = tuning.pool.replay, tuning.measures
    jobs, queue, plan, counters = replay.jobs, replay.queue, replay.plan, replay.counters
    begin_plan_around(tuning, now)
    widths = areas = 0.0
    horizon, busy = now, 0.0
    for i in range(counters[ENDING]):
        job = replay.running.job[i]
        due = replay.start[job] + jobs.walltime[job]
        horizon = max(horizon, due)
        busy += float(due - now) * jobs.cores[job]
    measures[:] = 0.0
    for i in range(counters[HEAD], counters[TAIL]):
        walltime, width = queue.walltime[i], queue.cores[i]
        begin = earliest(plan, counters, walltime, width, NEVER)
        change_plan(plan, counters, begin, begin + walltime, -width)
        response = float(begin + walltime - jobs.submit[queue.job[i]])
        widths += width
        areas += float(walltime) * width
        horizon = max(horizon, begin + walltime)
        measures[PLAN_ARTWW] += response * width
        measures[PLAN_SLDWA] += response * width  # slowdown times area, and no rounding
        measures[PLAN_RESPONSE] += response
        measures[PLAN_WAIT] += response - walltime
        measures[PLAN_SLOWDOWN] += response / walltime
    count = counters[TAIL] - counters[HEAD]
    measures[PLAN_ARTWW] /= widths
    measures[PLAN_SLDWA] /= areas
    for mean in (PLAN_RESPONSE, PLAN_WAIT, PLAN_SLOWDOWN):
        measures[mean] /= count
    measures[PLAN_MAKESPAN] = horizon - now
    measures[PLAN_USE] = (busy + areas) / (float(cores) * (horizon - now))
    counters[STEPS] = 0


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
def tune_step(tuning, score_queue, plan_value, now, cores):
    """Plan under each candidate, value the plans, and make the decider's choice the active one.

    Tells whether it could be done.
    """
    pool, counters = tuning.pool, tuning.pool.replay.counters
    step = counters[DECISIONS]
    for candidate in range(len(pool.strategies)):
        if not queue_sorted(pool, pool.strategies[candidate, 0], score_queue, now, cores):
            return False
        measure_plan(tuning, now, cores)
        value = plan_value(tuning.measures)
        # A plan that the metric cannot value is no good: it counts as the worst.
        tuning.value[step, candidate] = value if value == value else np.inf
    counters[ACTIVE] = decide(tuning, tuning.value[step])
    tuning.time[step], tuning.choice[step] = now, counters[ACTIVE]
    tuning.waiting[step] = counters[WAITING]
    counters[DECISIONS] = step + 1
    return True


@kernel
def start_by_plan(tuning, score_queue, now, cores):
    """Plan all waiting jobs under the active candidate and start those planned for now.

    Tells whether it could be done.
    """
    pool, counters = tuning.pool, tuning.pool.replay.counters
    if counters[WAITING] == 0 or pool.lines.cores[0, 1] > counters[FREE]:
        return True
    order = pool.strategies[counters[ACTIVE], 0]
    if not queue_sorted(pool, order, score_queue, now, cores):
        return False
    before = counters[STARTED]
    begin_plan_around(tuning, now)
    start_within_plan(pool.replay, now)
    take_out_started(pool, before)
    return True


@kernel
def replay_tuning(tuning, score_queue, plan_value, cores, until):
    """Replay under the self-tuning planner, up to but not including an instant."""
    replay, counters = tuning.pool.replay, tuning.pool.replay.counters
    now = next_tuning_instant(tuning)
    going = True
    while going and now < until and counters[CANCEL] == 0:
        counters[NEXT_START] = NEVER
        released = complete(replay, now) or counters[RELEASED] != 0
        counters[RELEASED] = 0
        turn_bookings(tuning, now)
        job, last = arrive(replay, now)
        for newcomer in range(job, last):
            join_pool(tuning.pool, newcomer)
        is_step = job < last or (released and tuning.settings[2] != 0)
        if is_step and counters[WAITING] > 0:
            going = tune_step(tuning, score_queue, plan_value, now, cores)
        going = going and start_by_plan(tuning, score_queue, now, cores)
        now = next_tuning_instant(tuning)


@kernel
def room_for(tuning, now, begin, duration, cores):
    """Return the earliest instant from ``begin`` on at which so many cores are free for so long,
    as far as running jobs and accepted reservations tell.
    """
    replay = tuning.pool.replay
    plan, counters = replay.plan, replay.counters
    begin_plan_around(tuning, now)
    first = begin
    for i in range(counters[STEPS]):
        if plan.free[i] < cores:
            if plan.time[i] - first >= duration:
                break
            # Not before this step is over; the last step is never short of cores.
            first = max(first, plan.time[i + 1])
    counters[STEPS] = 0
    return first


# -- the ways in -----------------------------------------------------------------------------------

_COLUMN = types.Array(int64, 1, "C", readonly=True)
_FACTOR = types.Array(float64, 1, "C", readonly=True)
_INTS, _SMALL, _REALS = int64[::1], int32[::1], float64[::1]
JOBS_TYPE = types.NamedTuple([_COLUMN] * 7 + [_FACTOR] * 4, Jobs)
USAGE_TYPE = types.NamedUniTuple(_REALS, 3, Usage)
REPLAY_TYPE = types.NamedTuple(
    [
        JOBS_TYPE,
        types.NamedTuple([_SMALL, _INTS, types.Array(int32, 1, "C", readonly=True), _COLUMN], Line),
        types.NamedTuple([_SMALL, _INTS, _INTS, _REALS, _SMALL, _REALS], Queue),
        types.NamedTuple([_INTS, _SMALL, _INTS, _INTS], Running),
        types.NamedUniTuple(_INTS, 2, Plan),
        USAGE_TYPE,
        _INTS,
        _INTS,
        _SMALL,
    ],
    Replay,
)
SCORER_TYPE = int64(JOBS_TYPE, USAGE_TYPE, _SMALL, _REALS, int64, int64, int64, _FACTOR)


@njit(void(REPLAY_TYPE, _COLUMN, int64), nogil=True, cache=True, _nrt=False)
def run_fixed(replay, rank, backfill):
    """Replay all jobs under a fixed order; fills ``replay.start``."""
    if backfill <= EASY:
        replay_fixed(replay, rank, backfill)
    else:
        replay_fixed_planned(replay, rank, backfill)


@njit(
    void(REPLAY_TYPE, types.FunctionType(SCORER_TYPE), _FACTOR, int64, int64),
    nogil=True,
    cache=True,
    _nrt=False,
)
def run_changing(replay, score_queue, parameters, cores, backfill):
    """Replay all jobs under an order that changes with time; fills ``replay.start``."""
    replay_changing(replay, score_queue, parameters, cores, backfill)


_TABLE = types.Array(float64, 2, "C", readonly=True)
_RANKS = types.Array(int64, 2, "C", readonly=True)
_LINE_JOBS = types.Array(int32, 2, "C", readonly=True)
POOL_TYPE = types.NamedTuple(
    [
        REPLAY_TYPE,
        types.NamedTuple([int32[:, ::1], int64[:, ::1], _LINE_JOBS, _RANKS, _RANKS], Lines),
        _SMALL,
        _SMALL,
        _RANKS,
        _TABLE,
    ],
    Pool,
)
RULES_TYPE = types.NamedTuple(
    [_COLUMN, _TABLE, _TABLE, _FACTOR, _TABLE, _TABLE, _COLUMN, _COLUMN, _REALS, _INTS], Rules
)
RULED_TYPE = types.NamedTuple(
    [
        POOL_TYPE,
        types.NamedTuple([_REALS, _REALS, _SMALL, _COLUMN], Tally),
        RULES_TYPE,
        RULES_TYPE,
        _REALS,
        _INTS,
    ],
    Ruled,
)
# What a State has, field by field, and the room for the features' values.
DESCRIBE_TYPE = void(int64, int64, int64, int64, int64, int64, float64, _REALS, float64, _REALS)
TUNING_TYPE = types.NamedTuple(
    [
        POOL_TYPE,
        types.NamedTuple([_INTS, _INTS, _INTS, _INTS, boolean[::1]], Booking),
        _COLUMN,
        _FACTOR,
        _REALS,
        float64[:, ::1],
        _INTS,
        _INTS,
        _INTS,
    ],
    Tuning,
)
PLAN_VALUE_TYPE = float64(_REALS)


class OnDemand:
    """A way in that is compiled, or loaded from the cache, when it is first asked for.

    Half a minute of compiling need not be paid by those who never use it.
    """

    def __init__(self, function: Any, signature: Any) -> None:
        functools.update_wrapper(self, function)
        self._function, self._signature = function, signature
        self._lock = threading.Lock()
        self._compiled: Any = None

    def load(self) -> Any:
        """Return the compiled function."""
        with self._lock:
            if self._compiled is None:
                options = {"nogil": True, "cache": True, "_nrt": False}
                self._compiled = njit(self._signature, **options)(self._function)
        return self._compiled

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self.load()(*arguments)


def on_demand(signature: Any) -> Any:
    """Let a function be compiled when it is first asked for."""
    return functools.partial(OnDemand, signature=signature)


@on_demand(
    void(RULED_TYPE, types.FunctionType(DESCRIBE_TYPE), types.FunctionType(SCORER_TYPE), int64)
)
def run_ruled(ruled, describe, score_queue, cores):
    """Replay all jobs under a rule base; fills ``replay.start`` and the counts."""
    replay_ruled(ruled, describe, score_queue, cores)


@on_demand(
    void(
        TUNING_TYPE,
        types.FunctionType(SCORER_TYPE),
        types.FunctionType(PLAN_VALUE_TYPE),
        int64,
        int64,
    )
)
def run_tuning(tuning, score_queue, plan_value, cores, until):
    """Replay under the self-tuning planner, up to but not including an instant."""
    replay_tuning(tuning, score_queue, plan_value, cores, until)


@on_demand(int64(TUNING_TYPE, int64, int64, int64, int64))
def answer_request(tuning, now, begin, duration, cores):
    """Answer a request for a reservation: the earliest instant from ``begin`` on with room."""
    counters = tuning.pool.replay.counters
    if complete(tuning.pool.replay, now):
        counters[RELEASED] = 1
    turn_bookings(tuning, now)
    counters[NEXT_START] = now  # all is planned anew, with the answer and what was released
    return room_for(tuning, now, begin, duration, cores)


@njit(SCORER_TYPE, nogil=True, cache=True, _nrt=False)
def score_nobody(jobs, usage, waiting, scores, now, cores, free, parameters):
    """Stand in where no strategy's order changes with time."""
    return -1


def new_replay(
    jobs: Jobs,
    cores: int,
    usage: Usage,
    *,
    rank: Any | None = None,
    keep: Any | None = None,
    scored: bool = False,
    planned: bool = False,
    bookings: int = 0,
) -> Replay:
    """Return a replay in which nothing has happened yet, with all the room it will need.

    Parameters
    ----------
    rank
        Each job's place in the one line, where there is one.
    keep
        What is kept free in that line, if anything.
    scored
        Whether jobs are scored while they wait.
    planned
        Whether plans are made.
    bookings
        How many reservations may come.
    """
    count = len(jobs.submit)
    queued = count if planned or scored else 0
    scores = count if scored else 0
    running = min(count + bookings, cores)
    steps = running + 2 * (count + bookings) + 3 if planned else 0
    counters = np.zeros(COUNTERS, np.int64)
    counters[FREE] = cores
    counters[NEXT_START] = NEVER
    counters[BAD_JOB] = NOBODY
    counters[MOST_WORK] = NEVER
    lines = new_lines(
        np.empty((1, 0), np.int64) if rank is None else rank[np.newaxis],
        nothing_kept(1) if keep is None else keep[np.newaxis],
    )
    return Replay(
        jobs,
        Line(lines.cores[0], lines.walltime[0], lines.job[0], lines.keep[0]),
        Queue(
            job=np.empty(queued, np.int32),
            cores=np.empty(queued, np.int64),
            walltime=np.empty(queued, np.int64),
            score=np.empty(scores, np.float64),
            spare_job=np.empty(scores, np.int32),
            spare_score=np.empty(scores, np.float64),
        ),
        Running(
            end=np.empty(running, np.int64),
            job=np.empty(running, np.int32),
            due=np.empty(running, np.int64),
            due_cores=np.empty(running, np.int64),
        ),
        Plan(time=np.empty(steps, np.int64), free=np.empty(steps, np.int64)),
        usage,
        counters,
        np.full(count, -1, np.int64),
        np.empty(count, np.int32),
    )


def nothing_kept(lines: int) -> Any:
    """Return what is kept free in lines that keep nothing free: a row a line."""
    keep = np.tile(np.array([0, 0, TOO_WIDE - 1], np.int64), (lines, 1))
    keep.setflags(write=False)
    return keep


def new_lines(ranks: Any, keep: Any) -> Lines:
    """Return lines in which nobody waits; each row of ranks has every job's place in one."""
    count, jobs = ranks.shape
    leaves = 1 << max(jobs - 1, 0).bit_length()
    job = np.zeros((count, leaves), np.int32)
    np.put_along_axis(job, ranks, np.arange(jobs, dtype=np.int32)[np.newaxis], axis=1)
    job.setflags(write=False)
    return Lines(
        cores=np.full((count, 2 * leaves), TOO_WIDE, np.int32),
        walltime=np.full((count, 2 * leaves), NEVER, np.int64),
        job=job,
        rank=ranks,
        keep=keep,
    )


def new_pool(replay: Replay, ranks: Any, keep: Any, strategies: Any, parameters: Any) -> Pool:
    """Return a pool in which nobody waits."""
    anchor = len(replay.jobs.submit)
    ring = np.full((2, anchor + 1), anchor, np.int32)
    return Pool(replay, new_lines(ranks, keep), ring[0], ring[1], strategies, parameters)
