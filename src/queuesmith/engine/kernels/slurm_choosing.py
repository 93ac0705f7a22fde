"""Which nodes a job gets: by weight, then by the rules of select/cons_tres."""

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.constants import NEVER, NOBODY
from queuesmith.engine.kernels.slurm_ready import (
    NOW,
    find_ready,
    first_ready,
    ready_row,
    release_until,
    room_on,
)
from queuesmith.engine.kernels.slurm_sets import has, remove_all
from queuesmith.engine.kernels.slurm_state import ALIGNED, EPOCH, HELD, KILL_DELAY, WINDOW_STEP


@kernel
def choose_nodes(replay, job, ready, free):
    """Choose nodes for a job among those with room; return how many, 0 where it cannot run.

    Nodes of less weight are tried first, those of more weight beside them only where they do not
    suffice.
    """
    jobs, nodes, room = replay.jobs, replay.nodes, replay.choice.room
    count, cores, heaviest = 0, 0, -1
    for node in range(len(room)):
        room[node] = room_on(jobs, nodes, job, free, node) if has(ready, node) else 0
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
    """Return the first and the last of the neighbouring nodes of one weight that fit best.

    Those of less weight come first, whether they suffice or not.
    """
    room, heavy = replay.choice.room, replay.nodes.weight
    best, best_end, best_cores, best_enough = NOBODY, NOBODY, 0, False
    first, sum_, count = NOBODY, 0, 0
    for node in range(len(room) + 1):
        inside = node < len(room) and room[node] > 0 and heavy[node] <= weight
        if first != NOBODY and not (inside and heavy[node] == heavy[first]):
            enough = sum_ >= cores and count >= nodes_left
            lighter = best != NOBODY and heavy[first] < heavy[best]
            alike = best != NOBODY and heavy[first] == heavy[best]
            better = alike and _better(enough, sum_, best_enough, best_cores)
            if best == NOBODY or lighter or better:
                best, best_end, best_cores, best_enough = first, node - 1, sum_, enough
            first = NOBODY
        if inside:
            if first == NOBODY:
                first, sum_, count = node, 0, 0
            sum_ += room[node]
            count += 1
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
def leave_out_outages(nodes, usable, now, end):
    """Take from a set of nodes those that are away, or will be before an end."""
    for outage in range(len(nodes.outage_begin)):
        until = end if nodes.outage_planned[outage] else now + 1
        if nodes.outage_begin[outage] < until and nodes.outage_end[outage] > now:
            remove_all(usable, nodes.outage_nodes[outage])


@kernel
def choose_now(replay, job, usable):
    """Choose nodes for a job that is to start at once; return how many, 0 where it cannot."""
    ready, row = replay.choice.ready, ready_row(replay, job)
    if find_ready(replay.ready.at[row], usable, NOW, ready) < replay.jobs.least[job]:
        return 0
    return choose_nodes(replay, job, ready, replay.free)


@kernel
def earliest_start(replay, job, usable, now, end):
    """Return when a job could start on usable nodes as jobs that run end, and choose its nodes.

    Ends are looked at in groups, first of half a minute, each twice as long as the one before;
    -1 where it cannot start there up to an end.
    """
    row = ready_row(replay, job)
    first = first_ready(replay, job, row, usable)
    if first > end:
        return NOBODY, 0
    if first == NOW:
        count = choose_now(replay, job, usable)
        if count > 0:
            return now, count
    jobs, pieces, knobs = replay.jobs, replay.pieces, replay.knobs
    due, due_job = replay.running.due, replay.running.due_job
    window, place, held = 30, 0, replay.counters[HELD]
    while place < held:
        last, barrier = NOBODY, 0
        while place < held:
            place += 1
            other = due_job[place - 1]
            if not _is_on(pieces, jobs.first_piece[other], pieces.count[other], usable):
                continue
            if last == NOBODY:
                barrier = _barrier(knobs, due[place - 1], window)
            last = place - 1
            # Where a job on other nodes comes next, the one after it still belongs to the group.
            if place < held and due[place] > barrier + window:
                break
        if last == NOBODY or due[last] > end:
            break
        if due[last] >= first:
            count = _choose_after(replay, job, row, usable, due_job[last])
            if count > 0:
                return _when_gone(knobs, due[last], now), count
        window = _longer(knobs, window)
        while knobs[ALIGNED] and place < held and due[place] > barrier + window:
            window = _longer(knobs, window)
    return NOBODY, 0


@kernel
def _is_on(pieces, first, count, nodes):
    """Tell whether one of some pieces is on a node of a set."""
    found = False
    for piece in range(first, first + count):
        found |= has(nodes, pieces.node[piece])
    return found


@kernel
def _barrier(knobs, due, window):
    """Return from when on a group may last for its window: since Slurm 20.02, round instants."""
    if not knobs[ALIGNED]:
        return due
    return due + window - (due + knobs[EPOCH]) % window


@kernel
def _longer(knobs, window):
    step = knobs[WINDOW_STEP]
    return window + step if step > 0 else 2 * window


@kernel
def _when_gone(knobs, due, now):
    """Return when a job will be gone; one that is over its limit gets some time to end."""
    return due if due > now else max(due + knobs[KILL_DELAY], now + 1)


@kernel
def _choose_after(replay, job, row, usable, last):
    """Choose nodes as they will be when a job and all that are due before it are gone."""
    ready, least = replay.choice.ready, replay.jobs.least[job]
    if find_ready(replay.ready.at[row], usable, replay.running.expected[last], ready) < least:
        return 0
    for node in range(len(replay.choice.room)):
        if has(ready, node):
            release_until(replay, node, last)
    return choose_nodes(replay, job, ready, replay.later)
