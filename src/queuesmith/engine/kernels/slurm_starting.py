"""When a job could start: now, or as jobs that run reach their limits."""

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.constants import NOBODY
from queuesmith.engine.kernels.slurm_choosing import choose_nodes
from queuesmith.engine.kernels.slurm_ready import (
    first_ready,
    leave_out_later,
    ready_row,
    release_until,
)
from queuesmith.engine.kernels.slurm_sets import SHIFT, at_least, has, keep_common, lowest
from queuesmith.engine.kernels.slurm_state import (
    ALIGNED,
    CHANGES,
    EPOCH,
    EXPECTED,
    FIRST_PIECE,
    HELD,
    KILL_DELAY,
    LEAST,
    PIECE_NODE,
    READY,
    WINDOW_STEP,
)

#: How long the first group of ends is.
FIRST_WINDOW = 30


@kernel
def choose_now(jobs, nodes, free, ready, choice, changes, job, usable):
    """Choose nodes for a job that is to start at once; return how many, 0 where it cannot."""
    now = choice.sets[READY]
    copy(now, ready.now[ready_row(jobs, nodes, free, ready, job, changes)])
    keep_common(now, usable)
    if not at_least(now, jobs[LEAST, job]):
        return 0
    return choose_nodes(jobs, nodes, choice, job, now, free)


@kernel
def earliest_start(replay, job, row, usable, soon, now, end):
    """Return when a job could start on usable nodes as jobs that run end, and choose its nodes.

    Ends are looked at in groups, up to half a minute from the first, then up to a minute from
    there, then two; before Slurm 20.02, each from its own first. -1 where it cannot start there up
    to an end, by which some of the nodes, the soon ones, have room for it.
    """
    jobs, nodes, free, later = replay.jobs, replay.nodes, replay.free, replay.later
    running, ready, choice, knobs = replay.running, replay.ready, replay.choice, replay.knobs
    count = choose_now(jobs, nodes, free, ready, choice, replay.counters[CHANGES], job, usable)
    if count > 0:
        return now, count
    first = first_ready(ready, row, soon)
    on_node, held = replay.pieces, replay.counters[HELD]
    due, due_job, pieces = running.due, running.due_job, (on_node, jobs[FIRST_PIECE])
    window, place = FIRST_WINDOW, _next_on(running, pieces, usable, 0, held)
    barrier = _barrier(knobs, due[place]) if place < held else 0
    if knobs[ALIGNED] and place < held and due[place] < first:
        place, window = _pass_over(running, pieces, usable, knobs, barrier, first, held)
    while place < held:
        if not knobs[ALIGNED]:
            barrier = due[place]
        # A group ends with the last job that is due by then, or else with the next on these nodes.
        place = _last_due(due, place, held, barrier + window)
        last = _next_on(running, pieces, usable, place, held)
        place = last + 1
        if last == held:
            last = _last_on(running, pieces, usable, held - 1)
        if due[last] > end:
            break
        if due[last] >= first:
            count = _choose_after(
                jobs,
                nodes,
                free,
                later,
                choice,
                on_node,
                running,
                ready,
                row,
                job,
                soon,
                due_job[last],
            )
            if count > 0:
                return _when_gone(knobs, due[last], now), count
        window = _longer(knobs, window)
        while knobs[ALIGNED] and place < held and due[place] > barrier + window:
            window = _longer(knobs, window)
        place = _next_on(running, pieces, usable, min(place, held), held)
    return NOBODY, 0


@kernel
def _pass_over(running, pieces, usable, knobs, barrier, first, held):
    """Pass over groups that end before the first node has room, where windows begin alike.

    Returns where the next group begins, and its window.
    """
    due, window = running.due, FIRST_WINDOW
    after = _last_on(running, pieces, usable, _place_of(due, first, held) - 1) + 1
    while after < held and due[after] > barrier + window:
        window = _longer(knobs, window)
    return _next_on(running, pieces, usable, after, held), window


@kernel
def _place_of(due, instant, held):
    """Return the first place of a job that is due at an instant or later."""
    low, high = 0, held
    while low < high:
        middle = (low + high) // 2
        if due[middle] < instant:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _next_on(running, pieces, nodes, place, held):
    """Return the first place from one on of a running job that is on a node of a set."""
    while place < held and not _is_on(running, pieces, place, nodes):
        place += 1
    return place


@kernel
def _last_on(running, pieces, nodes, place):
    """Return the last place up to one of a running job that is on a node of a set."""
    while not _is_on(running, pieces, place, nodes):
        place -= 1
    return place


@kernel
def _is_on(running, pieces, place, nodes):
    if running.due_node[place] != NOBODY:
        return has(nodes, running.due_node[place])
    (table, first_piece), job, found = pieces, running.due_job[place], False
    for piece in range(first_piece[job], first_piece[job] + table.count[job]):
        found |= has(nodes, table.of_piece[piece, PIECE_NODE])
    return found


@kernel
def _last_due(due, place, held, until):
    """Return the last place of a job that is due by an instant; the one at ``place`` is."""
    above = held
    while above - place > 1:
        middle = (place + above) // 2
        if due[middle] <= until:
            place = middle
        else:
            above = middle
    return place


@kernel
def _barrier(knobs, due):
    """Return from when on groups last for their windows: a round instant."""
    return due + FIRST_WINDOW - (due + knobs[EPOCH]) % FIRST_WINDOW


@kernel
def _longer(knobs, window):
    step = knobs[WINDOW_STEP]
    return window + step if step > 0 else 2 * window


@kernel
def _when_gone(knobs, due, now):
    """Return when a job will be gone; one that is over its limit gets some time to end."""
    return due if due > now else max(due + knobs[KILL_DELAY], now + 1)


@kernel
def _choose_after(jobs, nodes, free, later, choice, pieces, running, ready, row, job, soon, last):
    """Choose nodes as they will be when a job and all that are due before it are gone."""
    then = choice.sets[READY]
    instant = running.of_job[EXPECTED, last]
    if leave_out_later(ready.at[row], soon, instant, then) < jobs[LEAST, job]:
        return 0
    for word in range(len(then)):
        bits = then[word]
        while bits:
            node = (word << SHIFT) + lowest(bits)
            release_until(pieces, running, free, later, ready.changed, node, last)
            bits &= bits - 1
    return choose_nodes(jobs, nodes, choice, job, then, later)
