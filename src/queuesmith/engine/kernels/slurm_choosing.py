"""Which nodes a job gets: by weight, then by the rules of select/cons_tres."""

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.constants import NEVER, NOBODY
from queuesmith.engine.kernels.slurm_state import HELD, WINDOW_STEP, give_back


@kernel
def room_on(jobs, nodes, job, free, node):
    """Return how many cores of a node a job could have now; 0 where it cannot run there."""
    cores, memory = free.cores[node], free.memory[node]
    if jobs.exclusive[job] == 1 and free.jobs[node] > 0:
        return 0
    if free.owner[node] != NOBODY and free.owner[node] != jobs.user[job]:
        return 0
    if jobs.exclusive[job] == 2 and free.jobs[node] > 0 and free.owner[node] != jobs.user[job]:
        return 0
    if memory < jobs.memory_per_node[job]:
        return 0
    if jobs.whole_memory[job] and memory < nodes.memory[node]:
        return 0
    if jobs.gpus[job] > 0:
        gpus = 0
        for kind in range(nodes.gpus.shape[1]):
            if jobs.gpu_type[job] == NOBODY or jobs.gpu_type[job] == kind:
                gpus += free.gpus[node, kind]
        if gpus < jobs.gpus[job]:
            return 0
    cores -= cores % nodes.threads[node]
    if jobs.memory_per_core[job] > 0:
        cores = min(cores, memory // jobs.memory_per_core[job])
    cores -= cores % jobs.per_task[job]
    if jobs.per_node[job] > 0:
        return jobs.per_node[job] if cores >= jobs.per_node[job] else 0
    return max(cores, 0)


@kernel
def choose_nodes(replay, job, usable, free):
    """Choose nodes for a job among those that are usable; return how many, 0 where it cannot run.

    Nodes of less weight are tried first, those of more weight beside them only where they do not
    suffice.
    """
    jobs, nodes, room = replay.jobs, replay.nodes, replay.choice.room
    count, cores, heaviest = 0, 0, -1
    for node in range(len(room)):
        room[node] = room_on(jobs, nodes, job, free, node) if usable[node] else 0
        if room[node] > 0:
            count += 1
            cores += room[node]
            heaviest = max(heaviest, nodes.weight[node])
    if count < jobs.least[job] or cores < jobs.cores[job]:
        return 0
    for weight in range(heaviest + 1):
        count, cores = 0, 0
        for node in range(len(room)):
            if room[node] > 0 and nodes.weight[node] <= weight:
                count += 1
                cores += room[node]
        if count >= jobs.least[job] and cores >= jobs.cores[job]:
            count = _pick(replay, job, weight)
            if count > 0:
                return count
    return 0


@kernel
def _pick(replay, job, weight):
    """Choose among the nodes up to a weight."""
    jobs, choice = replay.jobs, replay.choice
    copy(choice.cores, choice.room)  # only as a place to keep it: picking takes room away
    most = jobs.most[job] if jobs.most[job] > 0 else len(choice.room)
    count, cores = 0, jobs.cores[job]
    while count < most and (cores > 0 or count < jobs.least[job]):
        nodes_left = max(jobs.least[job] - count, 1)
        if jobs.least_loaded[job]:
            first, last = _least_loaded(replay, weight)
        elif replay.nodes.leaf[0] != NOBODY:
            first, last = _best_switch(replay, weight, cores, nodes_left)
        else:
            first, last = _best_run(replay, weight, cores, nodes_left)
        if first == NOBODY:
            break
        leaf = replay.nodes.leaf[first]
        for node in range(first, last + 1):
            if choice.room[node] == 0 or replay.nodes.weight[node] > weight:
                continue
            if replay.nodes.leaf[node] != leaf:
                continue
            if count == most or (cores <= 0 and count >= jobs.least[job]):
                break
            # Each node that is still to come needs a core at least.
            given = min(choice.room[node], cores - max(jobs.least[job] - count - 1, 0))
            given = max(given, 1)
            choice.room[node] = 0
            choice.node[count] = node
            cores -= given
            count += 1
    done = cores <= 0 and count >= jobs.least[job]
    _settle(replay, job, count)
    return count if done else 0


@kernel
def _settle(replay, job, count):
    """Bring the room back, and say how many cores the job has on each of its nodes."""
    jobs, nodes, choice = replay.jobs, replay.nodes, replay.choice
    copy(choice.room, choice.cores)
    left = jobs.cores[job]
    for i in range(count):
        node = choice.node[i]
        given = max(min(choice.room[node], left - max(jobs.least[job] - i - 1, 0)), 1)
        left -= given
        if jobs.exclusive[job] == 1:
            given = nodes.cores[node]
        # A task is on one node, and a core has all its threads.
        given += -given % jobs.per_task[job]
        given += -given % nodes.threads[node]
        choice.cores[i] = min(given, nodes.cores[node])


@kernel
def _least_loaded(replay, weight):
    room, best = replay.choice.room, NOBODY
    for node in range(len(room)):
        if room[node] > 0 and replay.nodes.weight[node] <= weight:
            share = replay.free.cores[node] * replay.nodes.cores[best]
            if best == NOBODY or share > replay.free.cores[best] * replay.nodes.cores[node]:
                best = node
    return best, best


@kernel
def _better(enough, cores, best_enough, best_cores):
    """Tell whether a block of nodes fits better: the least that suffices, or else the largest."""
    if enough != best_enough:
        return enough
    return cores < best_cores if enough else cores > best_cores


@kernel
def _best_run(replay, weight, cores, nodes_left):
    """Return the first and the last of the neighbouring nodes that fit best."""
    room, heavy = replay.choice.room, replay.nodes.weight
    best, best_end, best_cores, best_enough = NOBODY, NOBODY, 0, False
    first, sum_, count = NOBODY, 0, 0
    for node in range(len(room) + 1):
        if node < len(room) and room[node] > 0 and heavy[node] <= weight:
            if first == NOBODY:
                first, sum_, count = node, 0, 0
            sum_ += room[node]
            count += 1
        elif first != NOBODY:
            enough = sum_ >= cores and count >= nodes_left
            if best == NOBODY or _better(enough, sum_, best_enough, best_cores):
                best, best_end, best_cores, best_enough = first, node - 1, sum_, enough
            first = NOBODY
    if best == NOBODY or nodes_left > 1:
        return best, best_end
    # Where one node is enough, it is the one with the least room that is.
    single, least = NOBODY, NEVER
    for node in range(best, best_end + 1):
        if cores <= room[node] < least:
            single, least = node, room[node]
    return (best, best_end) if single == NOBODY else (single, single)


@kernel
def _best_switch(replay, weight, cores, nodes_left):
    """Return the first and the last node of the switch that fits best."""
    room, heavy, leaf = replay.choice.room, replay.nodes.weight, replay.nodes.leaf
    table = replay.choice.switches
    first, last, count, sum_ = table[0], table[1], table[2], table[3]
    count[:] = 0
    sum_[:] = 0
    for node in range(len(room)):
        if room[node] > 0 and heavy[node] <= weight:
            switch = leaf[node]
            if count[switch] == 0:
                first[switch] = node
            last[switch] = node
            count[switch] += 1
            sum_[switch] += room[node]
    best, best_enough = NOBODY, False
    for switch in range(len(count)):
        enough = sum_[switch] >= cores and count[switch] >= nodes_left
        if count[switch] > 0 and (
            best == NOBODY or _better(enough, count[switch], best_enough, count[best])
        ):
            best, best_enough = switch, enough
    return (NOBODY, NOBODY) if best == NOBODY else (first[best], last[best])


@kernel
def leave_out_outages(replay, usable, now, end):
    """Take from a set of nodes those that are away, or will be before an end."""
    nodes = replay.nodes
    for outage in range(len(nodes.outage_begin)):
        until = end if nodes.outage_planned[outage] else now + 1
        if nodes.outage_begin[outage] < until and nodes.outage_end[outage] > now:
            for node in range(len(usable)):
                usable[node] &= not nodes.outage_nodes[outage, node]


@kernel
def earliest_start(replay, job, usable, now, end):
    """Return when a job could start on usable nodes as jobs that run end, and choose its nodes.

    Ends are looked at in groups, first of half a minute, each twice as long as the one before;
    -1 where it cannot start there up to an end.
    """
    count = choose_nodes(replay, job, usable, replay.free)
    if count > 0:
        return now, count
    free, later, running = replay.free, replay.later, replay.running
    copy(later.cores, free.cores)
    copy(later.memory, free.memory)
    copy(later.jobs, free.jobs)
    copy(later.owner, free.owner)
    for node in range(len(free.cores)):
        copy(later.gpus[node], free.gpus[node])
    step = replay.knobs[WINDOW_STEP]
    window, place, held = 30, 0, replay.counters[HELD]
    while place < held:
        first, last = NOBODY, NOBODY
        while place < held:
            other = running.due_job[place]
            if _shares_nodes(replay, other, usable):
                due = running.due[place]
                if first == NOBODY:
                    first = due
                elif due > first + window:
                    break
                give_back(replay, other, later)
                last = due
            place += 1
        if first == NOBODY or last > end:
            break
        count = choose_nodes(replay, job, usable, later)
        if count > 0:
            return max(last, now + 1), count
        window = window + step if step > 0 else 2 * window
    return NOBODY, 0


@kernel
def _shares_nodes(replay, job, usable):
    first = replay.jobs.first_piece[job]
    for at in range(first, first + replay.pieces.count[job]):
        if usable[replay.pieces.node[at]]:
            return True
    return False
