"""Which waiting jobs could still start in a pass of the backfill.

In a pass, room only shrinks and reservations only grow. So a kind of job that has too few nodes
left with room that nobody has reserved cannot start any more, and where that is true of all that
are still to come, the pass is over.
"""

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.slurm_holding import over_limit
from queuesmith.engine.kernels.slurm_ready import ready_row, room_on
from queuesmith.engine.kernels.slurm_sets import at_least, keep_common, remove, remove_all
from queuesmith.engine.kernels.slurm_state import (
    CHANGES,
    HOPEFUL,
    KIND,
    KIND_JOB,
    KIND_PLACE,
    KIND_SEEN,
    LEAST,
    LIMIT,
    NODE_SET,
    PASSES,
    QUEUED,
)


@kernel
def find_hopeful(hopeful, jobs, nodes, free, ready, limits, queue, counters):
    """Find the kinds of waiting jobs that have room now; return how many."""
    count, this_pass, changes = 0, counters[PASSES], counters[CHANGES]
    for place in range(counters[QUEUED]):
        job = queue[place]
        kind = jobs[KIND, job]
        if hopeful.of_kind[KIND_SEEN, kind] != this_pass:
            hopeful.of_kind[KIND_SEEN, kind] = this_pass
            hopeful.of_kind[KIND_PLACE, kind] = -1
            hopeful.of_kind[KIND_JOB, kind] = job
            row = ready_row(jobs, nodes, free, ready, job, changes)
            left = hopeful.nodes[kind]
            copy(left, ready.now[row])
            keep_common(left, nodes.sets[jobs[NODE_SET, job]])
            if at_least(left, jobs[LEAST, job]):
                hopeful.of_kind[HOPEFUL, count] = kind
                hopeful.of_kind[KIND_PLACE, kind] = place
                count += 1
        elif hopeful.of_kind[KIND_PLACE, kind] >= 0 and not over_limit(limits, job):
            hopeful.of_kind[KIND_PLACE, kind] = place
    return count


@kernel
def last_hopeful(hopeful, count):
    """Return the last place in the queue of a job that may still start, -1 where there is none."""
    last = -1
    for i in range(count):
        last = max(last, hopeful.of_kind[KIND_PLACE, hopeful.of_kind[HOPEFUL, i]])
    return last


@kernel
def give_up_reserved(hopeful, jobs, chosen, count, now, begin):
    """Leave out nodes that are now reserved from an instant on; return how many kinds are left."""
    left = 0
    for i in range(count):
        kind = hopeful.of_kind[HOPEFUL, i]
        if now + jobs[LIMIT, hopeful.of_kind[KIND_JOB, kind]] >= begin:
            remove_all(hopeful.nodes[kind], chosen)
        left = _keep(hopeful, kind, jobs[LEAST, hopeful.of_kind[KIND_JOB, kind]], left)
    return left


@kernel
def give_up_taken(hopeful, jobs, nodes, free, chosen, count, taken):
    """Leave out the nodes on which a start has left no room; return how many kinds are left."""
    left = 0
    for i in range(count):
        kind = hopeful.of_kind[HOPEFUL, i]
        job = hopeful.of_kind[KIND_JOB, kind]
        for k in range(taken):
            if room_on(jobs, nodes, job, free, chosen[k]) == 0:
                remove(hopeful.nodes[kind], chosen[k])
        left = _keep(hopeful, kind, jobs[LEAST, job], left)
    return left


@kernel
def _keep(hopeful, kind, least, left):
    """Keep a kind among those that may start, if it has enough nodes."""
    if at_least(hopeful.nodes[kind], least):
        hopeful.of_kind[HOPEFUL, left] = kind
        left += 1
    return left
