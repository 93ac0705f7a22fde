"""Which nodes a job gets: by weight, then by the rules of select/cons_tres."""

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import NEVER, NOBODY
from queuesmith.engine.kernels.slurm_ready import room_on
from queuesmith.engine.kernels.slurm_sets import SHIFT, keep_common, lowest, remove_all
from queuesmith.engine.kernels.slurm_state import (
    CANDIDATE,
    CHOSEN_CORES,
    CHOSEN_NODE,
    CORES,
    EXCLUSIVE,
    FREE_CORES,
    LEAF,
    LEAST,
    LEAST_LOADED,
    MOST,
    NODE_CORES,
    OUT_BEGIN,
    OUT_END,
    OUT_PLANNED,
    OUT_RESERVATION,
    PER_TASK,
    ROOM,
    ROOM_LEFT,
    THREADS,
    WEIGHT,
)


@kernel
def leave_out_outages(nodes, reservation, usable, now, end):
    """Take from a set of nodes those that are away, or will be before an end.

    A job of a reservation, which comes when that begins, runs on its nodes and ends within its
    time, or else waits until it is over like all others.
    """
    for outage in range(nodes.outage.shape[1]):
        begins, ends = nodes.outage[OUT_BEGIN, outage], nodes.outage[OUT_END, outage]
        until = end if nodes.outage[OUT_PLANNED, outage] else now + 1
        if reservation != NOBODY and nodes.outage[OUT_RESERVATION, outage] == reservation:
            if now < ends < end:
                usable[:] = 0
            elif now < ends:
                keep_common(usable, nodes.outage_nodes[outage])
        elif begins < until and ends > now:
            remove_all(usable, nodes.outage_nodes[outage])


@kernel
def choose_nodes(jobs, nodes, choice, job, ready, free):
    """Choose nodes for a job among those with room; return how many, 0 where it cannot run.

    Nodes of less weight are tried first, those of more weight beside them only where they do not
    suffice.
    """
    size, cores, heaviest = 0, 0, -1
    for word in range(len(ready)):
        bits = ready[word]
        while bits:
            node = (word << SHIFT) + lowest(bits)
            bits &= bits - 1
            room = room_on(jobs, nodes, job, free, node)
            if room > 0:
                choice.of_node[CANDIDATE, size] = node
                choice.of_node[ROOM, size] = room
                choice.of_node[ROOM_LEFT, size] = room
                size += 1
                cores += room
                heaviest = max(heaviest, nodes.of_node[WEIGHT, node])
    if size < jobs[LEAST, job] or cores < jobs[CORES, job]:
        return 0
    for weight in range(heaviest + 1):
        count, cores = 0, 0
        for i in range(size):
            if nodes.of_node[WEIGHT, choice.of_node[CANDIDATE, i]] <= weight:
                count += 1
                cores += choice.of_node[ROOM, i]
        if count >= jobs[LEAST, job] and cores >= jobs[CORES, job]:
            count = _pick(jobs, nodes, choice, job, weight, size, free)
            if count > 0:
                return count
    return 0


@kernel
def _pick(jobs, nodes, choice, job, weight, size, free):
    """Choose among the candidates up to a weight."""
    least = jobs[LEAST, job]
    most = jobs[MOST, job] if jobs[MOST, job] > 0 else size
    count, cores = 0, jobs[CORES, job]
    while count < most and (cores > 0 or count < least):
        nodes_left = max(least - count, 1)
        if jobs[LEAST_LOADED, job]:
            first, last = _least_loaded(nodes, choice, weight, size, free)
        elif nodes.of_node[LEAF, 0] != NOBODY:
            first, last = _best_switch(nodes, choice, weight, size, cores, nodes_left)
        else:
            first, last = _best_run(nodes, choice, weight, size, cores, nodes_left)
        if first == NOBODY:
            break
        leaf = nodes.of_node[LEAF, choice.of_node[CANDIDATE, first]]
        for i in range(first, last + 1):
            node = choice.of_node[CANDIDATE, i]
            if (
                choice.of_node[ROOM_LEFT, i] == 0
                or nodes.of_node[WEIGHT, node] > weight
                or nodes.of_node[LEAF, node] != leaf
            ):
                continue
            if count == most or (cores <= 0 and count >= least):
                break
            # Each node that is still to come needs a core at least.
            given = max(min(choice.of_node[ROOM_LEFT, i], cores - max(least - count - 1, 0)), 1)
            choice.of_node[ROOM_LEFT, i] = 0
            choice.of_node[CHOSEN_NODE, count] = node
            choice.of_node[CHOSEN_CORES, count] = _held(jobs, nodes, job, node, given)
            cores -= given
            count += 1
    for i in range(size):
        choice.of_node[ROOM_LEFT, i] = choice.of_node[ROOM, i]
    return count if cores <= 0 and count >= least else 0


@kernel
def _held(jobs, nodes, job, node, given):
    """Return how many cores of a node a job holds that needs some of them."""
    if jobs[EXCLUSIVE, job] == 1:
        return nodes.of_node[NODE_CORES, node]
    # A task is on one node, and a core has all its threads.
    given += -given % jobs[PER_TASK, job]
    given += -given % nodes.of_node[THREADS, node]
    return min(given, nodes.of_node[NODE_CORES, node])


@kernel
def _least_loaded(nodes, choice, weight, size, free):
    best = NOBODY
    for i in range(size):
        node = choice.of_node[CANDIDATE, i]
        if choice.of_node[ROOM_LEFT, i] > 0 and nodes.of_node[WEIGHT, node] <= weight:
            other = choice.of_node[CANDIDATE, best] if best != NOBODY else node
            share = free[FREE_CORES, node] * nodes.of_node[NODE_CORES, other]
            if best == NOBODY or share > free[FREE_CORES, other] * nodes.of_node[NODE_CORES, node]:
                best = i
    return best, best


@kernel
def _better(enough, cores, best_enough, best_cores):
    """Tell whether a block of nodes fits better: the least that suffices, or else the largest."""
    if enough != best_enough:
        return enough
    return cores < best_cores if enough else cores > best_cores


@kernel
def _best_run(nodes, choice, weight, size, cores, nodes_left):
    """Return the first and the last of the neighbouring nodes of one weight that fit best.

    Those of less weight come first, whether they suffice or not.
    """
    candidate, left = choice.of_node[CANDIDATE], choice.of_node[ROOM_LEFT]
    best, best_end, best_cores, best_enough, best_weight = NOBODY, NOBODY, 0, False, NEVER
    first, sum_ = NOBODY, 0
    for i in range(size + 1):
        inside = i < size and left[i] > 0 and nodes.of_node[WEIGHT, candidate[i]] <= weight
        if first != NOBODY and not (
            inside
            and candidate[i] == candidate[i - 1] + 1
            and nodes.of_node[WEIGHT, candidate[i]] == nodes.of_node[WEIGHT, candidate[first]]
        ):
            enough = sum_ >= cores and i - first >= nodes_left
            own = nodes.of_node[WEIGHT, candidate[first]]
            if own < best_weight or (
                own == best_weight and _better(enough, sum_, best_enough, best_cores)
            ):
                best, best_end, best_cores, best_enough = first, i - 1, sum_, enough
                best_weight = own
            first = NOBODY
        if inside:
            if first == NOBODY:
                first, sum_ = i, 0
            sum_ += left[i]
    if best == NOBODY or nodes_left > 1:
        return best, best_end
    # Where one node is enough, it is the one with the least room that is.
    single, least = NOBODY, NEVER
    for i in range(best, best_end + 1):
        if cores <= left[i] < least:
            single, least = i, left[i]
    return (best, best_end) if single == NOBODY else (single, single)


@kernel
def _best_switch(nodes, choice, weight, size, cores, nodes_left):
    """Return the first and the last candidate on the switch that fits best."""
    table = choice.switches
    first, last, count, sum_ = table[0], table[1], table[2], table[3]
    count[:] = 0
    sum_[:] = 0
    for i in range(size):
        node = choice.of_node[CANDIDATE, i]
        if choice.of_node[ROOM_LEFT, i] > 0 and nodes.of_node[WEIGHT, node] <= weight:
            switch = nodes.of_node[LEAF, node]
            if count[switch] == 0:
                first[switch] = i
            last[switch] = i
            count[switch] += 1
            sum_[switch] += choice.of_node[ROOM_LEFT, i]
    best, best_enough = NOBODY, False
    for switch in range(len(count)):
        enough = sum_[switch] >= cores and count[switch] >= nodes_left
        if count[switch] > 0 and (
            best == NOBODY or _better(enough, count[switch], best_enough, count[best])
        ):
            best, best_enough = switch, enough
    return (NOBODY, NOBODY) if best == NOBODY else (first[best], last[best])
