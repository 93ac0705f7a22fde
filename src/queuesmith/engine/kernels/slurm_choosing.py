"""Which nodes a job gets: by weight, then by the rules of select/cons_tres."""

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import NEVER, NOBODY
from queuesmith.engine.kernels.slurm_ready import room_on
from queuesmith.engine.kernels.slurm_sets import SHIFT, keep_common, lowest, remove_all
from queuesmith.engine.kernels.slurm_state import (
    CORES,
    EXCLUSIVE,
    LEAST,
    LEAST_LOADED,
    MOST,
    PER_TASK,
)


@kernel
def leave_out_outages(nodes, reservation, usable, now, end):
    """Take from a set of nodes those that are away, or will be before an end.

    A job of a reservation, which comes when that begins, runs on its nodes and ends within its
    time, or else waits until it is over like all others.
    """
    for outage in range(len(nodes.outage_begin)):
        begins, ends = nodes.outage_begin[outage], nodes.outage_end[outage]
        until = end if nodes.outage_planned[outage] else now + 1
        if reservation != NOBODY and nodes.outage_reservation[outage] == reservation:
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
                choice.candidate[size] = node
                choice.room[size] = room
                choice.left[size] = room
                size += 1
                cores += room
                heaviest = max(heaviest, nodes.weight[node])
    if size < jobs[LEAST, job] or cores < jobs[CORES, job]:
        return 0
    for weight in range(heaviest + 1):
        count, cores = 0, 0
        for i in range(size):
            if nodes.weight[choice.candidate[i]] <= weight:
                count += 1
                cores += choice.room[i]
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
        elif nodes.leaf[0] != NOBODY:
            first, last = _best_switch(nodes, choice, weight, size, cores, nodes_left)
        else:
            first, last = _best_run(nodes, choice, weight, size, cores, nodes_left)
        if first == NOBODY:
            break
        leaf = nodes.leaf[choice.candidate[first]]
        for i in range(first, last + 1):
            node = choice.candidate[i]
            if choice.left[i] == 0 or nodes.weight[node] > weight or nodes.leaf[node] != leaf:
                continue
            if count == most or (cores <= 0 and count >= least):
                break
            # Each node that is still to come needs a core at least.
            given = max(min(choice.left[i], cores - max(least - count - 1, 0)), 1)
            choice.left[i] = 0
            choice.node[count] = node
            choice.cores[count] = _held(jobs, nodes, job, node, given)
            cores -= given
            count += 1
    for i in range(size):
        choice.left[i] = choice.room[i]
    return count if cores <= 0 and count >= least else 0


@kernel
def _held(jobs, nodes, job, node, given):
    """Return how many cores of a node a job holds that needs some of them."""
    if jobs[EXCLUSIVE, job] == 1:
        return nodes.cores[node]
    # A task is on one node, and a core has all its threads.
    given += -given % jobs[PER_TASK, job]
    given += -given % nodes.threads[node]
    return min(given, nodes.cores[node])


@kernel
def _least_loaded(nodes, choice, weight, size, free):
    best = NOBODY
    for i in range(size):
        node = choice.candidate[i]
        if choice.left[i] > 0 and nodes.weight[node] <= weight:
            other = choice.candidate[best] if best != NOBODY else node
            share = free.cores[node] * nodes.cores[other]
            if best == NOBODY or share > free.cores[other] * nodes.cores[node]:
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
    candidate, left = choice.candidate, choice.left
    best, best_end, best_cores, best_enough, best_weight = NOBODY, NOBODY, 0, False, NEVER
    first, sum_ = NOBODY, 0
    for i in range(size + 1):
        inside = i < size and left[i] > 0 and nodes.weight[candidate[i]] <= weight
        if first != NOBODY and not (
            inside
            and candidate[i] == candidate[i - 1] + 1
            and nodes.weight[candidate[i]] == nodes.weight[candidate[first]]
        ):
            enough = sum_ >= cores and i - first >= nodes_left
            own = nodes.weight[candidate[first]]
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
        node = choice.candidate[i]
        if choice.left[i] > 0 and nodes.weight[node] <= weight:
            switch = nodes.leaf[node]
            if count[switch] == 0:
                first[switch] = i
            last[switch] = i
            count[switch] += 1
            sum_[switch] += choice.left[i]
    best, best_enough = NOBODY, False
    for switch in range(len(count)):
        enough = sum_[switch] >= cores and count[switch] >= nodes_left
        if count[switch] > 0 and (
            best == NOBODY or _better(enough, count[switch], best_enough, count[best])
        ):
            best, best_enough = switch, enough
    return (NOBODY, NOBODY) if best == NOBODY else (first[best], last[best])
