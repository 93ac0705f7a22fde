"""One scheduling pass on nodes, for each kind of backfill.

A job that is over a limit of its QOS or association is passed over: it neither starts nor has a
reservation, and holds nobody up.
"""

import numpy as np

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import (
    CONSERVATIVE,
    DEPTH,
    EASY,
    FREE,
    NEVER,
    NOBODY,
    NONE,
    TAIL,
    TOO_WIDE,
)
from queuesmith.engine.kernels.line import FAVOURED, leave_line, next_in_line
from queuesmith.engine.kernels.node_choosing import (
    FULLEST,
    LONG,
    NOW,
    WINDOW,
    choose,
    find_room,
    is_there,
    suffices,
    write_pieces,
)
from queuesmith.engine.kernels.node_future import (
    book,
    cancel_booking,
    earliest_on_nodes,
    has_room_beside,
    look_now,
    may_fit,
    reserve_nodes,
    reserve_nothing,
)
from queuesmith.engine.kernels.node_keeping import leaves_enough, may_leave_enough
from queuesmith.engine.kernels.node_state import (
    BOOKED_ENDS,
    EXTRA,
    FIRST_PIECE,
    FREE_CORES,
    KEEPING,
    LATER_ROWS,
    LEAST_LATER,
    LEAST_ROWS,
    LEAST_STAMP,
    NOW_ROWS,
    PIECE_NODE,
    REFUSED,
    SHAPE,
    TAKE,
    apply_piece,
    copy_node,
    keep_least,
    over_limit,
    rows_of_layer,
    run_from_now,
)
from queuesmith.engine.kernels.queue import close_gap, move
from queuesmith.engine.kernels.reservations import start_reserved

# After so many jobs that are planned it is asked anew who behind them could start now.
LOOK_AGAIN = np.int64(8)

# -- one job ---------------------------------------------------------------------------


@kernel
def find_nodes(board, attempts, released, job, now, end, mode):
    """Choose nodes on which a job can start now; return how many, 0 where it cannot."""
    shape, reservation = board.job[SHAPE, job], board.counters[LEAST_LATER]
    if not may_fit(board, attempts, released, shape):
        return 0
    ask = board.shapes[shape]
    if mode == NOW:
        count, total = look_now(board, attempts, shape, now, now, end)
    elif attempts[REFUSED, shape] == reservation:
        return 0
    else:
        count, total = find_room(board, ask, mode, now, now, end)
    chosen = choose(board, ask, count, mode, FULLEST) if suffices(ask, count, total) else 0
    if chosen == 0 and mode == LONG:
        attempts[REFUSED, shape] = reservation
    return chosen


@kernel
def free_for_long(board, node):
    """Return how many cores of a node are free now and beside the reservation."""
    counters, known = board.counters, board.known
    reserved = known[LEAST_STAMP, node] == counters[LEAST_LATER]
    return known[(counters[LEAST_ROWS] if reserved else NOW_ROWS) + FREE_CORES, node]


@kernel
def take_nodes(board, job, mode):
    """Take a job's pieces from what is free now, and beside the reservation where it is long."""
    counters, known, pieces = board.counters, board.known, board.pieces
    later, least = counters[LATER_ROWS], counters[LEAST_ROWS]
    ask, first = board.shapes[board.job[SHAPE, job]], board.job[FIRST_PIECE, job]
    for at in range(first, first + board.count[job]):
        node = pieces[at, PIECE_NODE]
        counters[EXTRA] -= free_for_long(board, node)
        counters[FREE] -= known[NOW_ROWS + FREE_CORES, node]
        apply_piece(ask, board.node, known, NOW_ROWS, pieces[at], TAKE)
        counters[FREE] += known[NOW_ROWS + FREE_CORES, node]
        if known[LEAST_STAMP, node] == counters[LEAST_LATER]:
            if mode == LONG:
                apply_piece(ask, board.node, known, later, pieces[at], TAKE)
            copy_node(known, least, NOW_ROWS, rows_of_layer(counters), node)
            keep_least(board, least, later, node)
        counters[EXTRA] += free_for_long(board, node)


@kernel
def start_if_it_fits(state, job, now, shadow):
    """Start a job where nodes have room for it that the reservation leaves; tells whether."""
    board, end = state.board, now + state.jobs.walltime[job]
    mode = LONG if end > shadow else NOW
    if not may_leave_enough(board, state.attempts, job, now):
        return False
    count = find_nodes(board, state.attempts, state.released, job, now, end, mode)
    if count == 0 or not leaves_enough(board, job, count, mode, now):
        return False
    write_pieces(board, job, count, mode)
    take_nodes(board, job, mode)
    run_from_now(state, job, now)
    return True


# -- none, list, EASY ------------------------------------------------------------------


@kernel
def reserve_for(state, job, now):
    """Reserve nodes for the first job that waits; return from when on."""
    walltime = state.jobs.walltime[job]
    return reserve_nodes(state.board, state.running, state.attempts, job, walltime, now)


@kernel
def start_in_line_on_nodes(state, line, number, now, backfill):
    """Run one scheduling pass over a line, of which the number is given: none, list or EASY.

    While one who is favoured waits, others have no turn. Returns who is first in line then of those
    who keep to all limits, and its reservation.
    """
    counters, shadow, head = state.counters, np.int64(NEVER), np.int64(NOBODY)
    favoured, shares = line.keep[FAVOURED], state.board.shares
    keeps = number < len(shares) and shares[number] > 0
    reserve_nothing(counters)
    place = next_in_line(line, 0, TOO_WIDE - 1, NEVER, 0)
    while place != NOBODY and not (head != NOBODY and head < favoured <= place):
        counters[KEEPING] = number if keeps and place >= favoured else NOBODY
        job = np.int64(line.job[place])  # one type of whole numbers, compiled once
        if not over_limit(state, job):
            if start_if_it_fits(state, job, now, shadow):
                leave_line(line, place)
            elif head == NOBODY:
                head = place
                if backfill == NONE:
                    break
                if backfill == EASY:
                    shadow = reserve_for(state, job, now)
        if head == NOBODY:
            place = next_in_line(line, place + 1, TOO_WIDE - 1, NEVER, 0)
        else:
            extra = counters[EXTRA]
            place = next_in_line(line, place + 1, counters[FREE], shadow - now, extra)
    counters[KEEPING] = NOBODY
    return head, shadow


@kernel
def start_in_queue_on_nodes(state, now, backfill):
    """Run one scheduling pass over a sorted queue: none, list or EASY."""
    queue, counters = state.queue, state.counters
    shadow, blocked, kept = np.int64(NEVER), False, np.int64(0)
    reserve_nothing(counters)
    for i in range(counters[TAIL]):
        job, started = np.int64(queue.job[i]), False
        most = counters[FREE] if now + queue.walltime[i] <= shadow else counters[EXTRA]
        possible = not blocked or (backfill != NONE and queue.cores[i] <= most)
        if possible and not over_limit(state, job):
            started = start_if_it_fits(state, job, now, shadow)
            if not started and not blocked:
                blocked = True
                if backfill == EASY:
                    shadow = reserve_for(state, job, now)
        if not started:
            if kept < i:
                move(queue, kept, i)
            kept += 1
    counters[TAIL] = kept


# -- conservative and plan -------------------------------------------------------------


@kernel
def earliest_for(state, job, now):
    """Return when a job can start, and on how many nodes."""
    walltime = state.jobs.walltime[job]
    return earliest_on_nodes(
        state.board, state.running, state.attempts, job, walltime, now, FULLEST
    )


@kernel
def last_that_fits(state, now, last):
    """Return the last place of the queue up to ``last`` whose job may start now, or -1."""
    queue, counters, board = state.queue, state.counters, state.board
    while last >= 0:
        job, end = np.int64(queue.job[last]), now + queue.walltime[last]
        fits = queue.cores[last] <= counters[FREE] and not over_limit(state, job)
        if fits and find_nodes(board, state.attempts, state.released, job, now, end, NOW) > 0:
            break
        last -= 1
    return last


@kernel
def last_beside(state, now, first, last):
    """Return the last place behind ``first`` whose job may start now beside what is reserved."""
    queue, board = state.queue, state.board
    while last > first:
        job, walltime = np.int64(queue.job[last]), queue.walltime[last]
        fits = queue.cores[last] <= state.counters[FREE] and not over_limit(state, job)
        if fits and has_room_beside(board, state.running, state.attempts, job, walltime, now):
            break
        last -= 1
    return last


@kernel
def start_as_planned_on_nodes(state, now):
    """Plan every job afresh, in queue order, at its earliest room; start those planned for now.

    Behind the last that could start now, beside those planned so far, nobody is planned. With a
    depth, planning ends when so many jobs are planned that do not start now.
    """
    queue, counters, board = state.queue, state.counters, state.board
    counters[BOOKED_ENDS] = 0
    reserve_nothing(counters)
    last = last_that_fits(state, now, counters[TAIL] - 1)
    i = kept = planned = 0
    while i <= last and planned < counters[DEPTH]:
        job, begin = np.int64(queue.job[i]), NEVER
        if not over_limit(state, job):
            begin, count = earliest_for(state, job, now)
            if begin == now:
                write_pieces(board, job, count, WINDOW)
                reserve_nothing(counters)
                take_nodes(board, job, NOW)
                run_from_now(state, job, now)
                last = last_that_fits(state, now, last)
            else:
                planned += 1
                if begin != NEVER:
                    book(board, job, begin, queue.walltime[i], count)
                if planned % LOOK_AGAIN == 0:
                    last = last_beside(state, now, i, last)
        if begin != now:
            move(queue, kept, i)
            kept += 1
        i += 1
    close_gap(queue, counters, kept, i)
    counters[BOOKED_ENDS] = 0


@kernel
def reserve_again(state, job, now):
    """Give a job the earliest room that disturbs no other reservation."""
    begin, count = earliest_for(state, job, now)
    state.start[job] = NOBODY
    if begin != NEVER:
        state.start[job] = begin
        book(state.board, job, begin, state.jobs.walltime[job], count)


@kernel
def nodes_are_there(board, job, now, end):
    """Tell whether all nodes reserved for a job are there now."""
    ask, first = board.shapes[board.job[SHAPE, job]], board.job[FIRST_PIECE, job]
    for at in range(first, first + board.count[job]):
        if not is_there(board, ask, board.pieces[at, PIECE_NODE], now, now, end):
            return False
    return True


@kernel
def keep_reservations_on_nodes(state, now, released):
    """Conservative backfilling: where nodes were released, move every reservation forward, in queue
    order; then find the earliest room for each job that has none, as deep as the queue is planned;
    then start the jobs whose time has come.

    A job that is over a limit when its time has come, or whose nodes have failed, loses its
    reservation.
    """
    queue, counters, start, board = state.queue, state.counters, state.start, state.board
    for i in range(counters[TAIL]):
        job, walltime = np.int64(queue.job[i]), queue.walltime[i]
        failed = start[job] == now and not nodes_are_there(board, job, now, now + walltime)
        if start[job] != NOBODY and (released or failed):
            cancel_booking(board, job, start[job], walltime)
            reserve_again(state, job, now)
    later = 0  # jobs so far that have a reservation and do not start now
    for i in range(counters[TAIL]):
        job = np.int64(queue.job[i])
        if start[job] == NOBODY and later < counters[DEPTH] and not over_limit(state, job):
            reserve_again(state, job, now)
        later += start[job] > now
    reserve_nothing(counters)
    start_reserved(state, now, start_where_reserved)


@kernel
def start_where_reserved(state, number, now):
    """Start a job on the nodes reserved for it; tells whether no limit keeps it from starting."""
    job, board = np.int64(number), state.board  # one type of whole numbers, compiled once
    cancel_booking(board, job, now, state.jobs.walltime[job])
    if over_limit(state, job):
        state.start[job] = NOBODY
        return False
    take_nodes(board, job, NOW)
    run_from_now(state, job, now)
    return True


@kernel
def follow_plan_on_nodes(state, now, backfill, released):
    """Run one scheduling pass over the sorted queue: conservative or plan."""
    if backfill == CONSERVATIVE:
        keep_reservations_on_nodes(state, now, released)
    else:
        start_as_planned_on_nodes(state, now)
