"""What happens in a replay: chunks of tasks start and end, jobs arrive and leave."""

from queuesmith.compiled import kernel
from queuesmith.compiled.due import insert_due, remove_due
from queuesmith.compiled.heap import rise, sink
from queuesmith.engine.kernels.running import end_at, move_end
from queuesmith.knobs.kernels.replay import (
    ARRIVED,
    CHUNKS,
    DUE,
    EASY,
    FREE,
    NOBODY,
    RUNNING,
    WAITING,
)


@kernel
def move_chunk(running, goal, source):
    """Move a chunk of the heap to another place."""
    move_end(running, goal, source)
    running.tasks[goal] = running.tasks[source]


@kernel
def push_end(running, counters, end, job, tasks):
    """Add a chunk to the heap of true ends."""
    place = rise(running, counters[RUNNING], end, end_at, move_chunk)
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
    place = sink(running, 0, size, end, end_at, move_chunk)
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
    queue.startable[place] -= tasks
    if replay.waiting[job] == 0:
        leave(replay, place)


@kernel
def note(record, counters, job, now, tasks):
    """Record a chunk; where there is no place left it is only counted."""
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
            within_share = bags.limit[job] - replay.active[job]
            queue.startable[place] = min(within_share, replay.waiting[job])


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
        queue.startable[place] = min(bags.limit[job], bags.tasks[job])
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
        queue.startable[place] = queue.startable[last]
        queue.score[place] = queue.score[last]
        queue.log_walltime[place] = queue.log_walltime[last]
        replay.place[queue.job[place]] = place
