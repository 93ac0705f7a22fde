"""Cores on nodes that others leave free for those who are favoured.

A job that is not favoured starts where, of the nodes that it may use and that are there, a share of
the cores stays free; one that could never leave so much, where all of them are free.
"""

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import NOBODY, STARTED
from queuesmith.engine.kernels.node_choosing import LONG, NOW, is_there, rows_of, write_pieces
from queuesmith.engine.kernels.node_state import (
    CORES,
    CORES_FREE,
    CORES_THERE,
    COUNTED_AFTER,
    COUNTED_AT,
    FIRST_PIECE,
    FREE_CORES,
    HEAD,
    KEEPING,
    NODE_CORES,
    PIECE_CORES,
    PIECE_NODE,
    RELEASES,
    SET,
    SHAPE,
    SPARE,
    held_cores,
)


@kernel
def count_free(board, ask, mode, now, time):
    """Return how many cores of the nodes that a job may use are free at an instant, and how many
    cores those of them have that are there.
    """
    known, counters, free, there = board.known, board.counters, 0, 0
    for i in range(board.first_in_set[ask[SET]], board.first_in_set[ask[SET] + 1]):
        node = board.in_set[i]
        if is_there(board, ask, node, now, time, time + 1):
            free += known[rows_of(known, counters, node, mode) + FREE_CORES, node]
            there += board.node[NODE_CORES, node]
    return free, there


@kernel
def cores_for_start(board, held, there):
    """Return how many cores must be free for a job to start that holds so many of those there."""
    return min(held + int(board.shares[board.counters[KEEPING]] * there), there)


@kernel
def cores_held(board, job, whose):
    """Return how many cores a job holds on nodes that another may use."""
    ask, first = board.shapes[board.job[SHAPE, job]], board.job[FIRST_PIECE, job]
    member, held = board.member[board.shapes[board.job[SHAPE, whose], SET]], 0
    for at in range(first, first + board.count[job]):
        node = board.pieces[at, PIECE_NODE]
        if member[node]:
            held += held_cores(ask, board.node, node, board.pieces[at, PIECE_CORES])
    return held


@kernel
def spare_cores(board, job, count, mode, now, time):
    """Return how many more cores than it must a job leaves free on the nodes that were chosen.

    Less than none where it may not start; none where nothing is kept free.
    """
    if board.counters[KEEPING] == NOBODY:
        return 0
    write_pieces(board, job, count, mode)
    free, there = count_free(board, board.shapes[board.job[SHAPE, job]], mode, now, time)
    return free - cores_for_start(board, cores_held(board, job, job), there)


@kernel
def may_leave_enough(board, attempts, job, now):
    """Tell whether a job can leave enough free, wherever it goes.

    Counted once for all jobs of its shape, until a job starts or ends.
    """
    counters, shape = board.counters, board.job[SHAPE, job]
    if counters[KEEPING] == NOBODY:
        return True
    ask, events = board.shapes[shape], counters[STARTED] + counters[RELEASES]
    if attempts[COUNTED_AT, shape] != now or attempts[COUNTED_AFTER, shape] != events:
        attempts[COUNTED_AT, shape], attempts[COUNTED_AFTER, shape] = now, events
        free, there = count_free(board, ask, NOW, now, now)
        attempts[CORES_FREE, shape], attempts[CORES_THERE, shape] = free, there
    there = attempts[CORES_THERE, shape]
    return attempts[CORES_FREE, shape] >= cores_for_start(board, ask[CORES], there)


@kernel
def leaves_enough(board, job, count, mode, now):
    """Tell whether a job leaves enough free on the nodes that were chosen: now, and, where it runs
    beyond the begin of the reservation, for the job that has it.
    """
    counters = board.counters
    if counters[KEEPING] == NOBODY:
        return True
    if spare_cores(board, job, count, NOW, now, now) < 0:
        return False
    if mode == LONG:
        held = cores_held(board, job, counters[HEAD])
        if held > counters[SPARE]:
            return False
        counters[SPARE] -= held
    return True
