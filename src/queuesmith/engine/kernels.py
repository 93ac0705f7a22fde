"""The compiled replay: plain numbers in, start times out.

Everything compiled that calls each other lives in this file, so that a cached kernel can never be
stale. ``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.

The order of events at one instant is::

    (completions, arrivals, one scheduling pass)

Jobs are known by their position: jobs stand in the order of submission, then id, which is also the
order of jobs with equal scores.
"""

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import float64, int32, int64, types, void

njit: Any = numba.njit  # its stubs do not know all its options

# Kernels allocate nothing, so they need no reference counts. Counting them for bundles of arrays
# costs a factor of ten.
kernel = njit(_nrt=False)

NONE, LIST, EASY, CONSERVATIVE, PLAN = range(5)

# Places in the array of counters.
FREE, HEAD, TAIL, ENDING, DUE, ARRIVED, STEPS, NEXT_START, CANCEL, BAD_JOB, BAD_TIME = range(11)
COUNTERS = 11

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
    "who is the next in line that may start now?" in a few steps, however long the line is.
    """

    cores: Any
    walltime: Any
    job: Any  # by rank


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
    counters[FREE] -= cores
    push_end(running, counters, now + jobs.runtime[job], job)
    insert_due(running, counters, now + jobs.walltime[job], cores)
    if len(replay.usage.level) > 0:
        use_cores(replay.usage, jobs.user[job], cores, now)


@kernel
def end_job(replay, now):
    """Release the cores of the job that ends first."""
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
def join_line(replay, rank, job):
    """Let a job wait at its rank."""
    line = replay.line
    node = len(line.job) + rank[job]
    cores = replay.jobs.cores[job]
    walltime = replay.jobs.walltime[job]
    while node > 0 and (cores < line.cores[node] or walltime < line.walltime[node]):
        line.cores[node] = min(cores, line.cores[node])
        line.walltime[node] = min(walltime, line.walltime[node])
        node >>= 1


@kernel
def leave_line(replay, rank):
    """Let nobody wait at a rank any more."""
    line = replay.line
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
def last_that_fits(queue, counters, last):
    """Return the last place up to ``last`` whose job could start now, or one before the head."""
    while last >= counters[HEAD] and queue.cores[last] > counters[FREE]:
        last -= 1
    return last


@kernel
def start_as_planned(replay, now):
    """Plan every job afresh, in queue order, at its earliest room; start those planned for now."""
    queue, plan, counters = replay.queue, replay.plan, replay.counters
    # Behind the last job that fits none can start now: that part of the plan is not needed.
    last = last_that_fits(queue, counters, counters[TAIL] - 1)
    i = counters[HEAD]
    kept = i
    begin_plan(replay.running, counters, plan, now)
    while i <= last:
        walltime, cores = queue.walltime[i], queue.cores[i]
        begin = earliest(plan, counters, walltime, cores, NEVER)
        change_plan(plan, counters, begin, begin + walltime, -cores)
        if begin == now:
            start_job(replay, queue.job[i], now)
            last = last_that_fits(queue, counters, last)
        else:
            move(queue, kept, i)
            kept += 1
        i += 1
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
def start_in_line(replay, now, first, backfill):
    """Run one scheduling pass over a line: none, list or EASY.

    Returns who is first in line then, and under EASY the reservation: its instant and the extra
    cores.
    """
    line, counters = replay.line, replay.counters
    shadow, extra = NEVER, 0
    while first != NOBODY and line.cores[len(line.job) + first] <= counters[FREE]:
        start_job(replay, line.job[first], now)
        leave_line(replay, first)
        first = next_in_line(line, first + 1, TOO_WIDE - 1, NEVER, 0)
    if first == NOBODY or backfill == NONE:
        return first, shadow, extra
    if backfill == EASY:
        shadow, extra = reserve(replay.running, counters, line.cores[len(line.job) + first])
    place = first
    while counters[FREE] > 0:
        place = next_in_line(line, place + 1, counters[FREE], shadow - now, extra)
        if place == NOBODY:
            break
        job = line.job[place]
        if now + replay.jobs.walltime[job] > shadow:
            extra -= replay.jobs.cores[job]
        start_job(replay, job, now)
        leave_line(replay, place)
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
    jobs, counters = replay.jobs, replay.counters
    first, shadow, extra = NOBODY, NEVER, 0
    now = next_instant(replay)
    while now != NEVER and counters[CANCEL] == 0:
        released = complete(replay, now)
        job, last = arrive(replay, now)
        alone = last == job + 1
        if alone and first == NOBODY and jobs.cores[job] <= counters[FREE]:
            start_job(replay, job, now)
        elif alone and not released and first != NOBODY and rank[job] > first:
            # Since the last pass only time has passed and this job has come, so no other can
            # start: it would have started then.
            cores = jobs.cores[job]
            in_time = now + jobs.walltime[job] <= shadow
            if backfill != NONE and cores <= counters[FREE] and (in_time or cores <= extra):
                start_job(replay, job, now)
                if not in_time:
                    extra -= cores
            else:
                join_line(replay, rank, job)
        elif job < last or first != NOBODY:
            for newcomer in range(job, last):
                join_line(replay, rank, newcomer)
                if first == NOBODY or rank[newcomer] < first:
                    first = rank[newcomer]
            first, shadow, extra = start_in_line(replay, now, first, backfill)
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


# -- the ways in -----------------------------------------------------------------------------------

_COLUMN = types.Array(int64, 1, "C", readonly=True)
_FACTOR = types.Array(float64, 1, "C", readonly=True)
_INTS, _SMALL, _REALS = int64[::1], int32[::1], float64[::1]
JOBS_TYPE = types.NamedTuple([_COLUMN] * 7 + [_FACTOR] * 4, Jobs)
USAGE_TYPE = types.NamedUniTuple(_REALS, 3, Usage)
REPLAY_TYPE = types.NamedTuple(
    [
        JOBS_TYPE,
        types.NamedTuple([_SMALL, _INTS, types.Array(int32, 1, "C", readonly=True)], Line),
        types.NamedTuple([_SMALL, _INTS, _INTS, _REALS, _SMALL, _REALS], Queue),
        types.NamedTuple([_INTS, _SMALL, _INTS, _INTS], Running),
        types.NamedUniTuple(_INTS, 2, Plan),
        USAGE_TYPE,
        _INTS,
        _INTS,
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


def new_replay(jobs: Jobs, cores: int, usage: Usage, backfill: int, rank: Any | None) -> Replay:
    """Return a replay in which nothing has happened yet, with all the room it will need.

    ``rank`` is each job's place in a fixed order; None where the order changes.
    """
    count = len(jobs.submit)
    planned = backfill > EASY
    queued = count if planned or rank is None else 0
    scored = count if rank is None else 0
    running = min(count, cores)
    steps = running + 2 * count + 3 if planned else 0
    counters = np.zeros(COUNTERS, np.int64)
    counters[FREE] = cores
    counters[NEXT_START] = NEVER
    counters[BAD_JOB] = NOBODY
    return Replay(
        jobs,
        _new_line(rank if queued == 0 else np.empty(0, np.int64)),
        Queue(
            job=np.empty(queued, np.int32),
            cores=np.empty(queued, np.int64),
            walltime=np.empty(queued, np.int64),
            score=np.empty(scored, np.float64),
            spare_job=np.empty(scored, np.int32),
            spare_score=np.empty(scored, np.float64),
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
    )


def _new_line(rank: Any) -> Line:
    leaves = 1 << max(len(rank) - 1, 0).bit_length()
    job = np.zeros(leaves, np.int32)
    job[rank] = np.arange(len(rank), dtype=np.int32)
    job.setflags(write=False)
    return Line(
        cores=np.full(2 * leaves, TOO_WIDE, np.int32),
        walltime=np.full(2 * leaves, NEVER, np.int64),
        job=job,
    )
